// The strided subsampling against its formula in double precision, causal and not, over several tiles of rows.
// SPDX-License-Identifier: Apache-2.0
#include <steno/layers/depthwise_subsampling.hpp>
#include <steno/weights/binder.hpp>

#include "support/memory_source.hpp"

#include <gtest/gtest.h>

namespace depthwise_subsampling_test {

using namespace steno;

using table = matrix<float, dynamic, dynamic>;
constexpr extent channels = 3, width = 4;

struct plane {
  extent frames, bands, depth;
  std::vector<double> values;  // [frame, band, channel]
  double at(extent t, extent f, extent c) const {
    if (t < 0 || t >= frames || f < 0 || f >= bands) return 0;
    return values[static_cast<std::size_t>((t * bands + f) * depth + c)];
  }
};

struct model {
  test::memory_source source;
  weights::storage keep;
  nn::depthwise_subsampling<dynamic, dynamic, dynamic> net;
  bool causal;
  std::map<std::string, std::vector<float>> all;
  void members(auto&& v) { v("e", net); }

  model(bool is_causal, extent mels) : causal(is_causal) {
    int n = 0;
    const auto add = [&](const std::string& name, std::vector<extent> shape) {
      std::vector<float> v;
      extent count = 1;
      for (const extent e : shape) count *= e;
      for (extent i = 0; i < count; ++i) v.push_back(static_cast<float>((n++ * 23) % 29 - 13) / 20.0f);
      source.add("e." + name, shape, v);
      all[name] = v;
    };
    extent bands = mels;
    for (int i = 0; i < 3; ++i) bands = halved(bands);
    add("conv.0.weight", {channels, 9});
    add("conv.0.bias", {channels});
    for (const char* k : {"2", "5"}) {
      add("conv." + std::string(k) + ".weight", {9, channels});
      add("conv." + std::string(k) + ".bias", {channels});
    }
    for (const char* k : {"3", "6"}) {
      add("conv." + std::string(k) + ".weight", {channels, channels});
      add("conv." + std::string(k) + ".bias", {channels});
    }
    add("out.weight", {width, bands * channels});
    add("out.bias", {width});
    source.set("m.e.causal_downsampling", causal ? 1 : 0);
    source.set("m.e.feat_in", static_cast<double>(mels));
    weights::bind(*this, source, keep, "m");
  }
  extent halved(extent n) const { return causal ? n / 2 + 1 : (n - 1) / 2 + 1; }
  double value(const char* name, extent i) const {
    return static_cast<double>(all.at(name)[static_cast<std::size_t>(i)]);
  }

  // f(out channel, tap, x) summed over the taps of one place.
  template <class F>
  plane strided(const plane& x, F&& f) const {
    const extent left = causal ? 2 : 1;
    plane y{halved(x.frames), halved(x.bands), channels, {}};
    for (extent t = 0; t < y.frames; ++t)
      for (extent b = 0; b < y.bands; ++b)
        for (extent c = 0; c < channels; ++c) {
          double sum = 0;
          for (extent k = 0; k < 9; ++k) sum += f(c, k, x, 2 * t + k / 3 - left, 2 * b + k % 3 - left);
          y.values.push_back(sum);
        }
    return y;
  }
  table by_definition(const table& features) const {
    plane x{features.rows(), features.cols(), 1, {}};
    for (extent i = 0; i < features.size(); ++i) x.values.push_back(static_cast<double>(features.data()[i]));
    x = strided(x, [&](extent c, extent k, const plane& p, extent t, extent b) {
      return value("conv.0.weight", 9 * c + k) * p.at(t, b, 0) + value("conv.0.bias", c) / 9;
    });
    for (double& v : x.values) v = std::max(v, 0.0);
    for (const auto& [deep, mix] : {std::pair<std::string, std::string>{"conv.2", "conv.3"}, {"conv.5", "conv.6"}}) {
      x = strided(x, [&, &taps = deep](extent c, extent k, const plane& p, extent t, extent b) {
        return value((taps + ".weight").c_str(), k * channels + c) * p.at(t, b, c) +
               value((taps + ".bias").c_str(), c) / 9;
      });
      plane y = x;
      for (std::size_t i = 0; i < x.values.size(); i += channels)
        for (extent c = 0; c < channels; ++c) {
          double sum = value((mix + ".bias").c_str(), c);
          for (extent j = 0; j < channels; ++j)
            sum += value((mix + ".weight").c_str(), c * channels + j) * x.values[i + static_cast<std::size_t>(j)];
          y.values[i + static_cast<std::size_t>(c)] = std::max(sum, 0.0);
        }
      x = y;
    }
    table y(x.frames, width);
    const extent flat = x.bands * channels;
    for (extent t = 0; t < y.rows(); ++t)
      for (extent i = 0; i < width; ++i) {
        double sum = value("out.bias", i);
        for (extent j = 0; j < flat; ++j)
          sum += value("out.weight", i * flat + j) * x.values[static_cast<std::size_t>(t * flat + j)];
        y(t, i) = static_cast<float>(sum);
      }
    return y;
  }
};

// Four layers of at most 12 products in single precision.
TEST(depthwise_subsampling, formula_with_both_paddings) {
  for (const bool causal : {false, true})
    for (const extent frames : {1, 2, 7, 8, 9, 25, 1100}) {
      const model m(causal, 11);
      table x(frames, 11);
      for (extent i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>((i * 31) % 17 - 8) / 8.0f;
      const table want = m.by_definition(x);
      ASSERT_EQ(m.net.rows(frames), want.rows()) << frames;
      table y(want.rows(), width);
      context c;
      nn::apply(m.net, x, y, c);
      EXPECT_LE((y - want).cwiseAbs().maxCoeff(), 1e-5f * std::max(1.0f, want.cwiseAbs().maxCoeff()))
          << causal << " " << frames;
    }
}

}  // namespace depthwise_subsampling_test
