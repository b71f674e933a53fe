// steno/search/scores.hpp - what a network computed must be numbers before anybody searches in it.
//
// Finite weights may overflow all the same (a damaged file has numbers like 1e38), and NaN has no place in an order:
// sorting by it is undefined, and a model that computes nothing would pass for one that finds silence. Tested in
// tests/search/scores_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/error.hpp>
#include <steno/kernels/numbers.hpp>

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
inline void require_numbers(const view<const float>& scores, const executor& run) {
  if (!kernels::all_numbers(scores, run)) detail::refuse_scores();
}
/// Scores that nothing was excluded from: throws scores_error when one is infinite or NaN.
inline void require_finite(const view<const float>& scores, const executor& run) {
  if (!kernels::all_finite(scores, run)) detail::refuse_scores();
}

}  // namespace search
}  // namespace STENO_ABI
}  // namespace steno
