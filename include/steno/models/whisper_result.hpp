// steno/models/whisper_result.hpp - Whisper's segments and windows as everybody's result.
//
// Fields are those of `transcribe` (whisper/transcribe.py), and what became of each window. Tested in
// tests/pipelines/whisper_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/result.hpp>
#include <steno/models/whisper_transcribe.hpp>
#include <steno/tokenizers/whisper_tokens.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace whisper {

/// The enumerator's name, for results.
constexpr std::string_view whisper_stop_name(whisper_stop s) noexcept {
  return s == whisper_stop::end_of_text ? "end_of_text" : s == whisper_stop::sample_len ? "sample_len" : "context";
}

/// A segment of Whisper's as everybody's. `w`: its window.
STENO_ON_CALL STENO_COLD inline segment as_segment(whisper_segment s, const whisper_window_result& w, int language) {
  segment out;
  out.start = s.start;
  out.end = s.end;
  out.text = std::string(tokenizers::unicode::strip(s.text));
  out.token_ids = std::move(s.tokens);
  out.language = std::string(tokenizers::whisper_tokens::code(language));
  out.extra = {{"seek", static_cast<double>(s.seek)}, {"temperature", s.temperature},
               {"avg_logprob", s.avg_logprob},        {"compression_ratio", s.compression_ratio},
               {"no_speech_prob", s.no_speech_prob},  {"fallbacks", static_cast<double>(w.decodes - 1)}};
  out.stop_reason = whisper_stop_name(w.stop);
  // What it wrote, where that is not the text with a space before it.
  if (!s.text.empty() && s.text != " " + out.text) core::add_extra(out.extra, "raw_text", std::move(s.text));
  for (whisper_timed_word& from : s.words) {
    const auto text = std::string_view(from.text);
    const std::string_view bare = tokenizers::unicode::strip(text);
    const auto lead = bare.empty() ? text.size() : static_cast<std::size_t>(bare.data() - text.data());
    out.words.push_back({.text = std::string(text.substr(lead)),
                         .start = from.start,
                         .end = from.end,
                         .confidence = static_cast<float>(from.probability),
                         .how = timing::native,
                         .space = std::string(text.substr(0, lead))});
  }
  return out;
}

/// What became of every window, for the result.
STENO_ON_CALL STENO_COLD inline std::vector<core::window_report> as_reports(
    const std::vector<whisper_window_result>& windows) {
  std::vector<core::window_report> all;
  for (const whisper_window_result& w : windows)
    all.push_back({.start = w.first * 0.01,
                   .end = (w.first + w.frames) * 0.01,
                   .outcome = w.skipped ? "no_speech" : "text",
                   .stop_reason = std::string(whisper_stop_name(w.stop)),
                   .fallbacks = w.decodes - 1,
                   .temperature = w.temperature,
                   .avg_logprob = w.avg_logprob,
                   .compression_ratio = w.compression_ratio,
                   .no_speech_prob = w.no_speech_prob});
  return all;
}

/// All segments of a clip as one, from the clip's start to its end.
template <class Model>
STENO_COLD segment whisper_recognise(const Model& m, std::span<const float> pcm, const whisper_transcribe_options& o,
                                     context& c) {
  segment all;
  all.end = static_cast<double>(pcm.size()) / Model::sample_rate;
  whisper_transcribed t = whisper_transcribe(m, pcm, o, c);
  for (whisper_segment& part : t.segments) {
    const whisper_window_result& w = t.windows[part.window];
    segment s = as_segment(std::move(part), w, t.language);
    if (s.token_ids.empty()) continue;
    if (all.token_ids.empty()) {
      all.extra = std::move(s.extra);
      all.stop_reason = std::move(s.stop_reason);
    }
    if (!all.text.empty() && !s.text.empty()) all.text += ' ';
    all.text += s.text;
    all.token_ids.insert(all.token_ids.end(), s.token_ids.begin(), s.token_ids.end());
    for (word& w2 : s.words) all.words.push_back(std::move(w2));
  }
  all.language = std::string(tokenizers::whisper_tokens::code(t.language));
  return all;
}

}  // namespace whisper
}  // namespace STENO_ABI
}  // namespace steno
