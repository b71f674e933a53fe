// The walk that takes a checkpoint's tensors: every way in which values are laid out anew, by index arithmetic written
// here once more, and what is said of tensors that do not fit.
// SPDX-License-Identifier: Apache-2.0
#include "model_tensors.hpp"

#include <steno/layers/repeat.hpp>

#include <cmath>

#include "convert/fixtures.hpp"
#include "support/golden.hpp"
#include "support/refusal.hpp"

namespace model_tensors_test {

using namespace steno;

// One weight of each kind.
struct convolution {
  weights::weight<dynamic, dynamic, dtype::f32, weights::use::rows> taps;
  weights::vector_weight<dynamic> bias;
  void members(auto&& v) {
    v("depth.weight", taps, core::stored::taps().after_norm("norm"));
    v("depth.bias", bias, core::stored{}.after_norm("norm").or_zeros());
  }
};
struct little {
  static constexpr std::string_view architecture = "little";
  weights::weight<dynamic, dynamic> plain, kernel, turned, bands, spread;
  weights::weight<dynamic, dynamic> small;
  weights::weight<dynamic, dynamic, dtype::f32, weights::use::rows> square;
  weights::vector_weight<dynamic> heads, extra;
  convolution conv;
  struct part {
    weights::weight<dynamic, 2> w;
    void members(auto&& v) { v("w", w); }
  };
  struct parts {
    std::vector<part> all;
    void members(auto&& v) {
      if (const auto n = v.count()) all.resize(static_cast<std::size_t>(*n));
      for (std::size_t i = 0; i < all.size(); ++i) v(std::to_string(i), all[i]);
    }
  };
  parts layers;

  explicit little(const gguf_file&) {}
  void members(auto&& v) {
    v("plain", plain);
    v("kernel", kernel, core::stored::kernel(2));
    v("turned", turned, core::stored::turned_kernel(2, 3));
    v("bands", bands, core::stored::bands_first(2));
    v("spread", spread, core::stored::spread_kernel(4));
    v("small", small, core::stored::floats());
    v("square", square, core::stored::taps(2, 2));
    v("heads", heads, core::stored::by_heads(2));
    v.optional("extra", extra);
    v("conv", conv);
    v("layers", layers);
    v.equal("rows of plain and kernel", plain.rows(), kernel.rows());
  }
};

stored_tensor counted(std::string name, std::vector<extent> shape, float first = 0) {
  stored_tensor t{.name = std::move(name), .shape = std::move(shape)};
  t.read = [first](std::span<float> out) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = first + static_cast<float>(i);
  };
  return t;
}

checkpoint_tensors whole() {
  checkpoint_tensors from{.where = "x"};
  from.all = {counted("plain", {2, 3}),
              counted("kernel", {2, 3, 2}),
              counted("turned", {2, 4, 2, 3}),
              counted("bands", {2, 6}),
              counted("spread", {2, 3, 4}),
              counted("small", {2, 2}),
              counted("square", {3, 1, 2, 2}),
              counted("heads", {2, 2}),
              counted("conv.depth.weight", {2, 1, 3}),
              counted("conv.norm.weight", {2}, 3),
              counted("conv.norm.bias", {2}, 5),
              counted("conv.norm.running_mean", {2}, 7),
              counted("conv.norm.running_var", {2}, 9),
              counted("layers.0.w", {3, 2}),
              counted("layers.1.w", {3, 2})};
  return from;
}
stored_tensor& of(checkpoint_tensors& from, const std::string& name) {
  for (stored_tensor& t : from.all)
    if (t.name == name) return t;
  throw std::runtime_error(name);
}

std::vector<imported_tensor> take(checkpoint_tensors from) {
  const std::vector<std::byte> image = weights::gguf_writer().bytes();
  const gguf_file keys("keys", image);
  tensor_taker taker(keys, "little", from);
  walk_model<little>(keys, taker);
  std::vector<imported_tensor> all = taker.finish();
  taker.check_settings();
  return all;
}
std::vector<float> values(const std::vector<imported_tensor>& all, const std::string& name,
                          const std::vector<extent>& shape, bool product) {
  for (const imported_tensor& t : all)
    if (t.name == name) {
      EXPECT_EQ(t.shape, shape) << name;
      EXPECT_EQ(t.product, product) << name;
      std::vector<float> v(t.count());
      t.read(v);
      return v;
    }
  ADD_FAILURE() << name;
  return {};
}

