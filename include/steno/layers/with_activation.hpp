// steno/layers/with_activation.hpp - a stack whose activation is a setting of the file: it goes into the record.
//
// WeNet `activation_type` (class_utils.py): one for the feed-forward parts and the convolutions of all blocks. Tested
// in tests/parity/wenet_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/layers/activation.hpp>
#include <steno/layers/stack.hpp>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// A record with the activation that the file names.
template <class Env>
struct env_with_activation : Env {
  kernels::activation activation;  ///< of all layers that read it from their record
};

/// Runs a stack with the file's activation in its record.
template <class Stack>
struct with_activation : around<Stack> {
  using around<Stack>::input, around<Stack>::output;
  /// What a stream keeps: the stack's state.
  struct state {
    state_of<Stack> stack;  ///< of the layers inside
  };

  core::setting<dynamic, 0, 3> activation;  ///< number of kernels::activation

  void members(auto&& v) {
    v("activation", activation);
    detail::visit_stage(this->stack, v);
  }
  state start() const { return {this->stack.start()}; }
  void restart(state& s) const { steno::nn::restart(this->stack, s.stack); }

  void operator()(view<const float, dynamic, input> x, view<float, dynamic, output> y, state* s, const auto& env,
                  context& c) const {
    const env_with_activation<std::remove_cvref_t<decltype(env)>> own{
        env, static_cast<kernels::activation>(activation.get())};
    this->run(x, y, s == nullptr ? nullptr : &s->stack, own, c);
  }
};

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
