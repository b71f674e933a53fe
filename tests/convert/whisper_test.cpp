// Whisper's three kinds of files: what the converter makes of them, and what it says of damaged ones.
// SPDX-License-Identifier: Apache-2.0
#include <steno/weights/blocks.hpp>
#include <steno/weights/gguf.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>

#include "convert.hpp"
#include "convert/mapped_and_copied.hpp"
#include "npy.hpp"
#include "support/compare.hpp"
#include "support/golden.hpp"
#include "whisper/whisper.hpp"

namespace whisper_test {

namespace fs = std::filesystem;
using namespace steno;

fs::path ggml(const fs::path& shared, const char* name) { return shared / "golden/whisper/en/checkpoint/ggml" / name; }

std::vector<char> read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// Why the converter refuses these bytes; empty when it does not.
std::string refusal(const std::vector<char>& bytes) {
  const test::temporary_directory scratch;
  const fs::path file = scratch.path() / "model.bin";
  std::ofstream(file, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  try {
    (void)open_checkpoint(file);
  } catch (const error& e) {
    return e.what();
  }
  return "";
}

TEST(whisper_files, byte_letters) {
  EXPECT_EQ(byte_letters(" a\n"),
            "\xc4\xa0"
            "a\xc4\x8a");
  EXPECT_EQ(byte_letters("\xad\x7f\xa1"), "\xc5\x83\xc4\xa1\xc2\xa1");
  EXPECT_EQ(whisper_files::text_tokens(51864), 50256u);
  EXPECT_EQ(whisper_files::text_tokens(51865), 50257u);
}

TEST(whisper_files, ggml_in_three_formats) {
  STENO_REQUIRE_SHARED(shared);
  for (const char* file : {"ggml-model.bin", "ggml-model-q8_0.bin", "ggml-model-q5_0.bin"})
    test::expect_mapped_like_copied(ggml(shared, file));
  const opened_checkpoint f16 = open_checkpoint(ggml(shared, "ggml-model.bin"));
  EXPECT_EQ(f16.file.text("general.architecture"), "whisper");
  EXPECT_EQ(f16.file.number("whisper.encoder.attention_heads"), 2);
  EXPECT_EQ(f16.file.strings("tokenizer.ggml.tokens").size(), 50256u);
  EXPECT_EQ(f16.file.find("encoder.conv1.weight")->shape[1], 3 * 80);
  EXPECT_TRUE(f16.notes.empty());
  for (const char* type : {"q8_0", "q5_0"}) {
    const opened_checkpoint opened =
        open_checkpoint(ggml(shared, (std::string("ggml-model-") + type + ".bin").c_str()));
    const weights::tensor_ref t = *opened.file.find("decoder.blocks.0.mlp.0.weight");
    EXPECT_EQ(core::info(t.format).name, type);
    EXPECT_TRUE(opened.notes.empty());
    std::vector<float> values(static_cast<std::size_t>(t.rows() * t.cols()));
    weights::dequantise(t.format, t.bytes.data(), values.data(), values.size());
    test::expect_close(core::make_view(std::as_const(values).data(), t.rows(), t.cols()),
                       shared / "golden/whisper/en/stages" /
                           (std::string("20_dequant_") + type + "_decoder.blocks.0.mlp.0.weight.npy"),
                       0);
  }
}

TEST(whisper_files, hugging_face_folder) {
  STENO_REQUIRE_SHARED(shared);
  const fs::path folder = shared / "golden/whisper/v3/checkpoint/hf";
  for (const fs::path& path : {folder, folder / "model.safetensors", folder / "config.json"}) {
    const opened_checkpoint opened = open_checkpoint(path);
    EXPECT_EQ(opened.file.number("whisper.frontend.n_mels"), 128);
    EXPECT_EQ(opened.file.numbers("whisper.alignment_heads"), (std::vector<double>{0, 1}));
    EXPECT_EQ(core::info(opened.file.find("decoder.token_embedding.weight")->format).name, "f16");
    EXPECT_EQ(core::info(opened.file.find("encoder.positional_embedding")->format).name, "f32");
  }
}

TEST(whisper_files, openai_checkpoint_without_its_tokenizer) {
  STENO_REQUIRE_SHARED(shared);
  try {
    (void)open_checkpoint(shared / "golden/whisper/multi/checkpoint/openai/model.pt");
    FAIL();
  } catch (const error& e) {
    EXPECT_NE(std::string(e.what()).find("multilingual.tiktoken"), std::string::npos) << e.what();
  }
}

// Every field of the header, of the filters', the tokens' and the first tensor's header: huge, zero, negative.
TEST(whisper_files, ggml_header_fields_are_checked) {
  STENO_REQUIRE_SHARED(shared);
  const std::vector<char> good = read_file(ggml(shared, "ggml-model.bin"));
  std::vector<std::size_t> fields;
  for (std::size_t at = 4; at < 44; at += 4) fields.push_back(at);  // ftype, at 44, is not used
  const std::size_t filters = 48, tokens = filters + 8 + 80 * 201 * 4;
  fields.insert(fields.end(), {filters, filters + 4, tokens, tokens + 4});
  std::size_t at = tokens + 4;
  for (int i = 0; i < 50256; ++i) {
    std::uint32_t length = 0;
    std::memcpy(&length, good.data() + at, 4);
    at += 4 + length;
  }
  for (std::size_t i = 0; i < 5; ++i) fields.push_back(at + 4 * i);
  for (const std::size_t field : fields)
    for (const std::int32_t value : {0x7fffffff, 0x01000000, 0, -1, -0x7fffffff - 1}) {
      std::int32_t old = 0;
      std::memcpy(&old, good.data() + field, 4);
      const bool type = field == at + 8;  // of the tensor: 0 is f32
      const bool empty_token = field == tokens + 4 && value == 0;
      std::vector<char> bad = good;
      std::memcpy(bad.data() + field, &value, 4);
      if (old == value) continue;
      EXPECT_NE(refusal(bad), "") << "byte " << field << " = " << value << (type || empty_token ? " (shifts)" : "");
    }
  for (const std::size_t size : {std::size_t{4}, std::size_t{30}, filters + 100, tokens + 7, at + 3, good.size() - 1})
    EXPECT_NE(refusal({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)}), "") << size;
}

}  // namespace whisper_test
