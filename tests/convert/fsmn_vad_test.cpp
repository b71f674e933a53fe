// FSMN-VAD at the published sizes: the file that FunASR publishes, and what the file runs as.
// SPDX-License-Identifier: Apache-2.0
#include <steno/models/fsmn_vad.hpp>
#include <steno/weights/gguf_writer.hpp>
#include <steno/weights/random.hpp>

#include <cmath>
#include <cstring>
#include <fstream>

#include "convert.hpp"
#include "convert/fixtures.hpp"
#include "model_tensors.hpp"
#include "support/golden.hpp"
#include "support/speech.hpp"

namespace fsmn_vad_test {

using namespace steno;
using steno::test::error_of;

// The layout of the exporter: f32, kernels [lorder, proj_dim], CMVN as two vectors, no settings of the segmenter.
void write_published(const std::filesystem::path& path, const std::string& without = "") {
  weights::gguf_writer w;
  w.set("general.architecture", "fsmn-vad");
  const std::pair<const char*, std::uint32_t> keys[] = {{"vad.input_dim", 400},  {"vad.input_affine_dim", 140},
                                                        {"vad.linear_dim", 250}, {"vad.proj_dim", 128},
                                                        {"vad.fsmn_layers", 4},  {"vad.lorder", 20},
                                                        {"vad.n_mels", 80},      {"vad.output_dim", 248},
                                                        {"vad.lfr_m", 5},        {"vad.output_affine_dim", 140},
                                                        {"vad.lfr_n", 1}};
  for (const auto& [key, value] : keys)
    if (key != without) w.set(key, value);
  weights::random_numbers next(7);
  const auto add = [&](const std::string& name, const std::vector<extent>& shape, float scale) {
    if (name == without) return;
    std::size_t count = 1;
    for (const extent n : shape) count *= static_cast<std::size_t>(n);
    std::vector<float> values(count);
    for (float& v : values) v = scale * next();
    w.add(name, dtype::f32, std::span<const extent>(shape),
          [values](std::span<std::byte> out) { std::memcpy(out.data(), values.data(), out.size()); });
  };
  steno::funasr::fsmn_vad_small sizes;
  for (const expected_tensor& e : expected_tensors(sizes)) {
    const std::vector<extent>& shape = e.kept;
    if (!e.optional) add(e.name, shape, shape.size() == 2 ? 1 / std::sqrt(static_cast<float>(shape.back())) : 0.1f);
  }
  add("cmvn.shift", {400}, 1);
  add("cmvn.scale", {400}, 0.2f);
  w.write(path.string());
}

// The type with static extents takes the file, so every tensor has the shape that the model is compiled for.
TEST(fsmn_vad_published, gguf_becomes_a_model_of_static_sizes) {
  const test::temporary_directory dir;
  write_published(dir.path() / "fsmn-vad.gguf");
  convert(dir.path() / "fsmn-vad.gguf", dir.path() / "packaged.gguf");
  const auto model = load<steno::funasr::fsmn_vad_small>((dir.path() / "packaged.gguf").string());
  EXPECT_EQ(model.segmentation.max_end_silence, 800);
  EXPECT_EQ(model.speech_noise_thres, 0.6);
  auto opened = open_checkpoint(dir.path() / "fsmn-vad.gguf");
  const auto direct = load<steno::funasr::fsmn_vad_any>(std::move(opened.file));
  const auto pcm = test::example_utterance("question").pcm;
  const extent rows = model.frontend.rows(static_cast<extent>(pcm.size()));
  matrix<float, dynamic, dynamic> any(rows, 248);
  matrix<float, dynamic, 248> fixed(rows, 248);
  context c;
  model.score(pcm, fixed, c);
  direct.score(pcm, any, c);
  // A compiler that knows the sizes may round otherwise; probabilities below 1.
  EXPECT_LE((any - fixed).cwiseAbs().maxCoeff(), 1e-6f);
  for (extent t = 0; t < rows; ++t) EXPECT_NEAR(any.row(t).sum(), 1, 1e-5) << t;  // 248 roundings of 2^-24 at most
}

TEST(fsmn_vad_published, what_is_missing_is_named) {
  const test::temporary_directory dir;
  for (const std::string name : {"vad.lorder", "cmvn.scale", "encoder.fsmn.3.fsmn_block.conv_left.weight"}) {
    write_published(dir.path() / "bad.gguf", name);
    const std::string said = error_of([&] { (void)open_checkpoint(dir.path() / "bad.gguf"); });
    EXPECT_NE(said.find(name), std::string::npos) << said;
  }
}

}  // namespace fsmn_vad_test
