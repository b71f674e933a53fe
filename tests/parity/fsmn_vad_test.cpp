// FSMN-VAD against the original implementation: every stage and all segments of the golden case, from the checkpoint
// through the converter, at once and piece by piece.
// SPDX-License-Identifier: Apache-2.0
#include <steno/models/fsmn_vad.hpp>
#include <steno/weights/gguf_writer.hpp>

#include "convert/convert.hpp"
#include "support/allocations.hpp"
#include "support/compare.hpp"
#include "support/golden.hpp"
#include "support/wav.hpp"
#include "trace/stages/fsmn_vad.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <map>

namespace fsmn_vad_test {

namespace fs = std::filesystem;
using namespace steno;
using nlohmann::json;

json expected(const fs::path& folder) {
  std::ifstream in(folder / "expected.json");
  return json::parse(in);
}

funasr::fsmn_vad_any converted(const fs::path& checkpoint, dtype type = dtype::f32) {
  const test::temporary_directory scratch;
  const fs::path file = scratch.path() / "model.gguf";
  convert(checkpoint, file, {.type = type});
  return load<funasr::fsmn_vad_any>(file.string());  // stays mapped when the name goes away
}

std::vector<float> audio(const fs::path& folder, const std::string& run) {
  return test::load_wav(folder / (run.starts_with("jfk_") ? "input2_jfk.wav" : "input.wav")).pcm;
}

funasr::fsmn_vad_options options_of(const json& args, int otherwise) {
  funasr::fsmn_vad_options o;
  o.period = args.value("chunk_size", otherwise);
  if (args.contains("max_end_silence_time") && !args["max_end_silence_time"].is_null())
    o.max_end_silence = args["max_end_silence_time"].get<int>();
  if (args.contains("build")) o.max_single_segment = args["build"]["max_single_segment_time"].get<int>();
  return o;
}

// All scores of a recording that comes in pieces of `piece` samples. What only finish() would write is left out.
std::vector<float> scores_by_pieces(const funasr::fsmn_vad_any& model, std::span<const float> pcm, std::size_t piece) {
  context c;
  auto s = model.start();
  std::vector<float> all;
  const extent classes = model.encoder.output_size();
  for (std::size_t at = 0; at < pcm.size(); at += piece) {
    const auto part = pcm.subspan(at, std::min(piece, pcm.size() - at));
    const extent rows = model.ready(s, static_cast<extent>(part.size()));
    const std::size_t old = all.size();
    all.resize(old + static_cast<std::size_t>(rows * classes));
    model.score(s, part, core::make_view(all.data() + old, rows, classes), c);
  }
  return all;
}

using events = std::vector<std::pair<std::int64_t, std::int64_t>>;

// What the original answers after a piece: [start, -1], [-1, end] or both.
events joined(const std::vector<segmentation::voice_change>& changes, bool& open) {
  events answer;
  for (const segmentation::voice_change& v : changes) {
    if (v.start_ms >= 0) answer.emplace_back(v.start_ms, -1), open = true;
    if (v.end_ms >= 0) {
      if (!open || answer.empty()) answer.emplace_back(-1, -1);
      answer.back().second = v.end_ms;
      open = false;
    }
  }
  return answer;
}

// The contract's bound for f32: 1e-4 of max(1, absmax). Sums run in another order than torch's, nothing else differs.
TEST(parity_fsmn_vad, every_stage_in_f32) {
  STENO_REQUIRE_SHARED(shared);
  const fs::path folder = shared / "golden/funasr/vad";
  const auto model = converted(folder / "checkpoint");
  std::map<std::string, npy::array> golden;
  for (const auto& e : fs::directory_iterator(folder / "stages"))
    golden.emplace(e.path().stem().string().substr(3), npy::load(e.path()));
  std::map<std::string, double> seen;
  const auto compare = [&](const std::string& name, const view<const float>& x) {
    const auto want = golden.find(name);
    if (want == golden.end()) return;
    ASSERT_EQ(want->second.size(), x.rows() * x.cols()) << name;
    seen[name] = test::compare(x, want->second).relative();
  };
  const auto sink = [&](std::string_view path, const view<const float>& x) {
    const std::string name = stages::fsmn_vad(path);
    if (name != "feats") return compare(name, x);
    const auto head = golden.lower_bound("feats_first");  // as many rows as the case keeps
    ASSERT_TRUE(head != golden.end() && head->first.starts_with("feats_first"));
    ASSERT_LE(head->second.rows(), x.rows());
    compare(head->first, x.topRows(head->second.rows()));
  };
  context c(executor{}, core::tracer(sink));
  const auto pcm = audio(folder, "input");
  core::workspace::frame scratch(c.scratch);
  auto scores = scratch.matrix(model.frontend.rows(static_cast<extent>(pcm.size())), model.encoder.output_size());
  model.score(pcm, scores, c);
  const auto speech = audio(folder, "jfk_");
  context plain;
  core::workspace::frame more(plain.scratch);
  auto others = more.matrix(model.frontend.rows(static_cast<extent>(speech.size())), model.encoder.output_size());
  model.score(speech, others, plain);
  compare("jfk_scores", others);
  for (const auto& [name, want] : golden) {
    ASSERT_TRUE(seen.contains(name)) << name;
    EXPECT_LE(seen.at(name), 1e-4) << name;
  }
}

TEST(parity_fsmn_vad, segments_of_whole_recordings_for_all_settings) {
  STENO_REQUIRE_SHARED(shared);
  const fs::path folder = shared / "golden/funasr/vad";
  const auto model = converted(folder / "checkpoint");
  int runs = 0;
  const json want = expected(folder);
  for (const auto& [name, run] : want["runs"].items()) {
    if (name.find("offline") == std::string::npos) continue;
    context c;
    const auto found = model.segments(audio(folder, name), options_of(run["args"], 60000), c);
    EXPECT_EQ(json(found), run["value"]) << name;
    ++runs;
  }
  EXPECT_GT(runs, 0);
}

TEST(parity_fsmn_vad, events_of_streams_for_all_settings) {
  STENO_REQUIRE_SHARED(shared);
  const fs::path folder = shared / "golden/funasr/vad";
  const auto model = converted(folder / "checkpoint");
  int runs = 0;
  const json want = expected(folder);
  for (const auto& [name, run] : want["runs"].items()) {
    if (name.find("stream") == std::string::npos) continue;
    const auto o = options_of(run["args"], 60000);
    const auto pcm = audio(folder, name);
    const auto piece = static_cast<std::size_t>(o.period) * 16;
    context c;
    auto s = model.start(o);
    json found = json::array();
    bool open = false;
    const std::size_t pieces = (pcm.size() + piece - 1) / piece;
    for (std::size_t i = 0; i < pieces; ++i) {
      std::vector<segmentation::voice_change> changes;
      events answer;
      const auto sink = [&](const segmentation::voice_change& v) { changes.push_back(v); };
      const auto reply = [&] {
        const events more = joined(changes, open);
        answer.insert(answer.end(), more.begin(), more.end());
        changes.clear();
      };
      const std::span<const float> all(pcm);
      const auto part = all.subspan(i * piece, std::min(piece, all.size() - i * piece));
      model.accept(s, part, c, sink);
      if (part.size() == piece) reply();  // the end of the audio is then a piece of its own
      if (i + 1 == pieces) model.finish(s, c, sink);
      reply();
      if (!answer.empty()) found.push_back({{"chunk", i}, {"value", answer}});
    }
    EXPECT_EQ(found, run["events"]) << name;
    ++runs;
  }
  EXPECT_GT(runs, 0);
}

// Offline is a stream that comes at once; what is asked of all splits is 1e-6, and they have the same bits.
TEST(parity_fsmn_vad, scores_do_not_depend_on_the_pieces) {
  STENO_REQUIRE_SHARED(shared);
  const fs::path folder = shared / "golden/funasr/vad";
  const auto model = converted(folder / "checkpoint");
  const auto pcm = audio(folder, "input");
  const auto whole = scores_by_pieces(model, pcm, pcm.size());
  ASSERT_FALSE(whole.empty());
  for (const std::size_t piece :
       {std::size_t{1}, std::size_t{7}, std::size_t{160}, std::size_t{401}, std::size_t{5000}}) {
    const auto some = scores_by_pieces(model, pcm, piece);
    ASSERT_EQ(some.size(), whole.size()) << piece;
    EXPECT_EQ(some, whole) << piece;
  }
}

TEST(parity_fsmn_vad, a_stream_allocates_nothing_once_it_is_warm) {
  STENO_REQUIRE_SHARED(shared);
  const fs::path folder = shared / "golden/funasr/vad";
  const auto model = converted(folder / "checkpoint");
  const auto pcm = audio(folder, "input");
  context c;
  auto s = model.start();
  std::int64_t emitted = 0;
  const auto sink = [&](const segmentation::voice_change& v) { emitted += v.start_ms + v.end_ms; };
  const std::span<const float> all(pcm);
  const std::size_t warm = std::min<std::size_t>(all.size() / 2, 32000) / 800 * 800;
  for (std::size_t at = 0; at < warm; at += 800) model.accept(s, all.subspan(at, 800), c, sink);
  const test::allocation_counter counted;
  for (std::size_t at = warm; at + 800 <= all.size(); at += 800) model.accept(s, all.subspan(at, 800), c, sink);
  EXPECT_EQ(counted.so_far(), 0u);
  EXPECT_NE(emitted, 0);
}

}  // namespace fsmn_vad_test
