// Fun-ASR-Nano's audio half, prompts, CTC head and times against the original: every stage, from the checkpoint as it
// is published (both hubs, and MLT-Nano) through the converter.
// SPDX-License-Identifier: Apache-2.0
#include <steno/core/half.hpp>
#include <steno/models/fun_asr_nano.hpp>
#include <steno/pipelines/fun_asr_nano.hpp>

#include "convert/convert.hpp"
#include "support/compare.hpp"
#include "support/golden.hpp"
#include "support/wav.hpp"
#include "trace/stages/fun_asr_nano.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>
#include <map>

namespace fun_asr_nano_test {

using namespace steno;
using nlohmann::json;

using rows = matrix<float, dynamic, dynamic>;

class parity_fun_asr_nano : public testing::TestWithParam<const char*> {};

// The original's placeholders are rows of token 0, which the audio replaces.
std::vector<int> source_ids(const funasr::fun_asr_nano_any::prompt_ids& p, extent audio) {
  std::vector<int> ids = p.before;
  ids.insert(ids.end(), static_cast<std::size_t>(audio), 0);
  ids.insert(ids.end(), p.after.begin(), p.after.end());
  return ids;
}

// One answer of the language model: when its tokens were spoken, and the CTC head's own text with its times.
void expect_times(const funasr::fun_asr_nano_any& model, const rows& encoded, const json& run, context& c) {
  for (const auto& [text, times] :
       {std::pair(run["text"], run["timestamps"]), std::pair(run["ctc_text"], run["ctc_timestamps"])}) {
    const std::string of = text.get<std::string>();
    SCOPED_TRACE(of);
    const auto got = model.read_ctc(encoded, of, c);
    EXPECT_EQ(got.text, run["ctc_text"].get<std::string>());
    ASSERT_EQ(got.times.size(), times.size());
    for (std::size_t i = 0; i < times.size(); ++i) {
      EXPECT_EQ(tokenizers::unicode::replace_invalid(model.ctc_tokens.bytes(got.times[i].id)),
                times[i]["token"].get<std::string>());
      EXPECT_EQ(got.times[i].start, times[i]["start_time"].get<double>());
      EXPECT_EQ(got.times[i].end, times[i]["end_time"].get<double>());
      EXPECT_NEAR(std::exp(got.times[i].log_probability), times[i]["score"].get<double>(), 5.1e-4);
    }
  }
  EXPECT_EQ(model.ctc_tokens.encode(run["text"].get<std::string>()), run["text_ids"].get<std::vector<int>>());
}

// 1e-4 of max(1, absmax): the contract's bound for f32. What the first call of the original computes is in bf16.
TEST_P(parity_fun_asr_nano, stages_prompts_and_times) {
  STENO_REQUIRE_SHARED(shared);
  const std::filesystem::path folder = shared / "golden/funasr" / GetParam();
  std::ifstream in(folder / "expected.json");
  const json want = json::parse(in);
  const test::temporary_directory scratch;
  const auto file = scratch.path() / "model.gguf";
  convert(folder / "checkpoint", file, {.type = dtype::f32});
  const auto model = load<funasr::fun_asr_nano_any>(file.string());
  const auto pcm = test::load_wav(folder / "input.wav").pcm;

  std::map<std::string, npy::array> golden;
  for (const auto& e : std::filesystem::directory_iterator(folder / "stages"))
    golden.emplace(e.path().stem().string().substr(3), npy::load(e.path()));
  std::map<std::string, double> seen;
  const auto sink = [&](std::string_view path, const view<const float>& x) {
    const std::string name = stages::fun_asr_nano(path);
    const auto stage = golden.find(name);
    if (stage == golden.end()) return;
    ASSERT_EQ(x.size(), stage->second.size()) << name;
    seen[name] = test::compare(x, stage->second).relative();
  };
  context c(executor{}, core::tracer(sink));
  const extent frames = model.frontend.rows(static_cast<extent>(pcm.size()));
  ASSERT_EQ(frames, want["lfr_frames"].get<extent>());
  const extent audio = model.audio_tokens(frames);
  EXPECT_EQ(audio, want["fake_token_len"].get<extent>());
  rows encoded(frames, model.audio_encoder.output_size());
  model.encode(pcm, encoded, c);
  const auto p = model.prompt({});
  rows x(static_cast<extent>(p.before.size() + p.after.size()) + audio, model.llm.width());
  EXPECT_EQ(static_cast<extent>(p.before.size()), want["fbank_beg"].get<extent>());
  EXPECT_EQ(x.rows(), want["inputs_embeds_rows"].get<extent>());
  EXPECT_EQ(source_ids(p, audio), want["source_ids"].get<std::vector<int>>());
  model.embed_prompt(p, encoded, x, c);
  if (const auto first = golden.find("inputs_embeds_first_call"); first != golden.end()) {
    for (extent i = 0; i < x.size(); ++i) x.data()[i] = core::bfloat_to_float(core::float_to_bfloat(x.data()[i]));
    seen[first->first] = test::compare(x, first->second).relative() / 80;  // one step of bf16 is 2^-8
  }
  const bool ctc = golden.contains("ctc_log_probs");
  EXPECT_EQ(static_cast<bool>(model.ctc_lo.w), ctc);
  EXPECT_EQ(model.aligns(), want.contains("runs"));
  if (ctc) {
    rows scores(model.ctc_rows(frames), model.ctc_lo.output_size());
    model.score(encoded, scores, c);
    EXPECT_EQ(model.ctc_blank, want["ctc_blank_id"].get<int>());
    std::vector<int> labels;
    for (extent t = 0; t < scores.rows(); ++t)
      labels.push_back(search::best_label(scores.data() + t * scores.outerStride(), scores.cols()));
    if (want.contains("ctc_frame_ids")) {
      EXPECT_EQ(labels, want["ctc_frame_ids"].get<std::vector<int>>());
    }
    if (want.contains("ctc_token_ids")) {
      std::vector<search::ctc_token> tokens;
      search::ctc_greedy(core::read(scores), model.ctc_blank, tokens);
      std::vector<int> found;
      for (const search::ctc_token& t : tokens) found.push_back(t.id);
      EXPECT_EQ(found, want["ctc_token_ids"].get<std::vector<int>>());
    }
  }
  for (const auto& [name, stage] : golden) {
    ASSERT_TRUE(seen.contains(name)) << name;
    EXPECT_LE(seen.at(name), 1e-4) << name;
  }
  EXPECT_FALSE(golden.empty());
  c.trace_to({});
  if (want.contains("runs"))
    for (const json& run : want["runs"]) expect_times(model, encoded, run, c);
  EXPECT_THROW((void)model.recognise(pcm, {}, c), error);  // the cases have no language model

  for (const json& v : want["samples_lfrframes_faketokenlen"]) {
    EXPECT_EQ(model.frontend.rows(v[0].get<extent>()), v[1].get<extent>()) << v;
    EXPECT_EQ(model.audio_tokens(v[1].get<extent>()), v[2].get<extent>()) << v;
  }
}
INSTANTIATE_TEST_SUITE_P(cases, parity_fun_asr_nano, testing::Values("nano", "nano-hf", "nano-mlt", "nano-ctc"));

TEST(parity_fun_asr_nano_prompt, of_all_languages) {
  STENO_REQUIRE_SHARED(shared);
  const auto expected = [&](const char* name) {
    std::ifstream in(shared / "golden/funasr" / name / "expected.json");
    return json::parse(in);
  };
  for (const char* name : {"nano-hf", "nano-mlt", "nano-ctc"}) {
    const json all = expected(name);
    for (const auto& [how, prompt] : all["prompts_language_itn"].items()) {
      funasr::fun_asr_nano_options o;
      if (how.starts_with("hotwords ")) {
        o.hotwords = {how.substr(9, how.find(',') - 9), how.substr(how.find(',') + 2)};
      } else {
        const std::size_t slash = how.find('/');
        if (how.substr(0, slash) != "None") o.language = how.substr(0, slash);
        o.itn = how.substr(slash + 1) == "True";
      }
      EXPECT_EQ(funasr::fun_asr_nano_prompt(o), prompt.get<std::string>()) << how;
    }
  }
  const test::temporary_directory scratch;
  const auto file = scratch.path() / "model.gguf";
  convert(shared / "golden/funasr/nano/checkpoint", file, {.type = dtype::f32});
  const auto model = load<funasr::fun_asr_nano_any>(file.string());
  const json of_nano = expected("nano");
  for (const auto& [name, v] : of_nano["prompts_1s_of_zeros"].items()) {
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

}  // namespace fun_asr_nano_test
