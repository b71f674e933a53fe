// A model of your own: a layer, a stack of it and steno's layers, weights from a GGUF file, and its stream.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <steno/layers/feed_forward.hpp>
#include <steno/layers/layer_norm.hpp>
#include <steno/models/load.hpp>
#include <steno/weights/gguf_writer.hpp>
#include <steno/weights/random.hpp>

namespace nn = steno::nn;
using steno::dynamic, steno::extent, steno::view;

// A layer: widths, members, one call, and what a stream keeps.  y[t] = x[t] + decay * y[t - 1]
template <extent D>
struct smoothing {
  static constexpr extent input = D, output = D;
  static constexpr bool in_place = true;  // y may be x
  using state = steno::matrix<float, 1, D>;

  steno::weights::vector_weight<D> decay;

  void members(auto&& v) { v("decay", decay); }
  extent input_size() const { return D; }
  extent output_size() const { return D; }
  state start() const { return state::Zero(); }

  void operator()(view<const float, dynamic, D> x, view<float, dynamic, D> y, state* s, const auto&,
                  steno::context&) const {
    state before = s != nullptr ? *s : start();  // null: a whole clip
    for (extent t = 0; t < x.rows(); ++t) y.row(t) = before = x.row(t) + decay.values().cwiseProduct(before);
    if (s != nullptr) *s = before;
  }
};

// A stack is a type; its members, its call and its state are derived from it.
template <extent D>
struct block : nn::sequence<nn::residual<nn::at<"norm", nn::layer_norm<D>>, nn::at<"smoothing", smoothing<D>>>,
                            nn::residual<nn::at<"feed_forward", nn::feed_forward<D, 4 * D>>>> {};
#ifdef STENO_MUST_NOT_COMPILE  // the message names both layers
extent width = nn::sequence<nn::linear<20, 32>, nn::at<"norm", nn::layer_norm<16>>>::output;
#endif

struct own_model {
  static constexpr std::string_view architecture = "own";
  own_model() = default;
  explicit own_model(const steno::gguf_file&) {}  // what is no member would be read here

  nn::sequence<nn::at<"in", nn::linear<20, 16>>, nn::at<"blocks", nn::repeat<2, block<16>>>,
               nn::at<"out", nn::linear<16, 3>>>
      network;
  steno::models::model_storage storage;

  void members(auto&& v) { v("", network); }
};

int main(int, char** argv) {
  const std::string path = std::string(argv[0]) + ".gguf";
  own_model made;  // every weight is visited with its name: random ones are written, as a converter writes others
  steno::weights::randomise(made, made.storage.owned, 1);
  steno::weights::gguf_writer file;
  file.set("general.architecture", own_model::architecture);
  steno::core::walk(made, [&](const std::string& name, auto& w, bool) {
    std::printf("%-32s %2td x %td\n", name.c_str(), w.rows(), w.cols());
    const std::span bytes(w.data, static_cast<std::size_t>(w.rows() * w.cols()) * sizeof(float));
    w.rows() == 1 ? file.add(name, steno::dtype::f32, {w.cols()}, bytes)
                  : file.add(name, steno::dtype::f32, {w.rows(), w.cols()}, bytes);
  });
  file.write(path);

  const auto model = steno::load<own_model>(path);
  const steno::matrix<float, dynamic, 20> x = steno::matrix<float, dynamic, 20>::Random(10, 20);
  steno::matrix<float, dynamic, 3> whole(10, 3), piece(2, 3);
  steno::context context;
  nn::apply(model.network, x, whole, context);
  auto state = model.network.start();
  for (extent t = 0; t < 10; t += 2) {  // the same rows as a stream
    model.network(x.middleRows(t, 2), piece, &state, nn::no_env{}, context);
    std::printf("%td: %s\n", t, piece.isApprox(whole.middleRows(t, 2), 1e-5f) ? "the same" : "other rows");
  }
}
