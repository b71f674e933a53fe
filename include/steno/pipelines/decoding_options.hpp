// steno/pipelines/decoding_options.hpp - what models that write token by token may be set to, under the names that
// openai/whisper gave it where it has it.
//
// What is not set is the model's own default. Its family says which a model supports (family.hpp); others are an error.
// Tested in tests/pipelines/whisper_test.cpp and tests/transcriber/options_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/dtype.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace steno {
inline namespace STENO_ABI {

/// What is not set is the model's own default.
struct decoding_options {
  std::optional<bool> translate = {};                          ///< into English
  std::optional<std::vector<double>> temperature = {};         ///< the first, and those for windows that fail with it
  std::optional<int> best_of = {};                             ///< samples at a temperature above 0
  std::optional<double> patience = {};                         ///< of a beam: how many more hypotheses may end
  std::optional<double> length_penalty = {};                   ///< of hypotheses that are compared
  std::optional<std::vector<int>> suppress_tokens = {};        ///< never written; -1: symbols that nobody speaks
  std::optional<std::string> initial_prompt = {};              ///< text before the recording: names, style
  std::optional<bool> carry_initial_prompt = {};               ///< before every window, not the first alone
  std::optional<bool> condition_on_previous_text = {};         ///< what was written is the next window's prompt
  std::optional<double> compression_ratio_threshold = {};      ///< above it a window has failed: it repeats itself
  std::optional<double> logprob_threshold = {};                ///< below it a window has failed: it is improbable
  std::optional<double> no_speech_threshold = {};              ///< above it a window that has failed holds no speech
  std::optional<bool> without_timestamps = {};                 ///< text without times
  std::optional<double> max_initial_timestamp = {};            ///< seconds; off: none
  std::optional<bool> word_timestamps = {};                    ///< times of words
  std::optional<std::string> prepend_punctuations = {};        ///< marks that join the word behind them
  std::optional<std::string> append_punctuations = {};         ///< marks that join the word in front of them
  std::optional<std::vector<double>> clip_timestamps = {};     ///< seconds: start, end, start, ...
  std::optional<double> hallucination_silence_threshold = {};  ///< seconds of silence around what may be invented
  std::optional<std::uint64_t> seed = {};                      ///< of samples
  // Of language models (Qwen3-ASR, Fun-ASR-Nano), under the names that transformers gave the first three:
  std::optional<int> top_k = {};           ///< samples are among so many best tokens; 0: all
  std::optional<double> top_p = {};        ///< samples are among the best tokens that hold so much together
  std::optional<int> max_new_tokens = {};  ///< of a clip
  std::optional<int> max_repeats = {};     ///< rounds of a pattern of words in a row; 0: as it comes
  std::optional<dtype> kv_cache = {};      ///< how keys and values are kept: f32, f16 or q8_0

  /// A threshold that is switched off.
  static constexpr double off = std::numeric_limits<double>::quiet_NaN();

  /// f(name, member) for each of them.
  template <class Self, class F>
  static void each(Self& self, F&& f) {
    f("translate", self.translate);
    f("temperature", self.temperature);
    f("best_of", self.best_of);
    f("patience", self.patience);
    f("length_penalty", self.length_penalty);
    f("suppress_tokens", self.suppress_tokens);
    f("initial_prompt", self.initial_prompt);
    f("carry_initial_prompt", self.carry_initial_prompt);
    f("condition_on_previous_text", self.condition_on_previous_text);
    f("compression_ratio_threshold", self.compression_ratio_threshold);
    f("logprob_threshold", self.logprob_threshold);
    f("no_speech_threshold", self.no_speech_threshold);
    f("without_timestamps", self.without_timestamps);
    f("max_initial_timestamp", self.max_initial_timestamp);
    f("word_timestamps", self.word_timestamps);
    f("prepend_punctuations", self.prepend_punctuations);
    f("append_punctuations", self.append_punctuations);
    f("clip_timestamps", self.clip_timestamps);
    f("hallucination_silence_threshold", self.hallucination_silence_threshold);
    f("seed", self.seed);
    f("top_k", self.top_k);
    f("top_p", self.top_p);
    f("max_new_tokens", self.max_new_tokens);
    f("max_repeats", self.max_repeats);
    f("kv_cache", self.kv_cache);
  }
  /// Whether one has this name.
  STENO_ON_CALL STENO_COLD static bool has(std::string_view wanted) {
    bool found = false;
    const decoding_options none;
    each(none, [&](std::string_view name, const auto&) { found = found || wanted == name; });
    return found;
  }
  /// Names of those that are set.
  STENO_ON_CALL STENO_COLD std::vector<std::string> names() const {
    std::vector<std::string> all;
    const auto add = [&](const char* name, bool set) {
      if (set) all.push_back(name);
    };
    each(*this, [&](const char* name, const auto& option) { add(name, option.has_value()); });
    return all;
  }
};

namespace pipelines {
/// Options that language models take (Qwen3-ASR, Fun-ASR-Nano), and Whisper does not.
constexpr bool of_language_models(std::string_view name) {
  return name == "top_k" || name == "top_p" || name == "max_new_tokens" || name == "max_repeats" || name == "kv_cache";
}
}  // namespace pipelines

}  // namespace STENO_ABI
}  // namespace steno
