// Silero VAD against whisper.cpp and the original's TorchScript archive, on the same weights and samples: through
// whisper.cpp's ggml file, safetensors under both kinds of names, and an ONNX file.
// SPDX-License-Identifier: Apache-2.0
#include <steno/models/silero_vad.hpp>

#include "convert/convert.hpp"
#include "npy.hpp"
#include "support/golden.hpp"
#include "support/onnx_case.hpp"
#include "support/silero_case.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>

namespace parity_silero_vad_test {

namespace fs = std::filesystem;
using namespace steno;

constexpr std::size_t count_16k = 40017, count_8k = 20009;

std::vector<float> recorded(const char* name) { return npy::load(test::compact() / "silero_vad" / name).floats(); }

double worst(const std::vector<float>& found, const std::vector<float>& wanted) {
  EXPECT_EQ(found.size(), wanted.size());
  double most = 0;
  for (std::size_t i = 0; i < std::min(found.size(), wanted.size()); ++i)
    most = std::max(most, std::abs(static_cast<double>(found[i]) - static_cast<double>(wanted[i])));
  return most;
}

std::vector<float> probabilities(const std::string& bytes, const char* name, std::size_t count, int rate,
                                 std::optional<std::uint32_t> wanted = {}) {
  const test::temporary_directory scratch;
  const fs::path input = scratch.path() / name, output = scratch.path() / "model.gguf";
  std::ofstream(input, std::ios::binary) << bytes;
  convert(input, output, {.sample_rate = wanted});
  const auto m = load<models::silero_vad_any>(output.string());
  EXPECT_EQ(m.sample_rate, rate);
  context c;
  return m.probabilities(test::silero_samples(count, 7), c);
}

// A sum that two programs round to halves differently goes on as that.
TEST(parity_silero_vad, ggml_computes_what_whisper_cpp_computes) {
  const auto found = probabilities(test::silero_ggml(test::silero_tensors(16000, 16000)), "x.bin", count_16k, 16000);
  EXPECT_LE(worst(found, recorded("whisper_cpp_16k.npy")), 1e-4);
}

TEST(parity_silero_vad, safetensors_compute_what_the_original_computes) {
  const std::vector<float> wanted = recorded("original_16k.npy");
  const auto tensors = test::silero_tensors(16000, 16000);
  EXPECT_LE(worst(probabilities(test::safetensors(tensors, "", true), "a.safetensors", count_16k, 16000), wanted),
            2e-5);
  EXPECT_LE(worst(probabilities(test::safetensors(tensors, "_model."), "b.safetensors", count_16k, 16000), wanted),
            2e-5);
}

TEST(parity_silero_vad, both_rates_of_an_onnx_file) {
  const std::string file = test::silero_onnx();
  EXPECT_LE(worst(probabilities(file, "a.onnx", count_16k, 16000), recorded("original_16k.npy")), 2e-5);
  EXPECT_LE(worst(probabilities(file, "a.onnx", count_8k, 8000, 8000), recorded("original_8k.npy")), 2e-5);
}

TEST(parity_silero_vad, halves_and_small_integers_stay_near) {
  const test::temporary_directory scratch;
  const fs::path input = scratch.path() / "a.safetensors", output = scratch.path() / "model.gguf";
  std::ofstream(input, std::ios::binary) << test::safetensors(test::silero_tensors(8000, 8000), "_model_8k.");
  context c;
  for (const dtype type : {dtype::f16, dtype::q8_0}) {
    convert(input, output, {.type = type});
    const auto m = load<models::silero_vad_any>(output.string());
    EXPECT_LE(worst(m.probabilities(test::silero_samples(count_8k, 7), c), recorded("original_8k.npy")),
              type == dtype::f16 ? 2e-3 : 2e-2);
  }
}

}  // namespace parity_silero_vad_test
