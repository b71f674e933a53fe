// faster-whisper's folders: the same Whisper as from Hugging Face's, bit for bit, and integers with their exact values.
// SPDX-License-Identifier: Apache-2.0
#include <steno/weights/blocks.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "convert.hpp"
#include "convert/mapped_and_copied.hpp"
#include "convert/small_whisper.hpp"
#include "support/golden.hpp"
#include "support/refusal.hpp"
#include "whisper/ctranslate2_file.hpp"
#include "whisper/whisper.hpp"

namespace ctranslate2_test {

namespace fs = std::filesystem;
using namespace steno;
using namespace steno::test::small_whisper;

enum class kind : std::uint8_t { f32 = 0, i8 = 1, i16 = 2, f16 = 4 };

struct variable {
  std::vector<extent> shape;
  std::vector<float> values;
  kind type = kind::f32;
};
using variables = std::map<std::string, variable>;

void put_string(std::string& to, const std::string& text) {
  put(to, static_cast<std::uint16_t>(text.size() + 1));
  to.append(text).append(1, '\0');
}

std::string file_of(const variables& all, const std::map<std::string, std::string>& aliases = {},
                    const std::string& name = "WhisperSpec", std::uint32_t version = 6) {
  std::string to;
  put(to, version);
  put_string(to, name);
  put(to, std::uint32_t{3});
  put(to, static_cast<std::uint32_t>(all.size()));
  for (const auto& [key, v] : all) {
    put_string(to, key);
    put(to, static_cast<std::uint8_t>(v.shape.size()));
    for (const extent n : v.shape) put(to, static_cast<std::uint32_t>(n));
    put(to, static_cast<std::uint8_t>(v.type));
    std::string values;
    for (const float x : v.values) {
      if (v.type == kind::f32) put(values, x);
      if (v.type == kind::f16) put(values, core::float_to_half(x));
      if (v.type == kind::i16) put(values, static_cast<std::int16_t>(x));
      if (v.type == kind::i8) put(values, static_cast<std::int8_t>(x));
    }
    put(to, static_cast<std::uint32_t>(values.size()));
    to += values;
  }
  put(to, static_cast<std::uint32_t>(aliases.size()));
  for (const auto& [alias, of] : aliases) {
    put_string(to, alias);
    put_string(to, of);
  }
  return to;
}

// The variables of CTranslate2's converter, from tensors with openai's names.
variables variables_of(const std::map<std::string, named_tensor>& tensors, kind type) {
  variables all;
  const auto fused = [&](const std::string& to, std::initializer_list<std::string> from) {
    variable w{{0, 0}, {}, type}, b{{0}, {}, type};
    for (const std::string& name : from) {
      const named_tensor& t = tensors.at(name + ".weight");
      w.shape = {w.shape[0] + t.shape[0], t.shape[1]};
      w.values.insert(w.values.end(), t.values.begin(), t.values.end());
      const auto bias = tensors.find(name + ".bias");
      const std::vector<float> zeros(static_cast<std::size_t>(t.shape[0]));
      const std::vector<float>& values = bias == tensors.end() ? zeros : bias->second.values;
      b.values.insert(b.values.end(), values.begin(), values.end());
    }
    b.shape = {w.shape[0]};
    all[to + "/weight"] = std::move(w);
    all[to + "/bias"] = std::move(b);
    all[to + "/keep_in_float32"] = {{}, {0}, kind::i8};
  };
  const auto one = [&](const std::string& to, const std::string& from) {
    const named_tensor& t = tensors.at(from);
    all[to] = {t.shape, t.values, type};
  };
  const auto norm = [&](const std::string& to, const std::string& from) {
    one(to + "/gamma", from + ".weight");
    one(to + "/beta", from + ".bias");
  };
  for (const std::string side : {"encoder", "decoder"}) {
    const std::string at = side + "/layer_0/", from = side + ".blocks.0";
    one(side + "/position_encodings/encodings", side + ".positional_embedding");
    norm(side + "/layer_norm", side + (side == "encoder" ? ".ln_post" : ".ln"));
    norm(at + "self_attention/layer_norm", from + ".attn_ln");
    fused(at + "self_attention/linear_0", {from + ".attn.query", from + ".attn.key", from + ".attn.value"});
    fused(at + "self_attention/linear_1", {from + ".attn.out"});
    norm(at + "ffn/layer_norm", from + ".mlp_ln");
    fused(at + "ffn/linear_0", {from + ".mlp.0"});
    fused(at + "ffn/linear_1", {from + ".mlp.2"});
    all[side + "/num_heads"] = {{}, {2}, kind::i16};
  }
  norm("decoder/layer_0/attention/layer_norm", "decoder.blocks.0.cross_attn_ln");
  fused("decoder/layer_0/attention/linear_0", {"decoder.blocks.0.cross_attn.query"});
  fused("decoder/layer_0/attention/linear_1", {"decoder.blocks.0.cross_attn.key", "decoder.blocks.0.cross_attn.value"});
  fused("decoder/layer_0/attention/linear_2", {"decoder.blocks.0.cross_attn.out"});
  for (const std::string conv : {"conv1", "conv2"})
    for (const std::string part : {"weight", "bias"})
      one("encoder/" + conv + "/" + part, "encoder." + conv + "." + part);
  one("decoder/embeddings/weight", "decoder.token_embedding.weight");
  all["decoder/pre_norm"] = {{}, {1}, kind::i8};
  all["decoder/activation"] = {{}, {3}, kind::i8};
  all["decoder/scale_embeddings"] = {{}, {0}, kind::i8};
  all["decoder/alignment_layer"] = {{}, {-1}, kind::i16};
  return all;
}

const std::map<std::string, std::string> tied = {{"decoder/projection/weight", "decoder/embeddings/weight"}};

class ctranslate2 : public testing::Test {
 protected:
  void SetUp() override {
    test::write_small_whisper(dir_.path());
    std::mt19937 random(3);
    std::uniform_real_distribution<float> any(-1, 1);
    tensors_ = small_tensors(32, 1531, 8, 16);
    for (auto& [name, t] : tensors_)
      for (float& v : t.values) v = core::half_to_float(core::float_to_half(any(random)));
    write_safetensors(dir_.path() / "model.safetensors", tensors_);
    hf_ = test::image_of(opened());
    fs::remove(dir_.path() / "model.safetensors");
    config(json{{"lang_ids", {22, 23}}, {"suppress_ids", {1, 2}}, {"alignment_heads", nullptr}});
  }
  void config(const json& j) { test::small_whisper::write(dir_.path() / "config.json", j.dump()); }
  void model(const std::string& bytes) { test::small_whisper::write(dir_.path() / "model.bin", bytes); }
  opened_checkpoint opened() { return open_checkpoint(dir_.path(), weights::file_reading::copied); }
  std::string refused(const variables& v, const std::map<std::string, std::string>& aliases = tied) {
    model(file_of(v, aliases));
    return test::refusal([&] { (void)opened(); });
  }
  const test::temporary_directory dir_;
  std::map<std::string, named_tensor> tensors_;
  std::vector<std::byte> hf_;
};

TEST_F(ctranslate2, is_the_same_model) {
  model(file_of(variables_of(tensors_, kind::f16), tied));
  for (const fs::path& path : {dir_.path(), dir_.path() / "model.bin"}) {
    const opened_checkpoint o = open_checkpoint(path, weights::file_reading::copied);
    EXPECT_TRUE(o.notes.empty());
    EXPECT_TRUE(test::image_of(o) == hf_);
    test::expect_mapped_like_copied(path);
  }
  // Without tokenizer files of Hugging Face's, the list of all tokens has them.
  fs::remove(dir_.path() / "vocab.json");
  std::string lines;
  for (char c = 'a'; c < 'a' + 20; ++c) lines.append(1, c).append("\n");
  test::small_whisper::write(dir_.path() / "vocabulary.txt", lines + "<|endoftext|>\n<|startoftranscript|>\n");
  EXPECT_TRUE(test::image_of(opened()) == hf_);
  fs::remove(dir_.path() / "vocabulary.txt");
  json list;
  for (char c = 'a'; c < 'a' + 20; ++c) list.push_back(std::string(1, c));
  test::small_whisper::write(dir_.path() / "vocabulary.json", list.dump());
  EXPECT_NE(test::refusal([&] { (void)opened(); }).find("<|endoftext|>"), std::string::npos);
  list.push_back("<|endoftext|>");
  test::small_whisper::write(dir_.path() / "vocabulary.json", list.dump());
  EXPECT_TRUE(test::image_of(opened()) == hf_);
}

// Variables with equal values are stored once.
TEST_F(ctranslate2, aliases) {
  tensors_["encoder.blocks.0.mlp_ln.weight"] = tensors_["decoder.ln.weight"];
  write_safetensors(dir_.path() / "model.safetensors", tensors_);
  std::ifstream in(dir_.path() / "config.json");
  const json own = json::parse(in);
  test::write_small_whisper(dir_.path());
  write_safetensors(dir_.path() / "model.safetensors", tensors_);
  const std::vector<std::byte> hf = test::image_of(opened());
  fs::remove(dir_.path() / "model.safetensors");
  config(own);
  variables v = variables_of(tensors_, kind::f16);
  v.erase("encoder/layer_0/ffn/layer_norm/gamma");
  auto aliases = tied;
  aliases["encoder/layer_0/ffn/layer_norm/gamma"] = "decoder/layer_norm/gamma";
  EXPECT_EQ(refused(v, aliases), "");
  EXPECT_TRUE(test::image_of(opened()) == hf);
}

TEST_F(ctranslate2, integers_keep_their_values) {
  variables v = variables_of(tensors_, kind::f32);
  std::map<std::string, variable> wanted;
  for (auto& [name, t] : variables(v)) {
    if (t.shape.size() != 2 || name.ends_with("encodings")) continue;
    const auto rows = static_cast<std::size_t>(t.shape[0]), cols = static_cast<std::size_t>(t.shape[1]);
    variable q{t.shape, {}, kind::i8}, scale{{t.shape[0]}, {}, kind::f32}, back = t;
    for (std::size_t r = 0; r < rows; ++r) {
      float most = 0;
      for (std::size_t c = 0; c < cols; ++c) most = std::max(most, std::fabs(t.values[r * cols + c]));
      scale.values.push_back(127.0f / most);
      for (std::size_t c = 0; c < cols; ++c) {
        q.values.push_back(std::nearbyint(t.values[r * cols + c] * scale.values[r]));
        back.values[r * cols + c] = q.values.back() / scale.values[r];
      }
    }
    v[name] = std::move(q);
    v[name + "_scale"] = std::move(scale);
    wanted[name] = std::move(back);
  }
  model(file_of(v, tied));
  const fs::path out = dir_.path() / "out.gguf";
  EXPECT_TRUE(convert(dir_.path(), out, {.type = dtype::f32}).empty());
  const gguf_file file(out.string());
  const auto values = [&](const char* name) {
    const weights::tensor_ref t = *file.find(name);
    std::vector<float> all(static_cast<std::size_t>(t.rows() * t.cols()));
    weights::dequantise(t.format, t.bytes.data(), all.data(), all.size());
    return all;
  };
  EXPECT_EQ(values("decoder.token_embedding.weight"), wanted["decoder/embeddings/weight"].values);
  EXPECT_EQ(values("encoder.blocks.0.mlp.0.weight"), wanted["encoder/layer_0/ffn/linear_0/weight"].values);
  const std::vector<float> both = wanted["decoder/layer_0/attention/linear_1/weight"].values;
  EXPECT_EQ(values("decoder.blocks.0.cross_attn.value.weight"),
            std::vector<float>(both.begin() + static_cast<std::ptrdiff_t>(both.size() / 2), both.end()));
  // As it is opened, such a matrix has half the size.
  EXPECT_EQ(opened().file.find("encoder.blocks.0.mlp.0.weight")->format, dtype::f16);
  // One scale for all of a matrix.
  v["decoder/embeddings/weight_scale"] = {{}, {64}, kind::f32};
  v["decoder/embeddings/weight"].type = kind::i16;
  model(file_of(v, tied));
  const std::string bytes = file_of(v, tied);
  const whisper_files::ctranslate2_file read(std::as_bytes(std::span(bytes)), "file");
  EXPECT_EQ(read.scalar("decoder/embeddings/weight_scale"), 64);
  stored_tensor t = read.tensor("decoder/embeddings/weight");
  std::vector<float> all(t.count());
  t.read(all);
  EXPECT_EQ(all[5], v["decoder/embeddings/weight"].values[5] / 64);
  v.erase("decoder/embeddings/weight_scale");
  EXPECT_NE(refused(v).find("has no scales"), std::string::npos);
}

TEST_F(ctranslate2, config_is_honoured_or_refused) {
  model(file_of(variables_of(tensors_, kind::f16), tied));
  config({{"suppress_ids_begin", {3, 20}}, {"alignment_heads", {{0, 1}}}, {"lang_ids", {23}}});
  const opened_checkpoint o = opened();
  EXPECT_EQ(o.file.numbers("whisper.begin_suppress_tokens"), (std::vector<double>{3, 20}));
  EXPECT_EQ(o.file.numbers("whisper.alignment_heads"), (std::vector<double>{0, 1}));
  EXPECT_EQ(o.file.strings("whisper.languages"), std::vector<std::string>{"zh"});
  for (const json& bad : {json{{"lang_ids", {21}}}, json{{"unknown", 1}}, json{{"suppress_ids_begin", {-1}}},
                          json{{"quantization_type", 1}}, json{{"layer_norm_epsilon", 1e-6}}}) {
    config(bad);
    EXPECT_NE(test::refusal([&] { (void)opened(); }).find(bad.begin().key()), std::string::npos) << bad;
  }
}

TEST_F(ctranslate2, other_models_and_settings_are_named) {
  const variables good = variables_of(tensors_, kind::f16);
  model(file_of(good, tied, "TransformerSpec"));
  EXPECT_NE(test::refusal([&] { (void)opened(); }).find("TransformerSpec"), std::string::npos);
  model(file_of(good, tied, "WhisperSpec", 5));
  EXPECT_NE(test::refusal([&] { (void)opened(); }).find("version of CTranslate2's files: expected 6, found 5"),
            std::string::npos);
  const auto changed = [&](const std::string& name, variable v) {
    variables all = good;
    all[name] = std::move(v);
    return refused(all);
  };
  for (const char* name : {"decoder/activation", "decoder/pre_norm", "decoder/scale_embeddings", "decoder/new_flag"})
    EXPECT_NE(changed(name, {{}, {2}, kind::i8}).find(name), std::string::npos) << name;
  EXPECT_NE(changed("decoder/new/weight", {{2}, {1, 2}, kind::f32}).find("decoder/new/weight"), std::string::npos);
  EXPECT_NE(changed("encoder/num_heads", {{}, {0}, kind::i16}).find("encoder/num_heads"), std::string::npos);
  EXPECT_NE(changed("decoder/projection/weight", good.at("decoder/embeddings/weight")), "");
  variables key = good;
  key["encoder/layer_0/self_attention/linear_0/bias"].values[40] = 1;
  EXPECT_NE(refused(key).find("zeros for keys"), std::string::npos);
  for (const char* name : {"encoder/conv1/bias", "decoder/layer_0/attention/linear_1/weight", "decoder/num_heads"}) {
    variables all = good;
    all.erase(name);
    EXPECT_NE(refused(all).find(name), std::string::npos) << name;
  }
}

// Every byte of the header, and every length of the file.
TEST_F(ctranslate2, damaged_files_are_refused) {
  const std::string good = file_of(variables_of(tensors_, kind::f16), tied);
  EXPECT_EQ((model(good), test::refusal([&] { (void)opened(); })), "");
  std::mt19937 random(5);
  for (int i = 0; i < 300; ++i) {
    std::string bad = good;
    const std::size_t size = i % 2 == 0 ? random() % good.size() : good.size();
    bad.resize(size);
    if (size == good.size()) bad += static_cast<char>(random() % 256);
    EXPECT_NE(test::refusal([&] { whisper_files::ctranslate2_file(std::as_bytes(std::span(bad)), "file"); }), "")
        << size;
  }
  for (std::size_t at = 0; at < 200; ++at)
    for (const int value : {0, 127, 255}) {
      std::string bad = good;
      bad[at] = static_cast<char>(value);
      test::refusal([&] { whisper_files::ctranslate2_file(std::as_bytes(std::span(bad)), "file"); });
    }
}

}  // namespace ctranslate2_test
