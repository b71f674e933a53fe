// steno for JavaScript: README.md says what there is, steno.d.ts what it takes and gives.
// SPDX-License-Identifier: Apache-2.0
import { library } from "./library.mjs";

export { StenoError } from "./library.mjs";
export { Aligner, Diarizer, Model, Punctuator, Stream, Vad } from "./handles.mjs";

/** The library's version. */
export async function version() {
  const module = await library();
  return module.UTF8ToString(module._steno_version());
}
