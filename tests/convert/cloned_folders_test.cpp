// Folders as they come from a hub: with READMEs, .git, copies for other runtimes and unfinished downloads. Each gives
// what the bare checkpoint gives, or one line that says what to do next.
// SPDX-License-Identifier: Apache-2.0
#include "convert.hpp"

#include <functional>

#include "convert/copied_folder.hpp"
#include "convert/fixtures.hpp"
#include "support/golden.hpp"
#include "support/refusal.hpp"

namespace cloned_folders_test {

namespace fs = std::filesystem;

using namespace steno;
using test::write_text;

constexpr const char* pointer =
    "version https://git-lfs.github.com/spec/v1\n"
    "oid sha256:6b0f4b18fc53fb8674a6b21741e6e5c63259ba42067f292db1601218b78a3433\nsize 1315167\n";

class cloned_folder : public test::copied_folder {
 protected:
  std::string packed(const fs::path& input) {
    const fs::path out = directory_.path() / "out.gguf";
    convert(input, out);
    return test::read_text(out);
  }
  static std::string refusal(const fs::path& input) {
    return test::refusal([&] { (void)import_checkpoint(input); });
  }
  // What hubs and their programs leave in a folder.
  static void clutter(const fs::path& folder) {
    for (const char* name : {".git/objects", ".cache/huggingface/download", "example", "fig"})
      fs::create_directories(folder / name);
    write_text(folder / ".git/HEAD", "ref: refs/heads/main\n");
    write_text(folder / ".git/config", "[core]\n\trepositoryformatversion = 0\n");
    write_text(folder / ".gitattributes", "*.pt filter=lfs diff=lfs merge=lfs -text\n");
    write_text(folder / ".cache/huggingface/download/model.pt.metadata", "abc\n");
    write_text(folder / "README.md", "---\nlicense: other\n---\n# A model\n");
    write_text(folder / "README_zh.md", "# A model\n");
    write_text(folder / "LICENSE", "...\n");
    write_text(folder / "example/en.mp3", "ID3....");
    write_text(folder / "fig/struct.png", "\x89PNG");
    write_text(folder / "requirements.txt", "funasr\n");
    write_text(folder / "demo.py", "print(1)\n");
    write_text(folder / ".mdl", "x");
    write_text(folder / ".msc", "x");
  }
  // Copies of the model for other runtimes.
  static void other_runtimes(const fs::path& folder) {
    fs::create_directories(folder / "onnx");
    fs::create_directories(folder / "coreml");
    for (const char* name :
         {"model.onnx", "model_quant.onnx", "onnx/encoder_model.onnx", "onnx/config.json", "flax_model.msgpack",
          "tf_model.h5", "rust_model.ot", "coreml/model.mlmodel", "model.int8.pt"})
      write_text(folder / name, "not what steno reads");
  }
};

TEST_F(cloned_folder, clutter_does_no_harm) {
  const fs::path folder = clone(test::fixture("sense_voice"));
  clutter(folder);
  EXPECT_EQ(packed(folder), packed(test::fixture("sense_voice")));
}

TEST_F(cloned_folder, copies_for_other_runtimes_do_no_harm) {
  const fs::path folder = clone(test::fixture("sense_voice"));
  clutter(folder);
  other_runtimes(folder);
  EXPECT_EQ(packed(folder), packed(test::fixture("sense_voice")));
}

TEST_F(cloned_folder, without_configuration_json_the_usual_names_are_taken) {
  const fs::path folder = clone(test::fixture("sense_voice"));
  clutter(folder);
  fs::remove(folder / "configuration.json");
  EXPECT_EQ(packed(folder), packed(test::fixture("sense_voice")));
}

// git clone without git-LFS: any of the files may be a pointer.
TEST_F(cloned_folder, a_pointer_in_place_of_a_file_is_named) {
  for (const fs::directory_entry& e : fs::directory_iterator(test::fixture("sense_voice"))) {
    const std::string name = e.path().filename().string();
    const fs::path folder = clone(test::fixture("sense_voice"));
    clutter(folder);
    write_text(folder / name, pointer);
    const std::string said = refusal(folder);
    EXPECT_NE(said.find((folder / name).string() + ": a git-LFS pointer, not the file itself (run git lfs pull)"),
              std::string::npos)
        << name << ": " << said;
  }
}

TEST_F(cloned_folder, weights_of_training_beside_those_to_take) {
  STENO_REQUIRE_SHARED(shared);
  const fs::path bare = shared / "golden/wenet/u2_conformer/checkpoint", folder = clone(bare);
  clutter(folder);
  for (const char* name : {"0.pt", "1.pt", "avg_10.pt", "final.zip"}) write_text(folder / name, "PK of another time");
  EXPECT_EQ(packed(folder), packed(bare));
}

TEST_F(cloned_folder, safetensors_before_torch_files_and_other_runtimes) {
  STENO_REQUIRE_SHARED(shared);
  const fs::path bare = shared / "golden/whisper/v3/checkpoint/hf", folder = clone(bare);
  clutter(folder);
  other_runtimes(folder);
  ASSERT_TRUE(fs::exists(folder / "model.safetensors"));
  write_text(folder / "pytorch_model.bin", "an older copy");
  EXPECT_EQ(packed(folder), packed(bare));
}

TEST_F(cloned_folder, pointers_in_a_folder_of_hugging_face_are_named) {
  STENO_REQUIRE_SHARED(shared);
  for (const char* name : {"model.safetensors", "config.json", "vocab.json"}) {
    const fs::path folder = clone(shared / "golden/whisper/v3/checkpoint/hf");
    clutter(folder);
    write_text(folder / name, pointer);
    const std::string said = refusal(folder);
    EXPECT_NE(said.find((folder / name).string() + ": a git-LFS pointer"), std::string::npos) << name << ": " << said;
  }
}

// The index names two shards: both, one of them, one of them a pointer.
TEST_F(cloned_folder, shards) {
  STENO_REQUIRE_SHARED(shared);
  const fs::path bare = shared / "golden/qwen3_asr/qwen3-asr-1.7b/checkpoint";
  std::vector<std::string> shards;
  for (const fs::directory_entry& e : fs::directory_iterator(bare))
    if (e.path().extension() == ".safetensors") shards.push_back(e.path().filename().string());
  std::sort(shards.begin(), shards.end());
  ASSERT_EQ(shards.size(), 2u);
  fs::path folder = clone(bare);
  clutter(folder);
  EXPECT_EQ(packed(folder), packed(bare));
  fs::remove(folder / shards[1]);
  const std::string said = refusal(folder);
  EXPECT_NE(said.find("model.safetensors.index.json: names a file that is not there: found \"" + shards[1] +
                      "\" (a shard of the weights is missing: download it, too)"),
            std::string::npos)
      << said;
  write_text(folder / shards[1], pointer);
  EXPECT_NE(refusal(folder).find(shards[1] + ": a git-LFS pointer"), std::string::npos) << refusal(folder);
}

TEST_F(cloned_folder, a_language_model_in_a_folder_of_its_own) {
  STENO_REQUIRE_SHARED(shared);
  const fs::path bare = shared / "golden/funasr/nano/checkpoint", folder = clone(bare);
  clutter(folder);
  for (const fs::directory_entry& e : fs::directory_iterator(bare))
    if (e.is_directory()) clutter(folder / e.path().filename());
  EXPECT_EQ(packed(folder), packed(bare));
}

TEST_F(cloned_folder, several_models_are_a_question) {
  const fs::path folder = directory_.path() / "models";
  fs::create_directories(folder);
  convert(test::fixture("sense_voice"), folder / "a.gguf");
  fs::copy_file(folder / "a.gguf", folder / "b.gguf");
  clutter(folder);
  const std::string said = refusal(folder);
  EXPECT_NE(said.find("holds several models: found \"a.gguf\", \"b.gguf\""), std::string::npos) << said;
  EXPECT_NE(said.find("name one of them"), std::string::npos) << said;
}

}  // namespace cloned_folders_test
