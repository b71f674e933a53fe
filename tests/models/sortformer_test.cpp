// Sortformer on the compact golden set: chunks with their speaker cache, and segments; whole recordings with random
// weights; what files may not say.
// SPDX-License-Identifier: Apache-2.0
#include <steno/core/thread_pool.hpp>
#include <steno/models/sortformer.hpp>
#include <steno/segmentation/speaker_segments.hpp>
#include <steno/weights/gguf_writer.hpp>
#include <steno/weights/random.hpp>

#include "support/allocations.hpp"
#include "support/compare.hpp"
#include "support/golden.hpp"
#include "support/random.hpp"
#include "trace/stages/nemo.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <map>

namespace sortformer_test {

namespace fs = std::filesystem;
using namespace steno;
using nlohmann::json;

using table = matrix<float, dynamic, dynamic>;
const fs::path folder = test::compact() / "sortformer";
// The contract's bound for f32: sums run in another order than torch's, nothing else differs.
constexpr double tolerance = 1e-4;

nemo::sortformer_any small() { return load<nemo::sortformer_any>((folder / "model.gguf").string()); }

json expected() {
  std::ifstream in(folder / "expected.json");
  return json::parse(in);
}
table read_table(const std::string& name) {
  const npy::array a = npy::load(folder / (name + ".npy"));
  const std::vector<float> v = a.floats();
  return core::make_view(v.data(), a.rows(), a.cols());
}

// Probabilities of the compact set's chunks.
table diarize_chunks(const nemo::sortformer_any& m, const nn::speaker_cache_options& o, context& c) {
  const json want = expected()["chunks"];
  const table x = read_table("logmel");
  table all(6 * static_cast<extent>(want.size()), m.speakers());
  nn::speaker_cache state(o, m.encoder.output_size(), m.speakers());
  extent at = 0;
  for (const json& chunk : want) {
    const auto number = [&](const char* key) { return chunk[key].get<extent>(); };
    const extent n = number("chunk"), left = number("left_offset"), right = number("right_offset");
    const auto features = x.middleRows(at - left, number("mel_in"));
    {
      auto scope = c.enter("chunk", n);
      m.step(core::read(features), left / 8, right / 8, state, all.middleRows(6 * n, 6), c);
    }
    at += number("mel_in") - left - right;
    EXPECT_EQ(state.cache_rows(), number("spkcache_len")) << n;
    EXPECT_EQ(state.fifo_rows(), number("fifo_len")) << n;
    if (!o.async_streaming) {
      EXPECT_EQ(state.silent_rows(), number("n_sil_frames")) << n;
    }
  }
  return all;
}

void expect_first_rows(const table& ours, const char* name) {
  const table want = read_table(name);
  EXPECT_LE((ours - want.topRows(ours.rows())).cwiseAbs().maxCoeff(), tolerance) << name;
}

TEST(sortformer, chunks_and_states) {
  const auto m = small();
  EXPECT_TRUE(m.streams);
  EXPECT_EQ(m.speakers(), 4);
  EXPECT_EQ(m.streaming.spkcache_len, 80);
  EXPECT_EQ(m.streaming.min_pos_scores_rate, 0.15);
  std::map<std::string, double> seen;
  const auto sink = [&](std::string_view path, const view<const float>& rows) {
    const fs::path file = folder / (stages::sortformer(path) + ".npy");
    if (!path.starts_with("chunk.") || !fs::exists(file)) return;
    const npy::array want = npy::load(file);
    ASSERT_EQ(rows.size(), want.size()) << path;
    seen[std::string(path)] = test::compare(rows, want).relative();
  };
  context c(executor{}, core::tracer(sink));
  expect_first_rows(diarize_chunks(m, m.streaming, c), "speaker_probs");
  EXPECT_EQ(seen.size(), 10u);
  for (const auto& [name, difference] : seen) EXPECT_LE(difference, tolerance) << name;
}

TEST(sortformer, chunks_as_the_originals_asynchronous_streams) {
  const auto m = small();
  nn::speaker_cache_options o = m.streaming;
  o.async_streaming = true;
  context c;
  const table ours = diarize_chunks(m, o, c);
  expect_first_rows(ours, "speaker_probs_async");
  const table other = read_table("speaker_probs");
  EXPECT_GT((ours - other.topRows(ours.rows())).cwiseAbs().maxCoeff(), 0.1f);  // they are not the same
}

TEST(sortformer, segments_of_every_setting) {
  const table p = read_table("speaker_probs");
  const json settings = expected()["segments"];
  for (const auto& [name, setting] : settings.items()) {
    SCOPED_TRACE(name);
    segmentation::speaker_segment_options o;
    segmentation::speaker_segment_options::each(
        o, [&, &s = setting](const char* key, double& v) { v = s["params"][key]; });
    std::vector<std::string> lines;
    for (extent speaker = 0; speaker < p.cols(); ++speaker)
      for (const segmentation::speaker_span& s : segmentation::speaker_segments(core::read(p), speaker, 8, o)) {
        char line[80];
        std::snprintf(line, sizeof line, "%.3f %.3f speaker_%d", s.start, s.end, static_cast<int>(speaker));
        lines.emplace_back(line);
      }
    EXPECT_EQ(lines, setting["lines"].get<std::vector<std::string>>());
  }
}

using tiny =
    nemo::sortformer<nemo::sortformer_sizes{.encoder = {.mels = 80,
                                                        .channels = 8,
                                                        .width = 32,
                                                        .heads = 4,
                                                        .units = 64,
                                                        .taps = 9,
                                                        .layers = 2,
                                                        .biases = nn::bias::added,
                                                        .causal = 0,
                                                        .normed = 0},
                                            .transformer_encoder = {.width = 16, .heads = 2, .units = 32, .layers = 2},
                                            .speakers = 4}>;
struct fixture {
  fixture() {
    model.frontend = {frontends::nemo_mel<80>(),
                      frontends::feature_norm<80>(80, frontends::normalisation::per_feature)};
    weights::randomise(model, keep, 3);
  }
  weights::storage keep;
  tiny model;
};

TEST(sortformer, a_whole_recording_for_any_number_of_threads) {
  const fixture f;
  const std::vector<float> pcm = test::random_numbers(4).vector(50000, -0.3f, 0.3f);
  const extent rows = f.model.frames(50000);
  EXPECT_EQ(rows, 39);  // of 312 frames
  table one(rows, 4), again(rows, 4);
  context c;
  f.model.diarize(pcm, one, c);
  const test::allocation_counter counted;
  f.model.diarize(pcm, again, c);
  EXPECT_EQ(counted.so_far(), 0u);
  EXPECT_EQ(one, again);
  EXPECT_GT(one.minCoeff(), 0.0f);
  EXPECT_LT(one.maxCoeff(), 1.0f);
  for (const int n : {2, 3, 4}) {
    thread_pool pool(n);
    context several{executor(pool)};
    f.model.diarize(pcm, again, several);
    EXPECT_EQ(one, again) << n;
  }
}

// Features of a whole recording are scaled by its largest sample.
TEST(sortformer, how_loud_a_recording_is_does_not_matter_much) {
  const fixture f;
  std::vector<float> pcm = test::random_numbers(4).vector(16000, -0.9f, 0.9f);
  table loud(12, 4), quiet(12, 4);
  ASSERT_EQ(f.model.frames(16000), 13);
  table a(13, 4), b(13, 4);
  context c;
  f.model.diarize(pcm, a, c);
  for (float& v : pcm) v *= 0.5f;
  f.model.diarize(pcm, b, c);
  EXPECT_LE((a - b).cwiseAbs().maxCoeff(), 0.01f);  // the 0.001 beside the largest sample is left
  std::fill(pcm.begin(), pcm.end(), 0.0f);
  f.model.diarize(pcm, a, c);
  EXPECT_TRUE(a.array().isFinite().all());
  f.model.diarize({}, table(0, 4), c);
}

TEST(sortformer, what_a_file_may_not_say) {
  const auto found = [](const char* key, double value) -> std::string {
    weights::gguf_writer w;
    w.set("general.architecture", std::string("sortformer"));
    w.set(std::string("sortformer.streaming.") + key, value);
    const std::vector<std::byte> bytes = w.bytes();
    try {
      (void)nemo::sortformer_any(gguf_file("x", bytes));
    } catch (const error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(found("fifo_len", 3), "");
  EXPECT_NE(found("fifo_len", -1).find("sortformer.streaming.fifo_len"), std::string::npos);
  EXPECT_NE(found("spkcache_len", 1e9).find("sortformer.streaming.spkcache_len"), std::string::npos);
  EXPECT_NE(found("sil_threshold", -0.5).find("sortformer.streaming.sil_threshold"), std::string::npos);
  EXPECT_NE(found("async_streaming", 2).find("sortformer.streaming.async_streaming"), std::string::npos);
}

}  // namespace sortformer_test
