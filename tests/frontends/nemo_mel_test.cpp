// NeMo's log-mel against its formula in double precision, in pieces of any size, and against the golden stages.
// SPDX-License-Identifier: Apache-2.0
#include <steno/frontends/feature_norm.hpp>
#include <steno/frontends/nemo_mel.hpp>

#include "support/each_fft.hpp"
#include "support/golden.hpp"
#include "support/random.hpp"
#include "support/refusal.hpp"
#include "support/wav.hpp"

#include "npy.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <limits>

namespace nemo_mel_test {

using namespace steno;

using table = matrix<float, dynamic, dynamic>;

std::vector<float> noise(extent n) {
  std::vector<float> pcm;
  std::uint32_t seed = 1;
  for (extent i = 0; i < n; ++i) {
    seed = seed * 1664525u + 1013904223u;
    pcm.push_back(static_cast<float>(seed >> 8) / 16777216.0f - 0.5f);
  }
  return pcm;
}

// One value of the formula as the original computes it: the clip between its zeros, pre-emphasis, and a direct
// transform with the window in the middle of its points.
double by_definition(const frontends::nemo_mel<>& f, const std::vector<float>& pcm, extent t, std::size_t b) {
  const frontends::nemo_mel_options& o = f.options();
  const auto n = static_cast<extent>(pcm.size()), pad = o.exact_pad ? (o.fft_size - o.shift) / 2 : o.fft_size / 2;
  const auto raw = [&](extent i) {  // of the padded clip
    return i < pad || i >= pad + n ? 0.0 : static_cast<double>(pcm[static_cast<std::size_t>(i - pad)]);
  };
  const auto sample = [&](extent i) {
    if (!o.preemphasis) return raw(i);
    if (i >= (o.exact_pad ? n : pad + n)) return 0.0;
    return raw(i) - static_cast<double>(*o.preemphasis) * raw(i - 1);
  };
  const extent left = (o.fft_size - o.window) / 2;
  double sum = 0;
  for (extent k = f.filters().begin[b]; k < f.filters().begin[b + 1]; ++k) {
    const extent bin = f.filters().first[b] + k - f.filters().begin[b];
    std::complex<double> x = 0;
    for (extent i = 0; i < o.window; ++i)
      x += static_cast<double>(f.window()[static_cast<std::size_t>(i)]) * sample(o.shift * t + left + i) *
           std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(bin * (left + i) % o.fft_size) /
                               static_cast<double>(o.fft_size));
    sum += static_cast<double>(f.filters().weights[static_cast<std::size_t>(k)]) *
           std::pow(std::abs(x), static_cast<double>(o.mag_power));
  }
  const auto guard = static_cast<double>(o.guard);
  if (!o.log) return sum;
  return std::log(o.guard_type == frontends::nemo_guard::clamp ? std::max(sum, guard) : sum + guard);
}

// Every setting with another value than the usual one, alone and together.
std::vector<frontends::nemo_mel_options> all_settings() {
  using o = frontends::nemo_mel_options;
  const auto weights_of = [](std::size_t n) {
    std::vector<float> values = noise(static_cast<extent>(n));
    for (float& v : values) v = std::max(v, 0.0f);
    return values;
  };
  return {
      o{},
      o{.preemphasis = std::nullopt},
      o{.preemphasis = 0.5f, .guard = 0x1p-126f},
      o{.guard = 1e-3f, .guard_type = frontends::nemo_guard::clamp},
      o{.shape = frontends::nemo_window::hamming},
      o{.shape = frontends::nemo_window::blackman},
      o{.shape = frontends::nemo_window::bartlett},
      o{.band = {.low = 60, .high = 7000}},
      o{.band = {.unit_area = false}},
      o{.mag_power = 1},
      o{.mag_power = 1.5f},
      o{.log = false},
      o{.exact_pad = true},
      o{.preemphasis = std::nullopt, .exact_pad = true},
      o{.window = 321, .shift = 128, .fft_size = 1024},
      o{.window = 321, .shift = 128, .fft_size = 1024, .exact_pad = true},
      o{.window = 160, .shift = 160, .fft_size = 256},
      o{.window = 160, .shift = 160, .fft_size = 256, .exact_pad = true},
      o{.window = 512, .shift = 32, .fft_size = 512},
      o{.window_values = noise(400)},
      o{.filter_values = weights_of(80 * 257)},
      o{.window = 400,
        .shift = 100,
        .fft_size = 600,
        .preemphasis = 0.9f,
        .guard = 0x1p-23f,
        .shape = frontends::nemo_window::hamming,
        .band = {.low = 20, .high = 7600, .unit_area = false},
        .mag_power = 1,
        .exact_pad = true},
  };
}

// Single precision sums of 400 products: 1e-4 of values around 1.
TEST(nemo_mel, values_are_those_of_the_formula) {
  EXPECT_EQ(frontends::nemo_mel<>().rows(1000), 6);                     // 1000 / 160
  EXPECT_EQ(frontends::nemo_mel<>({.exact_pad = true}).rows(1000), 5);  // one fewer
  EXPECT_EQ(frontends::nemo_mel<>({.exact_pad = true}).rows(100), 0);
  const std::vector<float> pcm = noise(1000);
  context c;
  int number = 0;
  for (const frontends::nemo_mel_options& o : all_settings()) {
    SCOPED_TRACE(number++);
    const frontends::nemo_mel<> f(o);
    table y(f.rows(1000), f.width());
    ASSERT_GE(y.rows(), 5);
    f(pcm, y, c);
    for (const extent t : {extent{0}, extent{1}, extent{3}, y.rows() - 1})
      for (const extent b : {0, 7, 40, 79}) {
        const double want = by_definition(f, pcm, t, static_cast<std::size_t>(b));
        EXPECT_NEAR(static_cast<double>(y(t, b)), want, 1e-4 * std::max(1.0, std::fabs(want))) << t << " " << b;
      }
  }
}

