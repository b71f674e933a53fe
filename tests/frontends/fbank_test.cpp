// SPDX-License-Identifier: Apache-2.0
#include <steno/core/thread_pool.hpp>
#include <steno/frontends/fbank.hpp>

#include <gtest/gtest.h>

#include <complex>
#include <limits>
#include <random>
#include <vector>

#include "kernels/each_isa.hpp"
#include "support/golden.hpp"
#include "support/golden_front_end.hpp"
#include "support/signal.hpp"
#include "support/wav.hpp"

namespace fbank_test {

using steno::extent;
using steno::core::make_view;
using steno::frontends::fbank;
using steno::frontends::fbank_options;
using steno::frontends::window_shape;

#if defined(STENO_FFT_FFTW)
using policies = testing::Types<steno::kernels::real_fft_fftw, steno::kernels::real_fft_lanes>;
#else
using policies = testing::Types<steno::kernels::real_fft_lanes>;
#endif
template <class Fft>
class filterbank : public testing::Test {};
TYPED_TEST_SUITE(filterbank, policies);

template <class F>
std::vector<float> whole(const F& f, const std::vector<float>& pcm, steno::context& c) {
  const extent rows = f.rows(static_cast<extent>(pcm.size()));
  std::vector<float> y(static_cast<std::size_t>(rows * f.width()));
  f(pcm, make_view(y.data(), rows, f.width()), c);
  return y;
}

/// The definition in double precision: transform by its sum, dense filters.
std::vector<float> reference(const fbank_options& o, const std::vector<float>& pcm, std::size_t row) {
  const std::size_t n = static_cast<std::size_t>(o.sample_rate * o.frame_length / 1000);
  const std::size_t step = static_cast<std::size_t>(o.sample_rate * o.frame_shift / 1000);
  std::size_t size = 1;
  while (size < n) size *= 2;
  std::vector<double> x(size);
  double mean = 0;
  for (std::size_t i = 0; i < n; ++i)
    mean += x[i] = static_cast<double>(pcm[row * step + i]) * static_cast<double>(o.scale);
  mean /= static_cast<double>(n);
  if (o.remove_dc)
    for (std::size_t i = 0; i < n; ++i) x[i] -= mean;
  for (std::size_t i = n; i-- > 0;) x[i] -= static_cast<double>(o.preemphasis) * x[i == 0 ? 0 : i - 1];
  for (std::size_t i = 0; i < n; ++i) {
    const double a = std::cos(2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(n - 1));
    x[i] *= o.window == window_shape::hamming ? 0.54 - 0.46 * a
            : o.window == window_shape::hann  ? 0.5 - 0.5 * a
                                              : std::pow(0.5 - 0.5 * a, 0.85);
  }
  const auto mel = [](double hz) { return 1127 * std::log(1 + hz / 700); };
  const double low = mel(static_cast<double>(o.low));
  const double high = mel(o.high > 0 ? static_cast<double>(o.high) : o.sample_rate / 2 + static_cast<double>(o.high));
  std::vector<double> sum(static_cast<std::size_t>(o.mels));
  for (std::size_t k = 0; k < size / 2; ++k) {
    std::complex<double> v = 0;
    for (std::size_t i = 0; i < n; ++i)
      v +=
          x[i] * std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(i * k % size) / static_cast<double>(size));
    const double at = (mel(static_cast<double>(k) * o.sample_rate / static_cast<double>(size)) - low) / (high - low) *
                      static_cast<double>(o.mels + 1);
    for (std::size_t b = 0; b < sum.size(); ++b)
      sum[b] += std::max(0.0, 1 - std::abs(at - static_cast<double>(b + 1))) * (o.power ? std::norm(v) : std::abs(v));
  }
  std::vector<float> y(sum.size());
  for (std::size_t b = 0; b < sum.size(); ++b)
    y[b] = static_cast<float>(std::log(std::max(sum[b], static_cast<double>(o.floor))));
  return y;
}

