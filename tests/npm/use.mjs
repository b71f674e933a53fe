// use.mjs PACKAGE SOURCES - the npm package in Node.js: texts of every model, streams, failures, workers, memory.
// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { test } from "node:test";

const [package_folder, sources] = process.argv.slice(2);
const in_package = (name) => import(pathToFileURL(`${package_folder}/${name}`));
const { Aligner, Diarizer, Model, Punctuator, StenoError, Vad, version } = await in_package("steno.mjs");
const { StenoWorker } = await in_package("worker.mjs");
const { library } = await in_package("library.mjs");

const model_file = (name) => `${sources}/examples/models/${name}.gguf`;
const recording = (name) => {
  const file = readFileSync(`${sources}/examples/audio/${name}.wav`);
  return new Int16Array(file.buffer.slice(file.byteOffset + 44, file.byteOffset + file.length));
};
const train = recording("train"), said = "the train to paris leaves in seven minutes";
const fails = (f, status, pattern) =>
  assert.throws(f, (e) => e instanceof StenoError && e.status === status && pattern.test(e.message));

test("its version is the package's", async () => {
  assert.equal(await version(), JSON.parse(readFileSync(`${package_folder}/package.json`)).version);
});

test("every model has the texts of every other system", async () => {
  const lines = readFileSync(`${sources}/tests/c/texts.txt`, "utf8").trim().split("\n");
  let last, model;
  for (const line of lines) {
    const [, name, audio, text] = line.match(/^(\S+) (\w+): (.*)$/);
    if (name !== last) {
      model?.free();
      model = await Model.load(model_file(name));
      last = name;
    }
    assert.equal(model.transcribe(recording(audio)).text, text, line);
  }
  model.free();
});

test("bytes, blobs and paths are the same model", async () => {
  const bytes = readFileSync(model_file("demo"));
  const all = [bytes, bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length), new Blob([bytes]),
               pathToFileURL(model_file("demo"))];
  for (const source of all) {
    const model = await Model.load(source);
    assert.equal(model.name, "sense_voice");
    assert.equal(model.transcribe(train).text, said);
    model.free();
  }
});

test("samples of every kind are the same recording", async () => {
  const model = await Model.load(model_file("demo"));
  const wanted = model.transcribe(train);
  assert.equal(wanted.segments[0].words.map((w) => w.text).join(" "), said);
  assert.ok(wanted.segments[0].words.every((w) => w.start < w.end && w.confidence > 0 && w.confidence <= 1));
  assert.equal(wanted.duration, train.length / model.sample_rate);
  assert.deepEqual(model.transcribe(Float32Array.from(train, (v) => v / 32768)), wanted);
  assert.deepEqual(model.transcribe(Float64Array.from(train, (v) => v / 32768)), wanted);
  assert.throws(() => model.transcribe([0, 0]), TypeError);
  assert.equal(model.transcribe(new Float32Array(0)).text, "");
  model.free();
});

test("a stream has the same events whatever the portions", async () => {
  for (const name of ["u2", "parakeet-eou", "demo"]) {
    const model = await Model.load(model_file(name));
    const finals = (size) => {
      const events = [];
      const stream = model.stream({}, (event) => events.push(event));
      for (let i = 0; i < train.length; i += size) stream.push(train.subarray(i, i + size));
      stream.finish();
      assert.ok(stream.over);
      stream.free();
      return events;
    };
    const wanted = finals(train.length);
    assert.equal(wanted.filter((e) => e.final && e.utterance.text !== "").map((e) => e.utterance.text).join(" "),
                 said, name);
    for (const size of [1600, 777, 16000]) assert.deepEqual(finals(size), wanted, `${name}, ${size}`);
    model.free();
  }
});

test("what is wrong is said by name", async () => {
  const model = await Model.load(model_file("demo"));
  fails(() => model.transcribe(train, { beam: "many" }), "error", /beam/);
  fails(() => model.transcribe(train, { bream: 4 }), "error", /bream/);
  fails(() => model.transcribe(train, { language: "klingon" }), "error", /klingon/);
  fails(() => model.transcribe(train, { aligner: model }), "misuse", /aligner/);
  await assert.rejects(Model.load(`${sources}/README.md`),
                       (e) => e.status === "error" && /^README.md: /.test(e.message));
  await assert.rejects(Model.load(`${sources}/nothing.gguf`),
                       (e) => e.status === "error" && /nothing.gguf/.test(e.message));
  await assert.rejects(Model.load(new Uint8Array(0)), (e) => e.status === "error" && /empty/.test(e.message));
  await assert.rejects(Model.load(17), TypeError);
  fails(() => model.transcribe(train, { progress: () => false }), "cancelled", /./);
  assert.throws(() => model.transcribe(train, { progress: () => { throw new RangeError("mine"); } }), RangeError);
  assert.equal(model.transcribe(train).text, said);
  model.free();
  model.free();
  fails(() => model.transcribe(train), "misuse", /closed/);
});

