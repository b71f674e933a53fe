// A Nemotron folder of transformers: the original's rows, prompts and labels on a compact case, and what is read and
// refused in its JSON files.
// SPDX-License-Identifier: Apache-2.0
#include "nemo/parakeet_folder.hpp"

#include <steno/models/parakeet_transducer.hpp>

#include "convert.hpp"
#include "convert/fixtures.hpp"
#include "npy.hpp"
#include "support/compare.hpp"
#include "support/golden.hpp"
#include "support/refusal.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>

namespace nemotron_folder_test {

namespace fs = std::filesystem;
using namespace steno;
using nlohmann::json;

json load_json(const fs::path& file) {
  std::ifstream in(file);
  return json::parse(in);
}

class nemotron_folder : public testing::Test {
 protected:
  nemotron_folder() {
    for (const auto& e : fs::directory_iterator(golden_ / "checkpoint"))
      fs::copy_file(e.path(), at_.path() / e.path().filename());
  }
  // The refusal of the folder with a JSON pointer of a file set; null removes it.
  std::string refused(const char* name, const char* where, const json& value) const {
    const fs::path file = at_.path() / name;
    json all = load_json(file);
    if (value.is_null())
      all[json::json_pointer(where).parent_pointer()].erase(json::json_pointer(where).back());
    else
      all[json::json_pointer(where)] = value;
    std::ofstream(file) << all.dump();
    const std::string said = test::refusal([&] { (void)import_checkpoint(at_.path()); });
    fs::copy_file(golden_ / "checkpoint" / name, file, fs::copy_options::overwrite_existing);
    return said;
  }

  const fs::path golden_ = test::compact() / "nemotron_folder";
  test::temporary_directory at_;
};

TEST_F(nemotron_folder, rows_prompts_and_labels_of_the_original) {
  opened_checkpoint opened = open_checkpoint(at_.path());
  EXPECT_TRUE(opened.notes.empty()) << opened.notes.front();
  const auto m = load<nemo::parakeet_transducer_any>(std::move(opened.file));
  EXPECT_EQ(m.prompts.usual, 101);
  EXPECT_EQ(m.prompts.prompt_of("de"), 9);
  EXPECT_EQ(m.prompt_kernel.prompts(), 128);
  ASSERT_EQ(m.windows.size(), 3u);
  EXPECT_EQ(m.window.chunk, 4);
  EXPECT_EQ(m.window.left, 7);
  EXPECT_EQ(m.window_for(6).chunk, 7);
  const auto relative = [&](const view<const float>& x, const char* name) {
    return test::compare(x, npy::load(golden_ / name)).relative();
  };
  const npy::array given = npy::load(golden_ / "input_features.npy");
  const std::vector<float> features = given.floats();
  context c;
  const extent frames = given.rows() - 1;  // the last one is not valid
  matrix<float, dynamic, dynamic> rows(m.encoder.rows(frames), m.encoder.output_size());
  m.encoder(core::make_view(features.data(), frames, given.cols()), core::write(rows), nullptr,
            nn::fastconformer_env{.window = m.window}, c);
  EXPECT_LE(relative(core::read(rows), "encoder_out.npy"), 1e-4);
  m.prompt(core::write(rows), -1, c);
  EXPECT_LE(relative(core::read(rows), "prompted_auto.npy"), 1e-4);
  matrix<float, dynamic, dynamic> projected(rows.rows(), m.enc.output_size());
  m.enc.multiply(core::read(rows), core::write(projected), c);
  EXPECT_LE(relative(core::read(projected), "joint_enc_proj.npy"), 1e-4);
  auto found = m.begin(c);
  m.advance(found, core::read(rows), 0, m.max_symbols, c);
  std::vector<int> ids;
  for (const nemo::transducer_token& t : found.tokens) ids.push_back(t.id);
  EXPECT_EQ(ids, load_json(golden_ / "expected.json").at("token_ids").get<std::vector<int>>());
}

TEST_F(nemotron_folder, what_is_missing_or_something_else_is_named) {
  const char *config = "config.json", *processor = "processor_config.json";
  EXPECT_NE(refused(processor, "/prompt_dictionary", nullptr).find("prompt_dictionary"), std::string::npos);
  EXPECT_NE(refused(processor, "/prompt_dictionary/de", 128).find("\"de\""), std::string::npos);
  EXPECT_NE(refused(processor, "/num_prompts", 64).find("num_prompts"), std::string::npos);
  EXPECT_NE(refused(config, "/num_prompts", 64).find("default_prompt_id"), std::string::npos);
  EXPECT_NE(refused(config, "/prompt_intermediate_size", 32).find("prompt_projector.linear_1"), std::string::npos);
  EXPECT_NE(refused(config, "/encoder_config/sliding_window", 30).find("sliding_window"), std::string::npos);
  EXPECT_NE(refused(config, "/encoder_config/default_num_lookahead_tokens", 4).find("sliding_window"),
            std::string::npos);
  EXPECT_NE(refused(config, "/durations", json::array({0, 1})).find("durations"), std::string::npos);
  EXPECT_NE(refused(config, "/blank_token_id", 57).find("blank_token_id"), std::string::npos);
  EXPECT_NE(refused(config, "/encoder_config/gain", 2).find("gain"), std::string::npos);
  EXPECT_EQ(refused(config, "/encoder_config/supported_num_lookahead_tokens", nullptr), "");
}

// The English model has no prompts.
TEST_F(nemotron_folder, without_prompts_the_projection_is_unexpected) {
  EXPECT_NE(refused("config.json", "/model_type", "nemotron_asr_streaming").find("prompt"), std::string::npos);
}

}  // namespace nemotron_folder_test
