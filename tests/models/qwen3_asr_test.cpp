// Qwen3-ASR on the compact golden set: the audio tower on features, the language model on the original's rows.
#include <steno/core/thread_pool.hpp>
#include <steno/models/qwen3_asr.hpp>

#include "support/allocations.hpp"
#include "support/compare.hpp"
#include "support/golden.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>

using namespace steno;

namespace {

using rows = matrix<float, dynamic, dynamic>;

rows load_rows(const std::string& name) {
  const npy::array a = npy::load(test::compact() / "qwen3_asr" / name);
  const std::vector<float> values = a.floats();
  return make_view(values.data(), a.rows(), a.cols());
}
nlohmann::json expected() {
  std::ifstream in(test::compact() / "qwen3_asr/expected.json");
  return nlohmann::json::parse(in);
}
const qwen3_asr_any& model() {
  static const auto loaded = load<qwen3_asr_any>((test::compact() / "qwen3_asr/model.gguf").string());
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

}  // namespace

// 1e-4 of max(1, absmax): the contract's bound; weights are stored as bf16, which is what the original computed with.
TEST(qwen3_asr, a_block_of_the_audio_tower) {
  const rows x = load_rows("features.npy"), all = load_rows("encoder_out.npy");
  const extent n = expected()["block_rows"].get<extent>();
  ASSERT_EQ(model().audio_tower.rows(x.rows()), n);
  rows y(n, model().text.width()), threaded(n, model().text.width());
  context c;
  model().audio_tower(x, y, c);
  const float bound = 1e-4f * std::max(1.0f, all.cwiseAbs().maxCoeff());
  EXPECT_LE((y - all.topRows(n)).cwiseAbs().maxCoeff(), bound);
  thread_pool pool(2);
  context other{executor(pool)};
  model().audio_tower(x, threaded, other);
  EXPECT_EQ(y, threaded);
}

TEST(qwen3_asr, a_text_is_written) {
  const auto want = expected();
  const rows path = load_rows("logits_greedy_path.npy");
  EXPECT_EQ(model().ends, want["ends"].get<std::vector<int>>());
  context c;
  qwen3_past past;
  rows x = prompt_rows(want), first(1, model().text.outputs());
  qwen3_read(model().text, view<float>(x), past, c);
  model().text.logits(x.bottomRows(1), first, c);
  EXPECT_LE((first - path.topRows(1)).cwiseAbs().maxCoeff(),
            1e-4f * std::max(1.0f, path.topRows(1).cwiseAbs().maxCoeff()));  // as above
  const qwen3_text t = qwen3_write(model().text, view<float>(x.bottomRows(1)), past, model().ends, 100, c);
  auto ids = want["new_ids"].get<std::vector<int>>();
  ids.pop_back();
  EXPECT_EQ(t.ids, ids);
  EXPECT_EQ(t.stop, qwen3_stop::end_of_text);
}

TEST(qwen3_asr, a_warm_step_allocates_nothing) {
  const auto want = expected();
  context c;
  qwen3_past past;
  rows x = prompt_rows(want), scores(1, model().text.outputs());
  model().text(x, past, c);
  const auto step = [&] {
    past.rewind(x.rows());
    view<float> last(x.bottomRows(1));
    model().text(last, past, c);
    model().text.logits(last, scores, c);
  };
  step();
  step();
  const test::allocation_counter counted;
  step();
  EXPECT_EQ(counted.so_far(), 0u);
}

TEST(qwen3_asr, prompts_and_languages) {
  const auto& m = model();
  EXPECT_EQ(m.language_name(""), "");
  EXPECT_EQ(m.language_name("auto"), "");
  EXPECT_EQ(m.language_name("en"), "English");
  EXPECT_EQ(m.language_name(" gErMan"), "German");
  EXPECT_THROW((void)m.language_name("Klingon"), error);
  const qwen3_prompt p = m.prompt("", ""), forced = m.prompt("", "English");
  const int tag = m.tokenizer.find("<asr_text>");
  ASSERT_GE(tag, 0);
  EXPECT_EQ(std::count(p.after.begin(), p.after.end(), tag), 0);
  EXPECT_EQ(forced.after.back(), tag);
  EXPECT_EQ(p.before.back(), m.tokenizer.find("<|audio_start|>"));
  EXPECT_EQ(p.after.front(), m.tokenizer.find("<|audio_end|>"));
}
