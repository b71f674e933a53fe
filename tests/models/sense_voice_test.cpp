// SenseVoice on the compact golden set: stages, ids; same bits for any number of threads; no allocation in steady
// state.
// SPDX-License-Identifier: Apache-2.0
#include <steno/core/thread_pool.hpp>
#include <steno/models/sense_voice.hpp>
#include <steno/weights/random.hpp>

#include "support/allocations.hpp"
#include "support/compare.hpp"
#include "support/golden.hpp"
#include "trace/stages/sense_voice.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <set>

namespace sense_voice_test {

namespace fs = std::filesystem;
using namespace steno;

const fs::path folder = test::compact() / "sensevoice";

funasr::sense_voice_any small() { return load<funasr::sense_voice_any>((folder / "model.gguf").string()); }

matrix<float, dynamic, dynamic> features() {
  const npy::array a = npy::load(folder / "cmvn.npy");
  const std::vector<float> v = a.floats();
  return core::make_view(v.data(), a.rows(), a.cols());
}

// 1e-4 of max(1, absmax) is the contract's bound for f32: the sums run in another order than torch's.
TEST(sense_voice, stages_and_ids_equal_the_original) {
  const auto model = small();
  std::set<std::string> seen;
  const auto sink = [&](std::string_view path, const view<const float>& x) {
    const std::string name = stages::sense_voice(path);
    if (!fs::exists(folder / (name + ".npy"))) return;
    seen.insert(name);
    test::expect_close(x, folder / (name + ".npy"), 1e-4);
  };
  context c(executor{}, core::tracer(sink));
  const auto x = features();
  matrix<float, dynamic, dynamic> scores(x.rows() + model.queries, model.ctc_lo.output_size());
  model.forward_features(x, 0, false, scores, c);
  EXPECT_GE(seen.size(), 14u);

  segment s;
  model.decode(scores, s, c);
  std::ifstream in(folder / "ids.txt");
  const std::vector<int> want{std::istream_iterator<int>(in), {}};
  EXPECT_EQ(s.token_ids, want);
  EXPECT_EQ(s.language, "en");
}

TEST(sense_voice, same_bits_for_any_number_of_threads) {
  const auto model = small();
  const auto x = features();
  std::vector<matrix<float, dynamic, dynamic>> results;
  for (const int threads : {1, 2, 4}) {
    thread_pool pool(threads);
    context c{executor(pool)};
    results.emplace_back(x.rows() + model.queries, model.ctc_lo.output_size());
    model.forward_features(x, 0, false, results.back(), c);
  }
  const auto bytes = static_cast<std::size_t>(results[0].size()) * sizeof(float);
  EXPECT_EQ(std::memcmp(results[0].data(), results[1].data(), bytes), 0);
  EXPECT_EQ(std::memcmp(results[0].data(), results[2].data(), bytes), 0);
}

// Pages of the file must not come back with every norm and bias: a model that was packed would be held twice.
TEST(sense_voice, small_tensors_leave_the_file) {
  const auto model = small();
  const auto file = model.storage.file->bytes();
  const auto inside = [&](const std::byte* p) { return p >= file.data() && p < file.data() + file.size(); };
  EXPECT_FALSE(inside(model.ctc_lo.b.data));
  EXPECT_FALSE(inside(model.encoder.get<"encoders0">().layers[0].get<"norm1">().w.data));
  EXPECT_TRUE(inside(model.ctc_lo.w.data) || model.ctc_lo.w.ref().bytes() <= 65536u);
}

TEST(sense_voice, second_forward_of_the_same_length_allocates_nothing) {
  const auto model = small();
  thread_pool pool(2);
  context c{executor(pool)};
  std::vector<float> pcm(48000);
  weights::random_numbers next(5);
  for (float& v : pcm) v = 0.1f * next();
  matrix<float, dynamic, dynamic> scores(model.frames(48000), model.ctc_lo.output_size());
  model.forward(pcm, 0, false, scores, c);
  const test::allocation_counter counter;
  model.forward(pcm, 0, false, scores, c);
  EXPECT_EQ(counter.so_far(), 0u);
}

TEST(sense_voice, empty_and_tiny_clips_give_nothing) {
  const auto model = small();
  context c;
  for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{399}}) {
    const segment s = model.recognise(std::vector<float>(n), {}, c);
    EXPECT_EQ(s.text, "");
    EXPECT_TRUE(s.words.empty());
  }
  EXPECT_NO_THROW((void)model.recognise(std::vector<float>(400), {}, c));
}

TEST(sense_voice, unknown_languages_are_named) {
  try {
    (void)funasr::sense_voice_any::language_row("tlh");
    FAIL();
  } catch (const error& e) {
    EXPECT_EQ(std::string(e.what()), "language \"tlh\": expected one of auto, zh, en, yue, ja, ko, nospeech");
  }
}

TEST(sense_voice, two_streams_share_one_model) {
  const auto model = small();
  const auto x = features();
  matrix<float, dynamic, dynamic> a(x.rows() + 4, model.ctc_lo.output_size()),
      b(x.rows() + 4, model.ctc_lo.output_size());
  std::thread other([&] {
    context c;
    for (int i = 0; i < 3; ++i) model.forward_features(x, 0, false, a, c);
  });
  context c;
  for (int i = 0; i < 3; ++i) model.forward_features(x, 0, false, b, c);
  other.join();
  EXPECT_EQ(a, b);
}

}  // namespace sense_voice_test
