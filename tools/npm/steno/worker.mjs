// Models in a worker: the page, or Node's other work, goes on while they listen.
// SPDX-License-Identifier: Apache-2.0
import { StenoError, in_node } from "./library.mjs";

/** A worker with models. Its calls are promises and are worked at one after the other. */
export class StenoWorker {
  #worker;
  #waiting = new Map();
  #streams = new Map();
  #last = 0;
  #closed;

  static async open() {
    const where = new URL("served.mjs", import.meta.url);
    const Kind = in_node ? (await import("node:worker_threads")).Worker : Worker;
    return new StenoWorker(in_node ? new Kind(where) : new Kind(where, { type: "module" }));
  }
  constructor(worker) {
    this.#worker = worker;
    const fail = (failure) => this.#end(new StenoError("error", `the worker ended: ${failure?.message ?? failure}`));
    if (in_node) {
      worker.on("message", (message) => this.#take(message));
      worker.on("error", fail);
      worker.on("exit", (code) => fail(`exit status ${code}`));
    } else {
      worker.onmessage = (message) => this.#take(message.data);
      worker.onerror = fail;
    }
  }
  #take({ id, value, failure, progress, stream, event }) {
    if (event !== undefined) return this.#streams.get(stream)?.(event);
    const call = this.#waiting.get(id);
    if (progress !== undefined) return call?.progress?.(...progress);
    this.#waiting.delete(id);
    if (failure === undefined) call?.done(value);
    else call?.failed(failure.status === undefined ? new Error(failure.message)
                                                   : new StenoError(failure.status, failure.message));
  }
  #end(failure) {
    this.#closed ??= failure;
    for (const call of this.#waiting.values()) call.failed(this.#closed);
    this.#waiting.clear();
    this.#streams.clear();
  }
  _call(name, number, given, progress, transfer = []) {
    if (this.#closed !== undefined) return Promise.reject(this.#closed);
    const id = ++this.#last;
    return new Promise((done, failed) => {
      this.#waiting.set(id, { done, failed, progress });
      this.#worker.postMessage({ id, name, number, given: [...given, id, progress !== undefined] }, transfer);
    });
  }
  /** As Model.load(). */
  async load(source) {
    const { number, facts } = await this._call("load", 0, [source]);
    return new WorkerModel(this, number, facts);
  }
  async _open(model, options, on_event) {
    if (typeof on_event !== "function") throw new TypeError("expected a function that takes events");
    const number = await this._call("stream", model, [options]);
    this.#streams.set(number, on_event);
    return new WorkerStream(this, number, () => this.#streams.delete(number));
  }
  /** Ends the worker and everything in it. */
  async close() {
    this.#end(new StenoError("misuse", "the worker is closed"));
    await this.#worker.terminate();
  }
}

class WorkerModel {
  #worker;
  #number;

  constructor(worker, number, facts) {
    this.#worker = worker;
    this.#number = number;
    Object.assign(this, facts);
  }
  supports(option, how) {
    return this.#worker._call("supports", this.#number, [option, how]);
  }
  transcribe(samples, { progress, ...options } = {}) {
    return this.#worker._call("transcribe", this.#number, [samples, options], progress);
  }
  stream(options, on_event) {
    return this.#worker._open(this.#number, options, on_event);
  }
  free() {
    return this.#worker._call("free", this.#number, []);
  }
}

class WorkerStream {
  #worker;
  #number;
  #forget;

  constructor(worker, number, forget) {
    this.#worker = worker;
    this.#number = number;
    this.#forget = forget;
  }
  push(samples) {
    return this.#worker._call("push", this.#number, [samples]);
  }
  finish() {
    return this.#worker._call("finish", this.#number, []);
  }
  async free() {
    await this.#worker._call("free", this.#number, []);
    this.#forget();
  }
}
