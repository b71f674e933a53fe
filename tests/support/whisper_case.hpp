// Golden cases of Whisper: checkpoints as users have them, and the original's options.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/models/whisper.hpp>
#include <steno/models/whisper_decode.hpp>
#include <steno/pipelines/whisper.hpp>

#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <string>

#include "convert/convert.hpp"
#include "support/golden.hpp"
#include "support/json_file.hpp"

namespace steno::test {

/// The checkpoint of a case; openai's .pt is copied to `scratch`, with its tokenizer in "assets" beside it.
inline std::filesystem::path whisper_checkpoint(const std::filesystem::path& shared, const std::string& name,
                                                const std::filesystem::path& scratch) {
  const std::filesystem::path at = shared / "golden/whisper" / name / "checkpoint";
  if (name == "en") return at / "ggml/ggml-model.bin";
  if (name == "v3") return at / "hf";
  std::filesystem::create_directories(scratch / "assets");
  std::filesystem::copy_file(shared / "assets/whisper/multilingual.tiktoken", scratch / "assets/multilingual.tiktoken");
  std::filesystem::copy_file(at / "openai/model.pt", scratch / "model.pt");
  return scratch / "model.pt";
}

inline whisper::whisper_any converted_whisper(const std::filesystem::path& shared, const std::string& name,
                                              dtype type = dtype::f32) {
  const temporary_directory scratch;
  const std::filesystem::path file = scratch.path() / "model.gguf";
  convert(whisper_checkpoint(shared, name, scratch.path()), file, {.type = type});
  return load<whisper::whisper_any>(file.string());  // stays mapped when the name goes away
}

/// DecodingOptions written as JSON.
inline whisper::whisper_decode_options decode_options(const whisper::whisper_any& model, const nlohmann::json& j) {
  whisper::whisper_decode_options o;
  if (j.contains("language")) o.language = model.tokenizer.find_language(j["language"].get<std::string>());
  o.translate = j.value("task", "transcribe") == std::string("translate");
  o.beam_size = j.value("beam_size", 0);
  o.patience = j.value("patience", 1.0);
  if (j.contains("length_penalty")) o.length_penalty = j["length_penalty"].get<double>();
  o.prompt = j.value("prompt", std::vector<int>{});
  o.prefix = j.value("prefix", std::vector<int>{});
  o.sample_len = j.value("sample_len", 0);
  o.without_timestamps = j.value("without_timestamps", false);
  o.suppress_blank = j.value("suppress_blank", true);
  o.suppress = j.value("suppress_tokens", std::string("-1")) == "-1";
  if (j.contains("max_initial_timestamp") && j["max_initial_timestamp"].is_null()) o.max_initial_timestamp.reset();
  return o;
}

}  // namespace steno::test
