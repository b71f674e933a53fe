// document.mjs PACKAGE SOURCES - the programs of docs/javascript.md for Node.js write what stands below them.
// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";

const [package_folder, sources] = process.argv.slice(2);
const page = readFileSync(`${sources}/docs/javascript.md`, "utf8");
const programs = [...page.matchAll(/```js\n([^`]*)```\n```text\n([^`]*)```/g)];
assert.ok(programs.length >= 2);
const folder = mkdtempSync(`${tmpdir()}/steno-npm-`);
try {
  mkdirSync(`${folder}/node_modules`);
  symlinkSync(package_folder, `${folder}/node_modules/steno`);
  symlinkSync(`${sources}/examples`, `${folder}/examples`);
  for (const [, program, wanted] of programs) {
    writeFileSync(`${folder}/program.mjs`, program);
    assert.equal(execFileSync(process.execPath, ["program.mjs"], { cwd: folder, encoding: "utf8" }), wanted);
  }
} finally {
  rmSync(folder, { recursive: true });
}
