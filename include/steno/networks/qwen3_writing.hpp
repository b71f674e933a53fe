// steno/networks/qwen3_writing.hpp - a prompt read and a text written by Qwen3, token by token.
//
// The most probable token is taken each time, as the published models are used (do_sample false). Writing ends with a
// token that ends texts, after so many tokens, or when the text turns in circles: the same few tokens again and again
// are what a language model makes of silence and noise. Tested in tests/parity/qwen3_asr_test.cpp and
// tests/models/qwen3_asr_test.cpp.
#pragma once
#include <steno/networks/qwen3_decoder.hpp>

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

namespace steno::inline STENO_ABI {

/// Why a text ends.
enum class qwen3_stop { end_of_text, max_tokens, repetition };
constexpr std::string_view stop_name(qwen3_stop s) {
  return s == qwen3_stop::end_of_text ? "end_of_text" : s == qwen3_stop::max_tokens ? "max_tokens" : "repetition";
}

struct qwen3_text {
  std::vector<int> ids;  ///< without the token that ended it
  qwen3_stop stop = qwen3_stop::end_of_text;
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
/// the first token is chosen by.
template <class Decoder, extent D>
void qwen3_read(const Decoder& m, view<float, dynamic, D> x, qwen3_past& past, context& c) {
  constexpr extent piece = 512;
  const extent some = c.tracing() ? x.rows() : piece;
  for (extent t = 0; t < x.rows(); t += some) m(x.middleRows(t, std::min(some, x.rows() - t)), past, c);
}

/// Writes after a prompt whose last row left the layers as `row` [1, D]. `ends`: tokens that end a text. With a
/// repetition all but one of the repeated patterns are taken away.
template <class Decoder, extent D>
qwen3_text qwen3_write(const Decoder& m, view<float, dynamic, D> row, qwen3_past& past, std::span<const int> ends,
                       int max_tokens, context& c) {
  qwen3_text t;
  workspace::frame scratch(c.scratch);
  auto scores = scratch.template matrix<dynamic, Decoder::output>(1, m.outputs());
  for (;;) {
    if (static_cast<int>(t.ids.size()) >= max_tokens) {
      t.stop = qwen3_stop::max_tokens;
      return t;
    }
    m.logits(as<const float, dynamic, D>(row), scores, c);
    const auto id = static_cast<int>(std::max_element(scores.data(), scores.data() + scores.cols()) - scores.data());
    if (std::find(ends.begin(), ends.end(), id) != ends.end()) return t;
    t.ids.push_back(id);
    if (const std::size_t k = repeated_pattern(t.ids); k > 0) {
      t.stop = qwen3_stop::repetition;
      while (t.ids.size() >= 2 * k && std::equal(t.ids.end() - static_cast<std::ptrdiff_t>(k), t.ids.end(),
                                                 t.ids.end() - static_cast<std::ptrdiff_t>(2 * k)))
        t.ids.erase(t.ids.end() - static_cast<std::ptrdiff_t>(k), t.ids.end());
      return t;
    }
    m.embed(std::span<const int>(&id, 1), row);
    m(row, past, c);
  }
}

}  // namespace steno::inline STENO_ABI
