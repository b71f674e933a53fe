// SPDX-License-Identifier: Apache-2.0
/** Bytes of a packaged GGUF file, a Blob, a URL or, in Node.js, a path. */
export type Source = Uint8Array | ArrayBuffer | Blob | URL | string;
/** Mono, at the model's rate; floats in [-1, 1], or 16 bits. */
export type Samples = Float32Array | Float64Array | Int16Array;

/** What went wrong. */
export class StenoError extends Error {
  readonly status: "error" | "no_memory" | "cancelled" | "misuse";
}

/** A word, or a character of a script without words. */
export interface Word {
  text: string;
  /** Seconds; null where the word has no times. */
  start: number | null;
  end: number | null;
  /** Probability. */
  confidence: number;
  speaker: string | null;
}

/** A part of a recording, or an utterance of a stream. */
export interface Segment {
  text: string;
  /** Seconds. */
  start: number;
  end: number;
  /** Empty where the model has none, and in partial results. */
  words: Word[];
  /** As the model names it. */
  language: string | null;
  speaker: string | null;
  /** Logarithm of a probability, where the model computes one. */
  score: number | null;
}

/** What was found in a recording. */
export interface Result {
  text: string;
  segments: Segment[];
  /** Seconds of audio. */
  duration: number;
  /** Of the first segment that has one. */
  language: string | null;
}

/** What a stream found out. Each partial result replaces the one before; a final one settles its utterance. */
export interface StreamEvent {
  final: boolean;
  utterance: Segment;
  /** The beginning of the text, which will not change any more. */
  stable: string;
  /** What ended the utterance: "endpoint", "end_of_turn", ...; null: the end of the audio. */
  endpoint: string | null;
  /** Probability that the turn has ended, of models that have one. */
  eot_confidence: number | null;
}

/** Settings by the library's names. Lists of texts or numbers; phrases and their weights as an object. */
export type Value = string | number | boolean | string[] | number[] | Record<string, number> | null | undefined;
/** Takes seconds that are done and all seconds; false ends the call with the status "cancelled". */
export type Progress = (done: number, total: number) => boolean | void;
export interface Options {
  [name: string]: Value | Diarizer | Aligner | Punctuator | Vad | Progress;
  diarizer?: Diarizer;
  aligner?: Aligner;
  punctuator?: Punctuator;
  vad?: Vad | string;
}
/** Of a whole recording. */
export interface RecordingOptions extends Options {
  progress?: Progress;
}
export type Sink = (event: StreamEvent) => void;

/** The library's version. */
export function version(): Promise<string>;

/** Audio that is worked at as it comes. */
export class Stream {
  private constructor();
  /** More samples, any number of them. Events come within the call; what their function throws is thrown here. */
  push(samples: Samples): void;
  /** The end: what is left is recognised, and the last final event comes. */
  finish(): void;
  /** Whether it takes no more samples. */
  readonly over: boolean;
  free(): void;
}

declare class Handle {
  protected constructor();
  /** Gives its memory back. Streams that are open keep it until they are freed. */
  free(): void;
}

/** A loaded model. */
export class Model extends Handle {
  static load(source: Source): Promise<Model>;
  /** "sense_voice", "whisper", ... */
  readonly name: string;
  /** Samples a second that it expects. */
  readonly sample_rate: number;
  /** Whether it streams by itself. Streams of others recognise segments of speech. */
  readonly streams: boolean;
  /** Those that can be chosen. */
  readonly languages: string[];
  /** Whether an option has an effect in transcribe(), or, with `live`, in stream(). */
  supports(option: string, how?: { live?: boolean }): boolean;
  /** A whole recording. */
  transcribe(samples: Samples, options?: RecordingOptions): Result;
  /** Recognises audio as it comes. */
  stream(options: Options | undefined, on_event: Sink): Stream;
}

/** A model that knows who speaks when. */
export class Diarizer extends Handle {
  static load(source: Source): Promise<Diarizer>;
  readonly sample_rate: number;
  /** How many speakers it can distinguish. */
  readonly speakers: number;
  /** Segments with speakers and without texts, in the order of their starts. */
  diarize(samples: Samples, options?: Options): Result;
  stream(options: Options | undefined, on_event: Sink): Stream;
}

/** A detector of speech. */
export class Vad extends Handle {
  /** A file, or "energy", which needs none and takes samples of `sample_rate`. */
  static load(source?: Source, sample_rate?: number): Promise<Vad>;
  readonly name: string;
  readonly sample_rate: number;
  /** Where somebody speaks: segments without texts. */
  detect(samples: Samples, options?: Options): Result;
  stream(options: Options | undefined, on_event: Sink): Stream;
}

/** A model for forced alignment. */
export class Aligner extends Handle {
  static load(source: Source): Promise<Aligner>;
  readonly sample_rate: number;
  /** Of the longest recording that align() takes. */
  readonly max_seconds: number;
  /** When each word of `text` is spoken. */
  align(samples: Samples, text: string, language?: string | null): Result;
}

/** A punctuation model. */
export class Punctuator extends Handle {
  static load(source: Source): Promise<Punctuator>;
  punctuate(text: string): string;
}
