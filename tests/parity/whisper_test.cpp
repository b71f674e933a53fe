// Whisper against the original implementation: every stage of every golden case, from the checkpoints through the
// converter; threads and memory.
// SPDX-License-Identifier: Apache-2.0
#include <steno/core/thread_pool.hpp>
#include <steno/models/whisper.hpp>
#include <steno/pipelines/whisper.hpp>

#include "support/allocations.hpp"
#include "support/compare.hpp"
#include "support/golden.hpp"
#include "support/threads.hpp"
#include "support/wav.hpp"
#include "support/whisper_case.hpp"
#include "trace/stages/whisper.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <map>

namespace whisper_test {

namespace fs = std::filesystem;
using namespace steno;
using nlohmann::json;

constexpr extent window = 480000;  // samples

std::vector<float> window_of(const std::vector<float>& pcm, extent count) {
  std::vector<float> w(static_cast<std::size_t>(window));
  std::copy_n(pcm.begin(), count, w.begin());
  return w;
}

class parity_whisper : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(cases, parity_whisper, testing::Values("multi", "en", "v3"));

// The contract's bound for f32: 1e-4 of max(1, absmax). Sums run in another order than torch's, nothing else differs.
TEST_P(parity_whisper, every_stage_in_f32) {
  STENO_REQUIRE_SHARED(shared);
  const fs::path folder = shared / "golden/whisper" / GetParam();
  const json want = test::read_json(folder / "expected.json");
  const auto model = test::converted_whisper(shared, GetParam());
  const auto pcm = test::load_wav(folder / "input.wav").pcm;

  std::map<std::string, npy::array> golden;
  for (const auto& e : fs::directory_iterator(folder / "stages"))
    golden.emplace(e.path().stem().string().substr(3), npy::load(e.path()));
  std::map<std::string, double> seen;
  const auto note = [&](const std::string& name, const view<const float>& x) {
    const auto at = golden.find(name);
    if (at == golden.end()) return;
    ASSERT_EQ(x.rows(), at->second.rows()) << name;
    ASSERT_EQ(x.cols(), at->second.cols()) << name;
    seen[name] = test::compare(x, at->second).relative();
  };
  const auto note_turned = [&](const std::string& name, const view<const float>& x) {
    const matrix<float, dynamic, dynamic> turned = x.transpose();
    note(name, turned);
  };
  const auto sink = [&](std::string_view path, const view<const float>& x) {
    const std::string name = stages::whisper(path);
    if (name == "conv1_gelu" || name == "conv2_gelu") return note_turned(name, x);  // [channels, frames] there
    note(name, x);
  };
  context c(executor{}, core::tracer(sink));

  const extent frames = model.window_frames(), mels = model.frontend.width();
  matrix<float, dynamic, dynamic> x(frames, mels);
  model.frontend(window_of(pcm, 176000), x, c);
  const auto head = golden.find("logmel_short11_head");  // [mels, columns], as many as the case keeps
  ASSERT_TRUE(head != golden.end() && head->second.cols() <= frames);
  note_turned(head->first, core::make_view(std::as_const(x).data(), static_cast<extent>(head->second.cols()), mels));
  // The window that transcribe() ends with: its maximum is the whole file's.
  const auto samples = static_cast<extent>(pcm.size()) + window;
  const extent rest = want["transcribe_last_window_mel_columns"].get<extent>();
  matrix<float, dynamic, dynamic> last(rest, mels);
  model.frontend(pcm, samples, static_cast<extent>(pcm.size()) / 160 - rest, model.frontend.peak(pcm, samples, c), last,
                 c);
  note_turned("logmel_last_window", last);

  model.frontend(window_of(pcm, window), x, c);
  note_turned("logmel", x);
  whisper::whisper_window w;
  model.encode(x, w, c);
  const auto prompt = want["fixed_prompt"].get<std::vector<int>>();
  const extent n = static_cast<extent>(prompt.size()), vocabulary = model.decoder.vocabulary();
  matrix<float, dynamic, dynamic> rows(n, model.decoder.width()), logits(2, vocabulary);
  {
    auto scope = c.enter("decoder");
    model.decoder.prompt(prompt, w.encoded, w.text, rows, c);
    model.decoder.logits(rows.bottomRows(2), logits, c);
  }
  note("logits_prompt_last2", logits);

  std::size_t expected = 0;
  for (const auto& [name, array] : golden) {
    if (name == "align_matrix" || name.starts_with("dequant")) continue;  // other tests
    ++expected;
    ASSERT_TRUE(seen.contains(name)) << name;
    EXPECT_LE(seen.at(name), 1e-4) << name;
  }
  EXPECT_GT(expected, 0u);

  // Token by token, in beams whose pasts fork, the last row is the same: other kernels, so not the same bits.
  const float bound = 1e-4f * std::max(1.0f, logits.cwiseAbs().maxCoeff());
  w.text.clear();
  c.trace_to({});
  matrix<float, dynamic, dynamic> first(1, model.decoder.width()), beams(3, model.decoder.width());
  model.decoder.prompt(std::span(prompt).first(1), w.encoded, w.text, first, c);
  w.text.fork(std::vector<int>{0, 0, 0});
  for (std::size_t i = 1; i < prompt.size(); ++i) {
    // Beam 1 holds the prompt; the others go astray and are replaced by it before the last token.
    const bool straight = i + 1 == prompt.size();
    if (straight) w.text.fork(std::vector<int>{1, 1, 1});
    const int astray = straight ? prompt[i] : 100;
    model.decoder.step(std::vector<int>{astray, prompt[i], astray}, w.encoded, w.text, beams, c);
  }
  matrix<float, dynamic, dynamic> y(3, vocabulary);
  model.decoder.logits(beams, y, c);
  for (extent b = 0; b < 3; ++b) EXPECT_LE((y.row(b) - logits.row(1)).cwiseAbs().maxCoeff(), bound) << b;
}

TEST_P(parity_whisper, same_bits_for_any_number_of_threads_and_no_allocations) {
  STENO_REQUIRE_SHARED(shared);
  const auto model = test::converted_whisper(shared, GetParam(), dtype::q8_0);
  const auto pcm = test::load_wav(shared / "golden/whisper" / GetParam() / "input.wav").pcm;
  const std::vector<float> clip = window_of(pcm, window);
  matrix<float, dynamic, dynamic> x(model.window_frames(), model.frontend.width()), rows(5, model.decoder.width()),
      y(5, model.decoder.vocabulary());
  whisper::whisper_window w;
  const std::vector<int> prompt{50258, 300, 400, 500, 600}, forks(5, 0), next{1, 2, 3, 4, 5}, turned{4, 3, 2, 1, 0};
  const auto run = [&](context& c) {
    model.frontend(clip, x, c);
    model.encode(x, w, c);
    w.text.clear();
    model.decoder.prompt(prompt, w.encoded, w.text, rows, c);
    w.text.fork(forks);
    model.decoder.step(next, w.encoded, w.text, rows, c);
    w.text.fork(turned);
    model.decoder.step(next, w.encoded, w.text, rows, c);
    model.decoder.logits(rows, y, c);
    return std::vector<float>(y.data(), y.data() + y.size());
  };
  context serial;
  const std::vector<float> one = run(serial);
  EXPECT_TRUE(std::isfinite(one[0]));
  for (const int width : {2, 3}) {
    thread_pool pool(steno::test::threads(width));
    context c{executor(pool)};
    EXPECT_EQ(run(c), one) << width;
  }
  (void)run(serial);
  test::allocation_counter counted;
  model.frontend(clip, x, serial);
  model.encode(x, w, serial);
  w.text.clear();
  model.decoder.prompt(prompt, w.encoded, w.text, rows, serial);
  EXPECT_EQ(counted.so_far(), 0u);
}

}  // namespace whisper_test
