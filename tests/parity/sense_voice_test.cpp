// SenseVoiceSmall against the original implementation: every stage, ids, text, pieces and times of the golden case,
// from the checkpoint through the converter; and how far f16 and q8_0 weights move the scores.
// SPDX-License-Identifier: Apache-2.0
#include <steno/models/sense_voice.hpp>
#include <steno/pipelines/sense_voice.hpp>

#include "convert/convert.hpp"
#include "support/compare.hpp"
#include "support/golden.hpp"
#include "support/json_file.hpp"
#include "support/wav.hpp"
#include "trace/stages/sense_voice.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <map>
#include <set>

namespace sense_voice_test {

namespace fs = std::filesystem;
using namespace steno;
using nlohmann::json;
using test::read_json;

struct run {
  std::map<std::string, test::difference> stages;
  std::set<std::string> wrong_shapes;
  segment recognised;
  std::vector<float> logits;
};

run run_case(const funasr::sense_voice_any& model, const fs::path& folder, const funasr::sense_voice_options& o) {
  std::map<std::string, npy::array> golden;
  for (const auto& e : fs::directory_iterator(folder / "stages"))
    golden.emplace(e.path().stem().string().substr(3), npy::load(e.path()));
  run r;
  const auto sink = [&](std::string_view path, const view<const float>& x) {
    const std::string name = stages::sense_voice(path);
    if (name == "ctc_logits") r.logits.assign(x.data(), x.data() + x.size());
    const auto want = golden.find(name);
    if (want == golden.end()) return;
    if (want->second.size() != x.rows() * x.cols())
      r.wrong_shapes.insert(name);
    else
      r.stages[name] = test::compare(x, want->second);
  };
  context c(executor{}, core::tracer(sink));
  r.recognised = model.recognise(test::load_wav(folder / "input.wav").pcm, o, c);
  return r;
}

std::vector<std::string> pieces_of(const funasr::sense_voice_any& m, const std::vector<int>& ids) {
  std::vector<std::string> p;
  for (int id : ids) p.emplace_back(m.tokenizer.piece(id));
  return p;
}

funasr::sense_voice_any converted(const fs::path& checkpoint, dtype type) {
  const test::temporary_directory scratch;
  const fs::path file = scratch.path() / "model.gguf";
  convert(checkpoint, file, {.type = type});
  return load<funasr::sense_voice_any>(file.string());  // stays mapped when the name goes away
}

// The contract's bound for f32: 1e-4 of max(1, absmax). Sums run in another order than torch's, nothing else differs.
TEST(parity_sense_voice, every_stage_ids_text_and_times_in_f32) {
  STENO_REQUIRE_SHARED(shared);
  const fs::path folder = shared / "golden/funasr/sensevoice";
  const json want = read_json(folder / "expected.json");
  const auto model = converted(folder / "checkpoint", dtype::f32);
  const run r = run_case(model, folder, {});

  EXPECT_TRUE(r.wrong_shapes.empty()) << *r.wrong_shapes.begin();
  for (const auto& e : fs::directory_iterator(folder / "stages")) {
    const std::string name = e.path().stem().string().substr(3);
    if (name.starts_with("variant_")) continue;
    ASSERT_TRUE(r.stages.contains(name)) << name;
    EXPECT_LE(r.stages.at(name).relative(), 1e-4) << name;
  }
  EXPECT_EQ(r.recognised.token_ids, want["token_ids"].get<std::vector<int>>());
  EXPECT_EQ(pieces_of(model, r.recognised.token_ids), want["pieces"].get<std::vector<std::string>>());
  EXPECT_EQ(r.recognised.text, want["rich_transcription_postprocess"].get<std::string>());
  for (const auto& [key, value] : r.recognised.extra) {
    if (key != "raw_text") continue;
    EXPECT_EQ(std::get<std::string>(value), want["text"].get<std::string>());
  }

  const json& timed = want["variants"]["timestamps"];
  ASSERT_EQ(r.recognised.words.size(), timed["words"].size());
  for (std::size_t i = 0; i < r.recognised.words.size(); ++i) {
    EXPECT_EQ(r.recognised.words[i].text, timed["words"][i].get<std::string>());
    EXPECT_EQ(std::lround(r.recognised.words[i].start * 1000), timed["timestamp"][i][0].get<long>());
    EXPECT_EQ(std::lround(r.recognised.words[i].end * 1000), timed["timestamp"][i][1].get<long>());
    EXPECT_GT(r.recognised.words[i].confidence, 0.9f);
  }
}

// What the transcriber does with a folder: converted in memory.
TEST(parity_sense_voice, a_folder_opens_directly) {
  STENO_REQUIRE_SHARED(shared);
  const fs::path folder = shared / "golden/funasr/sensevoice";
  opened_checkpoint opened = open_checkpoint(folder / "checkpoint");
  const auto model = load<funasr::sense_voice_any>(std::move(opened.file));
  const run r = run_case(model, folder, {});
  EXPECT_EQ(r.recognised.token_ids, read_json(folder / "expected.json")["token_ids"].get<std::vector<int>>());
}

TEST(parity_sense_voice, variants) {
  STENO_REQUIRE_SHARED(shared);
  const fs::path folder = shared / "golden/funasr/sensevoice";
  const json variants = read_json(folder / "expected.json")["variants"];
  auto model = converted(folder / "checkpoint", dtype::f32);
  const auto ids = [&](const char* name) { return variants[name]["token_ids"].get<std::vector<int>>(); };
  EXPECT_EQ(run_case(model, folder, {.itn = true}).recognised.token_ids, ids("withitn"));
  model.itn = true;  // as a file may say
  EXPECT_EQ(run_case(model, folder, {}).recognised.token_ids, ids("withitn"));
  const json plain = read_json(folder / "expected.json")["token_ids"];
  EXPECT_EQ(run_case(model, folder, {.itn = false}).recognised.token_ids, plain.get<std::vector<int>>());
  model.itn = false;
  model.default_language = "en";
  EXPECT_EQ(run_case(model, folder, {}).recognised.token_ids, ids("language_en"));
  model.default_language = "auto";
  EXPECT_EQ(run_case(model, folder, {.language = "en"}).recognised.token_ids, ids("language_en"));
  model.frontend.last.shift = {};
  model.frontend.last.scale = {};
  EXPECT_EQ(run_case(model, folder, {}).recognised.token_ids, ids("no_cmvn"));
  const run bare = run_case(model, folder, {.itn = true});
  const npy::array logits = npy::load(folder / "stages/21_variant_no_cmvn_withitn_ctc_logits.npy");
  ASSERT_EQ(bare.logits.size(), static_cast<std::size_t>(logits.size()));
  EXPECT_LE(test::compare(core::make_view(bare.logits.data(), logits.rows(), logits.cols()), logits).relative(), 1e-4);
  EXPECT_EQ(bare.recognised.token_ids, ids("no_cmvn_withitn"));
}

// Bounds measured on this case (docs/models/sense_voice.md): f16 rounds weights by 2^-11 of themselves, q8_0 weights
// and activations by half a 127th of a block's largest; log-probabilities move by the stated part of their range.
TEST(parity_sense_voice, f16_and_q8_0_stay_within_their_measured_bounds) {
  STENO_REQUIRE_SHARED(shared);
  const fs::path folder = shared / "golden/funasr/sensevoice";
  const json want = read_json(folder / "expected.json");
  const std::pair<dtype, double> bounds[] = {
      {dtype::f16, 5e-4}, {dtype::bf16, 4e-3}, {dtype::bf16_a16, 4e-3}, {dtype::q8_0, 1.2e-2}};
  for (const auto& [type, bound] : bounds) {
    const auto model = converted(folder / "checkpoint", type);
    const run r = run_case(model, folder, {});
    const double moved = r.stages.at("ctc_log_probs").relative();
    RecordProperty(std::string(core::info(type).name), std::to_string(moved));
    std::printf("%s: log-probabilities move by %.2e of their range\n", std::string(core::info(type).name).c_str(),
                moved);
    EXPECT_LE(moved, bound) << core::info(type).name;
    EXPECT_GT(moved, 0);
    EXPECT_EQ(r.recognised.token_ids, want["token_ids"].get<std::vector<int>>()) << core::info(type).name;
  }
}

}  // namespace sense_voice_test
