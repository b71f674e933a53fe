// steno/models/qwen3_aligner.hpp - Qwen3-ForcedAligner: when each word of a known text is spoken.
//
//   rows    = language model([<|audio_start|> audio <|audio_end|> word <timestamp><timestamp> word ...])
//   class   = argmax(lm_head(norm(row))) at every <timestamp>, times 80 ms: begin and end of the word before it
//   times   = repaired where they go back
//
// One pass, nothing is written. Follows `Qwen3ForcedAligner.align` (qwen_asr/inference/qwen3_forced_aligner.py); see
// docs/models/qwen3_asr.md. Tested in tests/parity/qwen3_aligner_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/result.hpp>
#include <steno/core/sorting.hpp>
#include <steno/models/qwen3.hpp>
#include <steno/networks/qwen3_writing.hpp>
#include <steno/search/time_repair.hpp>
#include <steno/text/qwen3_output.hpp>
#include <steno/tokenizers/aligned_words.hpp>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace qwen3 {

/// The words of a text and when they are spoken.
struct qwen3_alignment {
  std::vector<std::string> words;  ///< those that get times
  std::vector<int> classes;        ///< two for each word
  std::vector<long> times;         ///< milliseconds: begin and end of each word
};

/// Qwen3-ForcedAligner: when each word of a known text is spoken. Const and safe for threads, each with its own
/// context.
template <qwen3_sizes S>
class qwen3_aligner : public qwen3_thinker<S> {
 public:
  using base = qwen3_thinker<S>;  ///< front end, audio tower, language model, tokenizer
  /// As in qwen3_thinker.
  using base::audio_rows, base::encode, base::sample_rate, base::text, base::tokenizer, base::width;
  static constexpr std::string_view architecture = "qwen3_forced_aligner";  ///< `general.architecture` of its files
  /// The longest audio that the original gives it.
  static constexpr double max_seconds = 180;

  qwen3_aligner() = default;
  /// Front end, tokenizer and settings from the file's metadata; the weights are bound by load(). Throws steno::error.
  STENO_COLD explicit qwen3_aligner(const gguf_file& file)
      : base(file, architecture),
        timestamp(static_cast<int>(models::read_whole(file, "qwen3_forced_aligner.timestamp_token_id", 0, 1 << 24, 0))),
        segment_time(models::read_number(file, "qwen3_forced_aligner.timestamp_segment_time", 1, 10000, 80)) {
    if (file.has("qwen3_forced_aligner.korean_words")) {
      korean_words = file.strings("qwen3_forced_aligner.korean_words");
      core::sort_stably(korean_words);
    }
    begin_ = models::made_of(file, "tokenizer.ggml.tokens", [&] { return tokenizer.require("<|audio_start|>"); });
    end_ = models::made_of(file, "tokenizer.ggml.tokens", [&] { return tokenizer.require("<|audio_end|>"); });
  }

  int timestamp = 0;                      ///< id of the token that stands for a time
  double segment_time = 80;               ///< milliseconds of a class
  std::vector<std::string> korean_words;  ///< sorted; where the file has them

  void members(auto&& v) {
    base::members(v);
    v.within("qwen3_forced_aligner.timestamp_token_id among the rows of embed_tokens", timestamp, 0,
             text.vocabulary() - 1);
    v.within("qwen3_forced_aligner.timestamp_segment_time times rows of thinker.lm_head.weight, in ms",
             static_cast<extent>(std::min(segment_time * static_cast<double>(text.outputs()), 0x1p30 + 1)), 1000,
             extent{1} << 30);
  }

  /// Tokens behind the audio.
  STENO_COLD std::vector<int> prompt(const std::vector<std::string>& words) const {
    std::vector<int> ids = {end_};
    for (const std::string& w : words) {
      const std::vector<int> part = tokenizer.encode(w);
      ids.insert(ids.end(), part.begin(), part.end());
      ids.insert(ids.end(), {timestamp, timestamp});
    }
    if (words.empty()) ids.insert(ids.end(), {timestamp, timestamp});
    return ids;
  }
  /// Id of the token in front of the audio.
  int audio_begin() const noexcept { return begin_; }

