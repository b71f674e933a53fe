// The options of models that write token by token, and of how their results are written: openai-whisper's names.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/pipelines/decoding_options.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format_writer.hpp"

namespace CLI {
class App;
}

namespace steno::app {

/// What the command line says before it is converted.
struct raw_decoding {
  std::string task = "transcribe";
  bool translate = false, no_fallback = false;
  std::string temperature, increment, suppress_tokens, clips, max_initial_timestamp;
  std::string compression_ratio, logprob, no_speech, hallucination, kv_cache;
};

void add_decoding(CLI::App& app, decoding_options& o, raw_decoding& raw);
/// `style` and `rows` take names, which find_style() and find_rows() know.
void add_writing(CLI::App& app, layout& l, std::string& style, std::string& rows);
/// Throws stop for what is no number.
void finish_decoding(decoding_options& o, const raw_decoding& raw);

/// Options as openai-whisper spells them: --best_of is --best-of, and "--flag True" is "--flag=true".
std::vector<std::string> usual_spelling(std::vector<std::string> arguments);

}  // namespace steno::app
