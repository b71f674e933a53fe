// The side of worker.mjs that runs in the worker: models and streams by number, one message for each call.
// SPDX-License-Identifier: Apache-2.0
import { Model } from "./handles.mjs";
import { StenoError, in_node } from "./library.mjs";

const port = in_node ? (await import("node:worker_threads")).parentPort : globalThis;
const things = new Map();
let last = 0;

function keep(thing) {
  things.set(++last, thing);
  return last;
}
function thing(number) {
  const found = things.get(number);
  if (found === undefined) throw new StenoError("misuse", "it is closed");
  return found;
}

const calls = {
  async load(_, source) {
    const model = await Model.load(source);
    const { name, sample_rate, streams, languages } = model;
    return { number: keep(model), facts: { name, sample_rate, streams, languages } };
  },
  supports: (model, option, how) => thing(model).supports(option, how),
  transcribe(model, samples, options, id, progress) {
    const tell = progress ? { progress: (done, total) => port.postMessage({ id, progress: [done, total] }) } : {};
    return thing(model).transcribe(samples, { ...options, ...tell });
  },
  stream(model, options) {
    const number = last + 1;
    return keep(thing(model).stream(options, (event) => port.postMessage({ stream: number, event })));
  },
  push: (stream, samples) => thing(stream).push(samples),
  finish: (stream) => thing(stream).finish(),
  over: (stream) => thing(stream).over,
  free(number) {
    things.get(number)?.free();
    things.delete(number);
  },
};

// One after the other, in the order in which they came: loading is the only call that waits for something else.
let turn = Promise.resolve();
function take({ id, name, number, given }) {
  turn = turn.then(async () => {
    try {
      port.postMessage({ id, value: await calls[name](number, ...given) });
    } catch (failure) {
      port.postMessage({ id, failure: { status: failure.status, message: failure.message } });
    }
  });
}
if (in_node) port.on("message", take);
else port.onmessage = (message) => take(message.data);
