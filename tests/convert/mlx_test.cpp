// Whisper as mlx-examples writes it: the same model as from Hugging Face's folder, in both of its containers.
// SPDX-License-Identifier: Apache-2.0
#include <zip.h>

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "convert.hpp"
#include "convert/mapped_and_copied.hpp"
#include "convert/small_whisper.hpp"
#include "npz.hpp"
#include "support/golden.hpp"
#include "support/refusal.hpp"

namespace mlx_test {

namespace fs = std::filesystem;
using namespace steno;
using namespace steno::test::small_whisper;

using arrays = std::map<std::string, named_tensor>;

std::string array_of(const named_tensor& t, const std::string& descr = "<f2") {
  std::string header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (";
  for (const extent n : t.shape) header += std::to_string(n) + ", ";
  header += "), }";
  header.resize((header.size() + 10 + 64) / 64 * 64 - 11, ' ');
  header += '\n';
  std::string to = "\x93NUMPY";
  to.append("\x01\x00", 2);
  put(to, static_cast<std::uint16_t>(header.size()));
  to += header;
  for (const float v : t.values) {
    if (descr == "<f2") put(to, core::float_to_half(v));
    if (descr == "<i8") put(to, static_cast<std::int64_t>(v));
  }
  return to;
}

std::string zip_of(const std::map<std::string, std::string>& members) {
  const test::temporary_directory dir;
  const fs::path path = dir.path() / "a.zip";
  int failed = 0;
  zip_t* z = zip_open(path.string().c_str(), ZIP_CREATE, &failed);
  for (const auto& [name, bytes] : members) {
    const zip_int64_t i = zip_file_add(z, name.c_str(), zip_source_buffer(z, bytes.data(), bytes.size(), 0), 0);
    zip_set_file_compression(z, static_cast<zip_uint64_t>(i), ZIP_CM_STORE, 0);
  }
  EXPECT_EQ(zip_close(z), 0);
  return test::small_whisper::read(path);
}

// openai's tensors under mlx's names and in its order.
arrays mlx_arrays(const arrays& tensors) {
  arrays all;
  for (const auto& [name, t] : tensors) {
    std::string to = name;
    for (const auto& [from, mlx] : {std::pair("mlp.0", "mlp1"), std::pair("mlp.2", "mlp2")})
      if (const std::size_t at = to.find(from); at != std::string::npos) to.replace(at, 5, mlx);
    named_tensor turned = t;
    if (t.shape.size() == 3) {
      const auto in = static_cast<std::size_t>(t.shape[1]), taps = static_cast<std::size_t>(t.shape[2]);
      turned.shape = {t.shape[0], t.shape[2], t.shape[1]};
      for (std::size_t i = 0; i < t.values.size(); ++i)
        turned.values[i / (in * taps) * in * taps + i % taps * in + i / taps % in] = t.values[i];
    }
    all[to] = std::move(turned);
  }
  return all;
}

class mlx : public testing::Test {
 protected:
  void SetUp() override {
    std::mt19937 random(3);
    std::uniform_real_distribution<float> any(-1, 1);
    tensors_ = small_tensors(32, 51865, 8, 16);
    for (auto& [name, t] : tensors_)
      for (float& v : t.values) v = core::half_to_float(core::float_to_half(any(random)));
    json vocabulary;
    for (int i = 0; i < 50257; ++i) vocabulary[std::string("t").append(std::to_string(i))] = i;
    fs::create_directories(hf_);
    fs::create_directories(mlx_);
    for (const fs::path& at : {hf_, mlx_}) test::small_whisper::write(at / "vocab.json", vocabulary.dump());
    write_safetensors(hf_ / "model.safetensors", tensors_);
    test::small_whisper::write(hf_ / "config.json", settings_of(dims_).dump());
    dims_["model_type"] = "whisper";
    config(dims_);
  }
  void config(const json& j) { test::small_whisper::write(mlx_ / "config.json", j.dump()); }
  void npz(const arrays& all, const std::map<std::string, std::string>& others = {}) {
    std::map<std::string, std::string> members = others;
    for (const auto& [name, t] : all) members[name + ".npy"] = array_of(t);
    test::small_whisper::write(mlx_ / "weights.npz", zip_of(members));
  }
  static std::vector<std::byte> image(const fs::path& path) {
    return test::image_of(open_checkpoint(path, weights::file_reading::copied));
  }
  std::string refused() {
    return test::refusal([&] { (void)open_checkpoint(mlx_); });
  }

  const test::temporary_directory dir_;
  const fs::path hf_ = dir_.path() / "hf", mlx_ = dir_.path() / "mlx";
  arrays tensors_;
  json dims_{{"n_mels", 80},       {"n_vocab", 51865}, {"n_audio_state", 32}, {"n_audio_ctx", 8}, {"n_audio_head", 2},
             {"n_audio_layer", 1}, {"n_text_ctx", 16}, {"n_text_state", 32},  {"n_text_head", 2}, {"n_text_layer", 1}};
};

TEST_F(mlx, is_the_same_model_in_both_containers) {
  const std::vector<std::byte> wanted = image(hf_);
  test::expect_mapped_like_copied(hf_);
  npz(mlx_arrays(tensors_));
  for (const fs::path& path : {mlx_, mlx_ / "weights.npz", mlx_ / "config.json"}) EXPECT_TRUE(image(path) == wanted);
  fs::remove(mlx_ / "weights.npz");
  // write_safetensors() gives Hugging Face's names, which these are not.
  json header;
  std::string data;
  for (const auto& [name, t] : mlx_arrays(tensors_)) {
    const std::size_t begin = data.size();
    put_halves(data, t.values);
    header[name] = {{"dtype", "F16"}, {"shape", t.shape}, {"data_offsets", {begin, data.size()}}};
  }
  const std::string text = header.dump();
  std::string all;
  put(all, static_cast<std::uint64_t>(text.size()));
  for (const char* name : {"weights.safetensors", "model.safetensors"}) {
    test::small_whisper::write(mlx_ / name, all + text + data);
    EXPECT_TRUE(image(mlx_) == wanted);
    fs::remove(mlx_ / name);
  }
  EXPECT_NE(refused().find("the weights are missing: expected model.safetensors"), std::string::npos) << refused();
}

TEST_F(mlx, positions_are_computed_and_heads_read) {
  arrays all = mlx_arrays(tensors_);
  all.erase("encoder.positional_embedding");
  npz(all, {{"alignment_heads.npy", array_of({{1, 2}, {0, 1}}, "<i8")}});
  const opened_checkpoint o = open_checkpoint(mlx_);
  EXPECT_EQ(o.file.numbers("whisper.alignment_heads"), (std::vector<double>{0, 1}));
  const weights::tensor_ref t = *o.file.find("encoder.positional_embedding");
  ASSERT_EQ(t.format, dtype::f32);
  const auto* p = reinterpret_cast<const float*>(t.bytes.data());
  for (int r = 0; r < 8; ++r)
    for (int i = 0; i < 16; ++i) {
      const double angle = r * std::exp(-i * std::log(10000.0) / 15);
      EXPECT_NEAR(p[r * 32 + i], std::sin(angle), 5e-4);
      EXPECT_NEAR(p[r * 32 + 16 + i], std::cos(angle), 5e-4);
      EXPECT_EQ(p[r * 32 + i], core::half_to_float(core::float_to_half(p[r * 32 + i])));
    }
}

TEST_F(mlx, what_is_not_read_is_named) {
  npz(mlx_arrays(tensors_));
  json j = dims_;
  j["quantization"] = {{"group_size", 64}, {"bits", 4}};
  config(j);
  EXPECT_NE(refused().find("MLX's packed weights"), std::string::npos);
  for (const auto& [key, value] :
       {std::pair("unknown", json(1)), std::pair("n_text_state", json(64)), std::pair("model_type", json("bark")),
        std::pair("n_mels", json(0)), std::pair("n_audio_head", json(nullptr))}) {
    j = dims_;
    j[key] = value;
    config(j);
    EXPECT_NE(refused().find(key), std::string::npos) << key << ": " << refused();
  }
}

TEST_F(mlx, damaged_arrays_are_refused) {
  const named_tensor small{{2, 3}, {1, 2, 3, 4, 5, 6}};
  const auto tensors = [](const std::string& bytes) { return npz_tensors(std::as_bytes(std::span(bytes)), "file"); };
  const std::string good = zip_of({{"a.npy", array_of(small)}});
  const std::vector<stored_tensor> read = tensors(good);
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read[0].shape, (std::vector<extent>{2, 3}));
  std::vector<float> values(6);
  read[0].read(values);
  EXPECT_EQ(values, small.values);
  const auto refuse = [&](const std::string& array) {
    const std::string bytes = zip_of({{"a.npy", array}});
    return test::refusal([&] { tensors(bytes); });
  };
  EXPECT_NE(refuse(array_of(small).substr(0, 20)), "");
  EXPECT_NE(refuse(array_of(small) + "x"), "");
  EXPECT_NE(refuse(array_of({{2, 4}, small.values})), "");
  EXPECT_NE(refuse(array_of({{4294967296, 4294967296}, small.values})), "");
  EXPECT_NE(refuse(array_of(small, "<c8")).find("<c8"), std::string::npos);
  std::string columns = array_of(small);
  columns.replace(columns.find("False"), 5, "True ");
  EXPECT_NE(refuse(columns).find("by columns"), std::string::npos);
  const std::string other = zip_of({{"a.txt", "x"}});
  EXPECT_NE(test::refusal([&] { tensors(other); }).find("is no numpy array"), std::string::npos);
  std::mt19937 random(7);
  for (int i = 0; i < 200; ++i) {
    std::string bad = good;
    bad[random() % bad.size()] = static_cast<char>(random() % 256);
    test::refusal([&] {
      for (const stored_tensor& t : tensors(bad))
        if (t.count() < 100) {
          std::vector<float> to(t.count());
          t.read(to);
        }
    });
  }
}

}  // namespace mlx_test
