// The second model of Canary's archives, which finds times of words: from one archive, made of two recorded ones.
// SPDX-License-Identifier: Apache-2.0
#include <steno/models/canary.hpp>
#include <steno/models/parakeet_ctc.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>

#include "convert.hpp"
#include "convert/fixtures.hpp"
#include "convert/tar_member.hpp"
#include "nemo/tar.hpp"
#include "support/golden.hpp"
#include "support/refusal.hpp"
#include "support/wav.hpp"

namespace canary_aligner_test {

namespace fs = std::filesystem;
using namespace steno;

constexpr const char* second = "timestamps_asr_model";

// The members of a recorded archive; those of its model under another name where `front` is given.
std::string members_of(const fs::path& archive, const std::string& front) {
  const std::string text = test::read_text(archive);
  const nemo_files::tar_archive tar(std::as_bytes(std::span(text.data(), text.size())), "x");
  std::string all;
  for (const nemo_files::tar_member& m : tar.members()) {
    std::string name = m.name;
    if (name.starts_with("model_")) name.replace(0, 5, front);
    all += test::member(name, {reinterpret_cast<const char*>(m.bytes.data()), m.bytes.size()});
  }
  return all;
}
fs::path both(const fs::path& shared, const fs::path& to, const char* other = "parakeet-ctc") {
  const fs::path file = to / "model.nemo";
  test::write_text(file, members_of(shared / "golden/nemo/canary-v2/checkpoint/model.nemo", "model") +
                             members_of(shared / "golden/nemo" / other / "checkpoint/model.nemo", second) +
                             std::string(1024, '\0'));
  return file;
}
template <class Model>
Model open(const fs::path& file) {
  opened_checkpoint opened = open_checkpoint(file);
  return load<Model>(std::move(opened.file));
}

TEST(canary_aligner, words_lie_where_the_best_path_has_their_pieces) {
  STENO_REQUIRE_SHARED(shared);
  const test::temporary_directory d;
  const auto m = open<nemo::canary_any>(both(shared, d.path()));
  ASSERT_TRUE(m.aligned);
  EXPECT_TRUE(m.finds_times());
  EXPECT_FALSE(m.tokens.has_times());
  const auto ctc = open<nemo::parakeet_ctc_any>(shared / "golden/nemo/parakeet-ctc/checkpoint/model.nemo");
  const std::vector<float> pcm = test::load_wav(shared / "golden/nemo/parakeet-ctc/input.wav").pcm;
  context c;
  const extent n = ctc.frames(static_cast<extent>(pcm.size()));
  matrix<float, dynamic, dynamic> rows(n, ctc.encoder.output_size()), want(n, ctc.decoder.output_size()), got = want;
  ctc.encode(pcm, rows, c);
  ctc.score(rows, want, c);
  m.aligner.score(pcm, got, c);
  EXPECT_EQ(got, want);
  EXPECT_EQ(m.aligner.frame_seconds(), ctc.frame_seconds());

  // A text of the pieces that the model finds most often, so that every word can be split.
  const segment spoken = ctc.recognise(pcm, {}, c);
  const std::string text = " " + spoken.text.substr(0, spoken.text.size() / 2) + "  ";
  const auto words = m.aligner.align(pcm, text, c);
  ASSERT_GT(words.size(), 3u);
  std::vector<int> ids;
  std::vector<std::size_t> first;
  for (const auto& w : words) {
    first.push_back(ids.size());
    const auto pieces = ctc.tokenizer.split(w.text);
    ASSERT_TRUE(pieces.has_value()) << w.text;
    ids.insert(ids.end(), pieces->begin(), pieces->end());
  }
  first.push_back(ids.size());
  std::vector<search::ctc_token> path;
  ASSERT_TRUE(search::ctc_alignment(core::read(want), ids, {.blank = ctc.blank()}, c.scratch, path));
  for (std::size_t i = 0; i < words.size(); ++i) {
    EXPECT_EQ(words[i].first, i);
    EXPECT_EQ(words[i].start, path[first[i]].start);
    EXPECT_EQ(words[i].end, path[first[i + 1] - 1].end);
  }
  EXPECT_TRUE(m.aligner.align(pcm, "   ", c).empty());
  EXPECT_TRUE(m.aligner.align({}, "a", c).empty());
  std::string endless;
  for (int i = 0; i < 200; ++i) endless += "a ";
  EXPECT_TRUE(m.aligner.align(pcm, endless, c).empty());          // more pieces than rows
  EXPECT_EQ(m.aligner.align(pcm, "\xe4\xb8\xad", c).size(), 1u);  // the piece for what is unknown
}

// The text is that of a call without times: the prompt does not ask for them.
TEST(canary_aligner, recordings) {
  STENO_REQUIRE_SHARED(shared);
  const test::temporary_directory d;
  const auto m = open<nemo::canary_any>(both(shared, d.path()));
  context c;
  const std::vector<float> pcm = test::load_wav(shared / "golden/nemo/canary-v2/input.wav").pcm;
  nemo::canary_options o;
  o.context = "the lake was calm";
  o.itn = true;
  const segment plain = m.recognise(pcm, o, c);
  o.timestamps = true;
  const segment timed = m.recognise(pcm, o, c);
  EXPECT_EQ(timed.token_ids, plain.token_ids);
  EXPECT_EQ(timed.text, plain.text);
  EXPECT_TRUE(plain.words.empty());
  for (const word& w : timed.words) {
    EXPECT_EQ(w.how, timing::aligned);
    EXPECT_GE(w.start, 0);
    EXPECT_LE(w.start, w.end);
    EXPECT_LE(w.end, timed.end);
    EXPECT_GT(w.confidence, 0);
    EXPECT_LE(w.confidence, 1);
  }
}

TEST(canary_aligner, another_kind_is_refused) {
  STENO_REQUIRE_SHARED(shared);
  const test::temporary_directory d;
  const fs::path file = both(shared, d.path(), "parakeet-rnnt");
  EXPECT_NE(
      test::refusal([&] { (void)open_checkpoint(file); }).find("the model for times of words: expected a CTC model"),
      std::string::npos);
}

}  // namespace canary_aligner_test
