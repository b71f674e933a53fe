// whisper.cpp's Parakeet files: made here from the golden .nemo file they become the same packaged model; every number
// of the header is checked.
// SPDX-License-Identifier: Apache-2.0
#include <steno/core/half.hpp>
#include <steno/frontends/nemo_mel.hpp>
#include <steno/models/parakeet_transducer.hpp>
#include <steno/weights/blocks.hpp>

#include "convert.hpp"
#include "model_tensors.hpp"
#include "nemo/parakeet.hpp"
#include "nemo/tar.hpp"
#include "support/golden.hpp"
#include "support/wav.hpp"
#include "torch/checkpoint.hpp"
#include "whisper/whisper.hpp"
#include "yaml_settings.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <numeric>

namespace parakeet_ggml_test {

namespace fs = std::filesystem;
using namespace steno;

template <class T>
void put(std::string& to, T value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

struct numbers {
  std::vector<std::size_t> shape;
  std::vector<float> values;
};

struct model {
  std::int32_t width = 0, heads = 0, blocks = 0, mels = 0, channels = 0, taps = 0, predictor = 0, layers = 0;
  std::vector<std::string> pieces = {};
  std::vector<std::uint32_t> durations = {0, 1, 2, 3, 4};
  std::map<std::string, numbers> tensors = {};  // NeMo's names and shapes
};

enum class form { floats, halves, q8_0, two_biases };

// i, f, g, o -> i, f, o, g
void reorder(std::vector<float>& v) {
  const auto quarter = static_cast<std::ptrdiff_t>(v.size() / 4);
  std::rotate(v.begin() + 2 * quarter, v.begin() + 3 * quarter, v.end());
}

void put_tensor(std::string& all, const std::string& name, const numbers& t, form f) {
  const bool vector = t.shape.size() < 2 || name.find("bias") != std::string::npos;
  const bool kernel = t.shape.size() == 4 || name.find("depthwise_conv") != std::string::npos;
  std::int32_t type = 0;
  if (!vector && !kernel && f == form::halves) type = 1;
  if (!vector && !kernel && f == form::q8_0 && t.shape.back() % 32 == 0) type = 8;
  put(all, static_cast<std::int32_t>(t.shape.size()));
  put(all, static_cast<std::int32_t>(name.size()));
  put(all, type);
  for (std::size_t i = t.shape.size(); i-- > 0;) put(all, static_cast<std::int32_t>(t.shape[i]));
  all += name;
  if (type == 0)
    for (const float v : t.values) put(all, v);
  if (type == 1)
    for (const float v : t.values) put(all, core::float_to_half(v));
  if (type == 8) {
    std::vector<std::byte> blocks(core::bytes_of(dtype::q8_0, t.values.size()));
    weights::quantise(dtype::q8_0, t.values.data(), blocks.data(), t.values.size());
    all.append(reinterpret_cast<const char*>(blocks.data()), blocks.size());
  }
}

// The file as whisper.cpp's own converter writes it.
std::string ggml(const model& m, form f) {
  std::string all = "lmgg";
  for (const std::int32_t n : {static_cast<std::int32_t>(m.pieces.size()), 5000, m.width, m.heads, m.blocks, m.mels,
                               f == form::halves ? 1 : 0, 512, 8, m.channels, m.taps, m.predictor, m.layers,
                               static_cast<std::int32_t>(m.durations.size()), 10, m.mels, 257})
    put(all, n);
  const frontends::nemo_mel<> mel({.mels = m.mels});
  const auto& filters = mel.filters();
  std::vector<float> dense(static_cast<std::size_t>(m.mels) * 257);
  for (std::size_t b = 0; b < static_cast<std::size_t>(m.mels); ++b)
    for (extent k = filters.begin[b]; k < filters.begin[b + 1]; ++k)
      dense[b * 257 + static_cast<std::size_t>(filters.first[b] + k - filters.begin[b])] =
          filters.weights[static_cast<std::size_t>(k)];
  for (const float v : dense) put(all, v);
  put(all, std::int32_t{400});
  all.append(4 * 400, '\0');
  for (const std::uint32_t d : m.durations) put(all, d);
  put(all, static_cast<std::int32_t>(m.pieces.size()));
  for (const std::string& p : m.pieces) {
    put(all, static_cast<std::int32_t>(p.size()));
    all += p;
  }
  for (const auto& [name, t] : m.tensors) {
    numbers made = t;
    if (made.shape.size() < 4) std::erase(made.shape, 1u);
    if (name.find("pre_encode.conv") != std::string::npos && name.ends_with("bias")) made.shape = {1, t.shape[0], 1, 1};
    std::string to = name;
    if (name.find(".lstm.") != std::string::npos && f != form::two_biases) {
      if (name.find("bias_ih") != std::string::npos) continue;
      if (const std::size_t at = to.find("bias_hh"); at != std::string::npos) {
        const numbers& other = m.tensors.at(std::string(name).replace(at, 7, "bias_ih"));
        for (std::size_t i = 0; i < made.values.size(); ++i) made.values[i] += other.values[i];
        to.replace(at, 7, "bias_h");
      }
      reorder(made.values);
    }
    put_tensor(all, to, made, f);
  }
  return all;
}

model golden(const fs::path& nemo_file) {
  const weights::mapped_file file(nemo_file.string());
  const nemo_files::tar_archive archive(file.bytes(), "x");
  std::map<std::string, std::span<const std::byte>> members;
  for (const auto& m : archive.members()) members[m.name] = m.bytes;
  const auto yaml = members.at("model_config.yaml");
  const checkpoint_settings c =
      read_yaml("x", {reinterpret_cast<const char*>(yaml.data()), yaml.size()}, "a NeMo config");
  const auto number = [&](const char* key) { return static_cast<std::int32_t>(c.number(key, 0, 1, 1 << 20)); };
  model m{.width = number("encoder.d_model"),
          .heads = number("encoder.n_heads"),
          .blocks = number("encoder.n_layers"),
          .mels = number("preprocessor.features"),
          .channels = number("encoder.subsampling_conv_channels"),
          .taps = number("encoder.conv_kernel_size"),
          .predictor = number("decoder.prednet.pred_hidden"),
          .layers = number("decoder.prednet.pred_rnn_layers")};
  m.pieces = open_checkpoint(nemo_file).file.strings("tokenizer.ggml.tokens");
  torch::checkpoint weights(members.at("model_weights.ckpt"), "x");
  for (const auto& e : weights.tensors()) {
    if (e.name.starts_with("preprocessor.")) continue;
    numbers& n = m.tensors[e.name];
    n.shape.assign(e.shape.begin(), e.shape.end());
    n.values.resize(e.count);
    weights.read(e, n.values);
  }
  return m;
}

// The smallest of its kind, values from a wheel.
model little() {
  model m{.width = 4, .heads = 2, .blocks = 1, .mels = 8, .channels = 2, .taps = 3, .predictor = 2, .layers = 1};
  m.pieces = {"<unk>", "<|x|>",
              "\xe2\x96\x81"
              "a",
              "<0x41>", "b"};
  float next = 0;
  const auto add = [&](const std::string& name, std::vector<std::size_t> shape) {
    numbers& n = m.tensors[name];
    n.values.resize(std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>()));
    for (float& v : n.values) v = std::fmod(next += 0.37f, 1.9f) + 0.1f;
    n.shape = std::move(shape);
  };
  steno::nemo::parakeet_transducer<steno::nemo::parakeet_transducer_sizes{.encoder = {.mels = 8,
                                                                                      .channels = 2,
                                                                                      .width = 4,
                                                                                      .heads = 2,
                                                                                      .units = 16,
                                                                                      .taps = 3,
                                                                                      .layers = 1,
                                                                                      .biases = nn::bias::none,
                                                                                      .causal = 0,
                                                                                      .normed = 0},
                                                                          .predictor = {.width = 2, .layers = 1},
                                                                          .joint = 3,
                                                                          .labels = 6,
                                                                          .outputs = 11}>
      sizes;
  for (const expected_tensor& t : expected_tensors(sizes))
    if (!t.optional) add(t.name, {t.shape.begin(), t.shape.end()});
  for (const char* part : {"weight", "bias", "running_mean", "running_var"})
    add(std::string("encoder.layers.0.conv.batch_norm.") + part, {4});
  add("encoder.layers.0.conv.batch_norm.num_batches_tracked", {});
  return m;
}

void write(const fs::path& file, const std::string& bytes) { std::ofstream(file, std::ios::binary) << bytes; }

std::vector<float> values(const gguf_file& file, const std::string& name) {
  const weights::tensor_ref t = *file.find(name);
  std::size_t count = 1;
  for (int i = 0; i < t.rank; ++i) count *= static_cast<std::size_t>(t.shape[static_cast<std::size_t>(i)]);
  std::vector<float> v(count);
  weights::dequantise(t.format, t.bytes.data(), v.data(), v.size());
  return v;
}

/// Why the converter refuses these bytes; empty when it does not.
std::string refusal(const std::string& bytes) {
  const test::temporary_directory scratch;
  write(scratch.path() / "model.bin", bytes);
  try {
    (void)open_checkpoint(scratch.path() / "model.bin");
  } catch (const error& e) {
    return e.what();
  }
  return "";
}

TEST(parakeet_ggml, becomes_the_same_model_as_the_nemo_file) {
  STENO_REQUIRE_SHARED(shared);
  const fs::path folder = shared / "golden/nemo/parakeet-tdt", nemo_file = folder / "checkpoint/model.nemo";
  const model m = golden(nemo_file);
  const test::temporary_directory scratch;
  const fs::path file = scratch.path() / "ggml-model.bin";
  const auto pcm = test::load_wav(folder / "input.wav").pcm;
  opened_checkpoint direct = open_checkpoint(nemo_file);
  const std::vector<std::string> tokens = direct.file.strings("tokenizer.ggml.tokens");
  const std::vector<double> types = direct.file.numbers("tokenizer.ggml.token_type");
  std::map<std::string, std::vector<float>> wanted;
  for (std::size_t i = 0; i < direct.file.size(); ++i) {
    const std::string name(direct.file.tensor(i).name);
    wanted[name] = values(direct.file, name);
  }
  const auto one = load<steno::nemo::parakeet_transducer_any>(std::move(direct.file));
  context c;
  const segment a = one.recognise(pcm, {}, c);
  EXPECT_FALSE(a.text.empty());
  for (const form f : {form::floats, form::two_biases, form::halves, form::q8_0}) {
    SCOPED_TRACE(static_cast<int>(f));
    write(file, ggml(m, f));
    opened_checkpoint theirs = open_checkpoint(file);
    EXPECT_EQ(theirs.file.strings("tokenizer.ggml.tokens"), tokens);
    EXPECT_EQ(theirs.file.numbers("tokenizer.ggml.token_type"), types);
    EXPECT_EQ(theirs.file.number("parakeet_transducer.max_symbols"), 10);
    ASSERT_EQ(theirs.file.size(), wanted.size());
    for (const auto& [name, y] : wanted) {
      if (name.find(".lstm.bias") != std::string::npos && f != form::two_biases) continue;  // their sums, below
      const std::vector<float> x = values(theirs.file, name);
      ASSERT_EQ(x.size(), y.size()) << name;
      // A batch norm is folded in floats here and in doubles there; halves have 11 bits; a step of q8_0 is the largest
      // value of a block over 127.
      const float largest = std::fabs(
          *std::max_element(y.begin(), y.end(), [](float p, float q) { return std::fabs(p) < std::fabs(q); }));
      for (std::size_t i = 0; i < x.size(); ++i) {
        const float exact = 2e-6f * std::max(1.0f, std::fabs(y[i]));
        const float most = f == form::halves ? 0x1p-11f * std::fabs(y[i]) + 1e-7f : f == form::q8_0 ? largest / 250 : 0;
        ASSERT_NEAR(x[i], y[i], std::max(exact, most)) << name;
      }
    }
    for (const char* layer : {"0", "1"}) {
      const std::string at = "decoder.prediction.dec_rnn.lstm.bias_";
      const auto sum = [&](auto&& read) {
        std::vector<float> v = read(at + "ih_l" + layer);
        const std::vector<float> other = read(at + "hh_l" + layer);
        for (std::size_t i = 0; i < v.size(); ++i) v[i] += other[i];
        return v;
      };
      EXPECT_EQ(sum([&](const std::string& n) { return values(theirs.file, n); }),
                sum([&](const std::string& n) { return wanted.at(n); }));
    }
    const dtype matrices = theirs.file.find("encoder.layers.0.feed_forward1.linear1.weight")->format;
    EXPECT_EQ(core::info(matrices).name, f == form::halves ? "f16" : f == form::q8_0 ? "q8_0" : "f32");
    const auto two = load<steno::nemo::parakeet_transducer_any>(std::move(theirs.file));
    const segment b = two.recognise(pcm, {}, c);
    EXPECT_FALSE(b.text.empty());
    if (f == form::q8_0) continue;  // a model of random weights writes something else after such a change
    EXPECT_EQ(b.token_ids, a.token_ids);
    EXPECT_EQ(b.text, a.text);
  }
}

// Orders of values, without the golden file.
TEST(parakeet_ggml, layouts) {
  const model m = little();
  const test::temporary_directory scratch;
  const fs::path file = scratch.path() / "x.bin";
  write(file, ggml(m, form::floats));
  EXPECT_TRUE(nemo_files::is_ggml(file));
  const opened_checkpoint opened = open_checkpoint(file);
  EXPECT_EQ(opened.file.text("general.architecture"), "parakeet_transducer");
  EXPECT_EQ(opened.file.numbers("tokenizer.ggml.token_type"), (std::vector<double>{2, 3, 1, 6, 1}));
  EXPECT_EQ(opened.file.numbers("parakeet_transducer.durations"), (std::vector<double>{0, 1, 2, 3, 4}));
  EXPECT_EQ(opened.file.number("parakeet_transducer.encoder.xscaling"), 0);
  const auto same = [&](const std::string& name) { EXPECT_EQ(values(opened.file, name), m.tensors.at(name).values); };
  same("joint.pred.weight");
  same("decoder.prediction.embed.weight");
  same("decoder.prediction.dec_rnn.lstm.weight_ih_l0");
  same("encoder.layers.0.self_attn.linear_pos.weight");
  const auto& v = [&](const char* n) -> const std::vector<float>& { return m.tensors.at(n).values; };
  const std::vector<float> taps = values(opened.file, "encoder.layers.0.conv.depthwise_conv.weight");
  const std::vector<float> shift = values(opened.file, "encoder.layers.0.conv.depthwise_conv.bias");
  for (std::size_t d = 0; d < 4; ++d) {
    const float scale = v("encoder.layers.0.conv.batch_norm.weight")[d] /
                        std::sqrt(v("encoder.layers.0.conv.batch_norm.running_var")[d] + 1e-5f);
    for (std::size_t k = 0; k < 3; ++k)  // one rounding more here
      EXPECT_NEAR(taps[k * 4 + d], v("encoder.layers.0.conv.depthwise_conv.weight")[d * 3 + k] * scale, 2e-6f);
    EXPECT_NEAR(
        shift[d],
        v("encoder.layers.0.conv.batch_norm.bias")[d] - v("encoder.layers.0.conv.batch_norm.running_mean")[d] * scale,
        2e-6f);
  }
}

TEST(parakeet_ggml, what_is_not_such_a_model_is_said) {
  const model good = little();
  ASSERT_EQ(refusal(ggml(good, form::floats)), "");
  model m = good;
  m.tensors["encoder.layers.0.self_attn.linear_q.bias"] = {{4}, {1, 2, 3, 4}};
  EXPECT_NE(refusal(ggml(m, form::floats)).find("linear_q.bias"), std::string::npos);
  m = good;
  m.tensors.erase("joint.enc.bias");
  EXPECT_NE(refusal(ggml(m, form::floats)).find("\"joint.enc.bias\" is missing"), std::string::npos);
  m = good;
  m.tensors["joint.enc.weight"].shape = {4, 3};
  EXPECT_NE(refusal(ggml(m, form::floats)).find("[3 x 4]"), std::string::npos);
  m = good;
  m.tensors.clear();
  EXPECT_NE(refusal(ggml(m, form::floats)).find("no tensors"), std::string::npos);
  std::string filters = ggml(good, form::floats);
  filters[4 * 18 + 203] = '\x3f';
  EXPECT_NE(refusal(filters).find("mel filters"), std::string::npos);
}

// Every number of the header, of the tables and of the first tensor's header: huge, zero, negative; and every length of
// the file.
TEST(parakeet_ggml, header_fields_are_checked) {
  const std::string good = ggml(little(), form::floats);
  const std::size_t tables = 4 + 15 * 4, window = tables + 8 + 8 * 257 * 4, durations = window + 4 + 1600;
  const std::size_t pieces = durations + 5 * 4;
  const std::size_t first = pieces + 4 + 5 * 4 + 5 + 5 + 4 + 6 + 1;
  std::vector<std::size_t> fields = {window, pieces, pieces + 4, first, first + 4, first + 8, first + 12};
  for (std::size_t at = 4; at < tables + 8; at += 4)
    if (at != 4 + 4 && at != 4 + 24) fields.push_back(at);  // n_audio_ctx and ftype are not used
  for (const std::size_t field : fields)
    for (const std::int32_t value : {0x7fffffff, 0x01000000, 0, -1, -0x7fffffff - 1}) {
      std::string bad = good;
      std::memcpy(bad.data() + field, &value, 4);
      if (bad == good) continue;
      EXPECT_NE(refusal(bad), "") << "byte " << field << " = " << value;
    }
  for (const std::size_t size : {std::size_t{4}, std::size_t{30}, tables + 100, window + 7, pieces + 9, first + 3})
    EXPECT_NE(refusal(good.substr(0, size)), "") << size;
  EXPECT_NE(refusal(good.substr(0, good.size() - 1)), "");
  std::string negative = good;
  const std::int32_t duration = -1;
  std::memcpy(negative.data() + durations, &duration, 4);
  EXPECT_NE(refusal(negative).find("duration"), std::string::npos);
}

}  // namespace parakeet_ggml_test