TYPED_TEST(filterbank, follows_the_definition) {
  steno_test::each_isa([&](auto) {
    fbank_options settings[8];
    settings[1].window = window_shape::povey;
    settings[2].window = window_shape::hann;
    settings[2].mels = 40;
    settings[3].remove_dc = false;
    settings[3].preemphasis = 0;
    settings[4].sample_rate = 8000;
    settings[4].mels = 23;
    settings[4].high = -200;
    settings[5].power = false;
    settings[5].low = 0;
    settings[5].high = 7600;
    settings[6].frame_shift = 40;  // frames with gaps between them
    settings[6].mels = 128;
    settings[7].scale = 1;
    const std::vector<float> pcm = steno::test::chirp(8000);
    steno::context c;
    for (const fbank_options& o : settings) {
      const fbank<steno::dynamic, TypeParam> f(o);
      const std::vector<float> y = whole(f, pcm, c);
      const std::size_t rows = static_cast<std::size_t>(f.rows(8000)), width = static_cast<std::size_t>(o.mels);
      ASSERT_GE(rows, 12u);
      for (const std::size_t r : {std::size_t{0}, std::size_t{7}, rows - 1}) {
        const std::vector<float> want = reference(o, pcm, r);
        for (std::size_t b = 0; b < width; ++b)
          // Single precision against double: mel points near 2800 are spaced 2.4e-4 apart, filters are 35 wide or less
          // (128 filters: 22), so weights carry 2e-5; a filter with one small weight only (lowest ones) shows it
          // enlarged.
          EXPECT_NEAR(y[r * width + b], want[b], 5e-4)
              << "setting " << &o - settings << " row " << r << " filter " << b;
      }
    }
  });
}

TYPED_TEST(filterbank, pieces_of_any_size_give_the_same_bits) {
  steno_test::each_isa([&](auto) {
    fbank_options gaps;
    gaps.frame_shift = 37;  // more than the length: samples are skipped
    const std::vector<float> pcm = steno::test::chirp(6003);
    steno::context c;
    for (const fbank_options& o : {fbank_options{}, gaps}) {
      const fbank<steno::dynamic, TypeParam> f(o);
      const std::vector<float> want = whole(f, pcm, c);
      std::mt19937 random(3);
      for (const std::size_t piece : {1u, 2u, 7u, 97u, 159u, 160u, 161u, 399u, 400u, 401u, 997u, 4001u, 6003u, 0u}) {
        auto s = f.start();
        std::vector<float> y;
        for (std::size_t at = 0; at < pcm.size();) {
          const std::size_t n = std::min(pcm.size() - at, piece != 0 ? piece : random() % 700);
          const bool last = at + n == pcm.size();
          const extent rows = last ? f.at_end(s, static_cast<extent>(n)) : f.ready(s, static_cast<extent>(n));
          const std::size_t before = y.size();
          y.resize(before + static_cast<std::size_t>(rows * f.width()));
          const auto out = make_view(y.data() + before, rows, f.width());
          auto copy = s;  // a state is a value: the copy gives what the original gives
          const auto in = std::span<const float>(pcm).subspan(at, n);
          last ? f.finish(s, in, out, c) : f.accept(s, in, out, c);
          if (rows > 0) {
            std::vector<float> again(y.begin() + static_cast<std::ptrdiff_t>(before), y.end());
            f.accept(copy, in, make_view(again.data(), rows, f.width()), c);
            ASSERT_TRUE(std::equal(again.begin(), again.end(), y.begin() + static_cast<std::ptrdiff_t>(before)));
          }
          at += n;
        }
        ASSERT_EQ(y, want) << "pieces of " << piece;
        EXPECT_EQ(f.ready(s, 399), 0);  // finish() leaves a fresh state
      }
    }
  });
}

TYPED_TEST(filterbank, threads_give_the_same_bits) {
  const fbank<80, TypeParam> f;
  const std::vector<float> pcm = steno::test::chirp(80000);
  steno::context serial;
  steno::thread_pool two(2);
  steno::context parallel{steno::executor(two)};
  EXPECT_EQ(whole(f, pcm, serial), whole(f, pcm, parallel));
}

TEST(fbank, short_and_empty_clips_give_no_rows) {
  const fbank<> f;
  steno::context c;
  EXPECT_EQ(f.rows(0), 0);
  EXPECT_EQ(f.rows(399), 0);
  EXPECT_EQ(f.rows(400), 1);
  EXPECT_EQ(f.rows(559), 1);
  EXPECT_EQ(f.rows(560), 2);
  EXPECT_TRUE(whole(f, {}, c).empty());
  EXPECT_TRUE(whole(f, std::vector<float>(399), c).empty());
  auto s = f.start();
  EXPECT_EQ(f.at_end(s, 0), 0);
  f.finish(s, {}, make_view(static_cast<float*>(nullptr), 0, 80), c);
}

