// Parakeet folders of transformers against the original: features, encoder, logits, steps, states, ids, frames and text
// of the golden cases, from the folder through the converter.
// SPDX-License-Identifier: Apache-2.0
#include <steno/models/parakeet_ctc.hpp>
#include <steno/models/parakeet_transducer.hpp>
#include <steno/pipelines/parakeet.hpp>

#include "convert/convert.hpp"
#include "support/compare.hpp"
#include "support/golden.hpp"
#include "support/wav.hpp"
#include "trace/stages/nemo.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <map>

namespace parakeet_folder_test {

namespace fs = std::filesystem;
using namespace steno;
using nlohmann::json;

// What a model shows, by the golden cases' names; rows of steps one under another.
struct shown_stages {
  std::map<std::string, std::vector<float>> seen;
  void operator()(std::string_view path, const view<const float>& x) {
    const bool step = path.starts_with("step.");
    const std::string name = step                 ? std::string(path.substr(5))
                             : path == "prompted" ? "prompted_auto"
                                                  : stages::nemo(path);
    std::vector<float>& all = seen[name];
    if (!step) all.clear();
    for (extent t = 0; t < x.rows(); ++t)
      all.insert(all.end(), x.data() + t * x.outerStride(), x.data() + t * x.outerStride() + x.cols());
  }
};

struct folder_case {
  explicit folder_case(const char* name)
      : folder(*test::shared() / "golden/nemo" / name), pcm(test::load_wav(folder / "input.wav").pcm) {
    std::ifstream in(folder / "expected.json");
    want = json::parse(in);
    // Without the .nemo archive of the same model, which would be taken.
    for (const auto& e : fs::directory_iterator(folder / "checkpoint"))
      if (e.path().extension() != ".nemo") fs::copy_file(e.path(), copy.path() / e.path().filename());
  }
  template <class Model>
  Model open() const {
    opened_checkpoint opened = open_checkpoint(copy.path());
    EXPECT_TRUE(opened.notes.empty()) << opened.notes.front();
    return load<Model>(std::move(opened.file));
  }
  // Within the contract's bound, which is below those that the cases name.
  void expect_stages(const shown_stages& shown) const {
    int compared = 0;
    for (const auto& e : fs::directory_iterator(folder / "stages")) {
      const std::string name = e.path().stem().string().substr(3);
      const npy::array golden = npy::load(e.path());
      const auto found = shown.seen.find(name);
      ASSERT_NE(found, shown.seen.end()) << name;
      ASSERT_EQ(static_cast<std::int64_t>(found->second.size()), golden.size()) << name;
      const auto x = core::make_view(found->second.data(), 1, static_cast<extent>(found->second.size()));
      EXPECT_LE(test::compare(core::read(x), golden).relative(), 1e-4) << name;
      ++compared;
    }
    EXPECT_GE(compared, 3);
  }
  test::temporary_directory copy;
  fs::path folder;
  std::vector<float> pcm;
  json want;
};

TEST(parity_parakeet_folder, ctc) {
  STENO_REQUIRE_SHARED(shared);
  const folder_case g("hf-parakeet-ctc");
  const auto m = g.open<nemo::parakeet_ctc_any>();
  shown_stages shown;
  context c(executor{}, core::tracer(shown));
  const segment s = m.recognise(g.pcm, {}, c);
  g.expect_stages(shown);
  EXPECT_EQ(s.token_ids, g.want.at("token_ids").get<std::vector<int>>());
  EXPECT_EQ(s.text, g.want.at("text").get<std::string>());
}

TEST(parity_parakeet_folder, transducers) {
  STENO_REQUIRE_SHARED(shared);
  for (const char* name : {"hf-parakeet-tdt", "hf-parakeet-rnnt", "hf-nemotron"}) {
    SCOPED_TRACE(name);
    const folder_case g(name);
    const auto m = g.open<nemo::parakeet_transducer_any>();
    shown_stages shown;
    context c(executor{}, core::tracer(shown));
    const segment s = m.recognise(g.pcm, {}, c);
    g.expect_stages(shown);
    EXPECT_EQ(s.token_ids, g.want.at("token_ids").get<std::vector<int>>());
    EXPECT_EQ(s.text, g.want.at("text").get<std::string>());
    EXPECT_NEAR(s.score.value(), g.want.at("score").get<double>(), 1e-3);
    // What the joint network reads.
    const fs::path prompted = g.folder / "stages/02_prompted_auto.npy";
    const npy::array golden = npy::load(fs::exists(prompted) ? prompted : g.folder / "stages/01_encoder_out.npy");
    const std::vector<float> rows = golden.floats();
    context quiet;
    auto found = m.begin(quiet);
    m.advance(found, core::make_view(rows.data(), golden.rows(), golden.cols()), 0, m.max_symbols, quiet);
    std::vector<extent> frames, durations;
    for (const nemo::transducer_token& t : found.tokens) {
      frames.push_back(t.frame);
      durations.push_back(t.duration);
    }
    EXPECT_EQ(frames, g.want.at("token_frames").get<std::vector<extent>>());
    if (g.want.contains("token_durations")) {
      EXPECT_EQ(durations, g.want.at("token_durations").get<std::vector<extent>>());
    }
  }
}

// The .nemo archive beside the folder's files is the same model, and is taken.
TEST(parity_parakeet_folder, an_archive_beside_it_is_taken) {
  STENO_REQUIRE_SHARED(shared);
  const folder_case g("hf-parakeet-ctc");
  const fs::path checkpoint = g.folder / "checkpoint";
  opened_checkpoint archive = open_checkpoint(checkpoint), folder = open_checkpoint(g.copy.path());
  EXPECT_EQ(archive.file.strings("tokenizer.ggml.tokens"), folder.file.strings("tokenizer.ggml.tokens"));
  EXPECT_EQ(archive.file.numbers("tokenizer.ggml.scores"), folder.file.numbers("tokenizer.ggml.scores"));
  ASSERT_EQ(archive.file.size(), folder.file.size());
  for (std::size_t i = 0; i < archive.file.size(); ++i) {
    const weights::tensor_ref a = archive.file.tensor(i);
    const auto b = folder.file.find(a.name);
    ASSERT_TRUE(b) << a.name;
    EXPECT_TRUE(std::equal(a.bytes.begin(), a.bytes.end(), b->bytes.begin(), b->bytes.end())) << a.name;
  }
  const auto m = load<nemo::parakeet_ctc_any>(std::move(archive.file));
  context c;
  EXPECT_EQ(m.recognise(g.pcm, {}, c).text, g.want.at("text").get<std::string>());
}

}  // namespace parakeet_folder_test
