// Qwen3-ASR on the compact golden set: the audio tower on features, the language model on the original's rows.
// SPDX-License-Identifier: Apache-2.0
#include <steno/core/thread_pool.hpp>
#include <steno/models/qwen3_asr.hpp>
#include <steno/weights/gguf_writer.hpp>

#include "support/allocations.hpp"
#include "support/compare.hpp"
#include "support/golden.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <limits>

namespace qwen3_asr_test {

using namespace steno;

using rows = matrix<float, dynamic, dynamic>;

rows load_rows(const std::string& name) {
  const npy::array a = npy::load(test::compact() / "qwen3_asr" / name);
  const std::vector<float> values = a.floats();
  return core::make_view(values.data(), a.rows(), a.cols());
}
nlohmann::json expected() {
  std::ifstream in(test::compact() / "qwen3_asr/expected.json");
  return nlohmann::json::parse(in);
}
const qwen3::qwen3_asr_any& model() {
  static const auto loaded = load<qwen3::qwen3_asr_any>((test::compact() / "qwen3_asr/model.gguf").string());
  return loaded;
}
// The prompt's rows with the original's audio rows.
rows prompt_rows(const nlohmann::json& want) {
  const auto ids = want["prompt_ids"].get<std::vector<int>>();
  rows x(static_cast<extent>(ids.size()), model().text.width());
  model().text.embed(ids, x);
  const rows audio = load_rows("encoder_out.npy");
  const auto first = std::find(ids.begin(), ids.end(), want["audio_pad"].get<int>()) - ids.begin();
  x.middleRows(first, audio.rows()) = audio;
  return x;
}

// What the file does not say is 0; what makes no sense is an error that names it.
TEST(qwen3_asr, a_file_may_say_its_longest_clip) {
  EXPECT_EQ(model().max_clip_seconds, 0);
  const auto loaded_with = [](double seconds) {
    const gguf_file plain((test::compact() / "qwen3_asr/model.gguf").string());
    weights::gguf_writer file;
    for (const weights::gguf_value& v : plain.values()) file.copy(v);
    file.set("qwen3_asr.longest_clip", static_cast<float>(seconds));
    for (std::size_t i = 0; i < plain.size(); ++i) {
      const weights::tensor_ref t = plain.tensor(i);
      file.add(t.name, t.format, std::span<const extent>(t.shape.data(), static_cast<std::size_t>(t.rank)), t.bytes);
    }
    const std::vector<std::byte> image = file.bytes();
    return load<qwen3::qwen3_asr_any>(gguf_file("told.gguf", image)).max_clip_seconds;
  };
  EXPECT_EQ(loaded_with(12), 12);
  for (const double wrong : {0.0, -1.0, 1e6, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_THROW(loaded_with(wrong), error);
}

// 1e-4 of max(1, absmax): the contract's bound; weights are stored as bf16, which is what the original computed with.
TEST(qwen3_asr, a_block_of_the_audio_tower) {
  const rows x = load_rows("features.npy"), all = load_rows("encoder_out.npy");
  const extent n = expected()["block_rows"].get<extent>();
  ASSERT_EQ(model().audio_tower.rows(x.rows()), n);
  rows y(n, model().text.width()), threaded(n, model().text.width());
  context c;
  model().audio_tower(x, y, nullptr, nn::qwen3_audio_env{}, c);
  const float bound = 1e-4f * std::max(1.0f, all.cwiseAbs().maxCoeff());
  EXPECT_LE((y - all.topRows(n)).cwiseAbs().maxCoeff(), bound);
  thread_pool pool(2);
  context other{executor(pool)};
  model().audio_tower(x, threaded, nullptr, nn::qwen3_audio_env{}, other);
  EXPECT_EQ(y, threaded);
}

TEST(qwen3_asr, a_text_is_written) {
  const auto want = expected();
  const rows path = load_rows("logits_greedy_path.npy");
  EXPECT_EQ(model().ends, want["ends"].get<std::vector<int>>());
  context c;
  nn::qwen3_decoder_state state;
  rows x = prompt_rows(want), first(1, model().text.outputs());
  nn::qwen3_read(model().text, view<float>(x), state, c);
  model().text.logits(x.bottomRows(1), first, c);
  EXPECT_LE((first - path.topRows(1)).cwiseAbs().maxCoeff(),
            1e-4f * std::max(1.0f, path.topRows(1).cwiseAbs().maxCoeff()));  // as above
  const nn::qwen3_text t =
      nn::qwen3_write(model().text, view<float>(x.bottomRows(1)), state, {.ends = model().ends, .max_tokens = 100}, c);
  auto ids = want["new_ids"].get<std::vector<int>>();
  ids.pop_back();
  EXPECT_EQ(t.ids, ids);
  EXPECT_EQ(t.stop, nn::qwen3_stop::end_of_text);
}

TEST(qwen3_asr, a_warm_step_allocates_nothing) {
  const auto want = expected();
  for (const dtype format : {dtype::f32, dtype::f16, dtype::q8_0})
    for (const double temperature : {0.0, 1.0}) {
      context c;
      nn::qwen3_decoder_state state = model().state_for(format);
      search::token_choice choose({.temperature = temperature, .top_p = 0.9});
      rows x = prompt_rows(want), scores(1, model().text.outputs());
      model().text(x, state, c);
      const auto step = [&] {
        state.rewind(x.rows());
        view<float> last(x.bottomRows(1));
        model().text(last, state, c);
        model().text.logits(last, scores, c);
        return choose({scores.data(), static_cast<std::size_t>(scores.cols())});
      };
      step();
      step();
      const test::allocation_counter counted;
      step();
      EXPECT_EQ(counted.so_far(), 0u) << core::info(format).name << " " << temperature;
    }
}

// Keys and values as halves or bytes: scores within three times what the golden cases measured (2.1e-4 and 2.4e-3 of
// the largest), the same tokens, and a quarter of the memory and less.
TEST(qwen3_asr, a_text_is_written_from_keys_and_values_in_few_bits) {
  const auto want = expected();
  const rows path = load_rows("logits_greedy_path.npy");
  auto ids = want["new_ids"].get<std::vector<int>>();
  ids.pop_back();
  std::size_t floats = 0;
  for (const auto& [format, bound] : {std::pair{dtype::f32, 1e-4f}, {dtype::f16, 6.3e-4f}, {dtype::q8_0, 7.2e-3f}}) {
    context c;
    nn::qwen3_decoder_state state = model().state_for(format);
    rows x = prompt_rows(want), first(1, model().text.outputs());
    nn::qwen3_read(model().text, view<float>(x), state, c);
    model().text.logits(x.bottomRows(1), first, c);
    EXPECT_LE((first - path.topRows(1)).cwiseAbs().maxCoeff(), bound * path.cwiseAbs().maxCoeff());
    if (format == dtype::f32) floats = state.bytes();
    if (format == dtype::f16) {
      EXPECT_EQ(state.bytes() * 2, floats);
    }
    if (format == dtype::q8_0) {
      EXPECT_LT(state.bytes() * 3, floats);
    }
    const nn::qwen3_text t = nn::qwen3_write(model().text, view<float>(x.bottomRows(1)), state,
                                             {.ends = model().ends, .max_tokens = 100}, c);
    EXPECT_EQ(t.ids, ids);
  }
}

TEST(qwen3_asr, samples_follow_their_seed) {
  const auto want = expected();
  const auto written = [&](const search::token_sampling& s) {
    context c;
    nn::qwen3_decoder_state state;
    rows x = prompt_rows(want);
    nn::qwen3_read(model().text, view<float>(x), state, c);
    return nn::qwen3_write(model().text, view<float>(x.bottomRows(1)), state,
                           {.ends = model().ends, .max_tokens = 100, .sampling = s}, c)
        .ids;
  };
  const auto greedy = written({});
  EXPECT_EQ(written({.temperature = 5, .top_k = 1}), greedy);
  EXPECT_EQ(written({.temperature = 50, .seed = 1}), written({.temperature = 50, .seed = 1}));
  EXPECT_NE(written({.temperature = 50, .seed = 1}), written({.temperature = 50, .seed = 2}));
}

TEST(qwen3_asr, prompts_and_languages) {
  const auto& m = model();
  EXPECT_EQ(m.language_name(""), "");
  EXPECT_EQ(m.language_name("auto"), "");
  EXPECT_EQ(m.language_name("en"), "English");
  EXPECT_EQ(m.language_name(" gErMan"), "German");
  EXPECT_THROW((void)m.language_name("Klingon"), error);
  for (const char* known : {"auto", "en", "English", "english", "yue", "Cantonese"})
    EXPECT_TRUE(m.supports_language(known));
  EXPECT_FALSE(m.supports_language("Klingon"));
  EXPECT_THROW((void)m.state_for(dtype::q4_0), error);
  const qwen3::qwen3_prompt p = m.prompt("", ""), forced = m.prompt("", "English");
  const int tag = m.tokenizer.find("<asr_text>");
  ASSERT_GE(tag, 0);
  EXPECT_EQ(std::count(p.after.begin(), p.after.end(), tag), 0);
  EXPECT_EQ(forced.after.back(), tag);
  EXPECT_EQ(p.before.back(), m.tokenizer.find("<|audio_start|>"));
  EXPECT_EQ(p.after.front(), m.tokenizer.find("<|audio_end|>"));
}

TEST(qwen3_asr, a_long_list_of_hotwords_stands_in_no_prompt) {
  std::string prompt = "notes";
  qwen3::add_hotwords(prompt, std::vector<core::hotword>{{"paris"}, {"new york", 2}});
  EXPECT_EQ(prompt, "notes, paris, new york");
  std::vector<core::hotword> many(683, {"word"});  // 4098 bytes with commas and spaces
  EXPECT_FALSE(qwen3::hotwords_in_prompt(many));
  qwen3::add_hotwords(prompt, many);
  EXPECT_EQ(prompt, "notes, paris, new york");
  many.pop_back();
  EXPECT_TRUE(qwen3::hotwords_in_prompt(many));
}

}  // namespace qwen3_asr_test
