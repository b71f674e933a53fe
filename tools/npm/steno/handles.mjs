// Loaded models, options and streams.
// SPDX-License-Identifier: Apache-2.0
import { StenoError, bytes_of, call, library, put_samples, with_scratch } from "./library.mjs";
import { event_at, take_result } from "./results.mjs";

const forgotten = new FinalizationRegistry((give_back) => give_back());

/** A pointer of the library's, which free() gives back: at once, or when its last stream is gone. */
class Handle {
  #module;
  #pointer;
  #kind;
  #users = 0;
  #freed = false;

  constructor(module, kind, pointer) {
    this.#module = module;
    this.#kind = kind;
    this.#pointer = pointer;
    forgotten.register(this, () => module[`_steno_${kind}_free`](pointer), this);
  }
  get _module() {
    return this.#module;
  }
  get _kind() {
    return this.#kind;
  }
  get _pointer() {
    if (this.#freed) throw new StenoError("misuse", `the ${this.#kind} is closed`);
    return this.#pointer;
  }
  _retain() {
    const pointer = this._pointer;
    ++this.#users;
    return pointer;
  }
  _release() {
    --this.#users;
    this.#settle();
  }
  /** Gives its memory back. Any number of times; streams that are open keep it until they are freed. */
  free() {
    this.#freed = true;
    this.#settle();
  }
  #settle() {
    if (!this.#freed || this.#users > 0 || this.#pointer === 0) return;
    forgotten.unregister(this);
    this.#module[`_steno_${this.#kind}_free`](this.#pointer);
    this.#pointer = 0;
  }
}

let files = 0;
/** The file's bytes are in the library's file system while it loads them. */
async function load(kind, source, first = (scratch, path) => [scratch.text(path), 1]) {
  const bytes = await bytes_of(source), module = await library();
  const name = typeof source === "string" || source instanceof URL ? String(source).split("/").pop() : "model";
  // In a folder of its own and by its name alone, which is what messages say.
  const folder = `/file${++files}`, path = name && name !== "energy" ? name : "model";
  module.FS.mkdir(folder);
  module.FS.chdir(folder);
  try {
    module.FS.writeFile(path, bytes);
    return with_scratch(module, (scratch) => {
      const to = scratch.take(4);
      call(module, scratch, `steno_${kind}_load`, ...first(scratch, path), to);
      return [module, kind, module.HEAPU32[to >> 2]];
    });
  } finally {
    if (module.FS.analyzePath(path).exists) module.FS.unlink(path);
    module.FS.chdir("/");
    module.FS.rmdir(folder);
  }
}

const helpers = ["diarizer", "aligner", "punctuator", "vad"];
function written(name, value) {
  if (["string", "number", "boolean"].includes(typeof value)) return String(value);
  if (Array.isArray(value) && value.every((one) => typeof one === "string")) return value.join("\n");
  if (Array.isArray(value) && value.every((one) => typeof one === "number")) return value.join(",");
  if (value !== null && typeof value === "object" && Object.getPrototypeOf(value) === Object.prototype)
    return Object.entries(value).map(([phrase, weight]) => `${phrase}\t${weight}`).join("\n");
  throw new TypeError(`option ${name}: expected a text, a number, true or false, or several of them`);
}

/** A steno_options of one call or stream. */
class Options {
  #module;
  #used = [];
  pointer;

  constructor(module, given) {
    this.#module = module;
    this.pointer = module._steno_options_new();
    if (this.pointer === 0) throw new StenoError("no_memory", "no memory for options");
    try {
      for (const [name, value] of Object.entries(given ?? {}))
        if (value !== undefined && value !== null) this.#set(name, value);
    } catch (failure) {
      this.end();
      throw failure;
    }
  }
  #set(name, value) {
    if (value instanceof Handle) {
      if (!helpers.includes(name) || value._kind !== name)
        throw new StenoError("misuse", `option ${name}: a ${value._kind} does not stand there`);
      this.#module[`_steno_options_use_${name}`](this.pointer, value._retain());
      this.#used.push(value);
      return;
    }
    with_scratch(this.#module, (scratch) => {
      call(this.#module, scratch, "steno_options_set", this.pointer, scratch.text(name),
           scratch.text(written(name, value)));
    });
  }
  end() {
    if (this.pointer !== 0) this.#module._steno_options_free(this.pointer);
    this.pointer = 0;
    for (const one of this.#used.splice(0)) one._release();
  }
}