test("a stream ends as it should", async () => {
  const model = await Model.load(model_file("u2"));
  const broken = model.stream({}, () => { throw new RangeError("mine"); });
  assert.throws(() => broken.push(train), RangeError);
  assert.ok(broken.over);
  broken.free();
  let inner;
  const nested = model.stream({}, () => {
    inner ??= (() => { try { nested.push(train); } catch (e) { return e; } })();
  });
  nested.push(train);
  assert.equal(inner.status, "misuse");
  const leaving = model.stream({}, () => leaving.free());
  leaving.push(train);
  fails(() => leaving.push(train), "misuse", /closed/);
  model.free();  // and its stream goes on
  nested.finish();
  nested.free();
  fails(() => model.stream({}, () => {}), "misuse", /closed/);
  assert.throws(() => model.stream({}), TypeError);
});

test("speakers, speech, words and punctuation", async () => {
  const diarizer = await Diarizer.load(`${sources}/tests/golden/sortformer/model.gguf`);
  const vad = await Vad.load(model_file("fsmn-vad")), energy = await Vad.load();
  const aligner = await Aligner.load(model_file("qwen3-aligner"));
  const punctuator = await Punctuator.load(model_file("ct-punc"));
  assert.ok(diarizer.speakers > 1);
  assert.ok(diarizer.diarize(train, { onset: 0.4, offset: 0.4 }).segments.every((s) => /^speaker_\d$/.test(s.speaker)));
  for (const one of [vad, energy]) assert.equal(one.detect(train).segments.length, 1, one.name);
  const words = aligner.align(train, said, "English").segments[0].words;
  assert.equal(words.map((w) => w.text).join(" "), said);
  assert.ok(words.every((w, i) => w.start !== null && (i === 0 || w.start >= words[i - 1].start)));
  assert.match(punctuator.punctuate(said), /minutes[.?!]/i);
  const model = await Model.load(model_file("demo"));
  const helped = model.transcribe(train, { vad, aligner, punctuator });
  assert.match(helped.text, /minutes[.?!]$/i);
  assert.ok(helped.segments.every((s) => s.words.length > 0));
  for (const one of [diarizer, vad, energy, aligner, punctuator, model]) one.free();
});

test("two workers at once", async () => {
  const workers = await Promise.all([StenoWorker.open(), StenoWorker.open()]);
  const texts = await Promise.all(workers.map(async (worker) => {
    const model = await worker.load(model_file("demo"));
    const seen = [];
    const result = await model.transcribe(train, { progress: (done, total) => seen.push([done, total]) });
    assert.ok(seen.length > 0);
    await assert.rejects(model.transcribe(train, { bream: 1 }), (e) => e instanceof StenoError && e.status === "error");
    const live = await worker.load(model_file("u2")), finals = [];
    const stream = await live.stream({}, (e) => e.final && finals.push(e.utterance.text));
    for (let i = 0; i < train.length; i += 1600) await stream.push(train.subarray(i, i + 1600));
    await stream.finish();
    await stream.free();
    await live.free();
    assert.deepEqual(finals, [said]);
    return result.text;
  }));
  assert.deepEqual(texts, [said, said]);
  await Promise.all(workers.map((worker) => worker.close()));
  await assert.rejects(workers[0].load(model_file("demo")), /closed/);
});

test("memory returns to its level", async () => {
  const module = await library(), bytes = readFileSync(model_file("u2"));
  const round = async () => {
    const model = await Model.load(bytes);
    const stream = model.stream({}, () => {});
    stream.push(train.subarray(0, 3200));
    stream.free();
    model.free();
  };
  for (let i = 0; i < 20; ++i) await round();
  const before = module.HEAPU8.length, slot = module.addFunction(() => 0, "iii");
  for (let i = 0; i < 1000; ++i) await round();
  assert.equal(module.HEAPU8.length, before);
  const after = module.addFunction(() => 0, "iii");
  assert.ok(after <= slot + 1, "functions are given back, too");
  // What nobody freed, when it is collected.
  for (let i = 0; i < 30; ++i) {
    const model = await Model.load(bytes);
    model.stream({}, () => {}).push(train.subarray(0, 3200));
    for (let turn = 0; turn < 3; ++turn) {
      globalThis.gc();
      await new Promise((done) => setTimeout(done));
    }
  }
  assert.equal(module.HEAPU8.length, before);
  assert.ok(module.addFunction(() => 0, "iii") <= slot + 4);
});
