// steno/networks/qwen3_writing.hpp - a prompt read and a text written by Qwen3, token by token.
//
// The likeliest token is taken each time, as the published models are used (do_sample false), unless samples are
// wanted. Writing ends with a token that ends texts, after so many tokens, or when the text turns in circles: the
// same few tokens again and again are what a language model makes of silence and noise. Hotwords are steno's own: what
// goes on with a phrase of theirs earns more before a token is chosen. Where a text repeats itself or an earlier one,
// several tokens are guessed and read in one pass (search/token_draft.hpp); what is chosen does not depend on it.
// Several texts can be written at once: each step is one product for all that go on. Tested in
// tests/networks/qwen3_decoder_test.cpp, tests/parity/qwen3_asr_test.cpp and tests/models/qwen3_asr_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/error.hpp>
#include <steno/networks/qwen3_decoder.hpp>
#include <steno/search/token_choice.hpp>
#include <steno/search/token_draft.hpp>
#include <steno/search/token_search.hpp>

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// Room for keys and values, in `format` or by default that which suits the decoder's weights. Throws steno::error for
/// other formats than f32, f16 and q8_0.
template <class Decoder>
qwen3_decoder_state qwen3_state_of(const Decoder& m, const std::optional<dtype>& format) {
  qwen3_decoder_state s;
  const dtype f = s.sequences.format = format.value_or(m.cache_format());
  if (!kernels::cacheable(f))
    fail({.what = "format of keys and values",
          .expected = "f32, f16 or q8_0",
          .found = std::string(core::info(f).name)});
  return s;
}

/// Why a text ends.
enum class qwen3_stop {
  end_of_text,  ///< a token that ends texts
  max_tokens,   ///< qwen3_writing::max_tokens were written
  repetition    ///< the same tokens again and again
};
/// The name of the value, as results have it.
constexpr std::string_view stop_name(qwen3_stop s) {
  return s == qwen3_stop::end_of_text ? "end_of_text" : s == qwen3_stop::max_tokens ? "max_tokens" : "repetition";
}

/// A text that is finished, or what there is of one.
struct qwen3_text {
  std::vector<int> ids;                       ///< without the token that ended it
  qwen3_stop stop = qwen3_stop::end_of_text;  ///< why it ended; end_of_text while it goes on
};

/// How a text is written.
struct qwen3_writing {
  std::span<const int> ends = {};                       ///< tokens that end a text
  int max_tokens = 4096;                                ///< that may be written, without those before
  search::token_sampling sampling = {};                 ///< how a token is chosen by its scores
  bool stop_loops = true;                               ///< false: circles go on until max_tokens
  const search::hotword_automaton* hotwords = nullptr;  ///< phrases to favour in the text; null: none
  int text_tag = -1;                  ///< the token behind which the text begins; negative: it begins at once
  bool speculative = true;            ///< whether tokens are guessed; not while stages are traced
  std::span<const int> earlier = {};  ///< a text that this one may repeat, with what it goes on from
};

/// The length k of the pattern that `ids` ends with again and again, or 0: k is up to 64 and the pattern fills the last
/// max(4 k, 24) tokens.
constexpr std::size_t repeated_pattern(std::span<const int> ids) {
  const std::size_t n = ids.size();
  for (std::size_t k = 1; k <= 64; ++k) {
    const std::size_t span = std::max<std::size_t>(4 * k, 24);
    if (span > n) return 0;
    std::size_t same = 0;
    while (same < span - k && ids[n - 1 - same] == ids[n - 1 - same - k]) ++same;
    if (same == span - k) return k;
  }
  return 0;
}

/// Reads rows x [n, D] (n > 0; they are overwritten) in pieces that bound the scratch memory. The last row is then what
/// the first token is chosen by. They continue a text of `s`.
template <class Decoder, extent D>
void qwen3_read(const Decoder& m, view<float, dynamic, D> x, qwen3_decoder_state& s, context& c, extent text = 0) {
  constexpr extent piece = 512;
  const extent step = c.tracing() ? x.rows() : piece;
  for (extent t = 0; t < x.rows(); t += step) m(x.middleRows(t, std::min(step, x.rows() - t)), s, c, text);
}

/// One text that is being written. Outlived by what its options point at.
class qwen3_writer {
 public:
  /// `before`: tokens that the text goes on from, which may have been turning in circles already.
  STENO_ON_CALL explicit qwen3_writer(const qwen3_writing& o, std::span<const int> before = {})
      : options_(o), choose_(o.sampling), hotwords_(o.hotwords, first_of(o.ends), o.ends) {
    constexpr std::size_t reach = 256;  // of a pattern
    const auto tail = before.last(std::min(before.size(), reach));
    ids_.assign(tail.begin(), tail.end());
    given_ = ids_.size();
    if (o.text_tag < 0) begin_text();
    for (const int id : before) follow(id);
    if (o.max_tokens <= 0) end(qwen3_stop::max_tokens);
  }
  /// Whether the text goes on.
  bool going() const noexcept { return going_; }
  /// The token to go on with.
  int last() const noexcept { return ids_.back(); }
  /// Scores of the next token. Whether the text goes on.
  STENO_ON_CALL bool take(std::span<const float> scores) {
    const bool favours = in_text_ && !hotwords_.empty();
    const int id = choose_(
        favours ? std::span(hotwords_.favour(scores.data(), static_cast<extent>(scores.size()), place_), scores.size())
                : scores);
    if (std::find(options_.ends.begin(), options_.ends.end(), id) != options_.ends.end())
      return end(qwen3_stop::end_of_text);
    ids_.push_back(id);
    follow(id);
    if (const std::size_t k = options_.stop_loops ? repeated_pattern(ids_) : 0; k > 0) {
      const auto round = static_cast<std::ptrdiff_t>(k);
      while (ids_.size() >= std::max(2 * k, given_ + 1) &&
             std::equal(ids_.end() - round, ids_.end(), ids_.end() - 2 * round))
        ids_.erase(std::max(ids_.end() - round, ids_.begin() + static_cast<std::ptrdiff_t>(given_)), ids_.end());
      return end(qwen3_stop::repetition);
    }
    if (ids_.size() - given_ >= static_cast<std::size_t>(options_.max_tokens)) return end(qwen3_stop::max_tokens);
    return true;
  }
  /// What was written. With a repetition all but one of the repeated patterns are taken away.
  qwen3_text text() const {
    return {.ids = {ids_.begin() + static_cast<std::ptrdiff_t>(given_), ids_.end()}, .stop = stop_};
  }

