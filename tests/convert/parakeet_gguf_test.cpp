// GGUF files of qvac-parakeet.cpp: made here from the golden .nemo files by the schema's table, they become the same
// packaged model; what is refused.
// SPDX-License-Identifier: Apache-2.0
#include <steno/models/parakeet_ctc.hpp>
#include <steno/models/parakeet_transducer.hpp>

#include "convert.hpp"
#include "gguf_import.hpp"
#include "nemo/tar.hpp"
#include "package.hpp"
#include "support/golden.hpp"
#include "support/refusal.hpp"
#include "support/wav.hpp"
#include "torch/checkpoint.hpp"
#include "yaml_settings.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <regex>

namespace parakeet_gguf_test {

namespace fs = std::filesystem;
using namespace steno;

// The schema's table, from left to right.
std::string published_name(std::string name, const std::string& type) {
  const std::vector<std::pair<const char*, std::string>> rules = {
      {R"(^encoder\.pre_encode\.conv\.0\.)", "encoder.subsampling.conv0."},
      {R"(^encoder\.pre_encode\.conv\.2\.)", "encoder.subsampling.conv1_dw."},
      {R"(^encoder\.pre_encode\.conv\.3\.)", "encoder.subsampling.conv1_pw."},
      {R"(^encoder\.pre_encode\.conv\.5\.)", "encoder.subsampling.conv2_dw."},
      {R"(^encoder\.pre_encode\.conv\.6\.)", "encoder.subsampling.conv2_pw."},
      {R"(^encoder\.pre_encode\.out\.)", "encoder.subsampling.out."},
      {R"(^encoder\.layers\.)", "encoder.blk."},
      {R"(norm_feed_forward(\d))", "norm_ff$1"},
      {R"(norm_self_att)", "norm_attn"},
      {R"(\.feed_forward(\d))", ".ff$1"},
      {R"(self_attn\.linear_(q|k|v|out|pos))", "attn.$1"},
      {R"(self_attn\.)", "attn."},
      {R"(conv\.pointwise_conv(\d))", "conv.pw$1"},
      {R"(conv\.depthwise_conv)", "conv.dw"},
      {R"(conv\.batch_norm)", "conv.norm"},
      {R"(^decoder\.decoder_layers\.0\.)", "ctc.decoder."},
      {R"(^decoder\.prediction\.embed\.)", type + ".predict.embed."},
      {R"(^decoder\.prediction\.dec_rnn\.lstm\.weight_(ih|hh)_l(\d)$)", type + ".predict.lstm.$2.w_$1"},
      {R"(^decoder\.prediction\.dec_rnn\.lstm\.bias_(ih|hh)_l(\d)$)", type + ".predict.lstm.$2.b_$1"},
      {R"(^prompt_kernel\.)", type + ".prompt.proj."},
      {R"(^joint\.joint_net\.2\.)", type + ".joint.out."},
      {R"(^joint\.(enc|pred)\.)", type + ".joint.$1."}};
  for (const auto& [from, to] : rules) name = std::regex_replace(name, std::regex(from), to);
  return name;
}

using values = std::shared_ptr<std::vector<float>>;

void add(imported_model& m, const std::string& name, std::vector<extent> shape, values v) {
  while (shape.size() > 1 && shape.back() == 1) shape.pop_back();
  m.tensors.push_back({.name = name, .shape = std::move(shape), .read = [v](std::span<float> to) {
                         std::copy(v->begin(), v->end(), to.begin());
                       }});
}

// A golden .nemo file in their form.
std::vector<std::byte> published(const fs::path& nemo_file, const std::string& type) {
  const weights::mapped_file file(nemo_file.string());
  const nemo_files::tar_archive archive(file.bytes(), "x");
  std::map<std::string, std::span<const std::byte>> members;
  for (const auto& m : archive.members()) members[m.name] = m.bytes;
  const auto yaml = members.at("model_config.yaml");
  const checkpoint_settings c =
      read_yaml("x", {reinterpret_cast<const char*>(yaml.data()), yaml.size()}, "a NeMo config");
  imported_model m;
  const auto u32 = [&](const std::string& key, std::uint32_t v) { m.file.set("parakeet." + key, v); };
  m.file.set("general.architecture", std::string("parakeet-ctc"));
  m.file.set("parakeet.model.type", type);
  const std::uint32_t d = c.number("encoder.d_model", 0, 1, 1 << 20);
  u32("encoder.d_model", d);
  u32("encoder.n_layers", c.number("encoder.n_layers", 0, 1, 100));
  u32("encoder.n_heads", c.number("encoder.n_heads", 0, 1, 100));
  u32("encoder.ff_dim", 4 * d);
  u32("encoder.conv_kernel", c.number("encoder.conv_kernel_size", 0, 1, 100));
  u32("encoder.subsampling_factor", 8);
  u32("encoder.subsampling_conv_channels", c.number("encoder.subsampling_conv_channels", 0, 1, 1000));
  for (const char* key : {"xscaling", "use_bias", "causal_downsampling"})
    m.file.set(std::string("parakeet.encoder.") + key,
               c.flag(std::string("encoder.") + key, std::string(key) != "causal_downsampling"));
  m.file.set("parakeet.encoder.conv_norm_type", c.text("encoder.conv_norm_type", "batch_norm"));
  const std::string context = c.text("encoder.conv_context_size", "null");
  m.file.set("parakeet.encoder.conv_context_size", context == "null" ? std::string("None") : context);
  m.file.set("parakeet.encoder.att_context_style", c.text("encoder.att_context_style", "regular"));
  const auto sizes = c.numbers("encoder.att_context_size", {-1, -1}, -1, 1000);
  m.file.set("parakeet.encoder.att_context_size_left", std::int32_t{sizes[0]});
  m.file.set("parakeet.encoder.att_context_size_right", std::int32_t{sizes[1]});
  u32("preproc.sample_rate", 16000);
  u32("preproc.n_fft", 512);
  u32("preproc.win_length", 400);
  u32("preproc.hop_length", 160);
  u32("preproc.n_mels", c.number("preprocessor.features", 64, 1, 1000));
  m.file.set("parakeet.preproc.normalize", c.text("preprocessor.normalize", "per_feature"));
  if (type != "ctc") {
    u32(type + ".pred_hidden", c.number("model_defaults.pred_hidden", 0, 1, 1000));
    u32(type + ".pred_rnn_layers", c.number("decoder.prednet.pred_rnn_layers", 1, 1, 4));
    u32(type + ".joint_hidden", c.number("model_defaults.joint_hidden", 0, 1, 1000));
    if (type == "tdt") m.file.set("parakeet.tdt.durations", std::vector<std::int32_t>{0, 1, 2, 3, 4});
    if (type == "rnnt" || type == "nemotron") u32(type + ".max_symbols_per_step", 10);
  }
  if (type == "nemotron") {
    u32("nemotron.left_context_frames", static_cast<std::uint32_t>(sizes[0]));
    std::vector<std::int32_t> rights, prompts;
    for (const auto& pair : c.number_lists("encoder.att_context_size", -1, 1000))
      rights.insert(rights.begin(), pair[1]);
    m.file.set("parakeet.nemotron.allowed_right_context_frames", rights);
    m.file.set("parakeet.nemotron.allowed_chunk_ms", rights);
    const std::vector<std::string>& names = c.maps.at("model_defaults.prompt_dictionary");
    for (const std::string& name : names)
      prompts.push_back(static_cast<std::int32_t>(c.number("model_defaults.prompt_dictionary." + name, 0, 0, 1000)));
    m.file.set("parakeet.nemotron.locale_aliases", names);
    m.file.set("parakeet.nemotron.locale_prompt_ids", prompts);
    m.file.set("parakeet.nemotron.default_locale", std::string("auto"));
    u32("nemotron.num_prompts", 128);
    u32("nemotron.prompt_width", 128);
    u32("nemotron.prompt_input_width", d + 128);
    u32("nemotron.cache_time_steps", 8);
  }
  const opened_checkpoint ours = open_checkpoint(nemo_file);
  m.file.set("tokenizer.ggml.tokens", ours.file.strings("tokenizer.ggml.tokens"));
  for (const auto& [name, bytes] : members)
    if (name.ends_with("tokenizer.model")) {
      std::vector<std::uint8_t> raw;
      for (const std::byte b : bytes) raw.push_back(std::to_integer<std::uint8_t>(b));
      m.file.set("tokenizer.ggml.sentencepiece_model", raw);
    }

  torch::checkpoint weights(members.at("model_weights.ckpt"), "x");
  const bool layer_norm = c.text("encoder.conv_norm_type", "batch_norm") == "layer_norm";
  const auto read = [&](const std::string& name) {
    const auto* e = weights.find(name);
    auto v = std::make_shared<std::vector<float>>(e->count);
    weights.read(*e, *v);
    return v;
  };
  for (const auto& e : weights.tensors()) {
    if (e.name.starts_with("preprocessor.")) continue;
    const std::size_t norm = e.name.find("conv.batch_norm.");
    if (norm != std::string::npos && !layer_norm) {
      if (!e.name.ends_with("running_var")) continue;
      const std::string at = e.name.substr(0, norm) + "conv.batch_norm.";
      const values w = read(at + "weight"), b = read(at + "bias"), mean = read(at + "running_mean"),
                   var = read(at + "running_var");
      auto scale = std::make_shared<std::vector<float>>(w->size()), shift = std::make_shared<std::vector<float>>(*b);
      for (std::size_t i = 0; i < w->size(); ++i) {
        (*scale)[i] = (*w)[i] / std::sqrt((*var)[i] + 1e-5f);
        (*shift)[i] = (*b)[i] - (*mean)[i] * (*scale)[i];
      }
      const std::string to = published_name(e.name.substr(0, norm), type) + "conv.bn.";
      add(m, to + "scale", {static_cast<extent>(d)}, scale);
      add(m, to + "shift", {static_cast<extent>(d)}, shift);
      continue;
    }
    if (e.name.ends_with("num_batches_tracked")) continue;
    std::vector<extent> shape(e.shape.begin(), e.shape.end());
    add(m, published_name(e.name, type), shape, read(e.name));
  }
  add(m, "encoder.blk.0.attn.qkv.weight", {4}, std::make_shared<std::vector<float>>(4));  // newer files; not read
  add_tensors(m, {});
  return m.file.bytes();
}

template <class Model>
void expect_the_same(const fs::path& folder, const std::string& type) {
  SCOPED_TRACE(type);
  const std::vector<std::byte> theirs = published(folder / "checkpoint/model.nemo", type);
  imported_model m = import_gguf(gguf_file("theirs", theirs), {});
  EXPECT_TRUE(m.notes.empty()) << m.notes.front();
  add_tensors(m, {});
  std::vector<std::byte> image = m.file.bytes();
  gguf_file file("ours", image);
  opened_checkpoint direct = open_checkpoint(folder / "checkpoint/model.nemo");
  ASSERT_EQ(file.size(), direct.file.size());
  for (std::size_t i = 0; i < file.size(); ++i) {
    const weights::tensor_ref a = file.tensor(i);
    const auto b = direct.file.find(a.name);
    ASSERT_TRUE(b) << a.name;
    ASSERT_EQ(a.shape, b->shape) << a.name;
    ASSERT_EQ(a.format, b->format) << a.name;
    ASSERT_EQ(a.format, dtype::f32);
    const auto* x = reinterpret_cast<const float*>(a.bytes.data());
    const auto* y = reinterpret_cast<const float*>(b->bytes.data());
    for (std::size_t k = 0; k < a.bytes.size() / 4; ++k)
      // A batch norm is folded in floats there and in doubles here.
      ASSERT_NEAR(x[k], y[k], 2e-6f * std::max(1.0f, std::fabs(y[k]))) << a.name;
  }
  const Model one = load<Model>(std::move(file), {}, std::move(image));
  const Model two = load<Model>(std::move(direct.file));
  const auto pcm = test::load_wav(folder / "input.wav").pcm;
  context c;
  const segment a = one.recognise(pcm, {}, c), b = two.recognise(pcm, {}, c);
  EXPECT_EQ(a.token_ids, b.token_ids);
  EXPECT_EQ(a.text, b.text);
  EXPECT_FALSE(a.text.empty());
}

TEST(parakeet_gguf, becomes_the_same_model_as_the_nemo_file) {
  STENO_REQUIRE_SHARED(shared);
  expect_the_same<steno::nemo::parakeet_ctc_any>(shared / "golden/nemo/parakeet-ctc", "ctc");
  expect_the_same<steno::nemo::parakeet_transducer_any>(shared / "golden/nemo/parakeet-tdt", "tdt");
  expect_the_same<steno::nemo::parakeet_transducer_any>(shared / "golden/nemo/parakeet-eou", "eou");
  expect_the_same<steno::nemo::parakeet_transducer_any>(shared / "golden/nemo/parakeet-unified", "rnnt");
  expect_the_same<steno::nemo::parakeet_transducer_any>(shared / "golden/nemo/nemotron-3.5-streaming", "nemotron");
}

// Languages, what the attention may look ahead, and the windows of streams, whose sizes these files leave out.
TEST(parakeet_gguf, keeps_what_can_be_chosen) {
  STENO_REQUIRE_SHARED(shared);
  for (const auto& [name, type] : {std::pair("parakeet-unified", "rnnt"), {"nemotron-3.5-streaming", "nemotron"}}) {
    SCOPED_TRACE(name);
    const fs::path nemo = shared / "golden/nemo" / name / "checkpoint/model.nemo";
    const std::vector<std::byte> made_up = published(nemo, type);
    imported_model m = import_gguf(gguf_file("theirs", made_up), {});
    add_tensors(m, {});
    const std::vector<std::byte> image = m.file.bytes();
    const gguf_file theirs("ours", image);
    const opened_checkpoint direct = open_checkpoint(nemo);
    const std::string at = "parakeet_transducer.";
    EXPECT_EQ(theirs.has(at + "prompt.names"), direct.file.has(at + "prompt.names"));
    if (direct.file.has(at + "prompt.names")) {
      EXPECT_EQ(theirs.strings(at + "prompt.names"), direct.file.strings(at + "prompt.names"));
    }
    EXPECT_EQ(theirs.number("parakeet_transducer.prompt.usual"),
              direct.file.number("parakeet_transducer.prompt.usual"));
    for (const char* key : {"prompt.numbers", "encoder.window_left", "encoder.window_chunk", "encoder.window_right"}) {
      EXPECT_EQ(theirs.has(at + key), direct.file.has(at + key)) << key;
      if (direct.file.has(at + key)) {
        EXPECT_EQ(theirs.numbers(at + key), direct.file.numbers(at + key)) << key;
      }
    }
    const auto one = nemo::read_nemo_windows(theirs, "parakeet_transducer"),
               two = nemo::read_nemo_windows(direct.file, "parakeet_transducer");
    ASSERT_EQ(one.size(), two.size());
    for (const nn::attention_window& w : two)
      EXPECT_TRUE(std::any_of(one.begin(), one.end(), [&](const auto& o) {
        return o.chunk == w.chunk && o.left == w.left;
      })) << w.chunk;
    EXPECT_EQ(one.front().chunk, two.front().chunk);
  }
}

TEST(parakeet_gguf, what_is_missing_or_something_else_is_said) {
  const auto found = [](auto&& set) {
    imported_model m;
    m.file.set("general.architecture", std::string("parakeet-ctc"));
    set(m);
    add_tensors(m, {});
    const std::vector<std::byte> bytes = m.file.bytes();
    return test::refusal([&] { (void)import_gguf(gguf_file("x", bytes), {}); });
  };
  EXPECT_NE(found([](imported_model& m) {
              m.file.set("parakeet.model.type", std::string("canary"));
            }).find("ctc, tdt, eou, rnnt, nemotron or sortformer"),
            std::string::npos);
  EXPECT_NE(found([](imported_model&) {}).find("sample_rate"), std::string::npos);
}

}  // namespace parakeet_gguf_test