TEST(fbank, silence_is_the_floor) {
  steno::context c;
  for (const float level : {0.0f, 0.25f})
    for (const float v : whole(fbank<>(), std::vector<float>(560, level), c))
      EXPECT_EQ(v, std::log(std::numeric_limits<float>::epsilon()));
}

TEST(fbank, bad_samples_count_as_zero) {
  const fbank<> f;
  steno::context c;
  std::vector<float> clean = steno::test::chirp(1600), dirty = clean;
  const float bad[] = {std::numeric_limits<float>::quiet_NaN(),
                       -std::numeric_limits<float>::quiet_NaN(),
                       std::numeric_limits<float>::infinity(),
                       -std::numeric_limits<float>::infinity(),
                       1e30f,
                       -3e38f};
  for (std::size_t i = 0; i < 6; ++i) {
    clean[100 + 37 * i] = 0;
    dirty[100 + 37 * i] = bad[i];
  }
  EXPECT_EQ(whole(f, dirty, c), whole(f, clean, c));
  for (const float v : whole(f, std::vector<float>(400, 3e7f), c)) EXPECT_TRUE(std::isfinite(v));
  std::vector<float> huge(400);
  for (std::size_t i = 0; i < 400; ++i) huge[i] = i % 3 == 0 ? 3.3e7f : -3.3e7f;
  for (const float v : whole(f, huge, c)) EXPECT_TRUE(std::isfinite(v));
}

TEST(fbank, refuses_options_out_of_range) {
  const auto with = [](auto change) {
    fbank_options o;
    change(o);
    return o;
  };
  EXPECT_THROW(fbank<>(with([](auto& o) { o.mels = 0; })), steno::error);
  EXPECT_THROW(fbank<80>(with([](auto& o) { o.mels = 81; })), steno::error);
  EXPECT_THROW(fbank<>(with([](auto& o) { o.sample_rate = std::nan(""); })), steno::error);
  EXPECT_THROW(fbank<>(with([](auto& o) { o.frame_length = 1e12; })), steno::error);
  EXPECT_THROW(fbank<>(with([](auto& o) { o.frame_shift = 0; })), steno::error);
  EXPECT_THROW(fbank<>(with([](auto& o) { o.low = 9000; })), steno::error);
  EXPECT_THROW(fbank<>(with([](auto& o) { o.high = 8001; })), steno::error);
  EXPECT_THROW(fbank<>(with([](auto& o) { o.floor = 0; })), steno::error);
  EXPECT_THROW(fbank<>(with([](auto& o) { o.scale = -1; })), steno::error);
}

TYPED_TEST(filterbank, golden_funasr) {
  STENO_REQUIRE_SHARED(shared);
  steno_test::each_isa([&](auto) {
    const fbank<80, TypeParam> f;
    steno::context c;
    for (const char* name : {"sensevoice", "paraformer", "nano", "vad"}) {
      const auto home = shared / "golden" / "funasr" / name;
      const steno::test::wav w = steno::test::load_wav(home / "input.wav");
      ASSERT_EQ(w.rate, 16000);
      steno::test::expect_golden(whole(f, w.pcm, c), home / "stages" / "00_fbank.npy");
    }
  });
}

TYPED_TEST(filterbank, golden_wenet) {
  STENO_REQUIRE_SHARED(shared);
  steno_test::each_isa([&](auto) {
    fbank_options o;
    o.window = window_shape::povey;
    const fbank<80, TypeParam> f(o);
    steno::context c;
    for (const char* name :
         {"u2_conformer", "u2_conformer_bpe", "u2_transformer", "u2_unified_conformer", "u2pp_conformer"}) {
      const auto home = shared / "golden" / "wenet" / name;
      const std::vector<float> got = whole(f, steno::test::load_wav(home / "input.wav").pcm, c);
      const std::vector<float> want = npy::load(home / "stages" / "00_fbank.npy").floats();
      ASSERT_EQ(got.size(), want.size());
      const steno::test::distance d = steno::test::compare(got, want);
      // The bounds of golden/wenet/NOTES.md: povey's window falls to nothing at its ends, so near-silent bins beside
      // loud ones hold the rounding of whichever single-precision FFT computed them (log of about 1e-7 of the frame's
      // energy).
      EXPECT_LE(d.worst, 2e-2) << name;
      EXPECT_LE(d.mean, 1e-5) << name;
    }
  });
}

}  // namespace fbank_test
