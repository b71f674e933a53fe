// The models that are damaged and what is done with each: bundled demo models, the compact golden ones, and, where the
// full golden set is present, checkpoints of the other families after steno-convert.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace steno::damage {

/// A command with MODEL, WAV, TEXT and OUT in the places of these files.
struct use {
  std::string name;  ///< transcribe, stream, ...
  std::vector<std::string> arguments;
  std::string right = {};  ///< what it writes to standard output with the undamaged model
};

struct corpus_model {
  std::string name;  ///< in the names of cases: demo, whisper, golden-sortformer, ...
  std::filesystem::path file;
  std::string architecture;
  std::vector<use> uses;
};

/// Programs and scratch files.
struct workplace {
  std::string steno, convert;     ///< the programs
  std::filesystem::path scratch;  ///< a folder of our own, in memory where possible
  std::filesystem::path sound, text;
};

/// The models called `names` (all when empty) that are there; conversions go to the scratch folder.
std::vector<corpus_model> corpus(const workplace& at, const std::vector<std::string>& names);

/// The command of `u` with `model` in its place; what it writes goes to `out`.
std::vector<std::string> command_line(const workplace& at, const use& u, const std::string& model,
                                      const std::string& out);

}  // namespace steno::damage
