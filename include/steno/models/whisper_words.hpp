// steno/models/whisper_words.hpp - times of words from the decoder's attention.
//
// Follows `find_alignment`, `merge_punctuations` and `add_word_timestamps` (whisper/timing.py), with the rules for
// words that are too long. Tested in tests/parity/whisper_transcribe_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/sorting.hpp>
#include <steno/kernels/softmax.hpp>
#include <steno/models/whisper_window.hpp>
#include <steno/networks/whisper_decoder.hpp>
#include <steno/search/time_warping.hpp>
#include <steno/tokenizers/whisper_tokens.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace whisper {

/// A word with times.
struct whisper_timed_word {
  std::string text;        ///< with the space before it and the marks that join it
  std::vector<int> ids;    ///< its tokens
  double start = 0;        ///< seconds
  double end = 0;          ///< seconds
  double probability = 0;  ///< mean of its tokens' probabilities
};

/// A piece of the result.
struct whisper_segment {
  int seek = 0;                           ///< first frame (10 ms) of the window
  double start = 0;                       ///< seconds of the recording
  double end = 0;                         ///< seconds of the recording
  std::string text;                       ///< of the tokens, as the model wrote it
  std::vector<int> tokens;                ///< those for times among them
  double temperature = 0;                 ///< at which its window was decoded
  double avg_logprob = 0;                 ///< of its window: see whisper_decoded
  double compression_ratio = 0;           ///< of its window: see whisper_decoded
  double no_speech_prob = 0;              ///< of its window: see whisper_decoded
  std::vector<whisper_timed_word> words;  ///< empty unless they were wanted
  std::size_t window = 0;                 ///< number of the window it is from
};

/// Words of `text` with times in the window of `w`, of which `frames` frames count. An id that is no text (eot and
/// above), which the original never has here, keeps its place and has no probability.
template <class Model>
STENO_COLD std::vector<whisper_timed_word> whisper_align(const Model& m, whisper_window& w,
                                                         const std::vector<int>& text, int language, bool translate,
                                                         extent frames, context& c) {
  const tokenizers::whisper_tokens& t = m.tokenizer;
  if (text.empty()) return {};
  std::vector<int> ids = t.start(language, translate);
  const auto before = static_cast<extent>(ids.size());
  ids.push_back(t.no_timestamps);
  ids.insert(ids.end(), text.begin(), text.end());
  ids.push_back(t.eot);
  const auto n = static_cast<extent>(ids.size()), count = static_cast<extent>(text.size());
  if (n > m.decoder.context_size()) return {};

  std::vector<std::pair<int, int>> heads = m.alignment_heads;
  if (heads.empty()) {
    const auto layers = static_cast<int>(m.decoder.blocks().size());
    const auto each = static_cast<int>(m.decoder.cross_heads(0));
    for (int l = layers / 2; l < layers; ++l)
      for (int h = 0; h < each; ++h) heads.emplace_back(l, h);
  }
  core::workspace::frame scratch(c.scratch);
  float* const scores = scratch.template take<float>(heads.size() * static_cast<std::size_t>(n * w.rows()));
  auto rows = scratch.matrix(n, m.decoder.width());
  w.text.clear();
  m.prompt_rows(ids, w, rows, c, nn::cross_attention_scores{heads, scores});
  std::vector<double> probability(text.size());
  constexpr extent step = 8;  // rows of scores at once
  auto logits = scratch.matrix(step, m.decoder.vocabulary());
  for (extent i = 0; i < count; i += step) {
    const extent now = std::min(step, count - i);
    m.logits_of(rows.middleRows(before + i, now), core::write(logits.topRows(now)), c);
    auto spoken = core::make_view(logits.data(), now, t.eot, logits.outerStride());
    kernels::softmax(core::read(spoken), spoken, c.run);
    for (extent r = 0; r < now; ++r) {
      const auto at = static_cast<std::size_t>(i + r);
      if (text[at] < t.eot) probability[at] = static_cast<double>(spoken(r, text[at]));  // others are not spoken
    }
  }
  const extent columns = std::min(frames / 2, w.rows());
  const auto all = search::alignment_matrix(scores, static_cast<extent>(heads.size()), n, w.rows(), columns);
  const matrix<float, dynamic, dynamic> cost = -all.middleRows(before, n - before - 1);
  c.trace("align_matrix", matrix<float, dynamic, dynamic>(-cost));
  std::vector<double> jumps;  // when each token begins
  extent last = -1;
  for (const auto& [row, column] : search::warp(cost)) {
    if (row != last) jumps.push_back(static_cast<double>(column) / 50);
    last = row;
  }
  std::vector<int> ended = text;
  ended.push_back(t.eot);
  std::vector<tokenizers::whisper_word> words = t.split_to_words(ended, language);
  std::vector<whisper_timed_word> timed;
  std::size_t at = 0;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::size_t next = at + words[i].ids.size();
    if (next >= jumps.size()) break;
    double sum = 0;
    for (std::size_t k = at; k < next; ++k) sum += probability[k];
    timed.push_back({std::move(words[i].text), std::move(words[i].ids), jumps[at], jumps[next],
                     sum / static_cast<double>(next - at)});
    at = next;
  }
  return timed;
}