/** f(options, scratch); the options and the memory are given back behind it. */
function with_options(module, given, f) {
  const options = new Options(module, given);
  try {
    return with_scratch(module, (scratch) => f(options.pointer, scratch));
  } finally {
    options.end();
  }
}

/** What a stream holds. Apart from it, so that a stream that is forgotten can be collected. */
class StreamParts {
  pointer = 0;
  sink;
  options;
  failure;

  constructor(owner, on_event) {
    this.module = owner._module;
    this.owner = owner;
    this.on_event = on_event;
    this.owned = owner._retain();
  }
  open(open_as, options) {
    this.options = new Options(this.module, options);
    this.sink = this.module.addFunction((event) => this.take(event), "iii");
    with_scratch(this.module, (scratch) => {
      const to = scratch.take(4);
      call(this.module, scratch, open_as, this.owned, this.options.pointer, this.sink, 0, to);
      this.pointer = this.module.HEAPU32[to >> 2];
    });
  }
  take(event) {
    try {
      this.on_event(with_scratch(this.module, (scratch) => event_at(this.module, scratch, event)));
      return 0;
    } catch (thrown) {
      this.failure = { thrown };
      return 1;
    }
  }
  give_back() {
    if (this.pointer !== 0) this.module._steno_stream_free(this.pointer);
    this.pointer = 0;
    if (this.sink !== undefined) this.module.removeFunction(this.sink);
    this.options?.end();
    this.owner._release();
  }
}

/** Audio that is worked at as it comes. */
export class Stream {
  #parts;
  #gone = false;
  #busy = false;

