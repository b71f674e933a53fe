// The environment of Node.js as that of a program in WebAssembly: where the golden set is, whether this is CI.
// SPDX-License-Identifier: Apache-2.0
Module.preRun = [() => Object.assign(ENV, process.env)];
