// What each number format and mix does to a model's scores: an encoder with normal weights, its log-probabilities
// against those with the same weights in f32. docs/formats.md has the figures of SenseVoiceSmall's size, which this
// test gives with STENO_MIX_ERRORS=full in its environment; here a smaller one has to have them in the same order.
// SPDX-License-Identifier: Apache-2.0
#include <steno/models/sense_voice.hpp>
#include <steno/weights/random.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <numbers>

#include "convert/fixtures.hpp"
#include "number_formats.hpp"

namespace mix_errors_test {

using namespace steno;
using small = funasr::sense_voice<funasr::sense_voice_sizes{
    .encoder = {.features = 560, .width = 256, .heads = 4, .units = 256, .taps = 11, .blocks = 7, .tp_blocks = 4},
    .vocabulary = 256}>;

// Calls f(path, weight, shape) for every weight.
template <class Model, class F>
void each_weight(Model& model, F f) {
  core::walk(model, [&]<class Leaf>(const std::string& path, Leaf& w, bool) {
    if constexpr (core::weight_leaf<Leaf>) f(path, w, Leaf::static_format == dtype::any);
  });
}

// Normal values: of matrices with the variance 1 / columns, of gains around 1, of other vectors near 0.
template <class Model>
void fill(Model& model, weights::storage& keep) {
  weights::random_numbers next(7);
  each_weight(model, [&](const std::string& path, auto& w, bool) {
    const auto count = static_cast<std::size_t>(w.rows() * w.cols());
    auto* const x = reinterpret_cast<float*>(keep.allocate(count * sizeof(float)));
    const bool gain = w.rows() == 1 && path.find("norm") != std::string::npos && path.ends_with("weight");
    const float spread = w.rows() == 1 ? 0.1f : 1 / std::sqrt(static_cast<float>(w.cols()));
    for (std::size_t i = 0; i < count; i += 2) {
      const float radius = std::sqrt(-2 * std::log(0.5f + 0.4999999f * next()));
      const float turn = std::numbers::pi_v<float> * next();
      x[i] = (gain ? 1.0f : 0.0f) + spread * radius * std::cos(turn);
      if (i + 1 < count) x[i + 1] = (gain ? 1.0f : 0.0f) + spread * radius * std::sin(turn);
    }
    w.data = reinterpret_cast<const std::byte*>(x);
  });
}

// The same model with other formats; bits per weight of its products.
template <class Model>
double quantise_from(const Model& from, const format_choice& choice, Model& to, weights::storage& keep) {
  imported_model listed;
  std::vector<const std::byte*> data;
  each_weight(const_cast<Model&>(from), [&](const std::string& path, auto& w, bool product) {
    listed.tensors.push_back({.name = path, .shape = {w.rows(), w.cols()}, .product = product});
    data.push_back(w.data);
  });
  const std::vector<dtype> formats = packaged_formats(listed, choice);
  double bits = 0, values = 0;
  std::size_t at = 0;
  each_weight(to, [&](const std::string&, auto& w, bool product) {
    const auto count = static_cast<std::size_t>(w.rows() * w.cols());
    w.format = formats[at];
    const std::size_t bytes = core::bytes_of(w.format, count);
    std::byte* const out = keep.allocate(bytes);
    weights::quantise(w.format, reinterpret_cast<const float*>(data[at]), out, count);
    w.data = out;
    w.packed = nullptr;
    if (product) bits += 8 * static_cast<double>(bytes), values += static_cast<double>(count);
    ++at;
  });
  return bits / values;
}

template <class Model>
std::vector<float> scores_of(const Model& model) {
  std::vector<float> pcm(3 * 16000);
  weights::random_numbers next(3);
  for (std::size_t i = 0; i < pcm.size(); ++i)
    pcm[i] = 0.3f * std::sin(static_cast<float>(i % 16000) * static_cast<float>(i / 4000) * 0.01f) + 0.1f * next();
  context c;
  matrix<float, dynamic, dynamic> y(model.frames(static_cast<extent>(pcm.size())), model.ctc_lo.output_size());
  model.forward(pcm, 0, false, y, c);
  return {y.data(), y.data() + y.size()};
}

// Root of the mean square of the differences, as a part of the deviation of the scores themselves.
double difference(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0, squares = 0, apart = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += a[i];
    squares += static_cast<double>(a[i]) * a[i];
    apart += (static_cast<double>(a[i]) - b[i]) * (static_cast<double>(a[i]) - b[i]);
  }
  const auto n = static_cast<double>(a.size());
  return std::sqrt(apart / (squares - sum * sum / n));
}

template <class Model>
std::map<std::string, double> errors(bool shown) {
  const auto exact = std::make_unique<Model>();
  fill(*exact, exact->storage.owned);
  const std::vector<float> want = scores_of(*exact);
  std::map<std::string, double> all;
  for (const std::string& type : type_names()) {
    if (type == "f32") continue;
    const auto other = std::make_unique<Model>();
    const double bits = quantise_from(*exact, parse_type(type), *other, other->storage.owned);
    models::keep_weights(*other, nullptr, other->storage.owned, {});
    all[type] = difference(want, scores_of(*other));
    if (shown) std::printf("| %s | %.2f | %.2g %% |\n", type.c_str(), bits, 100 * all[type]);
  }
  return all;
}

TEST(mix_errors, more_bits_lose_less) {
  if (const char* const size = std::getenv("STENO_MIX_ERRORS"); size != nullptr && std::strcmp(size, "full") == 0)
    (void)errors<funasr::sense_voice_small>(true);
  std::map<std::string, double> e = errors<small>(false);
  const char* const order[] = {"f16",    "bf16", "bf16_a16", "q8_0", "q8_128", "q6_k",
                               "q5_k_m", "q5_k", "q4_k_m",   "q4_k", "q4_0"};
  for (std::size_t i = 1; i < std::size(order); ++i)
    EXPECT_LT(e[order[i - 1]], e[order[i]]) << order[i - 1] << " and " << order[i];
  EXPECT_LT(e["q5_1"], e["q5_0"]);
  EXPECT_LT(e["q4_1"], e["q4_0"]);
}

}  // namespace mix_errors_test
