// What the tests of Qwen3-ASR share: the checkpoints of the golden cases, converted in memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/models/qwen3_asr.hpp>
#include <steno/pipelines/qwen3_asr.hpp>

#include "convert/convert.hpp"
#include "support/golden.hpp"
#include "support/json_file.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <string>

namespace steno::test {

template <class Model = qwen3::qwen3_asr_any>
Model converted_qwen3(const std::filesystem::path& shared, const std::string& name, dtype type = dtype::f32) {
  const temporary_directory scratch;
  const std::filesystem::path file = scratch.path() / "model.gguf";
  convert(shared / "golden/qwen3_asr" / name / "checkpoint", file, {.type = type});
  return load<Model>(file.string());  // stays mapped when the name goes away
}

}  // namespace steno::test
