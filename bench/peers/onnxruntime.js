// bench/peers/onnxruntime.js PACKAGES GRAPHS [OPTIMISED] - times the graphs of bench/peers/onnxruntime_models in
// onnxruntime: one thread, all of its optimisations. PACKAGES is where onnxruntime-node was installed. For each line
// `NAME SECONDS` on the standard input, such as `sanm_layer_100-int8 0.1`, it runs that graph for so long, at least
// once, after half that time of turns that do not count, and prints a line of JSON: count, and least, median and mean
// in milliseconds.
//
// A graph's first line loads it and compares what it makes with what torch made: `error` is the norm of the difference
// by the norm of torch's, the largest of all results; beyond what NAME.json allows, the program ends. A turn takes the
// first result alone out of onnxruntime. The optimised graphs are written into OPTIMISED.
// SPDX-License-Identifier: Apache-2.0
'use strict';
const fs = require('node:fs');
const path = require('node:path');
const readline = require('node:readline');

const [packages, graphs, optimised] = process.argv.slice(2);
if (!graphs) {
  console.error('usage: onnxruntime.js PACKAGES GRAPHS [OPTIMISED]');
  process.exit(2);
}
const {InferenceSession, Tensor} = require(path.resolve(packages, 'node_modules', 'onnxruntime-node'));

const types = {float32: Float32Array, int64: BigInt64Array};
const loaded = new Map();

function tensors(described, bytes) {
  return described.map(({name, type, shape, at}) => {
    const count = shape.reduce((a, b) => a * b, 1);
    return {name, type, shape, values: new types[type](bytes, at, count)};
  });
}

function difference(got, wanted) {
  let off = 0, all = 0;
  for (let i = 0; i < wanted.length; ++i) {
    off += (got[i] - wanted[i]) ** 2;
    all += wanted[i] ** 2;
  }
  return got.length === wanted.length ? Math.sqrt(off / all) : Infinity;
}

async function load(graph) {
  const [, name, format] = /^(.*)-(\w+)$/.exec(graph);
  const about = JSON.parse(fs.readFileSync(path.join(graphs, `${name}.json`), 'utf8'));
  const data = fs.readFileSync(path.join(graphs, `${name}.bin`));
  const bytes = data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength);
  const session = await InferenceSession.create(path.join(graphs, `${graph}.onnx`), {
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
    executionMode: 'sequential',
    graphOptimizationLevel: 'all',
    ...(optimised ? {optimizedModelFilePath: path.join(optimised, `${graph}.onnx`)} : {}),
  });
  const inputs = {};
  for (const t of tensors(about.inputs, bytes)) inputs[t.name] = new Tensor(t.type, t.values, t.shape);
  const got = await session.run(inputs);
  let error = 0;
  for (const t of tensors(about.outputs, bytes)) error = Math.max(error, difference(got[t.name].data, t.values));
  if (!(error <= about.tolerance[format])) {
    throw new Error(`${graph}: results are off by ${error}, more than ${about.tolerance[format]}`);
  }
  return {session, inputs, first: [about.outputs[0].name], error};
}

async function measure(graph, seconds) {
  if (!loaded.has(graph)) loaded.set(graph, await load(graph));
  const {session, inputs, first, error} = loaded.get(graph);
  const turns = async (milliseconds) => {
    const times = [];
    const end = performance.now() + milliseconds;
    do {
      const from = performance.now();
      await session.run(inputs, first);
      times.push(performance.now() - from);
    } while (performance.now() < end);
    return times;
  };
  await turns(500 * seconds);
  const times = await turns(1000 * seconds);
  const mean = times.reduce((a, b) => a + b) / times.length;
  times.sort((a, b) => a - b);
  const middle = times.length >> 1;
  const median = times.length % 2 ? times[middle] : (times[middle - 1] + times[middle]) / 2;
  return {name: graph, count: times.length, least: times[0], median, mean, error};
}

(async () => {
  for await (const line of readline.createInterface({input: process.stdin})) {
    const [graph, seconds] = line.trim().split(/\s+/);
    if (graph) console.log(JSON.stringify(await measure(graph, Number(seconds))));
  }
})().catch((e) => {
  console.error(`onnxruntime.js: ${e.message}`);
  process.exit(1);
});
