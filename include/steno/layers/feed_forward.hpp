// steno/layers/feed_forward.hpp - y = w_2(act(w_1(x))).
//
// `PositionwiseFeedForward` of FunASR and WeNet, `ConformerFeedForward` of NeMo; the activation is the type's, or the
// caller's where a file decides. x [frames, D], inner width Ffn; y may be x. Tested in tests/networks (golden stages).
#pragma once
#include <steno/layers/linear.hpp>

#include <string_view>

namespace steno::inline STENO_ABI {

/// Members as FunASR and WeNet call them.
struct wenet_feed_forward_names {
  static constexpr std::string_view first = "w_1", second = "w_2";
};

template <extent D, extent Ffn, kernels::activation Act = kernels::activation::relu,
          class Names = wenet_feed_forward_names, bias B = bias::added>
struct feed_forward {
  static constexpr extent input = D, output = D;
  static constexpr bool in_place = true;

  linear<D, Ffn, B> w_1;
  linear<Ffn, D, B> w_2;

  void members(auto&& v) {
    v(Names::first, w_1);
    v(Names::second, w_2);
    v.equal("output of w_1 and input of w_2", w_1.output_size(), w_2.input_size());
    v.equal("input of w_1 and output of w_2", w_1.input_size(), w_2.output_size());
  }
  extent input_size() const noexcept { return w_1.input_size(); }
  extent output_size() const noexcept { return w_2.output_size(); }

  void operator()(view<const float, dynamic, D> x, view<float, dynamic, D> y, context& c,
                  kernels::activation act = Act) const {
    workspace::frame scratch(c.scratch);
    auto inner = scratch.template matrix<dynamic, Ffn>(x.rows(), w_1.output_size());
    w_1(x, inner, c, act);
    w_2(inner, y, c);
  }
};

}  // namespace steno::inline STENO_ABI