 private:
  bool end(qwen3_stop s) {
    stop_ = s;
    return going_ = false;
  }
  // Tokens with names stand behind those of texts, and those that end one are the first of them.
  static int first_of(std::span<const int> ends) {
    const auto least = std::min_element(ends.begin(), ends.end());
    return least == ends.end() ? std::numeric_limits<int>::max() : *least;
  }
  void begin_text() {
    in_text_ = true;
    hotwords_.begin(place_);
  }
  STENO_ON_CALL void follow(int id) {
    if (id == options_.text_tag)
      begin_text();
    else if (in_text_)
      hotwords_.follow(place_, id);
  }

  qwen3_writing options_;
  search::token_choice choose_;
  search::token_hotwords hotwords_;
  search::token_hypothesis place_ = {};  // in the hotwords' graph
  bool in_text_ = false;
  std::vector<int> ids_;  // those from before, then those written
  std::size_t given_ = 0;
  qwen3_stop stop_ = qwen3_stop::end_of_text;
  bool going_ = true;
};

namespace detail {
struct no_reader {
  void operator()(const qwen3_writer&) const noexcept {}
};
}  // namespace detail

/// Writes after a prompt whose last row left the layers as `row` [1, D]. read(writer) behind each token.
template <class Decoder, extent D, class Reader = detail::no_reader>
qwen3_text qwen3_write(const Decoder& m, view<float, dynamic, D> row, qwen3_decoder_state& s, const qwen3_writing& o,
                       context& c, std::span<const int> before = {}, Reader&& read = {}) {
  qwen3_writer w(o, before);
  search::token_draft draft(
      {.guesses = o.speculative && !c.tracing(), .earlier = o.earlier, .vocabulary = m.vocabulary()});
  for (const int id : before) draft.add(id);
  core::workspace::frame scratch(c.scratch);
  auto rows = scratch.template matrix<dynamic, D>(draft.rows(), m.width());
  auto scores = scratch.template matrix<dynamic, Decoder::output>(draft.rows(), m.outputs());
  if (w.going()) m.logits(core::as<const float, dynamic, D>(row), scores.topRows(1), c);
  while (w.going() &&
         w.take({scores.data() + draft.row() * scores.outerStride(), static_cast<std::size_t>(scores.cols())})) {
    read(std::as_const(w));
    if (draft.follow(w.last())) continue;
    if (draft.wrong() > 0) s.rewind(s.length() - draft.wrong());
    const std::span<const int> ids = draft.pass();
    auto pass = rows.topRows(static_cast<extent>(ids.size()));
    m.embed(ids, pass);
    m(pass, s, c);
    m.logits(core::as<const float, dynamic, D>(pass), scores.topRows(pass.rows()), c);
  }
  if (draft.unused() > 0) s.rewind(s.length() - draft.unused());
  return w.text();
}

/// The same for several texts at once: row i of `rows` [texts, D] (overwritten) left the layers after the prompt of
/// text i in `s`.
template <class Decoder, extent D>
std::vector<qwen3_text> qwen3_write_together(const Decoder& m, view<float, dynamic, D> rows, qwen3_decoder_state& s,
                                             std::span<qwen3_writer> writers, context& c) {
  std::vector<int> live;  // text of each row
  core::workspace::frame scratch(c.scratch);
  auto scores = scratch.template matrix<dynamic, Decoder::output>(rows.rows(), m.outputs());
  for (std::size_t i = 0; i < writers.size(); ++i) {
    if (!writers[i].going()) continue;
    rows.row(static_cast<extent>(live.size())) = rows.row(static_cast<extent>(i));
    live.push_back(static_cast<int>(i));
  }
  while (!live.empty()) {
    const auto n = static_cast<extent>(live.size());
    m.logits(core::as<const float, dynamic, D>(rows.topRows(n)), scores.topRows(n), c);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < live.size(); ++i) {
      qwen3_writer& w = writers[static_cast<std::size_t>(live[i])];
      if (!w.take(
              {scores.data() + static_cast<extent>(i) * scores.outerStride(), static_cast<std::size_t>(scores.cols())}))
        continue;
      const int id = w.last();
      m.embed(std::span<const int>(&id, 1), rows.row(static_cast<extent>(kept)));
      live[kept++] = live[i];
    }
    live.erase(live.begin() + static_cast<std::ptrdiff_t>(kept), live.end());
    if (kept > 0) m.step(rows.topRows(static_cast<extent>(kept)), live, s, c);
  }
  std::vector<qwen3_text> texts;
  for (const qwen3_writer& w : writers) texts.push_back(w.text());
  return texts;
}

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