  constructor(owner, open_as, options, on_event) {
    if (typeof on_event !== "function") throw new TypeError("expected a function that takes events");
    const parts = (this.#parts = new StreamParts(owner, on_event));
    try {
      parts.open(open_as, options);
    } catch (failure) {
      parts.give_back();
      throw failure;
    }
    forgotten.register(this, () => parts.give_back(), this);
  }
  #call(name, ...given) {
    const parts = this.#parts, module = parts.module;
    if (this.#gone) throw new StenoError("misuse", "the stream is closed");
    if (this.#busy) throw new StenoError("misuse", "the stream is called from its own events");
    this.#busy = true;
    try {
      with_scratch(module, (scratch) => {
        const put = given.flatMap((one) => [put_samples(module, scratch, one), one.length]);
        call(module, scratch, name, parts.pointer, ...put);
      });
    } catch (failure) {
      const own = parts.failure;
      parts.failure = undefined;
      throw own === undefined ? failure : own.thrown;
    } finally {
      this.#busy = false;
      if (this.#gone) this.#give_back();
    }
  }
  push(samples) {
    this.#call("steno_stream_push", samples);
  }
  finish() {
    this.#call("steno_stream_finish");
  }
  get over() {
    return this.#gone || this.#parts.module._steno_stream_over(this.#parts.pointer) !== 0;
  }
  free() {
    if (this.#gone) return;
    this.#gone = true;
    if (!this.#busy) this.#give_back();
  }
  #give_back() {
    forgotten.unregister(this);
    this.#parts.give_back();
  }
}

/** A loaded model. */
export class Model extends Handle {
  /** `source`: the bytes of a packaged GGUF file, a Blob, a URL or, in Node.js, a path. */
  static async load(source) {
    return new Model(...(await load("model", source)));
  }
  get name() {
    return this._module.UTF8ToString(this._module._steno_model_name(this._pointer));
  }
  get sample_rate() {
    return this._module._steno_model_sample_rate(this._pointer);
  }
  get streams() {
    return this._module._steno_model_streams(this._pointer) !== 0;
  }
  get languages() {
    const count = this._module._steno_model_language_count(this._pointer);
    return Array.from({ length: count }, (_, i) =>
      this._module.UTF8ToString(this._module._steno_model_language(this._pointer, i)));
  }
  supports(option, { live = false } = {}) {
    return with_scratch(this._module, (scratch) =>
      this._module._steno_model_supports(this._pointer, scratch.text(option), live ? 1 : 0) !== 0);
  }
  transcribe(samples, { progress, ...options } = {}) {
    const module = this._module, pointer = this._retain();
    let failure, tell = 0;
    try {
      return with_options(module, options, (o, scratch) => {
        if (progress !== undefined)
          tell = module.addFunction((done, total) => {
            try {
              return progress(done, total) === false ? 1 : 0;
            } catch (thrown) {
              failure = { thrown };
              return 1;
            }
          }, "iddi");
        const to = scratch.take(4), from = put_samples(module, scratch, samples);
        call(module, scratch, "steno_transcribe_with_progress", pointer, from, samples.length, o, tell, 0, to);
        return take_result(module, scratch, module.HEAPU32[to >> 2]);
      });
    } catch (thrown) {
      throw failure === undefined ? thrown : failure.thrown;
    } finally {
      if (tell !== 0) module.removeFunction(tell);
      this._release();
    }
  }
  stream(options, on_event) {
    return new Stream(this, "steno_stream_open", options, on_event);
  }
}

/** A call that takes a recording and options, and gives a result. */
function of_recording(handle, name, samples, options) {
  const module = handle._module, pointer = handle._retain();
  try {
    return with_options(module, options, (o, scratch) => {
      const to = scratch.take(4);
      call(module, scratch, name, pointer, put_samples(module, scratch, samples), samples.length, o, to);
      return take_result(module, scratch, module.HEAPU32[to >> 2]);
    });
  } finally {
    handle._release();
  }
}

/** A model that knows who speaks when. */
export class Diarizer extends Handle {
  static async load(source) {
    return new Diarizer(...(await load("diarizer", source)));
  }
  get sample_rate() {
    return this._module._steno_diarizer_sample_rate(this._pointer);
  }
  get speakers() {
    return this._module._steno_diarizer_speakers(this._pointer);
  }
  diarize(samples, options) {
    return of_recording(this, "steno_diarize", samples, options);
  }
  stream(options, on_event) {
    return new Stream(this, "steno_diarizer_stream_open", options, on_event);
  }
}

/** A detector of speech. */
export class Vad extends Handle {
  /** `source` as of Model.load(), or "energy", which needs no file and takes samples of `sample_rate`. */
  static async load(source = "energy", sample_rate = 16000) {
    if (source !== "energy")
      return new Vad(...(await load("vad", source, (scratch, path) => [scratch.text(path), sample_rate])));
    const module = await library();
    return with_scratch(module, (scratch) => {
      const to = scratch.take(4);
      call(module, scratch, "steno_vad_load", scratch.text("energy"), sample_rate, to);
      return new Vad(module, "vad", module.HEAPU32[to >> 2]);
    });
  }
  get name() {
    return this._module.UTF8ToString(this._module._steno_vad_name(this._pointer));
  }
  get sample_rate() {
    return this._module._steno_vad_sample_rate(this._pointer);
  }
  detect(samples, options) {
    return of_recording(this, "steno_detect", samples, options);
  }
  stream(options, on_event) {
    return new Stream(this, "steno_vad_stream_open", options, on_event);
  }
}

/** A model for forced alignment. */
export class Aligner extends Handle {
  static async load(source) {
    return new Aligner(...(await load("aligner", source)));
  }
  get sample_rate() {
    return this._module._steno_aligner_sample_rate(this._pointer);
  }
  get max_seconds() {
    return this._module._steno_aligner_max_seconds(this._pointer);
  }
  align(samples, text, language = null) {
    const module = this._module, pointer = this._retain();
    try {
      return with_scratch(module, (scratch) => {
        const to = scratch.take(4), from = put_samples(module, scratch, samples);
        const spoken = language === null ? 0 : scratch.text(language);
        call(module, scratch, "steno_align", pointer, from, samples.length, scratch.text(text), spoken, to);
        return take_result(module, scratch, module.HEAPU32[to >> 2]);
      });
    } finally {
      this._release();
    }
  }
}

/** A punctuation model. */
export class Punctuator extends Handle {
  static async load(source) {
    return new Punctuator(...(await load("punctuator", source)));
  }
  punctuate(text) {
    const module = this._module, pointer = this._retain();
    try {
      return with_scratch(module, (scratch) => {
        const to = scratch.take(4);
        call(module, scratch, "steno_punctuate", pointer, scratch.text(text), to);
        const found = module.HEAPU32[to >> 2], written_text = module.UTF8ToString(found);
        module._steno_free(found);
        return written_text;
      });
    } finally {
      this._release();
    }
  }
}
