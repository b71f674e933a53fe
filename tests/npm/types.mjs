// types.mjs PACKAGE SOURCES - what the declarations of the npm package allow, and what they refuse.
// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import ts from "typescript";

const [package_folder, sources] = process.argv.slice(2);
const begin = `import { Diarizer, Model, StenoError, Vad, version, type Result, type StreamEvent } from "steno";
import { StenoWorker } from "steno/worker";
declare const model: Model, samples: Float32Array;
`;
const allowed = `
const vad = await Vad.load();
const result: Result = model.transcribe(samples, {
  language: "en", beam: 5, hotwords: ["a"], vad, progress: (d, t) => d < t,
});
const text: string = result.segments[0].words[0].text;
const stream = model.stream({ diarizer: await Diarizer.load(new Uint8Array(3)) },
                            (e: StreamEvent) => console.log(e.final, text));
stream.push(new Int16Array(3));
stream.finish();
stream.free();
const worker = await StenoWorker.open(), far = await worker.load(new Blob([]));
console.log((await far.transcribe(samples, { beam: 5, progress: (d, t) => console.log(d, t) })).text, await version());
try { await worker.close(); } catch (e) { if (e instanceof StenoError) console.log(e.status === "misuse"); }
`;
const refused = ["model.transcribe([0, 1]);", "model.stream({});", "new Model();",
                 "model.transcribe(samples, { beam: () => 5 + '' });",
                 "const words: string = model.transcribe(samples).segments[0].words;", "await Model.load(17);"];
const folder = mkdtempSync(`${tmpdir()}/steno-types-`);
function messages(program) {
  const file = `${folder}/program.ts`;
  writeFileSync(file, begin + program + "\nexport {};\n");
  const made = ts.createProgram([file], {
    noEmit: true, strict: true, module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2022, lib: ["lib.es2022.d.ts", "lib.dom.d.ts"], types: [],
  });
  return ts.getPreEmitDiagnostics(made).map((d) => ts.flattenDiagnosticMessageText(d.messageText, "\n"));
}
try {
  mkdirSync(`${folder}/node_modules/steno`, { recursive: true });
  writeFileSync(`${folder}/package.json`, '{"type": "module"}');
  cpSync(`${package_folder}/package.json`, `${folder}/node_modules/steno/package.json`);
  for (const name of ["steno", "worker"])
    cpSync(`${sources}/tools/npm/steno/${name}.d.ts`, `${folder}/node_modules/steno/${name}.d.ts`);
  assert.deepEqual(messages(allowed), []);
  for (const program of refused) assert.notEqual(messages(program).length, 0, program);
} finally {
  rmSync(folder, { recursive: true });
}
