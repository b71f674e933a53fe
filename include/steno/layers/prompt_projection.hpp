// steno/layers/prompt_projection.hpp - a prompt beside each row, and two products that make a row of both.
//
//   y = W_2 relu(W_0 [x | one-hot(prompt)] + b_0) + b_2
//
// NeMo `prompt_kernel` of `EncDecRNNTBPEModelWithPrompt` (rnnt_bpe_models_prompt.py), behind the whole encoder. Which
// prompt it is, is the record's. Tested in tests/layers/prompt_projection_test.cpp and tests/parity/nemotron_test.cpp
// (golden stages).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/layers/linear.hpp>

#include <cassert>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// The record of a call.
struct prompt_env {
  extent prompt = 0;  ///< number of the prompt
};

/// x [frames, D] -> y [frames, D]; y may be x.
template <extent D, extent Prompts = dynamic>
struct prompt_projection {
  static constexpr extent input = D, output = D;
  static constexpr extent joined = core::plus(D, Prompts);  ///< columns of a row and its prompt
  static constexpr extent inner = core::times(2, D);        ///< width between the products
  static constexpr bool in_place = true;

  linear<joined, inner, bias::added, relu> first;  ///< "0": rows and prompt to the inner width
  linear<inner, D> second;                         ///< "2": to rows again

  void members(auto&& v) {
    v("0", first);
    v("2", second);
    v.equal("rows of 0.weight and columns of 2.weight", first.output_size(), second.input_size());
    v.require(first.input_size() > second.output_size(), "columns of 0.weight",
              "the rows of 2.weight, and one for each prompt", first.input_size());
  }
  extent input_size() const noexcept { return second.output_size(); }
  extent output_size() const noexcept { return second.output_size(); }
  /// How many prompts there are.
  extent prompts() const noexcept { return first.input_size() - second.output_size(); }
  no_state start() const noexcept { return {}; }

  void operator()(view<const float, dynamic, D> x, view<float, dynamic, D> y, no_state*, const auto& env,
                  context& c) const {
    static_assert(
        requires { env.prompt; }, "steno: this stack's record has no `prompt`, which its projection reads");
    assert(env.prompt >= 0 && env.prompt < prompts());
    core::workspace::frame scratch(c.scratch);
    const extent n = x.rows(), d = x.cols();
    auto both = scratch.template matrix<dynamic, joined>(n, first.input_size());
    both.leftCols(d) = x;
    both.rightCols(prompts()).setZero();
    both.col(d + env.prompt).setOnes();
    auto between = scratch.template matrix<dynamic, inner>(n, first.output_size());
    first(core::as<const float, dynamic, joined>(both), between, nullptr, env, c);
    second(core::read(between), y, nullptr, env, c);
  }
};

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