TEST(nemo_mel, settings_out_of_range_are_named) {
  using o = frontends::nemo_mel_options;
  const std::pair<o, const char*> bad[] = {{o{.window = 1}, "window"},
                                           {o{.window = 600}, "window"},
                                           {o{.shift = 401}, "shift"},
                                           {o{.shift = 161, .exact_pad = true}, "exact_pad"},
                                           {o{.preemphasis = 1.5f}, "pre-emphasis"},
                                           {o{.guard = 0}, "guard"},
                                           {o{.band = {.high = 8001}}, "highest"},
                                           {o{.band = {.low = 8000}}, "lowest"},
                                           {o{.mag_power = 0}, "power"},
                                           {o{.window_values = {1, 2}}, "window"},
                                           {o{.filter_values = std::vector<float>(80 * 257, -1.0f)}, "filters"}};
  for (const auto& [options, what] : bad) {
    const std::string found = test::refusal([&, &given = options] { (void)frontends::nemo_mel<>(given); });
    EXPECT_NE(found.find(what), std::string::npos) << found;
  }
}

TEST(nemo_mel, filters_as_a_matrix_and_back) {
  const auto made = frontends::mel_filters::slaney(40, 512, 16000, {.low = 100, .high = 5000});
  const auto again = frontends::mel_filters::from_matrix(made.matrix(257), 257);
  EXPECT_EQ(again.first, made.first);
  EXPECT_EQ(again.begin, made.begin);
  EXPECT_EQ(again.weights, made.weights);
  const auto none = frontends::mel_filters::from_matrix(std::vector<float>(10), 5);
  EXPECT_EQ(none.size(), 2);
  EXPECT_TRUE(none.weights.empty());
}

TEST(nemo_mel, the_same_bits_however_the_samples_come) {
  int number = 0;
  for (const frontends::nemo_mel_options& o : all_settings()) {
    SCOPED_TRACE(number++);
    const frontends::nemo_mel<> f(o);
    const std::vector<float> pcm = noise(4000 + 77);
    const auto n = static_cast<extent>(pcm.size());
    context c;
    table whole(f.rows(n), f.width());
    f(pcm, whole, c);
    for (const extent piece : {extent{1000}, extent{159}, extent{1}, n}) {
      auto s = f.start();
      table all(f.rows(n), f.width());
      extent done = 0;
      for (extent at = 0; at < n; at += piece) {
        const extent count = std::min(piece, n - at);
        const frontends::samples part(pcm.data() + at, static_cast<std::size_t>(count));
        const bool last = at + piece >= n;
        const extent rows = last ? f.at_end(s, count) : f.ready(s, count);
        ASSERT_LE(done + rows, all.rows());
        view<float> out = core::make_view(all.data() + done * all.cols(), rows, all.cols());
        if (last)
          f.finish(s, part, out, c);
        else
          f.accept(s, part, out, c);
        done += rows;
      }
      EXPECT_EQ(done, all.rows()) << piece;
      EXPECT_TRUE(all == whole) << piece;
      EXPECT_EQ(s.held, f.start().held);
    }
  }
}

TEST(nemo_mel, short_and_broken_clips) {
  const frontends::nemo_mel<> f;
  EXPECT_EQ(f.rows(0), 0);
  EXPECT_EQ(f.rows(159), 0);
  auto s = f.start();
  EXPECT_EQ(f.ready(s, 199), 0);
  EXPECT_EQ(f.ready(s, 200), 1);
  std::vector<float> pcm(320, std::numeric_limits<float>::quiet_NaN());
  context c;
  table y(2, 80);
  f(pcm, y, c);
  EXPECT_TRUE(y.allFinite());
  EXPECT_FLOAT_EQ(y(0, 0), std::log(0x1p-24f));
}

TEST(nemo_mel, golden_stages) {
  STENO_REQUIRE_SHARED(shared);
  const auto check = [&]<class Fft>(const char* name) {
    const auto folder = shared / "golden/nemo" / name;
    const npy::array want = npy::load(folder / "stages/00_logmel.npy");
    const std::vector<float> golden = want.floats();
    const std::vector<float> pcm = test::load_wav(folder / "input.wav").pcm;
    const frontends::nemo_mel<dynamic, Fft> f({.mels = want.rows()});
    const bool normalised = name != std::string("parakeet-eou");
    const frontends::feature_norm<> norm(
        want.rows(), normalised ? frontends::normalisation::per_feature : frontends::normalisation::none);
    context c;
    table y(f.rows(static_cast<extent>(pcm.size())), f.width());
    ASSERT_EQ(y.rows() + 1, want.cols());
    f(pcm, y, c);
    norm(core::read(y), core::write(y), c);
    double worst = 0, largest = 1;
    for (extent b = 0; b < y.cols(); ++b) {
      for (extent t = 0; t < y.rows(); ++t) {
        const auto value = static_cast<double>(golden[static_cast<std::size_t>(b * want.cols() + t)]);
        worst = std::max(worst, std::abs(static_cast<double>(y(t, b)) - value));
        largest = std::max(largest, std::abs(value));
      }
      EXPECT_EQ(golden[static_cast<std::size_t>((b + 1) * want.cols() - 1)], 0);  // declared invalid, set to zero
    }
    EXPECT_LE(worst, 1e-4 * largest) << name;  // the contract's bound for a traced tensor
  };
  test::each_fft([&]<class Fft>() {
    for (const char* name : {"parakeet-ctc", "parakeet-tdt", "parakeet-eou", "parakeet-rnnt"})
      check.template operator()<Fft>(name);
  });
}

}  // namespace nemo_mel_test
