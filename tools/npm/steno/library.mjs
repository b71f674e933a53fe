// The WebAssembly module and its memory: what handles.mjs and results.mjs stand on.
// SPDX-License-Identifier: Apache-2.0
import create_module from "./module.mjs";

export const in_node = typeof process === "object" && typeof process.versions?.node === "string";

/** What went wrong: `status` is "error", "no_memory", "cancelled" or "misuse". */
export class StenoError extends Error {
  constructor(status, message) {
    super(message);
    this.name = "StenoError";
    this.status = status;
  }
}
const statuses = ["ok", "error", "no_memory", "cancelled", "misuse"];

/** The bytes of a file: themselves, a Blob, or what lies at a URL or, in Node.js, at a path. */
export async function bytes_of(source) {
  if (source instanceof Uint8Array) return source;
  if (source instanceof ArrayBuffer) return new Uint8Array(source);
  if (typeof Blob === "function" && source instanceof Blob) return new Uint8Array(await source.arrayBuffer());
  if (typeof source !== "string" && !(source instanceof URL))
    throw new TypeError("expected bytes, a Blob, a URL or, in Node.js, a path");
  const text = String(source);
  if (in_node && !/^https?:/.test(text)) {
    const { readFile } = await import("node:fs/promises");
    try {
      return await readFile(text.startsWith("file:") ? new URL(text) : text);
    } catch (failure) {
      throw new StenoError("error", `${text}: cannot read the file: ${failure.message}`);
    }
  }
  const answer = await fetch(source);
  if (!answer.ok) throw new StenoError("error", `${text}: the server says ${answer.status} ${answer.statusText}`);
  return new Uint8Array(await answer.arrayBuffer());
}

let starting;
/** The module, which is started once. The C interface prints nothing. */
export function library() {
  starting ??= (async () => {
    const wasmBinary = await bytes_of(new URL("module.wasm", import.meta.url));
    return create_module({ wasmBinary, print() {}, printErr() {} });
  })();
  return starting;
}

/** Memory of one call, given back by end(). */
export class Scratch {
  #module;
  #pieces = [];

  constructor(module) {
    this.#module = module;
  }
  /** `bytes` zeros. */
  take(bytes) {
    const at = this.#module._malloc(Math.max(bytes, 1));
    if (at === 0) throw new StenoError("no_memory", `no memory for ${bytes} bytes`);
    this.#pieces.push(at);
    this.#module.HEAPU8.fill(0, at, at + bytes);
    return at;
  }
  text(value) {
    const bytes = this.#module.lengthBytesUTF8(value) + 1, at = this.take(bytes);
    this.#module.stringToUTF8(value, at, bytes);
    return at;
  }
  end() {
    for (const at of this.#pieces) this.#module._free(at);
    this.#pieces = [];
  }
}

/** f(scratch), whose memory is given back behind it. */
export function with_scratch(module, f) {
  const scratch = new Scratch(module);
  try {
    return f(scratch);
  } finally {
    scratch.end();
  }
}

/** A function of the C interface that can fail; its last argument, the message, is made here. */
export function call(module, scratch, name, ...given) {
  const message = scratch.take(4);
  const status = module[`_${name}`](...given, message);
  if (status === 0) return;
  const at = module.HEAPU32[message >> 2];
  const text = at === 0 ? `${name}: ${statuses[status]}` : module.UTF8ToString(at);
  module._steno_free(at);
  throw new StenoError(statuses[status] ?? "error", text);
}

/** Samples in the module's memory, as floats in [-1, 1]. */
export function put_samples(module, scratch, samples) {
  const kinds = [Float32Array, Float64Array, Int16Array];
  if (!kinds.some((kind) => samples instanceof kind))
    throw new TypeError("samples: expected a Float32Array, a Float64Array or an Int16Array");
  const at = scratch.take(4 * samples.length);
  const to = module.HEAPF32.subarray(at >> 2, (at >> 2) + samples.length);
  if (samples instanceof Int16Array) for (let i = 0; i < to.length; ++i) to[i] = samples[i] / 32768;
  else to.set(samples);
  return at;
}
