// Paraformer against the original implementation: every stage, ids, text and times of the golden case, from the
// checkpoint through the converter; how far f16 and q8_0 weights move the scores; threads and memory.
// SPDX-License-Identifier: Apache-2.0
#include <steno/core/thread_pool.hpp>
#include <steno/models/paraformer.hpp>
#include <steno/pipelines/paraformer.hpp>
#include <steno/weights/gguf_writer.hpp>

#include "convert/convert.hpp"
#include "support/allocations.hpp"
#include "support/compare.hpp"
#include "support/golden.hpp"
#include "support/json_file.hpp"
#include "support/threads.hpp"
#include "support/wav.hpp"
#include "trace/stages/paraformer.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <map>

namespace paraformer_test {

namespace fs = std::filesystem;
using namespace steno;
using nlohmann::json;
using test::read_json;

struct run {
  std::map<std::string, test::difference> stages;
  segment recognised;
};

run run_case(const funasr::paraformer_any& model, const fs::path& folder) {
  std::map<std::string, npy::array> golden;
  for (const auto& e : fs::directory_iterator(folder / "stages"))
    golden.emplace(e.path().stem().string().substr(3), npy::load(e.path()));
  run r;
  const auto sink = [&](std::string_view path, const view<const float>& x) {
    const auto want = golden.find(stages::paraformer(path));
    if (want == golden.end()) return;
    ASSERT_EQ(want->second.size(), x.rows() * x.cols()) << path;
    r.stages[want->first] = test::compare(x, want->second);
  };
  context c(executor{}, core::tracer(sink));
  r.recognised = model.recognise(test::load_wav(folder / "input.wav").pcm, {}, c);
  return r;
}

funasr::paraformer_any converted(const fs::path& checkpoint, dtype type) {
  const test::temporary_directory scratch;
  const fs::path file = scratch.path() / "model.gguf";
  convert(checkpoint, file, {.type = type});
  return load<funasr::paraformer_any>(file.string());  // stays mapped when the name goes away
}

// The contract's bound for f32: 1e-4 of max(1, absmax). Sums run in another order than torch's, nothing else differs.
TEST(parity_paraformer, every_stage_ids_text_and_times_in_f32) {
  STENO_REQUIRE_SHARED(shared);
  const fs::path folder = shared / "golden/funasr/paraformer";
  const json want = read_json(folder / "expected.json");
  const auto model = converted(folder / "checkpoint", dtype::f32);
  const run r = run_case(model, folder);

  for (const auto& e : fs::directory_iterator(folder / "stages")) {
    const std::string name = e.path().stem().string().substr(3);
    ASSERT_TRUE(r.stages.contains(name)) << name;
    EXPECT_LE(r.stages.at(name).relative(), 1e-4) << name;
  }
  EXPECT_EQ(r.recognised.token_ids, want["token_ids_after_filter"].get<std::vector<int>>());
  EXPECT_EQ(r.recognised.text, want["text"].get<std::string>());

  const json& times = want["timestamp"];
  ASSERT_EQ(r.recognised.words.size(), times.size());
  std::string spaced;
  for (std::size_t i = 0; i < r.recognised.words.size(); ++i) {
    const word& w = r.recognised.words[i];
    spaced += (i == 0 ? "" : " ") + w.text;
    EXPECT_EQ(w.how, timing::native);
    EXPECT_EQ(std::lround(w.start * 1000), times[i][0].get<long>()) << i;
    EXPECT_EQ(std::lround(w.end * 1000), times[i][1].get<long>()) << i;
    EXPECT_GT(w.confidence, 0.5f);
  }
  EXPECT_EQ(spaced, want["text_with_timestamp_mode"].get<std::string>());
}

// Twice what was measured on this case (docs/models/paraformer.md), since other kernels round otherwise. The alphas
// decide how many tokens there are; here the nearest one to a whole number is 0.04 away, so their number stays.
TEST(parity_paraformer, f16_and_q8_0_stay_within_their_measured_bounds) {
  STENO_REQUIRE_SHARED(shared);
  const fs::path folder = shared / "golden/funasr/paraformer";
  const json want = read_json(folder / "expected.json");
  const std::pair<dtype, double> bounds[] = {
      {dtype::f16, 2e-3}, {dtype::bf16, 1.9e-2}, {dtype::bf16_a16, 1.9e-2}, {dtype::q8_0, 2.5e-2}};
  for (const auto& [type, bound] : bounds) {
    const run r = run_case(converted(folder / "checkpoint", type), folder);
    ASSERT_TRUE(r.stages.contains("log_probs")) << core::info(type).name;
    const double moved = r.stages.at("log_probs").relative();
    std::printf("%s: log-probabilities move by %.2e of their range\n", std::string(core::info(type).name).c_str(),
                moved);
    EXPECT_LE(moved, bound) << core::info(type).name;
    EXPECT_GT(moved, 0);
    EXPECT_EQ(r.recognised.token_ids, want["token_ids"].get<std::vector<int>>()) << core::info(type).name;
  }
}

// The file FunASR's exporter would write of this checkpoint: its keys, [out, in, tap] for the convolution.
TEST(parity_paraformer, the_published_gguf_form_says_the_same) {
  STENO_REQUIRE_SHARED(shared);
  const fs::path folder = shared / "golden/funasr/paraformer";
  const test::temporary_directory scratch;
  const fs::path packaged = scratch.path() / "packaged.gguf", published = scratch.path() / "published.gguf";
  convert(folder / "checkpoint", packaged, {.type = dtype::f32});
  const gguf_file from(packaged.string());
  weights::gguf_writer to;
  to.set("general.architecture", "paraformer");
  const auto whole = [&](const char* key, const char* ours) {
    to.set(key, static_cast<std::uint32_t>(*from.number(std::string("paraformer.") + ours)));
  };
  whole("pf.enc.output_size", "encoder.output_size");
  whole("pf.enc.attention_heads", "encoder.attention_heads");
  whole("pf.enc.num_blocks", "encoder.num_blocks");
  whole("pf.enc.kernel_size", "encoder.kernel_size");
  whole("pf.dec.num_blocks", "decoder.num_blocks");
  whole("pf.dec.att_layer_num", "decoder.num_blocks");
  whole("pf.dec.attention_heads", "decoder.attention_heads");
  whole("pf.dec.kernel_size", "decoder.kernel_size");
  to.set("pf.dec.decoders3", std::uint32_t{1});
  to.set("pf.predictor.threshold", 1.0f);
  to.set("pf.predictor.tail_threshold", static_cast<float>(*from.number("paraformer.predictor.tail_threshold")));
  to.set("pf.vocab", from.strings("tokenizer.ggml.tokens"));
  for (std::size_t n = 0; n < from.size(); ++n) {
    const weights::tensor_ref t = from.tensor(n);
    std::vector<extent> shape(t.shape.begin(), t.shape.begin() + t.rank);
    const bool convolution = t.name == "predictor.cif_conv1d.weight";
    if (convolution) shape = {shape[0], shape[1] / 3, 3};
    to.add(std::string(t.name), t.format, std::span<const extent>(shape), [=](std::span<std::byte> out) {
      if (!convolution) {
        std::copy(t.bytes.begin(), t.bytes.end(), out.begin());
        return;
      }
      const auto inputs = static_cast<std::size_t>(shape[1]);
      for (std::size_t o = 0; o < static_cast<std::size_t>(shape[0]); ++o)
        for (std::size_t i = 0; i < inputs; ++i)
          for (std::size_t k = 0; k < 3; ++k)
            std::copy_n(t.bytes.data() + 4 * ((o * 3 + k) * inputs + i), 4,
                        out.data() + 4 * ((o * inputs + i) * 3 + k));
    });
  }
  to.write(published.string());
  opened_checkpoint opened = open_checkpoint(published);
  const auto model = load<funasr::paraformer_any>(std::move(opened.file));
  const run r = run_case(model, folder);
  EXPECT_LE(r.stages.at("log_probs").relative(), 1e-4);  // as in f32 from the folder
  EXPECT_EQ(r.recognised.text, read_json(folder / "expected.json")["text"].get<std::string>());
}

TEST(parity_paraformer, same_bits_for_any_number_of_threads) {
  STENO_REQUIRE_SHARED(shared);
  const fs::path folder = shared / "golden/funasr/paraformer";
  const auto model = converted(folder / "checkpoint", dtype::q8_0);
  const auto pcm = test::load_wav(folder / "input.wav").pcm;
  const auto scores = [&](const executor& e) {
    std::vector<float> all;
    const auto sink = [&](std::string_view path, const view<const float>& x) {
      if (path == "log_probs") all.assign(x.data(), x.data() + x.size());
    };
    context c(e, core::tracer(sink));
    (void)model.recognise(pcm, {}, c);
    return all;
  };
  const std::vector<float> one = scores({});
  ASSERT_FALSE(one.empty());
  for (const int width : {2, 4}) {
    thread_pool pool(steno::test::threads(width));
    EXPECT_EQ(scores(executor(pool)), one) << width;
  }
}

TEST(parity_paraformer, clips_without_a_token) {
  STENO_REQUIRE_SHARED(shared);
  const auto model = converted(shared / "golden/funasr/paraformer/checkpoint", dtype::f32);
  context c;
  for (const std::size_t n : {std::size_t{0}, std::size_t{100}, std::size_t{400}, std::size_t{960}}) {
    const segment s = model.recognise(std::vector<float>(n), {}, c);
    EXPECT_LE(s.token_ids.size(), 2u) << n;
    EXPECT_EQ(s.words.empty(), s.text.empty());
  }
}

}  // namespace paraformer_test
