// Loading a model from a file that lies: values that are no numbers, settings out of range, and a copy of the file that
// serves when the file itself is overwritten. Which keys and tensors of which family: tests/damage.
// SPDX-License-Identifier: Apache-2.0
#include <steno/models/sense_voice.hpp>
#include <steno/models/whisper.hpp>
#include <steno/weights/gguf_writer.hpp>

#include "support/golden.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace load_test {

namespace fs = std::filesystem;
using namespace steno;

fs::path demo() { return fs::path(STENO_SOURCE_DIR) / "examples/models/demo.gguf"; }

std::vector<char> bytes_of_file(const fs::path& p) {
  std::ifstream in(p, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The demo model with bytes changed; what loading it says.
std::string problem(const std::function<void(std::vector<char>&, const gguf_file&)>& change,
                    bool check_everything = false) {
  const test::temporary_directory folder;
  const fs::path path = folder.path() / "changed.gguf";
  std::vector<char> bytes = bytes_of_file(demo());
  change(bytes, gguf_file(demo().string()));
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  try {
    if (check_everything) models::check_weights(gguf_file(path.string()));
    load<funasr::sense_voice_any>(path.string());
  } catch (const error& e) {
    std::string text = e.what();
    const std::string where = path.string() + ": ";
    EXPECT_TRUE(text.starts_with(where)) << text;
    return text.substr(std::min(where.size(), text.size()));
  }
  return "";
}
std::size_t place_of(const gguf_file& f, std::string_view tensor) {
  const auto t = f.find(tensor);
  EXPECT_TRUE(t) << tensor;
  return static_cast<std::size_t>(t->bytes.data() - f.bytes().data());
}
void set_number(std::vector<char>& bytes, const gguf_file& f, std::string_view key, float v) {
  const weights::gguf_value* const g = f.value(key);
  ASSERT_NE(g, nullptr);
  const auto at = static_cast<std::size_t>(g->raw.data() - f.bytes().data());
  if (g->type == weights::gguf_type::f32) {
    std::memcpy(bytes.data() + at, &v, 4);
  } else {
    const auto whole = static_cast<std::uint32_t>(v);
    ASSERT_EQ(g->raw.size(), 4u);
    std::memcpy(bytes.data() + at, &whole, 4);
  }
}

// What a model may hold that is neither packed nor small.
struct positions {
  weights::weight<dynamic, 1024, dtype::any, weights::use::rows> rows;
  void members(auto&& v) { v("rows", rows); }
};

TEST(load, refuses_weights_that_are_no_numbers) {
  EXPECT_EQ(problem([](auto&, const auto&) {}, true), "");
  const auto with = [](const char* tensor, std::size_t at, std::uint32_t value, std::size_t size) {
    return problem([=](std::vector<char>& b, const gguf_file& f) {
      std::memcpy(b.data() + place_of(f, tensor) + at, &value, size);
    });
  };
  constexpr std::uint32_t nan = 0x7fc00000, half_infinity = 0x7c00;
  const std::string norm = with("encoder.after_norm.weight", 4 * 7, nan, 4);
  EXPECT_TRUE(norm.starts_with("tensor \"encoder.after_norm.weight\", value 7: expected a finite number")) << norm;
  // The scale of the second block of a product in q8_0.
  const gguf_file f(demo().string());
  ASSERT_EQ(f.find("ctc.ctc_lo.weight")->format, dtype::q8_0);
  const std::string product = with("ctc.ctc_lo.weight", 34, half_infinity, 2);
  EXPECT_TRUE(product.starts_with("tensor \"ctc.ctc_lo.weight\", value 3")) << product;  // 32 to 63
}

TEST(load, looks_at_tables_that_stay_in_the_file) {
  for (const std::uint32_t bits : {0x3f800000u, 0x7fc00000u, 0xff800000u}) {
    std::vector<float> values(100 * 1024, 1.0f);
    std::memcpy(&values[54321], &bits, 4);
    positions p;
    ASSERT_TRUE(p.rows.adopt(100, 1024));
    p.rows.format = dtype::f32;
    p.rows.data = reinterpret_cast<const std::byte*>(values.data());
    weights::storage keep;
    std::string found;
    try {
      models::keep_weights(p, nullptr, keep, {});
    } catch (const error& e) {
      found = e.what();
    }
    const bool refused = found.starts_with("tensor \"rows\", value 54321: expected a finite number");
    EXPECT_EQ(refused, bits != 0x3f800000u) << found;
    EXPECT_EQ(p.rows.data, reinterpret_cast<const std::byte*>(values.data()));  // the table is not copied
  }
}

TEST(load, numbers_of_a_file_have_a_range) {
  const auto with = [](const char* key, float v) {
    return problem([=](std::vector<char>& b, const gguf_file& f) { set_number(b, f, key, v); });
  };
  EXPECT_EQ(with("sense_voice.frontend.n_mels", 0), "key \"sense_voice.frontend.n_mels\": expected 3 to 1024, found 0");
  EXPECT_EQ(with("sense_voice.frontend.lfr_n", 8), "key \"sense_voice.frontend.lfr_n\": expected 1 to 7, found 8");
  EXPECT_EQ(with("sense_voice.frontend.sample_rate", 7999),
            "key \"sense_voice.frontend.sample_rate\": expected 8000 to 48000, found 7999");
}

TEST(load, a_copied_file_may_be_overwritten) {
  const test::temporary_directory folder;
  const std::string path = (folder.path() / "model.gguf").string();
  fs::copy_file(demo(), path);
  const auto want = load<funasr::sense_voice_any>(demo().string());
  const auto model = load<funasr::sense_voice_any>(gguf_file(path, weights::file_reading::copied));
  const auto size = fs::file_size(path);
  fs::resize_file(path, 0);
  std::ofstream(path, std::ios::binary) << std::string(size, 'x');
  std::vector<float> pcm(16000);
  for (std::size_t i = 0; i < pcm.size(); ++i) pcm[i] = static_cast<float>(i * 7919 % 201) / 201 - 0.5f;
  context c;
  const extent rows = model.frames(16000);
  matrix<float, dynamic, dynamic> a(rows, model.ctc_lo.output_size()), b = a;
  model.forward(pcm, 4, false, a, c);
  want.forward(pcm, 4, false, b, c);
  EXPECT_EQ(std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(float)), 0);
}

// Whisper's embedding is a product in the end and rows in front: its packed form is not all that is read.
TEST(load, rows_of_a_product_stay_in_a_copied_file) {
  const std::string path = (fs::path(STENO_SOURCE_DIR) / "examples/models/whisper.gguf").string();
  const auto want = load<whisper::whisper_any>(path);
  const auto model = load<whisper::whisper_any>(gguf_file(path, weights::file_reading::copied));
  const weights::weight_ref a = want.decoder.token_embedding.ref(), b = model.decoder.token_embedding.ref();
  EXPECT_NE(b.packed, nullptr);
  ASSERT_EQ(a.bytes(), b.bytes());
  EXPECT_EQ(std::memcmp(a.data, b.data, a.bytes()), 0);
}

}  // namespace load_test
