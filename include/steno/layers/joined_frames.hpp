// steno/layers/joined_frames.hpp - a stack over rows that are neighbouring frames side by side, zeros behind the last.
//
// FunASR's adaptors (models/llm_asr/adaptor.py, `downsample_rate`). x [frames, In] -> [ceil(frames / rate), rate In] ->
// the stack's output. Tested on golden stages in tests/parity/fun_asr_nano_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/layers/stack.hpp>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// Runs a stack on joined rows: x [frames, In] -> y [rows(frames), the stack's output]. The last row is filled up with
/// zeros.
template <extent Rate, class Stack>
struct joined_frames : around<Stack> {
  static constexpr extent input =
      core::is_static(Rate) && core::is_static(Stack::input) ? Stack::input / Rate : dynamic;
  using around<Stack>::output;
  static constexpr bool in_place = false;
  using state = state_of<Stack>;

  core::setting<Rate, 1, 1024> downsample_rate;  ///< frames that become one row

  void members(auto&& v) {
    v("downsample_rate", downsample_rate);
    detail::visit_stage(this->stack, v);
    const extent wide = this->stack.input_size(), k = downsample_rate.get();
    v.require(wide % k == 0, "input of linear1", "a multiple of downsample_rate", wide);
  }
  extent input_size() const noexcept { return this->stack.input_size() / downsample_rate.get(); }
  /// Rows that `frames` give: ceil(frames / downsample_rate).
  extent rows(extent frames) const noexcept {
    const extent k = downsample_rate.get();
    return (frames + k - 1) / k;
  }
  state start() const { return this->stack.start(); }

  void operator()(view<const float, dynamic, input> x, view<float, dynamic, output> y, state* s, const auto& env,
                  context& c) const {
    const extent k = downsample_rate.get(), n = rows(x.rows());
    if (k == 1) return detail::run_stage(this->stack, core::read(x), core::write(y), s, env, c);
    core::workspace::frame scratch(c.scratch);
    auto joined = scratch.matrix(n, x.cols() * k);
    auto frames = core::make_view(joined.data(), n * k, x.cols());
    frames.topRows(x.rows()) = x;
    frames.bottomRows(n * k - x.rows()).setZero();
    detail::run_stage(this->stack, core::read(joined), core::write(y), s, env, c);
  }
};

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
