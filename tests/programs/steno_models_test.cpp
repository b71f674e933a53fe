// Models by name: what is on the machine, wherever it was put, and where the rest is published.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "programs/run_program.hpp"

namespace steno_models_test {

namespace fs = std::filesystem;
using steno::test::outcome;

const fs::path examples = fs::path(STENO_SOURCE_DIR) / "examples";

class steno_models : public testing::Test {
 protected:
  void SetUp() override {
    put("whisper", "data/steno/models/small-english.gguf");
    put("paraformer", "hub/models--some--paraformer/snapshots/1/model.gguf");
    put("u2", "hub/models--some--paraformer/snapshots/2/model.gguf");
    fs::create_directories(dir.path() / "hub/models--some--paraformer/refs");
    std::ofstream(dir.path() / "hub/models--some--paraformer/refs/main") << "1";
    put("parakeet-ctc", "hub/models--some--two/snapshots/1/a.gguf");
    put("parakeet-tdt", "hub/models--some--two/snapshots/1/b.gguf");
    put("fsmn-vad", "scope/hub/models/iic/speech_fsmn_vad_zh-cn-16k-common-pytorch/vad.gguf");
    put("whisper", "cache/whisper/base.gguf");
    put("parakeet-eou", "mine/small-english.gguf");
    std::ofstream(dir.path() / "mine/readme.md") << "no model";
    std::ofstream(dir.path() / "mine/broken.gguf") << "no model either";
  }
  void put(const std::string& demo, const std::string& as) {
    fs::create_directories((dir.path() / as).parent_path());
    fs::create_symlink(examples / "models" / (demo + ".gguf"), dir.path() / as);
  }
  outcome run(const std::string& arguments, const std::string& more = "") {
    return steno::test::shell(dir,
                              "env -u STENO_MODEL -u STENO_MODELS -u HF_HOME HOME=\"$PWD\" XDG_DATA_HOME=data "
                              "HF_HUB_CACHE=hub MODELSCOPE_CACHE=scope XDG_CACHE_HOME=cache " +
                                  more + " '" STENO_PROGRAM "' " + arguments);
  }
  std::string text_of(const std::string& demo) {
    return run("-q -m '" + (examples / "models" / (demo + ".gguf")).string() + "' " + audio).out;
  }
  const std::string audio = "'" + (examples / "audio/train.wav").string() + "'";
  steno::test::temporary_directory dir;
};

TEST_F(steno_models, are_listed_from_all_places) {
  const outcome o = run("models --format jsonl");
  ASSERT_EQ(o.code, 0) << o.err;
  std::istringstream lines(o.out);
  std::map<std::string, nlohmann::json> all;
  for (std::string line; std::getline(lines, line);) {
    const auto m = nlohmann::json::parse(line);
    all[m["name"]] = m;
  }
  ASSERT_EQ(all.size(), 6u) << o.out;
  EXPECT_EQ(all["small-english"]["family"], "whisper");
  EXPECT_EQ(all["small-english"]["place"], "the data directory");
  EXPECT_EQ(all["some/paraformer"]["path"], "hub/models--some--paraformer/snapshots/1/model.gguf");
  EXPECT_EQ(all["some/two/b.gguf"]["family"], "parakeet_transducer");
  EXPECT_EQ(all["iic/speech_fsmn_vad_zh-cn-16k-common-pytorch"]["place"], "ModelScope's cache");
  EXPECT_EQ(all["base"]["format"], "q8_0");
  EXPECT_EQ(all["base"]["bytes"], fs::file_size(examples / "models/whisper.gguf"));
  const outcome text = run("models");
  EXPECT_EQ(text.code, 0);
  for (const auto& [name, m] : all) EXPECT_NE(text.out.find(name), std::string::npos) << name;
}

TEST_F(steno_models, have_names_that_the_options_take) {
  const outcome o = run("-m base " + audio);
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.out, text_of("whisper"));
  EXPECT_NE(o.err.find("the model base is cache/whisper/base.gguf"), std::string::npos) << o.err;
  EXPECT_EQ(run("-q -m Paraformer --format json " + audio).out.find("\"model\":\"paraformer\""), 1u);
  EXPECT_EQ(run("-q -m some/paraformer " + audio).code, 0);
  EXPECT_EQ(run("-q -m base --vad fsmn-vad " + audio).code, 0);
  EXPECT_EQ(run("info -m base").code, 0);
  // A folder of the user's own goes first.
  const std::string eou = "\"model\":\"parakeet_transducer\"";
  EXPECT_EQ(run("-q --models mine -m small-english --format json " + audio).out.find(eou), 1u);
  EXPECT_EQ(run("-q -m small-english --format json " + audio, "STENO_MODELS=none:mine").out.find(eou), 1u);
  EXPECT_EQ(run("-q --format json " + audio, "STENO_MODEL=base").out.find("\"model\":\"whisper\""), 1u);
  EXPECT_EQ(run("-q --demo u2 --format json " + audio, "STENO_MODEL=base").out.find("\"model\":\"u2"), 1u);
}

TEST_F(steno_models, that_are_not_here_are_told_where_to_find) {
  const outcome published = run("-m large-v3 " + audio), unknown = run("-m nobody " + audio);
  EXPECT_EQ(published.code, 1);
  EXPECT_NE(published.err.find("steno models --how large-v3"), std::string::npos) << published.err;
  EXPECT_EQ(unknown.code, 1);
  EXPECT_NE(unknown.err.find("steno models lists"), std::string::npos) << unknown.err;
  const outcome several = run("-m two " + audio);
  EXPECT_EQ(several.code, 1) << several.err;  // a.gguf and b.gguf have names of their own
  const outcome how = run("models --how large-v3");
  EXPECT_EQ(how.code, 0) << how.err;
  EXPECT_NE(how.out.find("hf download openai/whisper-large-v3"), std::string::npos) << how.out;
  EXPECT_NE(how.out.find("steno-convert whisper-large-v3/ -o"), std::string::npos) << how.out;
  EXPECT_EQ(run("models --how nobody").code, 2);
  EXPECT_EQ(run("models --models nowhere").code, 2);
  EXPECT_NE(run("models", "STENO_MODELS=mine:nowhere").err.find("nowhere is no folder"), std::string::npos);
  EXPECT_NE(run("--models mine -m broken " + audio).err.find("mine/broken.gguf"), std::string::npos);
}

TEST_F(steno_models, nobody_has_any) {
  const outcome o = steno::test::shell(
      dir,
      "env -u STENO_MODELS -u HF_HUB_CACHE -u HF_HOME HOME=\"$PWD/empty\" XDG_DATA_HOME=none XDG_CACHE_HOME=none "
      "MODELSCOPE_CACHE=none '" STENO_PROGRAM "' models");
  EXPECT_EQ(o.code, 0);
  EXPECT_EQ(o.out, "");
  EXPECT_NE(o.err.find("STENO_MODELS"), std::string::npos) << o.err;
}

}  // namespace steno_models_test
