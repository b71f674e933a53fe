// NeMo's log-mel against its formula in double precision, in pieces of any size, and against the golden stages.
#include <steno/frontends/nemo_mel.hpp>
#include <steno/frontends/per_feature_norm.hpp>

#include "support/each_fft.hpp"
#include "support/golden.hpp"
#include "support/random.hpp"
#include "support/wav.hpp"

#include "npy.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <limits>

using namespace steno;

namespace {

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

// One value of the formula: a direct transform of the emphasised, windowed samples around 160 t.
double by_definition(const frontends::nemo_mel<>& f, const std::vector<float>& pcm, extent t, std::size_t b) {
  const auto n = static_cast<extent>(pcm.size());
  const auto sample = [&](extent i) {
    return i < 0 || i >= n ? 0.0 : static_cast<double>(pcm[static_cast<std::size_t>(i)]);
  };
  double sum = 0;
  for (extent k = f.filters().begin[b]; k < f.filters().begin[b + 1]; ++k) {
    const auto bin = static_cast<double>(f.filters().first[b] + k - f.filters().begin[b]);
    std::complex<double> x = 0;
    for (extent i = 0; i < 400; ++i) {
      const extent at = 160 * t - 200 + i;
      if (at < 0 || at >= n) continue;
      const double window = 0.5 - 0.5 * std::cos(2 * std::numbers::pi * static_cast<double>(i) / 399);
      x += window * (sample(at) - static_cast<double>(0.97f) * sample(at - 1)) *
           std::polar(1.0, -2 * std::numbers::pi * bin * static_cast<double>(i + 56) / 512);
    }
    sum += static_cast<double>(f.filters().weights[static_cast<std::size_t>(k)]) * std::norm(x);
  }
  return std::log(sum + 0x1p-24);
}

}  // namespace

// Single precision sums of 400 products: 1e-4 of values around 1.
TEST(nemo_mel, values_are_those_of_the_formula) {
  const frontends::nemo_mel<> f;
  const std::vector<float> pcm = noise(1000);
  context c;
  table y(f.rows(1000), f.width());
  ASSERT_EQ(y.rows(), 6);  // 1000 / 160
  f(pcm, y, c);
  for (const extent t : {0, 1, 3, 5})
    for (const extent b : {0, 7, 40, 79})
      EXPECT_NEAR(static_cast<double>(y(t, b)), by_definition(f, pcm, t, static_cast<std::size_t>(b)), 1e-4)
          << t << " " << b;
}

TEST(nemo_mel, the_same_bits_however_the_samples_come) {
  const frontends::nemo_mel<> f;
  const std::vector<float> pcm = noise(16000 + 77);
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
    const frontends::per_feature_norm<> norm(want.rows(), name != std::string("parakeet-eou"));
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
