// Silero VAD from whisper.cpp's ggml files, safetensors and ONNX files: names, keys, rates, and what is refused.
// SPDX-License-Identifier: Apache-2.0
#include <steno/models/silero_vad.hpp>

#include "convert.hpp"
#include "convert/mapped_and_copied.hpp"
#include "silero/silero.hpp"
#include "support/golden.hpp"
#include "support/onnx_case.hpp"
#include "support/refusal.hpp"
#include "verify.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

namespace silero_convert_test {

namespace fs = std::filesystem;
using namespace steno;

const std::vector<std::size_t> small = {6, 5, 4, 8};

class written {
 public:
  written(const char* name, const std::string& bytes) : path_(scratch_.path() / name) {
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  const fs::path& path() const { return path_; }

 private:
  test::temporary_directory scratch_;
  fs::path path_;
};

std::string refused(const char* name, const std::string& bytes, std::optional<std::uint32_t> rate = {}) {
  const written file(name, bytes);
  return test::refusal([&] { (void)import_checkpoint(file.path(), {.sample_rate = rate}); });
}

TEST(silero_convert, ggml_files_become_the_archives_tensors) {
  const auto tensors = test::silero_tensors(16000, 3, small);
  const written file("x.bin", test::silero_ggml(tensors));
  EXPECT_TRUE(silero_files::is_ggml(file.path()));
  test::expect_mapped_like_copied(file.path());
  const opened_checkpoint opened = open_checkpoint(file.path());
  EXPECT_EQ(opened.file.text("general.architecture"), "silero_vad");
  EXPECT_EQ(opened.file.text("general.version"), "6.2.0");
  EXPECT_EQ(opened.file.number("silero_vad.frontend.sample_rate"), 16000);
  EXPECT_EQ(opened.file.number("silero_vad.left_padding"), 64);
  EXPECT_EQ(opened.file.number("silero_vad.round_to_half"), 1);
  EXPECT_EQ(opened.file.size(), tensors.size());
  EXPECT_TRUE(opened.file.find("_model.encoder.3.reparam_conv.weight").has_value());
  EXPECT_TRUE(std::any_of(opened.notes.begin(), opened.notes.end(),
                          [](const std::string& n) { return n.find("whisper.cpp") != std::string::npos; }));
  // What whisper.cpp's own tests load has no tensors.
  EXPECT_NE(refused("x.bin", test::silero_ggml(tensors).substr(0, 4 + 4 + 10 + 4 * 22)).find("holds no tensors"),
            std::string::npos);
}

TEST(silero_convert, every_number_of_a_ggml_header_is_checked) {
  const auto tensors = test::silero_tensors(16000, 3, small);
  const std::vector<std::int32_t> good{6, 2, 0, 512, 64, 4, 129, 6, 3, 6, 5, 3, 5, 4, 3, 4, 8, 3, 8, 8, 8, 1};
  ASSERT_EQ(refused("x.bin", test::silero_ggml(tensors, "silero-16k", good)), "");
  for (std::size_t i = 0; i < good.size(); ++i)
    for (const std::int32_t wrong : {-1, 0, 77, 2000000000}) {
      if (i < 3 && (wrong == 0 || wrong == 77)) continue;  // a version
      std::vector<std::int32_t> header = good;
      header[i] = wrong;
      EXPECT_NE(refused("x.bin", test::silero_ggml(tensors, "silero-16k", header)), "") << i << " " << wrong;
    }
  EXPECT_NE(refused("x.bin", test::silero_ggml(tensors, "silero-4k")).find("silero-16k or silero-8k"),
            std::string::npos);
  const std::string whole = test::silero_ggml(tensors);
  for (const std::size_t n : {9u, 17u, 30u, 105u, 150u, 500u}) EXPECT_NE(refused("x.bin", whole.substr(0, n)), "") << n;
}

TEST(silero_convert, a_file_for_8_khz_is_one_for_8_khz) {
  const written file("x.bin", test::silero_ggml(test::silero_tensors(8000, 3, small), "silero-8k"));
  const opened_checkpoint opened = open_checkpoint(file.path());
  EXPECT_EQ(opened.file.number("silero_vad.frontend.sample_rate"), 8000);
  EXPECT_EQ(opened.file.number("silero_vad.left_padding"), 32);
  EXPECT_NE(refused("x.bin", test::silero_ggml(test::silero_tensors(8000, 3, small), "silero-8k"), 16000), "");
}

TEST(silero_convert, tensors_that_are_missing_or_too_many_are_named) {
  for (const bool ggml : {false, true}) {
    const auto bytes = [&](const std::vector<test::silero_tensor>& t) {
      return ggml ? test::silero_ggml(t) : test::safetensors(t, "_model.");
    };
    const char* const name = ggml ? "x.bin" : "x.safetensors";
    std::vector<test::silero_tensor> tensors = test::silero_tensors(16000, 3, small);
    EXPECT_EQ(refused(name, bytes(tensors)), "");
    tensors.push_back({"decoder.extra", {2}, {1, 2}});
    EXPECT_NE(refused(name, bytes(tensors)).find("decoder.extra"), std::string::npos);
    tensors.pop_back();
    std::erase_if(tensors, [](const auto& t) { return t.name == "decoder.rnn.bias_ih"; });
    EXPECT_NE(refused(name, bytes(tensors)).find("decoder.rnn.bias_ih"), std::string::npos);
  }
}

TEST(silero_convert, names_of_safetensors_are_either_kind) {
  const auto tensors = test::silero_tensors(16000, 3, small);
  std::vector<std::byte> first;
  for (const std::string& bytes : {test::safetensors(tensors, "", true), test::safetensors(tensors, ""),
                                   test::safetensors(tensors, "model."), test::safetensors(tensors, "_model.")}) {
    const written file("x.safetensors", bytes);
    EXPECT_TRUE(silero_files::is_safetensors(file.path()));
    const opened_checkpoint opened = open_checkpoint(file.path(), weights::file_reading::copied);
    if (first.empty()) first = test::image_of(opened);
    EXPECT_EQ(test::image_of(opened), first);
    test::expect_mapped_like_copied(file.path());
    EXPECT_EQ(opened.file.number("silero_vad.left_padding"), 0);
    EXPECT_EQ(opened.file.number("silero_vad.round_to_half"), 0);
  }
  // Other files of that form are no Silero VAD.
  const written other("x.safetensors", test::safetensors({{"encoder.weight", {2}, {1, 2}}}, ""));
  EXPECT_FALSE(silero_files::is_safetensors(other.path()));
}

TEST(silero_convert, a_file_of_both_rates_gives_the_one_that_is_wanted) {
  const written file("x.onnx", test::silero_onnx());
  EXPECT_TRUE(silero_files::is_onnx(file.path()));
  const imported_model usual = import_checkpoint(file.path());
  EXPECT_TRUE(std::any_of(usual.notes.begin(), usual.notes.end(),
                          [](const std::string& n) { return n.find("8000 and 16000 Hz") != std::string::npos; }));
  EXPECT_EQ(usual.tensors.size(), 15u);
  EXPECT_EQ(usual.ignored.size(), 17u);  // those of the other rate, and a constant in each branch
  const imported_model other = import_checkpoint(file.path(), {.sample_rate = 8000});
  EXPECT_TRUE(other.notes.empty());
  const verification v = verify(file.path(), {});
  EXPECT_TRUE(v.converts);
  EXPECT_NE(refused("x.safetensors", test::safetensors(test::silero_tensors(16000, 3, small), ""), 8000)
                .find("expected 8000, found 16000"),
            std::string::npos);
  // One rate twice.
  auto twice = test::silero_tensors(16000, 3, small);
  for (test::silero_tensor t : test::silero_tensors(16000, 4, small)) {
    t.name.insert(0, "other.");
    twice.push_back(std::move(t));
  }
  EXPECT_NE(refused("x.safetensors", test::safetensors(twice, "")).find("several models"), std::string::npos);
}

TEST(silero_convert, other_onnx_files_are_still_refused) {
  test::wire_writer graph;
  graph.text(5, test::onnx_tensor("encoder.weight", {2}, {1, 2}));
  EXPECT_NE(refused("model.onnx", test::onnx_model(graph.bytes())).find("runs no graphs"), std::string::npos);
  // An older Silero VAD has the transform, and another network.
  test::wire_writer old;
  old.text(5, test::onnx_tensor("stft.forward_basis_buffer", {258, 1, 256}, std::vector<float>(258 * 256)));
  EXPECT_NE(refused("model.onnx", test::onnx_model(old.bytes())).find("encoder.0.reparam_conv.weight"),
            std::string::npos);
  EXPECT_NE(
      refused("x.safetensors", test::safetensors({{"stft.forward_basis_buffer", {4, 1, 2}, std::vector<float>(8)}}, ""))
          .find("256 (16 kHz) or 128 (8 kHz)"),
      std::string::npos);
}

TEST(silero_convert, the_rate_is_an_option_of_this_family_alone) {
  const fs::path other = test::compact() / "fsmn_vad/model.gguf";
  EXPECT_NE(test::refusal([&] { (void)import_checkpoint(other, {.sample_rate = 8000}); }).find("--sample-rate"),
            std::string::npos);
}

}  // namespace silero_convert_test