TEST(model_tensors, layouts) {
  const std::vector<imported_tensor> all = take(whole());
  EXPECT_EQ(all.size(), 12u);
  const auto at = [](std::size_t i) { return static_cast<float>(i); };
  EXPECT_EQ(values(all, "plain", {2, 3}, true), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(values(all, "heads", {4}, false), (std::vector<float>{0, 1, 2, 3}));
  EXPECT_EQ(values(all, "small", {2, 2}, false), (std::vector<float>{0, 1, 2, 3}));
  const std::vector<float> kernel = values(all, "kernel", {2, 6}, true);
  const std::vector<float> turned = values(all, "turned", {2, 24}, true);
  const std::vector<float> bands = values(all, "bands", {2, 6}, true);
  const std::vector<float> spread = values(all, "spread", {12, 2}, true);
  for (std::size_t in = 0; in < 2; ++in)
    for (std::size_t out = 0; out < 3; ++out)
      for (std::size_t k = 0; k < 4; ++k) EXPECT_EQ(spread[(k * 3 + out) * 2 + in], at((in * 3 + out) * 4 + k));
  const std::vector<float> square = values(all, "square", {4, 3}, false);
  for (std::size_t out = 0; out < 2; ++out) {
    for (std::size_t in = 0; in < 3; ++in)
      for (std::size_t k = 0; k < 2; ++k) EXPECT_EQ(kernel[out * 6 + k * 3 + in], at((out * 3 + in) * 2 + k));
    for (std::size_t in = 0; in < 4; ++in)
      for (std::size_t h = 0; h < 2; ++h)
        for (std::size_t w = 0; w < 3; ++w)
          EXPECT_EQ(turned[out * 24 + (w * 2 + h) * 4 + in], at(((out * 4 + in) * 2 + h) * 3 + w));
    for (std::size_t channel = 0; channel < 2; ++channel)
      for (std::size_t b = 0; b < 3; ++b) EXPECT_EQ(bands[out * 6 + b * 2 + channel], at(out * 6 + channel * 3 + b));
  }
  for (std::size_t d = 0; d < 3; ++d)
    for (std::size_t k = 0; k < 4; ++k) EXPECT_EQ(square[k * 3 + d], at(d * 4 + k));
  // The batch norm, and a bias that is not there.
  const std::vector<float> taps = values(all, "conv.depth.weight", {3, 2}, false);
  const std::vector<float> bias = values(all, "conv.depth.bias", {2}, false);
  for (std::size_t d = 0; d < 2; ++d) {
    const auto n = static_cast<double>(d);
    const double scale = (3 + n) / std::sqrt(9 + n + 1e-5);
    for (std::size_t k = 0; k < 3; ++k)
      EXPECT_EQ(taps[k * 2 + d], static_cast<float>(static_cast<double>(d * 3 + k) * scale));
    EXPECT_EQ(bias[d], static_cast<float>((0 - (7 + n)) * scale + 5 + n));
  }
}

TEST(model_tensors, what_does_not_fit_is_named) {
  const auto said = [](auto&& change) {
    checkpoint_tensors from = whole();
    change(from);
    return test::refusal([&] { (void)take(std::move(from)); });
  };
  const auto has = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  EXPECT_EQ(said([](checkpoint_tensors&) {}), "");
  has(said([](auto& c) { of(c, "kernel").shape = {2, 3, 3}; }), "\"kernel\" is [2 x 3 x 3], not [any x any x 2]");
  has(said([](auto& c) { of(c, "heads").shape = {4}; }), "\"heads\" is [4], not [2 x any]");
  has(said([](auto& c) { of(c, "conv.depth.weight").shape = {2, 2, 3}; }), "is [2 x 2 x 3], not [any x 1 x any]");
  has(said([](auto& c) { of(c, "conv.norm.bias").shape = {3}; }), "\"conv.norm.bias\" is [3], not [2]");
  has(said([](auto& c) { of(c, "conv.norm.running_var").name = "y"; }), "\"conv.norm.running_var\" is missing");
  has(said([](auto& c) { of(c, "plain").name = "plane"; }), "\"plain\" is missing, \"plane\" is not part of the model");
  has(said([](auto& c) { of(c, "plain").name = "small"; }), "tensor \"small\" is there twice");
  has(said([](auto& c) { of(c, "plain").shape = {3, 2}; }), "rows of plain and kernel differ: 3 and 2");
  // Layers of one kind are equal.
  has(said([](auto& c) { of(c, "layers.1.w").shape = {4, 2}; }), "\"layers.1.w\" is [4 x 2], not [3 x 2]");
  has(said([](auto& c) { c.counts = {{"layers", 3}}; }), "\"layers.2.w\" is missing");
  has(said([](auto& c) { c.counts = {{"layers", 1}}; }), "\"layers.1.w\" is not part of the model");
  has(said([](auto& c) { c.sizes = {{"layers.*w", 5, 2}}; }), "\"layers.0.w\" is [3 x 2], not [5 x 2]");
  // What may be absent must be there when the settings say so.
  has(said([](auto& c) { c.sizes = {{"extra", dynamic, 2}}; }), "\"extra\" is missing");
  has(said([](auto& c) { c.optional_weights = true; }), "\"extra\" is missing");
  has(said([](auto& c) {
        c.optional_weights = false;
        c.all.push_back(counted("extra", {2}));
      }),
      "\"extra\" is not part of the model");
  EXPECT_EQ(said([](auto& c) {
              c.ignored = {".steps", "unused"};
              c.all.push_back(counted("conv.steps", {}));
              c.all.push_back(counted("an.unused.table", {7}));
            }),
            "");
  has(said([](auto& c) { of(c, "plain").shape = {0, 3}; }), "\"plain\" is [0 x 3], not [any x any]");
}

// Names and axes of other makers' files.
TEST(model_tensors, other_files) {
  checkpoint_tensors from = whole();
  from.named = [](const std::string& name) { return "their." + name; };
  for (stored_tensor& t : from.all) t.name.insert(0, "their.");
  of(from, "their.kernel").shape = {2, 1, 3, 1, 2};
  of(from, "their.conv.depth.weight").shape = {2, 3};
  EXPECT_NE(test::refusal([&] { (void)take(from); }).find("\"their.kernel\" is [2 x 1 x 3 x 1 x 2]"),
            std::string::npos);
  from.compared = checkpoint_tensors::shapes::without_ones;
  EXPECT_EQ(values(take(from), "kernel", {2, 6}, true), values(take(whole()), "kernel", {2, 6}, true));
  from.counts = {{"layers", 2}};
  EXPECT_EQ(values(take(from), "conv.depth.weight", {3, 2}, false),
            values(take(whole()), "conv.depth.weight", {3, 2}, false));
}

}  // namespace model_tensors_test
