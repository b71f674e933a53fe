// Nemotron (prompts, several attention contexts, caches) and parakeet-unified (windows with a right context) against
// the original: every stage, ids, steps, states, times, chunks, caches and windows of the golden cases, from the .nemo
// file through the converter.
// SPDX-License-Identifier: Apache-2.0
#include <steno/models/parakeet_transducer.hpp>
#include <steno/pipelines/parakeet.hpp>
#include <steno/streaming/parakeet_stream.hpp>
#include <steno/streaming/parakeet_window_stream.hpp>

#include "parity/nemo_case.hpp"

namespace nemotron_test {

using namespace steno;
using nlohmann::json;

using model_type = nemo::parakeet_transducer_any;

std::string sizes_of(const json& numbers) {
  std::string all;
  for (const json& n : numbers) all += "_" + std::to_string(n.get<int>());
  return all;
}

void expect_rows(const test::nemo_case& g, const std::string& stage, const std::vector<float>& rows, extent width) {
  const auto golden = g.stages.find(stage);
  if (golden == g.stages.end()) return;
  ASSERT_EQ(static_cast<extent>(rows.size()), golden->second.size()) << stage;
  const auto x = core::make_view(rows.data(), static_cast<extent>(rows.size()) / width, width);
  EXPECT_LE(test::compare(x, golden->second).relative(), 1e-4) << stage;
}

void expect_tokens(std::span<const nemo::transducer_token> tokens, const json& want) {
  std::vector<int> ids;
  std::vector<extent> frames;
  for (const nemo::transducer_token& t : tokens) {
    ids.push_back(t.id);
    frames.push_back(t.frame);
  }
  EXPECT_EQ(ids, want["token_ids"].get<std::vector<int>>());
  if (want.contains("token_frames")) {
    EXPECT_EQ(frames, want["token_frames"].get<std::vector<extent>>());
  }
}

std::string text_of(const model_type& m, std::span<const nemo::transducer_token> tokens) {
  segment s;
  m.write_result(tokens, s);
  return s.text;
}

template <class Stream>
void play(Stream& s, const std::vector<float>& pcm, std::size_t portion, context& c) {
  const auto ignore = [](const auto&) {};
  for (std::size_t at = 0; at < pcm.size(); at += portion)
    s.push(std::span(pcm).subspan(at, std::min(portion, pcm.size() - at)), c, ignore);
  s.finish(c, ignore);
}

TEST(parity_nemotron, stages_ids_text_and_times) {
  STENO_REQUIRE_SHARED(shared);
  const test::nemo_case g(shared / "golden/nemo/nemotron-3.5-streaming");
  const auto m = test::open<model_type>(g);
  const std::string language = g.want["main_lang"];
  test::stage_book book(g, language);
  context c(executor{}, core::tracer(book));
  const segment s = m.recognise(g.pcm, {.language = language}, c);
  book.finish();
  std::vector<std::string> other;
  for (const auto& [name, stage] : g.stages)
    if (name.starts_with("prompted_") && name != "prompted_" + language) other.push_back(name);
  test::expect_all_stages(book, g, other);
  EXPECT_EQ(s.token_ids, g.want["token_ids"].get<std::vector<int>>());
  EXPECT_EQ(s.text, g.want["text"].get<std::string>());
  EXPECT_NEAR(test::score_of(s), g.want["score"].get<double>(), 1e-3);

  context quiet;
  const npy::array& golden = g.stages.at("prompted_" + language);
  const std::vector<float> rows = golden.floats();
  auto found = m.begin(quiet);
  m.advance(found, core::make_view(rows.data(), golden.rows(), golden.cols()), 0, m.max_symbols, quiet);
  expect_tokens(found.tokens, g.want);
  test::expect_times(m.words, m.tokenizer, m.place(found.tokens), g.want["timestamps"]);
}

// The prompt follows the whole encoder; many names share a prompt, and without a name it is that of "auto".
TEST(parity_nemotron, languages) {
  STENO_REQUIRE_SHARED(shared);
  const test::nemo_case g(shared / "golden/nemo/nemotron-3.5-streaming");
  const auto m = test::open<model_type>(g);
  for (const auto& [name, number] : g.want["prompt_dictionary"].items())
    EXPECT_EQ(m.prompts.find(name), number.get<int>()) << name;
  EXPECT_EQ(m.prompts.names.size(), g.want["prompt_dictionary"].size());
  EXPECT_EQ(m.prompt_kernel.prompts(), g.want["num_prompts"].get<extent>());
  for (const json& want : g.want["offline"]) {
    const std::string language = want["lang"];
    SCOPED_TRACE(language);
    test::stage_book book(g, language);
    context c(executor{}, core::tracer(book));
    const segment s = m.recognise(g.pcm, {.language = language}, c);
    if (const auto seen = book.seen.find("prompted_" + language); seen != book.seen.end()) {
      EXPECT_LE(seen->second, 1e-4);
    }
    EXPECT_EQ(s.token_ids, want["token_ids"].get<std::vector<int>>());
    EXPECT_EQ(s.text, want["text"].get<std::string>());
    if (language == "auto") {
      context quiet;
      EXPECT_EQ(m.recognise(g.pcm, {}, quiet).token_ids, s.token_ids);
    }
  }
  context c;
  EXPECT_THROW((void)m.recognise(g.pcm, {.language = "tlh-QO"}, c), error);
}

TEST(parity_nemotron, attention_contexts) {
  STENO_REQUIRE_SHARED(shared);
  const test::nemo_case g(shared / "golden/nemo/nemotron-3.5-streaming");
  const auto m = test::open<model_type>(g);
  context c;
  for (const json& want : g.want["offline_by_att_context_size"]) {
    const int right = want["att_context_size"][1];
    SCOPED_TRACE(right);
    const segment s = m.recognise(g.pcm, {.language = want["lang"], .look_ahead = right}, c);
    EXPECT_EQ(s.token_ids, want["token_ids"].get<std::vector<int>>());
    EXPECT_EQ(s.text, want["text"].get<std::string>());
  }
  EXPECT_EQ(m.windows.size(), g.want["offline_by_att_context_size"].size());
  EXPECT_THROW((void)m.recognise(g.pcm, {.look_ahead = 5}, c), error);
}

TEST(parity_nemotron, cache_aware_chunks_caches_and_tokens) {
  STENO_REQUIRE_SHARED(shared);
  const test::nemo_case g(shared / "golden/nemo/nemotron-3.5-streaming");
  const auto m = test::open<model_type>(g);
  for (const json& want : g.want["streaming"])
    for (const std::size_t portion : {std::size_t{160}, std::size_t{1777}, g.pcm.size()}) {
      const std::string name = "stream" + sizes_of(want["att_context_size"]);
      SCOPED_TRACE(name + ", portions of " + std::to_string(portion));
      std::vector<float> rows, prompted;
      std::size_t chunks = 0, tokens = 0;
      nemo::parakeet_stream<model_type>* live = nullptr;
      const auto sink = [&](std::string_view path, const view<const float>& x) {
        if (path == "stream.encoder_out") rows.insert(rows.end(), x.data(), x.data() + x.size());
        if (path == "stream.prompted") prompted.insert(prompted.end(), x.data(), x.data() + x.size());
        if (path != "joint_enc_proj") return;  // between the encoder and the search: a chunk's caches are complete
        ASSERT_LT(chunks, want["chunks"].size());
        EXPECT_EQ(x.rows(), want["chunks"][chunks]["out_frames"].get<extent>());
        if (portion == g.pcm.size())
          test::expect_caches(m, live->state(), g, name + "_chunk" + std::to_string(chunks) + "_cache_last_",
                              want["chunks"][chunks]["cache_len"].get<extent>());
        if (chunks > 0) tokens += want["chunks"][chunks - 1]["new_tokens"].size();
        EXPECT_EQ(live->tokens().size(), tokens) << chunks;
        ++chunks;
      };
      context c(executor{}, core::tracer(sink));
      nemo::parakeet_stream<model_type> stream(
          m, {.look_ahead = want["att_context_size"][1].get<int>(), .language = want["lang"]}, c);
      live = &stream;
      play(stream, g.pcm, portion, c);
      EXPECT_EQ(chunks, want["chunks"].size());
      EXPECT_EQ(stream.rows(), want["frames"].get<extent>());
      expect_rows(g, name + "_encoder_out", rows, m.encoder.output_size());
      expect_rows(g, name + "_prompted", prompted, m.encoder.output_size());
      expect_tokens(stream.tokens(), want);
      EXPECT_EQ(text_of(m, stream.tokens()), want["text"].get<std::string>());
    }
  const json& want = g.want["streaming_auto"];
  context c;
  nemo::parakeet_stream<model_type> stream(m, {.look_ahead = want["att_context_size"][1].get<int>()}, c);
  play(stream, g.pcm, 1600, c);
  EXPECT_EQ(text_of(m, stream.tokens()), want["text"].get<std::string>());
  EXPECT_THROW(nemo::parakeet_stream<model_type>(m, {.look_ahead = 5}, c), error);
  EXPECT_THROW(nemo::parakeet_stream<model_type>(m, {.language = "tlh-QO"}, c), error);
}

TEST(parity_parakeet_unified, stages_ids_text_and_times) {
  STENO_REQUIRE_SHARED(shared);
  const test::nemo_case g(shared / "golden/nemo/parakeet-unified");
  const auto m = test::open<model_type>(g);
  const segment s = test::run(m, g);
  EXPECT_EQ(s.token_ids, g.want["token_ids"].get<std::vector<int>>());
  EXPECT_EQ(s.text, g.want["text"].get<std::string>());
  EXPECT_NEAR(test::score_of(s), g.want["score"].get<double>(), 1e-3);
  context c;
  const npy::array& golden = g.stages.at("encoder_out");
  const std::vector<float> rows = golden.floats();
  auto found = m.begin(c);
  m.advance(found, core::make_view(rows.data(), g.valid_rows(), golden.cols()), 0, m.max_symbols, c);
  expect_tokens(found.tokens, g.want);
  test::expect_times(m.words, m.tokenizer, m.place(found.tokens), g.want["timestamps"]);
}

TEST(parity_parakeet_unified, windows_masks_and_tokens) {
  STENO_REQUIRE_SHARED(shared);
  const test::nemo_case g(shared / "golden/nemo/parakeet-unified");
  const auto m = test::open<model_type>(g);
  using stream_type = nemo::parakeet_window_stream<model_type>;
  bool first = true;
  for (const json& want : g.want["streaming"]) {
    nemo::window_rows sizes(want["left"], want["chunk"], want["right"]);
    sizes.fills = true;
    const bool masked = want["masked"];
    const std::string name = "stream" + sizes_of({sizes.left, sizes.middle, sizes.right}) + (masked ? "" : "_unmasked");
    for (const std::size_t portion : {std::size_t{160}, std::size_t{1777}, g.pcm.size()}) {
      SCOPED_TRACE(name + ", portions of " + std::to_string(portion));
      std::vector<float> rows;
      std::size_t windows = 0;
      const auto sink = [&](std::string_view path, const view<const float>& x) {
        if (path != "logmel" && path != "encoder.encoder_out" && path != "stream.encoder_out") return;
        ASSERT_LT(windows, want["windows"].size());
        const json& window = want["windows"][windows];
        const std::string at = "window" + std::to_string(windows) + "_";
        const auto expect = [&](const std::string& stage, extent valid) {
          if (const auto golden = g.stages.find(at + stage); first && golden != g.stages.end()) {
            EXPECT_LE(test::worst_of(stage, x, golden->second, valid), 1e-4) << at << stage;
          }
        };
        if (path == "logmel") expect("logmel", -1);
        if (path == "encoder.encoder_out") {
          EXPECT_EQ(x.rows(), window["enc_valid"].get<extent>()) << windows;
          expect("encoder_out", window["enc_valid"]);
        }
        if (path != "stream.encoder_out") return;
        EXPECT_EQ(x.rows(), window["decoded_frames"].get<extent>()) << windows;
        rows.insert(rows.end(), x.data(), x.data() + x.size());
        ++windows;
      };
      context c(executor{}, core::tracer(sink));
      stream_type stream(m, sizes, masked ? stream_type::encoding_of(m, sizes) : nemo::parakeet_encoding{}, c);
      play(stream, g.pcm, portion, c);
      EXPECT_EQ(windows, want["windows"].size());
      expect_rows(g, name + "_encoder_out", rows, m.encoder.output_size());
      std::vector<int> ids;
      std::vector<extent> frames;
      for (const tokenizers::placed_token& t : stream.tokens()) {
        ids.push_back(t.id);
        frames.push_back(t.start);
      }
      EXPECT_EQ(ids, want["token_ids"].get<std::vector<int>>());
      EXPECT_EQ(frames, want["token_frames"].get<std::vector<extent>>());
      EXPECT_EQ(m.words.text(m.tokenizer, ids), want["text"].get<std::string>());
    }
    first = false;
  }
}

// What a row of a window may look at, as the original's mask has it; padding is none of our rows.
TEST(parity_parakeet_unified, mask_of_a_window) {
  STENO_REQUIRE_SHARED(shared);
  const test::nemo_case g(shared / "golden/nemo/parakeet-unified");
  const json& want = g.want["streaming"][0];
  const nn::attention_window w = nemo::chunks_with_right({want["left"], want["chunk"], want["right"]});
  int masks = 0;
  for (const auto& [name, golden] : g.stages) {
    if (!name.starts_with("window") || !name.ends_with("_mask")) continue;
    const std::size_t number = std::stoul(name.substr(6));
    const extent n = want["windows"][number]["enc_valid"], all = golden.rows();
    const std::vector<float> mask = golden.floats();
    nn::each_attention_block(n, n, w, n, [&](const nn::attention_block& b) {
      for (extent t = b.first; t < b.first + b.count; ++t)
        for (extent j = 0; j < n; ++j)
          ASSERT_EQ(mask[static_cast<std::size_t>(t * all + j)] != 0, j >= b.from && j < b.to) << t << " " << j;
    });
    ++masks;
  }
  EXPECT_GT(masks, 0);
}

}  // namespace nemotron_test
