// SPDX-License-Identifier: Apache-2.0
import type { Progress, Result, Samples, Sink, Source, Value } from "./steno.js";

/** A worker with models. Its calls are promises and are worked at one after the other. */
export class StenoWorker {
  private constructor();
  static open(): Promise<StenoWorker>;
  /** As Model.load(). */
  load(source: Source): Promise<WorkerModel>;
  /** Ends the worker and everything in it. */
  close(): Promise<void>;
}

export interface WorkerOptions {
  [name: string]: Value | Progress;
  /** Is told, and cannot end the call: close() can. */
  progress?: (done: number, total: number) => void;
}

/** Model, in a worker. */
export interface WorkerModel {
  readonly name: string;
  readonly sample_rate: number;
  readonly streams: boolean;
  readonly languages: string[];
  supports(option: string, how?: { live?: boolean }): Promise<boolean>;
  transcribe(samples: Samples, options?: WorkerOptions): Promise<Result>;
  stream(options: { [name: string]: Value } | undefined, on_event: Sink): Promise<WorkerStream>;
  free(): Promise<void>;
}

/** Stream, in a worker. Events come before the promise of the call that made them is kept. */
export interface WorkerStream {
  push(samples: Samples): Promise<void>;
  finish(): Promise<void>;
  free(): Promise<void>;
}