namespace detail {

// Python's `part in all` of strings.
inline bool holds(std::string_view all, std::string_view part) { return all.find(part) != std::string_view::npos; }
inline constexpr std::string_view opening_marks = "\"'\xe2\x80\x9c\xc2\xbf([{-";
inline constexpr std::string_view closing_marks =
    "\"'.\xe3\x80\x82,\xef\xbc\x8c!\xef\xbc\x81?\xef\xbc\x9f:\xef\xbc\x9a\xe2\x80\x9d)]}\xe3\x80\x81";
inline constexpr std::string_view sentence_ends = ".\xe3\x80\x82!\xef\xbc\x81?\xef\xbc\x9f";

inline void join_words(whisper_timed_word& into, whisper_timed_word& from, bool in_front) {
  into.text = in_front ? from.text + into.text : into.text + from.text;
  into.ids.insert(in_front ? into.ids.begin() : into.ids.end(), from.ids.begin(), from.ids.end());
  from.text.clear();
  from.ids.clear();
}

// Opening marks go to the word after them, closing ones to the word before; what they were is left empty.
STENO_ON_CALL inline void merge_punctuation(std::vector<whisper_timed_word>& words, std::string_view opening,
                                            std::string_view closing) {
  for (std::size_t j = words.size(), i = j == 0 ? 0 : j - 1; i-- > 0;) {
    if (j == words.size()) j = words.size() - 1;
    if (words[i].text.starts_with(' ') && holds(opening, tokenizers::unicode::strip(words[i].text)))
      join_words(words[j], words[i], true);
    else
      j = i;
  }
  for (std::size_t i = 0, j = 1; j < words.size(); ++j) {
    if (!words[i].text.ends_with(' ') && holds(closing, words[j].text))
      join_words(words[i], words[j], false);
    else
      i = j;
  }
}

STENO_ON_CALL inline double median_duration(const std::vector<whisper_timed_word>& words) {
  std::vector<double> d;
  for (const whisper_timed_word& w : words)
    if (w.end - w.start != 0) d.push_back(w.end - w.start);
  if (d.empty()) return 0;
  core::sort_stably(d);
  const std::size_t half = d.size() / 2;
  return std::min(0.7, d.size() % 2 == 1 ? d[half] : (d[half - 1] + d[half]) / 2);
}

// A word after a pause is not longer than twice the median; a segment's own times win over words that are too long.
inline void fit_words(whisper_segment& s, double median, double last_speech) {
  std::vector<whisper_timed_word>& w = s.words;
  const double longest = 2 * median;
  const bool two = w.size() > 1;
  if (w[0].end - last_speech > median * 4 &&
      (w[0].end - w[0].start > longest || (two && w[1].end - w[0].start > longest * 2))) {
    if (two && w[1].end - w[1].start > longest) w[0].end = w[1].start = std::max(w[1].end / 2, w[1].end - longest);
    w[0].start = std::max(0.0, w[0].end - longest);
  }
  if (s.start < w[0].end && s.start - 0.5 > w[0].start)
    w[0].start = std::max(0.0, std::min(w[0].end - median, s.start));
  else
    s.start = w[0].start;
  if (s.end > w.back().start && s.end + 0.5 < w.back().end)
    w.back().end = std::max(w.back().start + median, s.end);
  else
    s.end = w.back().end;
}

}  // namespace detail

/// Marks that are no words of their own.
struct whisper_marks {
  std::string_view opening = detail::opening_marks;  ///< those that join the word behind them
  std::string_view closing = detail::closing_marks;  ///< those that join the word in front of them
};

/// Gives the segments of one window their words, and better times. `last_speech`: where speech ended before, in
/// seconds.
template <class Model>
STENO_COLD void whisper_add_words(const Model& m, whisper_window& w, std::vector<whisper_segment>& segments,
                                  int language, bool translate, extent frames, double last_speech,
                                  const whisper_marks& marks, context& c) {
  if (segments.empty()) return;
  const int eot = m.tokenizer.eot;
  std::vector<int> text;
  for (const whisper_segment& s : segments)
    for (const int id : s.tokens)
      if (id < eot) text.push_back(id);
  std::vector<whisper_timed_word> words = whisper_align(m, w, text, language, translate, frames, c);
  const double median = detail::median_duration(words), longest = 2 * median;
  if (median > 0)
    for (std::size_t i = 1; i < words.size(); ++i) {
      if (!(words[i].end - words[i].start > longest)) continue;
      if (detail::holds(detail::sentence_ends, words[i].text))
        words[i].end = words[i].start + longest;
      else if (detail::holds(detail::sentence_ends, words[i - 1].text))
        words[i].start = words[i].end - longest;
    }
  detail::merge_punctuation(words, marks.opening, marks.closing);
  const double offset = static_cast<double>(segments[0].seek) * 160 / 16000;
  const auto rounded = [&](double x) { return std::nearbyint((offset + x) * 100) / 100; };
  std::size_t next = 0;
  for (whisper_segment& s : segments) {
    const auto wanted =
        static_cast<std::size_t>(std::count_if(s.tokens.begin(), s.tokens.end(), [&](int id) { return id < eot; }));
    std::size_t saved = 0;
    for (; next < words.size() && saved < wanted; ++next) {
      whisper_timed_word& word = words[next];
      saved += word.ids.size();
      if (word.text.empty()) continue;
      word.start = rounded(word.start);
      word.end = rounded(word.end);
      s.words.push_back(std::move(word));
    }
    if (s.words.empty()) continue;
    detail::fit_words(s, median, last_speech);
    last_speech = s.end;
  }
}

}  // namespace whisper
}  // namespace STENO_ABI
}  // namespace steno
