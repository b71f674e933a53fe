// SPDX-License-Identifier: Apache-2.0
#include <steno/core/members.hpp>
#include <steno/frontends/wav_frontend.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <new>
#include <random>
#include <string>
#include <vector>

#include "support/golden.hpp"
#include "support/golden_front_end.hpp"
#include "support/signal.hpp"
#include "support/wav.hpp"

namespace wav_frontend_test {

using steno::extent;
using steno::core::make_view;

template <class F>
void normalise(F& f, const steno::test::statistics& s) {
  ASSERT_EQ(static_cast<extent>(s.shift.size()), f.width());
  f.last.shift.assign(make_view(s.shift.data(), 1, f.width()));
  f.last.scale.assign(make_view(s.scale.data(), 1, f.width()));
}

template <class F>
std::vector<float> whole(const F& f, const std::vector<float>& pcm, steno::context& c) {
  const extent rows = f.rows(static_cast<extent>(pcm.size()));
  std::vector<float> y(static_cast<std::size_t>(rows * f.width()));
  f(pcm, make_view(y.data(), rows, f.width()), c);
  return y;
}

/// Feeds pieces of the sizes that next() gives; `counts` receives the rows of each piece.
template <class F>
std::vector<float> in_pieces(const F& f, const std::vector<float>& pcm, steno::context& c, auto next,
                             std::vector<extent>* counts = nullptr) {
  auto s = f.start();
  std::vector<float> y;
  for (std::size_t at = 0, n = 0; at < pcm.size(); at += n) {
    n = std::min<std::size_t>(pcm.size() - at, next());
    const bool last = at + n == pcm.size();
    const extent rows = last ? f.at_end(s, static_cast<extent>(n)) : f.ready(s, static_cast<extent>(n));
    const std::size_t before = y.size();
    y.resize(before + static_cast<std::size_t>(rows * f.width()));
    const auto out = make_view(y.data() + before, rows, f.width());
    const steno::frontends::samples piece(pcm.data() + at, n);
    last ? f.finish(s, piece, out, c) : f.accept(s, piece, out, c);
    if (counts != nullptr) counts->push_back(rows);
  }
  return y;
}

TEST(wav_frontend, pieces_of_any_size_give_the_same_bits) {
  steno::context c;
  steno::test::statistics s;
  for (int i = 0; i < 560; ++i) {
    s.shift.push_back(-0.01f * static_cast<float>(i));
    s.scale.push_back(0.1f + 0.001f * static_cast<float>(i));
  }
  steno::frontends::wav_frontend<> f;
  normalise(f, s);
  for (const std::size_t size : {0u, 1u, 399u, 400u, 1359u, 1360u, 5000u, 9601u}) {
    const std::vector<float> pcm = steno::test::chirp(size), want = whole(f, pcm, c);
    ASSERT_EQ(static_cast<extent>(want.size()), f.rows(static_cast<extent>(size)) * 560);
    for (const std::size_t piece : {1u, 13u, 160u, 401u, 1601u, 20000u})
      ASSERT_EQ(in_pieces(f, pcm, c, [&] { return piece; }), want) << size << " samples in pieces of " << piece;
    std::mt19937 random(9);
    ASSERT_EQ(in_pieces(f, pcm, c, [&] { return random() % 3000; }), want);
  }
}

TEST(wav_frontend, run_time_sizes_give_the_same_bits) {
  steno::context c;
  const std::vector<float> pcm = steno::test::chirp(16000);
  const steno::frontends::wav_frontend<80, 5, 1> fixed;
  const steno::frontends::wav_frontend_any any = steno::frontends::make_wav_frontend({}, 5, 1);
  EXPECT_EQ(any.width(), 400);
  EXPECT_EQ(whole(any, pcm, c), whole(fixed, pcm, c));
  EXPECT_THROW((steno::frontends::make_wav_frontend<80, 7, 6>({}, 5, 1)), steno::error);
}

TEST(wav_frontend, shows_its_stages_and_names_its_weights) {
  const steno::frontends::wav_frontend<> f;
  std::vector<std::string> seen;
  auto show = [&](std::string_view name, const steno::view<const float>& x) {
    seen.push_back(std::string(name) + " " + std::to_string(x.rows()) + "x" + std::to_string(x.cols()));
  };
  steno::context c{{}, steno::core::tracer(show)};
  whole(f, steno::test::chirp(16000), c);
  EXPECT_EQ(seen, (std::vector<std::string>{"fbank 98x80", "lfr 17x560", "cmvn 17x560"}));

  steno::frontends::wav_frontend<> weights;
  std::vector<std::string> names;
  steno::core::walk(weights, [&](const std::string& name, auto&, bool) { names.push_back(name); });
  EXPECT_EQ(names, (std::vector<std::string>{"cmvn.shift", "cmvn.scale"}));
}

template <extent M, extent N>
std::map<std::string, std::vector<float>> stages_of(const std::filesystem::path& home,
                                                    const char* input = "input.wav") {
  steno::frontends::wav_frontend<80, M, N> f;
  const steno::test::statistics s = steno::test::load_mvn(home / "checkpoint" / "am.mvn");
  normalise(f, s);
  std::map<std::string, std::vector<float>> stages;
  auto keep = [&](std::string_view name, const steno::view<const float>& x) {
    std::vector<float>& to = stages[std::string(name)];
    for (extent r = 0; r < x.rows(); ++r)
      to.insert(to.end(), x.data() + r * x.outerStride(), x.data() + r * x.outerStride() + x.cols());
  };
  steno::context c{{}, steno::core::tracer(keep)};
  whole(f, steno::test::load_wav(home / input).pcm, c);
  return stages;
}

TEST(wav_frontend, golden_sensevoice_and_paraformer) {
  STENO_REQUIRE_SHARED(shared);
  for (const char* name : {"sensevoice", "paraformer"}) {
    const auto home = shared / "golden" / "funasr" / name;
    auto stages = stages_of<7, 6>(home);
    steno::test::expect_golden(stages["fbank"], home / "stages" / "00_fbank.npy");
    steno::test::expect_golden(stages["lfr"], home / "stages" / "01_lfr.npy");
    steno::test::expect_golden(stages["cmvn"], home / "stages" / "02_cmvn.npy");
  }
}

TEST(wav_frontend, golden_vad) {
  STENO_REQUIRE_SHARED(shared);
  const auto home = shared / "golden" / "funasr" / "vad";
  auto stages = stages_of<5, 1>(home);
  EXPECT_EQ(stages["lfr"].size(), 1172u * 400u);
  steno::test::expect_golden(stages["fbank"], home / "stages" / "00_fbank.npy");
  stages["cmvn"].resize(400 * 400);
  steno::test::expect_golden(stages["cmvn"], home / "stages" / "01_feats_first400.npy");
}

TEST(wav_frontend, golden_online_pieces) {  // 600 ms pieces: the same rows at the same pieces as WavFrontendOnline
  STENO_REQUIRE_SHARED(shared);
  const auto home = shared / "golden" / "funasr" / "online";
  steno::frontends::wav_frontend<> f;
  const steno::test::statistics s = steno::test::load_mvn(home / "checkpoint" / "am.mvn");
  normalise(f, s);
  steno::context c;
  std::vector<extent> counts;
  const std::vector<float> pcm = steno::test::load_wav(home / "input.wav").pcm;
  const std::vector<float> got = in_pieces(
      f, pcm, c, [] { return 9600; }, &counts);
  std::size_t at = 0;
  for (int piece = 0; piece < 9; ++piece) {
    const std::string number = std::to_string(6 * piece);
    const auto file =
        home / "stages" /
        ((number.size() < 2 ? "0" : "") + number + "_piece" + std::to_string(piece) + "_feats_before_scaling.npy");
    ASSERT_EQ(counts.at(static_cast<std::size_t>(piece)), npy::load(file).rows()) << piece;
    const std::size_t size = static_cast<std::size_t>(counts[static_cast<std::size_t>(piece)] * 560);
    steno::test::expect_golden(std::vector<float>(got.begin() + static_cast<std::ptrdiff_t>(at),
                                                  got.begin() + static_cast<std::ptrdiff_t>(at + size)),
                               file);
    at += size;
  }
  EXPECT_EQ(at, got.size());
}

}  // namespace wav_frontend_test
