// Fun-ASR-Nano's audio half and prompts against the original: every stage, from the checkpoint through the converter.
#include <steno/models/fun_asr_nano.hpp>

#include "convert/convert.hpp"
#include "support/compare.hpp"
#include "support/golden.hpp"
#include "support/wav.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <map>

using namespace steno;
using nlohmann::json;

// 1e-4 of max(1, absmax): the contract's bound for f32.
TEST(parity_fun_asr_nano, stages_prompts_and_labels) {
  STENO_REQUIRE_SHARED(shared);
  const std::filesystem::path folder = shared / "golden/funasr/nano";
  std::ifstream in(folder / "expected.json");
  const json want = json::parse(in);
  const test::temporary_directory scratch;
  const auto file = scratch.path() / "model.gguf";
  convert(folder / "checkpoint", file, {.type = dtype::f32});
  const auto model = load<funasr::fun_asr_nano_any>(file.string());
  const auto pcm = test::load_wav(folder / "input.wav").pcm;

  std::map<std::string, double> seen;
  std::size_t stages = 0;
  const auto sink = [&](std::string_view path, const view<const float>& x) {
    const std::string name = funasr::fun_asr_nano_any::trace_name(path);
    for (const auto& e : std::filesystem::directory_iterator(folder / "stages")) {
      if (e.path().stem().string().substr(3) != name) continue;
      const npy::array golden = npy::load(e.path());
      ASSERT_EQ(x.size(), golden.size()) << name;
      seen[name] = test::compare(x, golden).relative();
    }
  };
  context c(executor{}, core::tracer(sink));
  const extent frames = model.frontend.rows(static_cast<extent>(pcm.size()));
  ASSERT_EQ(frames, want["lfr_frames"].get<extent>());
  EXPECT_EQ(model.audio_tokens(frames), want["fake_token_len"].get<extent>());
  matrix<float, dynamic, dynamic> encoded(frames, model.audio_encoder.output_size());
  matrix<float, dynamic, dynamic> scores(frames, model.ctc_lo.output_size());
  model.encode(pcm, encoded, c);
  const auto p = model.prompt({});
  const extent audio = model.audio_tokens(frames);
  matrix<float, dynamic, dynamic> x(static_cast<extent>(p.before.size() + p.after.size()) + audio, model.llm.width());
  // The original's placeholders are rows of token 0, which the audio replaces.
  std::vector<int> ids = p.before;
  EXPECT_EQ(static_cast<extent>(ids.size()), want["fbank_beg"].get<extent>());
  ids.insert(ids.end(), static_cast<std::size_t>(audio), 0);
  ids.insert(ids.end(), p.after.begin(), p.after.end());
  EXPECT_EQ(ids, want["source_ids"].get<std::vector<int>>());
  model.embed_prompt(p, encoded, x, c);
  model.score(encoded, scores, c);
  for (const auto& e : std::filesystem::directory_iterator(folder / "stages")) {
    const std::string name = e.path().stem().string().substr(3);
    ++stages;
    ASSERT_TRUE(seen.contains(name)) << name;
    EXPECT_LE(seen.at(name), 1e-4) << name;
  }
  EXPECT_GT(stages, 0u);

  std::vector<search::ctc_token> labels;
  search::ctc_greedy(core::read(scores), want["ctc_blank_id"].get<int>(), labels);
  std::vector<int> found;
  for (const search::ctc_token& t : labels) found.push_back(t.id);
  EXPECT_EQ(found, want["ctc_token_ids"].get<std::vector<int>>());
  c.trace_to({});
  EXPECT_THROW((void)model.recognise(pcm, {}, c), error);  // the case has no language model

  for (const json& v : want["samples_lfrframes_faketokenlen"]) {
    EXPECT_EQ(model.frontend.rows(v[0].get<extent>()), v[1].get<extent>()) << v;
    EXPECT_EQ(model.audio_tokens(v[1].get<extent>()), v[2].get<extent>()) << v;
  }
  for (const auto& [name, v] : want["prompts_1s_of_zeros"].items()) {
    funasr::fun_asr_nano_options o;
    const json& args = v["args"];
    if (args.contains("itn")) o.itn = args["itn"].get<bool>();
    if (args.contains("language")) o.language = args["language"].get<std::string>();
    if (args.contains("hotwords")) o.hotwords = args["hotwords"].get<std::vector<std::string>>();
    EXPECT_EQ(funasr::fun_asr_nano_prompt(o), v["prompt"].get<std::string>()) << name;
    const auto ids_of = model.prompt(o);
    EXPECT_EQ(ids_of.before, v["prefix_token_ids"].get<std::vector<int>>()) << name;
    EXPECT_EQ(ids_of.after, v["suffix_token_ids"].get<std::vector<int>>()) << name;
  }
}
