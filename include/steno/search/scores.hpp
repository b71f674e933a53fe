// steno/search/scores.hpp - what a network computed must be numbers before anybody searches in it.
//
// Finite weights may overflow all the same (a damaged file has numbers like 1e38), and NaN has no place in an order:
// sorting by it is undefined, and a model that computes nothing would pass for one that finds silence. Tested in
// tests/search/scores_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/view.hpp>
#include <steno/error.hpp>

#include <limits>

namespace steno {
inline namespace STENO_ABI {
namespace search {

/// A model computed what is no number. Only the caller knows which model that was, so the message names none.
class scores_error : public error {
  using error::error;
};

namespace detail {
[[noreturn]] STENO_COLD inline void refuse_scores() {
  throw scores_error({.what = "scores of the model",
                      .expected = "numbers",
                      .found = "NaN or infinity",
                      .hint = "its weights are damaged, or do not belong together"});
}
}  // namespace detail

/// Log-probabilities, which may be minus infinity: throws scores_error when one is NaN.
STENO_ON_CALL inline void require_numbers(const view<const float>& scores) {
  for (extent r = 0; r < scores.rows(); ++r) {
    const float* const row = scores.data() + r * scores.outerStride();
    unsigned bad = 0;
    for (extent i = 0; i < scores.cols(); ++i) bad |= row[i] == row[i] ? 0u : 1u;
    if (bad != 0) detail::refuse_scores();
  }
}
/// Scores that nothing was excluded from: throws scores_error when one is infinite or NaN.
STENO_ON_CALL inline void require_finite(const view<const float>& scores) {
  constexpr float largest = std::numeric_limits<float>::max();
  for (extent r = 0; r < scores.rows(); ++r) {
    const float* const row = scores.data() + r * scores.outerStride();
    unsigned bad = 0;
    for (extent i = 0; i < scores.cols(); ++i) bad |= row[i] >= -largest && row[i] <= largest ? 0u : 1u;
    if (bad != 0) detail::refuse_scores();
  }
}

}  // namespace search
}  // namespace STENO_ABI
}  // namespace steno
