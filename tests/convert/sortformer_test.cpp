// Sortformer: settings of a config, tensors of the published sizes, and GGUF files of another maker.
// SPDX-License-Identifier: Apache-2.0
#include "nemo/sortformer.hpp"
#include "convert.hpp"
#include "convert/published.hpp"
#include "gguf_import.hpp"
#include "package.hpp"
#include "support/golden.hpp"
#include "support/wav.hpp"

#include <steno/error.hpp>
#include <steno/models/sortformer.hpp>

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace sortformer_test {

namespace fs = std::filesystem;
using namespace steno;

std::string config(const std::string& modules = "", const std::string& transformer = "", const std::string& more = "") {
  return "target: nemo.collections.asr.models.sortformer_diar_models.SortformerEncLabelModel\n"
         "preprocessor:\n  features: 80\n"
         "encoder:\n  feat_in: 80\n  d_model: 16\n  n_heads: 2\n  n_layers: 1\n  subsampling: dw_striding\n"
         "  subsampling_conv_channels: 4\n  conv_kernel_size: 9\n"
         "sortformer_modules:\n  num_spks: 4\n  fc_d_model: 16\n  tf_d_model: 8\n" +
         modules +
         "transformer_encoder:\n  num_layers: 2\n  hidden_size: 8\n  inner_size: 12\n  num_attention_heads: 2\n" +
         transformer + more;
}
nemo_files::sortformer_settings settings(const std::string& text) {
  return nemo_files::read_sortformer_settings(read_yaml("model_config.yaml", text, "a NeMo config"));
}
std::string refusal(const std::string& text) {
  try {
    (void)settings(text);
  } catch (const error& e) {
    return e.what();
  }
  return "";
}

TEST(sortformer_config, defaults_are_the_originals) {
  const nemo_files::sortformer_settings s = settings(config());
  EXPECT_FALSE(s.streams);
  EXPECT_EQ(s.speakers, 4u);
  EXPECT_EQ(s.hidden, 8u);
  EXPECT_EQ(s.attention_heads, 2u);
  const nn::speaker_cache_options& o = s.streaming;
  EXPECT_EQ(o.spkcache_len, 188);
  EXPECT_EQ(o.fifo_len, 0);
  EXPECT_EQ(o.chunk_right_context, 1);
  EXPECT_EQ(o.strong_boost_rate, 0.75);
  const auto own = settings(config("  fifo_len: 40\n  min_pos_scores_rate: 0.7\n  sil_threshold: 0.5\n", "",
                                   "streaming_mode: true\nasync_streaming: true\n"));
  EXPECT_TRUE(own.streams && own.streaming.async_streaming);
  EXPECT_EQ(own.streaming.fifo_len, 40);
  EXPECT_EQ(own.streaming.min_pos_scores_rate, 0.7);  // as a double: whole numbers of rows are made of it
  EXPECT_EQ(own.streaming.sil_threshold, 0.5f);
}

TEST(sortformer_config, what_computes_something_else_is_refused) {
  EXPECT_EQ(refusal(config()), "");
  EXPECT_NE(refusal(config("", "  pre_ln: true\n")).find("pre_ln"), std::string::npos);
  EXPECT_NE(refusal(config("", "  hidden_act: gelu\n")).find("hidden_act"), std::string::npos);
  EXPECT_NE(refusal(config("", "  mask_future: true\n")).find("mask_future"), std::string::npos);
  EXPECT_NE(refusal(config("", "  num_attention_heads: 3\n")).find("num_attention_heads"), std::string::npos);
  EXPECT_NE(refusal(config("  subsampling_factor: 4\n")).find("subsampling_factor"), std::string::npos);
  EXPECT_NE(refusal(config("  spkcache_len: 10\n", "", "streaming_mode: true\n")).find("spkcache_len"),
            std::string::npos);
}

// Every tensor of the published sizes, by name and shape; one is never read.
TEST(sortformer_file, published_sizes) {
  STENO_REQUIRE_SHARED(shared);
  for (const char* name : {"diar_sortformer_4spk-v1", "diar_streaming_sortformer_4spk-v2"}) {
    SCOPED_TRACE(name);
    std::ifstream yaml(shared / "manifests/nemo-configs" / (std::string(name) + ".yaml"));
    std::stringstream text;
    text << yaml.rdbuf();
    const nemo_files::sortformer_settings s = settings(text.str());
    EXPECT_EQ(s.streams, std::string(name).find("streaming") != std::string::npos);
    EXPECT_EQ(s.streaming.chunk_len, 188);
    imported_model model;
    nemo_files::set_sortformer_keys(model.file, s);
    checkpoint_tensors from = test::published(shared, "nemo-" + std::string(name));
    from.named = nemo_files::nemo_name;
    from.ignored = {"preprocessor", ".num_batches_tracked", ".hidden_to_spks"};
    nemo_files::promise_encoder(from, s);
    nemo_files::promise_transformer(from, s);
    EXPECT_NO_THROW(take_tensors(model, std::move(from)));
    std::size_t longest = 0;
    for (const imported_tensor& t : model.tensors) longest = std::max(longest, t.name.size());
    EXPECT_LE(longest, 63u);
  }
}

// The file that qvac-parakeet.cpp's converter would make of a packaged one, by its documented names.
std::vector<std::byte> published(gguf_file& packaged) {
  imported_model m;
  const auto number = [&](const char* theirs, const char* ours) {
    m.file.set(std::string("parakeet.") + theirs,
               static_cast<std::uint32_t>(packaged.number(std::string("sortformer.") + ours).value()));
  };
  const auto rows = [&](const char* tensor) {
    return static_cast<std::uint32_t>(packaged.find(tensor).value().rows());
  };
  m.file.set("general.architecture", std::string("parakeet-ctc"));
  m.file.set("parakeet.model.type", std::string("sortformer"));
  number("preproc.sample_rate", "frontend.sample_rate");
  number("preproc.n_mels", "frontend.n_mels");
  number("preproc.n_fft", "frontend.fft_size");
  number("preproc.win_length", "frontend.window");
  number("preproc.hop_length", "frontend.shift");
  m.file.set("parakeet.preproc.normalize",
             std::string(packaged.number("sortformer.frontend.per_feature").value() != 0 ? "per_feature" : "NA"));
  number("encoder.n_heads", "encoder.n_heads");
  m.file.set("parakeet.encoder.xscaling", packaged.number("sortformer.encoder.xscaling").value() != 0);
  m.file.set("parakeet.encoder.subsampling_factor", std::uint32_t{8});
  m.file.set("parakeet.encoder.d_model", rows("encoder.pre_encode.out.weight"));
  m.file.set("parakeet.encoder.ff_dim", rows("encoder.layers.0.feed_forward1.linear1.weight"));
  m.file.set("parakeet.encoder.conv_kernel", rows("encoder.layers.0.conv.depthwise_conv.weight"));
  m.file.set("parakeet.encoder.subsampling_conv_channels", rows("encoder.pre_encode.conv.0.weight"));
  const auto count = [&](const std::string& before, const std::string& behind) {
    std::uint32_t n = 0;
    while (packaged.find(before + std::to_string(n) + behind)) ++n;
    return n;
  };
  m.file.set("parakeet.encoder.n_layers", count("encoder.layers.", ".norm_out.weight"));
  m.file.set("parakeet.sortformer.tf_n_layers", count("transformer_encoder.", ".layer_norm_1.weight"));
  m.file.set("parakeet.sortformer.num_spks", rows("sortformer_modules.single_hidden_to_spks.weight"));
  m.file.set("parakeet.sortformer.fc_d_model", rows("encoder.pre_encode.out.weight"));
  m.file.set("parakeet.sortformer.tf_d_model", rows("sortformer_modules.encoder_proj.weight"));
  m.file.set("parakeet.sortformer.tf_inner_size", rows("transformer_encoder.0.second_sub_layer.dense_in.weight"));
  number("sortformer.tf_n_heads", "transformer_encoder.attention_heads");
  const std::pair<std::string_view, std::string_view> renamed[] = {
      {"encoder.pre_encode.conv.0", "encoder.subsampling.conv0"},
      {"encoder.pre_encode.conv.2", "encoder.subsampling.conv1_dw"},
      {"encoder.pre_encode.conv.3", "encoder.subsampling.conv1_pw"},
      {"encoder.pre_encode.conv.5", "encoder.subsampling.conv2_dw"},
      {"encoder.pre_encode.conv.6", "encoder.subsampling.conv2_pw"},
      {"encoder.pre_encode.out", "encoder.subsampling.out"},
      {"encoder.layers.", "encoder.blk."},
      {"norm_feed_forward1", "norm_ff1"},
      {"norm_self_att", "norm_attn"},
      {"norm_feed_forward2", "norm_ff2"},
      {".feed_forward1", ".ff1"},
      {".feed_forward2", ".ff2"},
      {"self_attn.linear_", "attn."},
      {"self_attn.", "attn."},
      {"pointwise_conv1", "pw1"},
      {"pointwise_conv2", "pw2"},
      {"depthwise_conv", "dw"},
      {"sortformer_modules.encoder_proj", "sortformer.encoder_proj"},
      {"sortformer_modules.", "sortformer.head."},
      {"transformer_encoder.", "sortformer.transformer.blk."},
      {"first_sub_layer.query_net", "attn.q"},
      {"first_sub_layer.key_net", "attn.k"},
      {"first_sub_layer.value_net", "attn.v"},
      {"first_sub_layer.out_projection", "attn.out"},
      {"second_sub_layer.dense_", "ffn."},
      {"layer_norm_", "ln"}};
  for (std::size_t i = 0; i < packaged.size(); ++i) {
    const stored_tensor stored = take_tensor(packaged, i);
    imported_tensor out{.name = stored.name, .shape = stored.shape, .read = stored.read};
    std::vector<float> values(out.count());
    out.read(values);
    const std::string ours = out.name;
    // Taps stand channel by channel there, and the linear behind the subsampling expects channels before bands.
    if (ours.ends_with("depthwise_conv.weight") || ours.ends_with("conv.2.weight") || ours.ends_with("conv.5.weight")) {
      const auto k = static_cast<std::size_t>(out.shape[0]), d = static_cast<std::size_t>(out.shape[1]);
      std::vector<float> turned(values.size());
      for (std::size_t a = 0; a < k; ++a)
        for (std::size_t b = 0; b < d; ++b) turned[b * k + a] = values[a * d + b];
      values = turned;
      std::swap(out.shape[0], out.shape[1]);
    } else if (ours == "encoder.pre_encode.out.weight") {
      const auto n = static_cast<std::size_t>(out.shape[0]), c = std::size_t{rows("encoder.pre_encode.conv.0.weight")},
                 bands = static_cast<std::size_t>(out.shape[1]) / c;
      std::vector<float> turned(values.size());
      for (std::size_t r = 0; r < n; ++r)
        for (std::size_t b = 0; b < bands; ++b)
          for (std::size_t x = 0; x < c; ++x) turned[(r * c + x) * bands + b] = values[(r * bands + b) * c + x];
      values = turned;
    }
    for (const auto& [from, to] : renamed)
      if (const std::size_t at = out.name.find(from); at != std::string::npos) out.name.replace(at, from.size(), to);
    if (ours.ends_with("depthwise_conv.bias")) {  // what was folded stands beside it there
      for (const char* end : {"bn.scale", "bn.shift"}) {
        imported_tensor norm;
        norm.name = out.name.substr(0, out.name.find("dw.bias")) + end;
        norm.shape = out.shape;
        norm.read = [one = std::string(end) == "bn.scale"](std::span<float> y) {
          std::fill(y.begin(), y.end(), one ? 1.0f : 0.0f);
        };
        m.tensors.push_back(std::move(norm));
      }
    }
    out.bytes = {};
    out.stored = dtype::f32;
    out.read = [values](std::span<float> y) { std::copy(values.begin(), values.end(), y.begin()); };
    m.tensors.push_back(std::move(out));
  }
  add_tensors(m, {});
  return m.file.bytes();
}

TEST(sortformer_gguf, becomes_the_same_model_as_the_packaged_file) {
  gguf_file ours((test::compact() / "sortformer" / "model.gguf").string());
  const std::vector<std::byte> theirs = published(ours);
  imported_model m = import_gguf(gguf_file("theirs", theirs), {});
  add_tensors(m, {});
  const std::vector<std::byte> image = m.file.bytes();
  const gguf_file again("again", image);
  ASSERT_EQ(again.size(), ours.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const weights::tensor_ref a = ours.tensor(i);
    const auto b = again.find(a.name);
    ASSERT_TRUE(b) << a.name;
    ASSERT_EQ(a.shape, b->shape) << a.name;
    EXPECT_TRUE(std::equal(a.bytes.begin(), a.bytes.end(), b->bytes.begin(), b->bytes.end())) << a.name;
  }
  for (const weights::gguf_value& v : ours.values()) {
    if (!v.key.starts_with("sortformer.") || v.key.starts_with("sortformer.streaming.")) continue;
    EXPECT_EQ(again.number(v.key), ours.number(v.key)) << v.key;
  }
  EXPECT_EQ(again.number("sortformer.streaming.spkcache_len"), 188);  // they do not say, so it is NeMo's
}

}  // namespace sortformer_test