  /// The words of a text that get times; `language` is a name or a code ("Korean", "ko", "ja").
  STENO_COLD std::vector<std::string> words_in(std::string_view what, std::string_view language) const {
    const auto is = [&](std::string_view code, std::string_view name) {
      return language == code || text::normal_language(language) == name;
    };
    if (is("ja", "Japanese")) return tokenizers::aligned_japanese_words(what);
    return is("ko", "Korean") && !korean_words.empty() ? tokenizers::aligned_korean_words(what, korean_words)
                                                       : tokenizers::aligned_words(what);
  }

  /// Mono samples at 16 kHz in [-1, 1] and what is spoken in them.
  qwen3_alignment align(std::span<const float> pcm, std::string_view what, context& c,
                        std::string_view language = {}) const {
    constexpr std::string_view given = "the text to align";
    check_prompt_text(given, what);
    qwen3_alignment a;
    a.words = words_in(what, language);
    if (a.words.empty()) return a;
    const std::vector<int> after = prompt(a.words);
    check_prompt_tokens(given, after.size());
    const extent audio = audio_rows(static_cast<extent>(pcm.size())), count = static_cast<extent>(after.size());
    core::workspace::frame scratch(c.scratch);
    auto x = scratch.template matrix<dynamic, width>(1 + audio + count, text.width());
    text.embed(std::span<const int>(&begin_, 1), x.topRows(1));
    encode(pcm, x.middleRows(1, audio), c);
    text.embed(after, x.bottomRows(count));
    auto scope = c.enter("text");
    nn::qwen3_decoder_state s;
    nn::qwen3_read(text, x, s, c);
    const auto n = static_cast<extent>(2 * a.words.size());
    auto slots = scratch.template matrix<dynamic, width>(n, text.width());
    extent row = 0;
    for (extent i = 0; i < count && row < n; ++i)
      if (after[static_cast<std::size_t>(i)] == timestamp) slots.row(row++) = x.row(1 + audio + i);
    auto scores = scratch.template matrix<dynamic, base::outputs>(n, text.outputs());
    text.logits(core::as<const float, dynamic, width>(slots), scores, c);
    std::vector<double> raw;
    for (extent i = 0; i < n; ++i) {
      const float* const at = scores.data() + i * scores.cols();
      a.classes.push_back(static_cast<int>(std::max_element(at, at + scores.cols()) - at));
      raw.push_back(a.classes.back() * segment_time);
    }
    a.times = search::repair_times(raw);
    return a;
  }

  /// The same as words of a result; `offset` seconds are added to the times.
  STENO_COLD std::vector<word> words_of(const qwen3_alignment& a, double offset = 0) const {
    std::vector<word> words;
    const auto seconds = [&](long ms) {
      return std::nearbyint((std::nearbyint(static_cast<double>(ms)) / 1000 + offset) * 1000) / 1000;
    };
    for (std::size_t i = 0; i < a.words.size(); ++i)
      words.push_back({.text = a.words[i],
                       .start = seconds(a.times[2 * i]),
                       .end = seconds(a.times[2 * i + 1]),
                       .confidence = 1,
                       .how = timing::aligned});
    return words;
  }

 private:
  int begin_ = 0, end_ = 0;
};

/// The published size: 5000 classes.
using qwen3_forced_aligner_0_6b = qwen3_aligner<qwen3_sizes{.audio_tower = {.mels = 128,
                                                                            .channels = 480,
                                                                            .width = 1024,
                                                                            .heads = 16,
                                                                            .units = 4096,
                                                                            .layers = 24,
                                                                            .half_chunk = 50,
                                                                            .block_frames = 800},
                                                            .text = {.width = 1024,
                                                                     .heads = 16,
                                                                     .key_heads = 8,
                                                                     .head_width = 128,
                                                                     .units = 3072,
                                                                     .layers = 28,
                                                                     .vocabulary = 152064,
                                                                     .outputs = 5000,
                                                                     .rope_theta = 1000000}}>;
/// Any size, adopted from the file.
using qwen3_forced_aligner_any = qwen3_aligner<qwen3_sizes{}>;

}  // namespace qwen3
}  // namespace STENO_ABI
}  // namespace steno
