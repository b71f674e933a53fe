// What people have in place of a checkpoint: each is named, with the next step.
// SPDX-License-Identifier: Apache-2.0
#include <zip.h>

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "convert.hpp"
#include "convert/fixtures.hpp"
#include "convert/small_whisper.hpp"
#include "foreign_files.hpp"
#include "support/golden.hpp"
#include "support/refusal.hpp"

namespace foreign_files_test {

namespace fs = std::filesystem;
using namespace steno;
using nlohmann::json;

using namespace std::string_view_literals;

class foreign_files : public testing::Test {
 protected:
  fs::path file(const std::string& name, std::string_view content = "?") {
    const fs::path path = dir_.path() / name;
    fs::create_directories(path.parent_path());
    test::write_text(path, content);
    return path;
  }
  fs::path archive(const std::string& name, std::initializer_list<const char*> members) {
    const fs::path path = dir_.path() / name;
    int failed = 0;
    zip_t* z = zip_open(path.string().c_str(), ZIP_CREATE, &failed);
    for (const char* m : members) zip_file_add(z, m, zip_source_buffer(z, "x", 1, 0), 0);
    EXPECT_EQ(zip_close(z), 0);
    return path;
  }
  // One line that names the file or folder, says what it is and, behind it, what to do.
  void expect(const fs::path& path, std::string_view what, std::string_view hint) {
    const std::string said = test::refusal([&] { (void)open_checkpoint(path); });
    EXPECT_TRUE(said.starts_with(path.string())) << said;
    const std::string text = test::with_slashes(said);
    const std::size_t at = text.find(what);
    EXPECT_NE(at, std::string::npos) << said;
    EXPECT_NE(text.find(test::with_slashes(std::string(hint)), at == std::string::npos ? 0 : at), std::string::npos)
        << said;
    EXPECT_EQ(said.find('\n'), std::string::npos) << said;
    EXPECT_EQ(test::refusal([&] { convert(path, dir_.path() / "out.gguf"); }), said);
    EXPECT_FALSE(fs::exists(dir_.path() / "out.gguf"));
  }
  fs::path folder(const std::string& name, std::initializer_list<const char*> names) {
    for (const char* n : names) file(name + "/" + n);
    return dir_.path() / name;
  }
  const test::temporary_directory dir_;
};

TEST_F(foreign_files, files_of_other_runtimes) {
  const std::pair<const char*, const char*> others[] = {{"model.onnx", "an ONNX model"},
                                                        {"encoder.int8.ONNX", "an ONNX model"},
                                                        {"model.ort", "an ONNX model"},
                                                        {"model.onnx_data", "an ONNX model"},
                                                        {"whisper.engine", "a TensorRT engine"},
                                                        {"model.plan", "a TensorRT engine"},
                                                        {"openvino_encoder_model.xml", "an OpenVINO model"},
                                                        {"openvino_encoder_model.bin", "an OpenVINO model"},
                                                        {"whisper.mlmodel", "a Core ML model"},
                                                        {"tf_model.h5", "a TensorFlow model"},
                                                        {"saved_model.pb", "a TensorFlow model"},
                                                        {"model.tflite", "a TensorFlow model"},
                                                        {"flax_model.msgpack", "a Flax model"},
                                                        {"encoder.ncnn.param", "an ncnn model"},
                                                        {"encoder.ncnn.bin", "an ncnn model"},
                                                        {"model.mnn", "a model for another runtime"},
                                                        {"model.rknn", "a model for another runtime"}};
  for (const auto& [name, what] : others) expect(file(name), what, "take what it was made of");
  expect(file("by_content", "\x1c\0\0\0ORTMxxxxxxxx"sv), "an ONNX model", "take what it was made of");
  expect(file("by_content", "\x1c\0\0\0TFL3xxxxxxxx"sv), "a TensorFlow model", "take what it was made of");
  expect(file("by_content", "<?xml version=\"1.0\"?>\n<net name=\"x\">"), "an OpenVINO model", "take what");
}

TEST_F(foreign_files, downloads_that_are_no_models) {
  expect(file("model.pt", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"), "a git-LFS pointer",
         "run git lfs pull");
  expect(file("model.gguf", "<!DOCTYPE html>\n<html><head>"), "a web page", "download the file itself");
  expect(file("model.safetensors", "\n  <HTML lang=en>"), "a web page", "download the file itself");
  expect(file("model.bin", "{\"error\":\"Repository not found\"}"), "an error message of the server", "login");
  expect(file("a.pt", "Entry not found"), "an error message of the server", "login");
  expect(file("b.pt", "<?xml version=\"1.0\"?><Error><Code>AccessDenied"), "an error message of the server", "login");
  for (const char* name : {"model.bin.part", "0123abcd.incomplete", "model.nemo.crdownload", "model.pt.aria2"})
    expect(file(name), "a download that has not ended", "start it again");
  expect(file("empty.pt", ""), "the file is empty", "");
  expect(file("talk.wav", "RIFF\x10\0\0\0WAVEfmt "sv), "a recording, not a model", "-m");
}

TEST_F(foreign_files, archives_still_packed) {
  for (const auto& [name, content] :
       {std::pair("model.tar.gz", "\x1f\x8b\x08\x00\x00\x00"sv), std::pair("model.7z", "7z\xbc\xaf\x27\x1c\x00\x04"sv),
        std::pair("model.rar", "Rar!\x1a\x07"sv),
        std::pair("x",
                  "\xfd"
                  "7zXZ\0"sv),
        std::pair("y", "BZh91AY"sv), std::pair("z", "\x28\xb5\x2f\xfd"sv)})
    expect(file(name, content), "an archive that is still packed", "unpack it");
  expect(archive("model.zip", {"exp/final.pt", "exp/train.yaml"}), "an archive that is still packed", "unpack it");
}

TEST_F(foreign_files, torch_files_of_other_kinds) {
  expect(archive("final.zip", {"final/data.pkl", "final/code/__torch__.py", "final/constants.pkl"}),
         "a TorchScript archive", "final.pt");
  expect(archive("model.pt", {"m/data.pkl", "m/code/__torch__.py"}), "a TorchScript archive", "exported from");
  expect(file("last.ckpt", "\x80\x02}q\0(X\5\0\0\0epochq\1K\3X\x19\0\0\0pytorch-lightning_versionq\2"sv),
         "a PyTorch Lightning checkpoint", "model.save_to");
  for (const char* name :
       {"optimizer.pt", "scheduler.pt", "training_args.bin", "rng_state_0.pth", "trainer_state.json"})
    expect(file(name), "what a trainer leaves to go on from", "the weights");
  for (const char* name : {"tokens.txt", "units.txt"}) expect(file(name), "a list of tokens", "the weights");
}

TEST_F(foreign_files, adapters_name_the_command_that_merges_them) {
  const fs::path at = dir_.path() / "lora";
  file("lora/adapter_model.safetensors");
  file("lora/adapter_config.json", R"({"base_model_name_or_path": "openai/whisper-small", "peft_type": "LORA"})");
  file("lora/training_args.bin");
  for (const fs::path& path : {at / "adapter_model.safetensors", at / "adapter_config.json", at})
    expect(path, "a PEFT adapter",
           "M.from_pretrained('openai/whisper-small'), '" + at.string() + "').merge_and_unload");
  // A name that would end the quotes is no name.
  file("lora/adapter_config.json", R"({"base_model_name_or_path": "x'); import os; ('"})");
  expect(at, "a PEFT adapter", "from_pretrained('BASE MODEL')");
}

TEST_F(foreign_files, folders) {
  expect(folder("onnx-folder", {"tokens.txt", "encoder.onnx", "decoder.onnx"}),
         "holds an ONNX model (\"decoder.onnx\")", "take what it was made of");
  expect(folder("web", {"onnx/encoder_model.onnx", "tokenizer.json"}), "holds an ONNX model",
         "take what it was made of");
  expect(folder("ncnn", {"tokens.txt", "encoder.ncnn.param", "encoder.ncnn.bin"}), "holds an ncnn model", "take what");
  expect(folder("trained", {"optimizer.pt", "trainer_state.json"}), "holds what a trainer leaves", "the weights");
  expect(folder("half", {"model.safetensors.incomplete"}), "holds a download that has not ended", "start it again");
  expect(folder("hub", {".cache/huggingface/download/0123.incomplete"}), "holds a download that has not ended",
         "start");
  expect(folder("graph", {"saved_model.pb", "variables/variables.index"}), "holds a TensorFlow model", "take what");
  expect(folder("packed", {"exp.tar.gz"}), "holds an archive that is still packed", "unpack it");
  expect(folder("ggufs", {"a.gguf", "b.gguf"}), "holds several models: found \"a.gguf\", \"b.gguf\"",
         "name one of them");
  expect(folder("one", {"a.gguf", "README.md"}), "found \"a.gguf\"", "one/a.gguf");
  expect(folder("archives", {"a.nemo", "b.nemo"}), "holds several models: found \"a.nemo\", \"b.nemo\"",
         "name one of them");
  expect(folder("archive", {"a.nemo", "README.md"}), "not a .nemo archive", "a tar, perhaps gzip");
  expect(folder("lonely", {"model.pt"}), "\"model.pt\" without the files that describe it", "lonely/model.pt");
  expect(folder("many", {"small/config.json", "large/config.json"}), "holds several models: found \"large\", \"small\"",
         "name one of them");
  expect(folder("above", {"exp/train.yaml", "README.md"}), "found \"exp\"", "above/exp");
  expect(folder("models--x--y", {"snapshots/0123/config.json", "refs/main"}), "found \"snapshots/0123\"",
         "models--x--y/snapshots/0123");
  expect(folder("other", {"README.md", "a.txt"}), "not a checkpoint folder", "found \"README.md\", \"a.txt\"");
  folder("wav2vec", {"model.safetensors", "pytorch_model.bin"});
  file("wav2vec/config.json", R"({"model_type": "wav2vec2"})");
  expect(dir_.path() / "wav2vec", "a Hugging Face folder of \"wav2vec2\", which is not supported", "Whisper");
  fs::create_directories(dir_.path() / "empty");
  expect(dir_.path() / "empty", "not a checkpoint folder", "an empty folder");
}

TEST_F(foreign_files, folders_of_known_kinds_without_their_weights) {
  file("wenet/train.yaml", "encoder: conformer\n");
  file("wenet/units.txt", "<blank> 0\n");
  const fs::path wenet = dir_.path() / "wenet";
  expect(wenet, "the weights are missing: expected final.pt", "");
  archive("wenet/final.zip", {"final/data.pkl", "final/code/a.py", "final/constants.pkl"});
  expect(wenet, "expected final.pt, found \"final.zip\", a TorchScript archive", "final.pt");
  file("wenet/avg_10.pt");
  file("wenet/avg_5.pt");
  expect(wenet, "expected final.pt, found \"avg_10.pt\", \"avg_5.pt\"",
         "name the file: " + (wenet / "avg_10.pt").string());

  test::write_small_whisper(dir_.path() / "hf");
  const fs::path hf = dir_.path() / "hf";
  fs::remove(hf / "model.safetensors");
  file("hf/onnx/encoder_model.onnx");
  expect(hf, "the weights are missing: it holds an ONNX model", "take what it was made of");
  file("hf/flax_model.msgpack");
  expect(hf, "the weights are missing: it holds", "take what it was made of");
  file("hf/adapter_model.safetensors");
  file("hf/adapter_config.json", "{}");
  expect(hf, "a PEFT adapter", "merge_and_unload");
}

TEST_F(foreign_files, what_stands_in_place_of_a_file_of_a_checkpoint) {
  const fs::path hf = dir_.path() / "hf";
  test::write_small_whisper(hf);
  const auto said = [&] { return test::refusal([&] { (void)open_checkpoint(hf); }); };
  ASSERT_EQ(said(), "");
  for (const char* name : {"model.safetensors", "vocab.json", "added_tokens.json", "config.json"}) {
    const std::string good = test::read_text(hf / name);
    file(std::string("hf/") + name, "<!DOCTYPE html><html>");
    EXPECT_NE(said().find(std::string(name) + ": a web page, not a model"), std::string::npos)
        << name << ": " << said();
    file(std::string("hf/") + name, "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n");
    EXPECT_NE(said().find(std::string(name) + ": a git-LFS pointer"), std::string::npos) << name << ": " << said();
    file(std::string("hf/") + name, good);
  }
  // A shard that is missing is named.
  fs::remove(hf / "model.safetensors");
  file("hf/model.safetensors.index.json", R"({"weight_map": {"a": "model-00001-of-00002.safetensors"}})");
  EXPECT_NE(said().find("model-00001-of-00002.safetensors"), std::string::npos) << said();
}

}  // namespace foreign_files_test
