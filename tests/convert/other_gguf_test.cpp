// GGUF files of CrispASR and transcribe.cpp: each gives the model that the .nemo file gives, and what is missing or
// something else is named. The files are written here from .nemo files, by the two programs' names and keys.
// SPDX-License-Identifier: Apache-2.0
#include "convert.hpp"
#include "gguf_import.hpp"
#include "nemo/parakeet.hpp"
#include "nemo/sortformer.hpp"
#include "package.hpp"
#include "support/golden.hpp"
#include "support/refusal.hpp"

#include <steno/models/parakeet_ctc.hpp>
#include <steno/models/parakeet_transducer.hpp>
#include <steno/models/sortformer.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>

namespace other_gguf_test {

namespace fs = std::filesystem;
using namespace steno;

using parts = std::vector<std::pair<std::string, std::string>>;

std::string renamed(std::string name, const parts& all) {
  for (const auto& [from, to] : all)
    if (const std::size_t i = name.find(from); i != std::string::npos) name.replace(i, from.size(), to);
  return name;
}

const parts crispasr_encoder = {{"encoder.pre_encode", "encoder.pre"},
                                {"norm_feed_forward", "norm_ff"},
                                {".feed_forward", ".ff"},
                                {"norm_self_att", "norm_attn"},
                                {"self_attn.linear_", "attn."},
                                {"self_attn.pos_", "attn.pos_"},
                                {"pointwise_conv", "pw"},
                                {"depthwise_conv", "dw"},
                                {"batch_norm", "bn"},
                                {"prediction.embed", "embed"},
                                {"prediction.dec_rnn.lstm", "lstm"},
                                {"joint_net.2", "out"},
                                {"preprocessor.featurizer", "preprocessor"}};
const parts transcribe_all = {{"encoder.pre_encode", "enc.pre_encode"},
                              {"transformer_encoder.layers", "tf.blocks"},
                              {"encoder.layers", "enc.blocks"},
                              {"norm_feed_forward", "norm_ff"},
                              {".feed_forward", ".ff"},
                              {"norm_self_att", "norm_attn"},
                              {"self_attn", "attn"},
                              {"pointwise_conv", "pointwise"},
                              {"depthwise_conv", "depthwise"},
                              {"batch_norm", "bn"},
                              {"decoder.prediction.embed", "pred.embed"},
                              {"joint_net.2", "out"},
                              {"decoder.decoder_layers.0", "head.ctc"},
                              {"prompt_kernel", "prompt.mlp"},
                              {"layer_norm_", "norm_"},
                              {"first_sub_layer.query_net", "attn.q"},
                              {"first_sub_layer.key_net", "attn.k"},
                              {"first_sub_layer.value_net", "attn.v"},
                              {"first_sub_layer.out_projection", "attn.out"},
                              {"second_sub_layer.dense_", "ff."},
                              {"sortformer_modules.encoder_proj", "diar.encoder_proj"},
                              {"sortformer_modules.first_hidden_to_hidden", "diar.fc1"},
                              {"sortformer_modules.hidden_to_spks", "diar.spk_head"},
                              {"sortformer_modules.single_hidden_to_spks", "diar.single_spk_head"}};

struct written {
  std::shared_ptr<nemo_files::nemo_archive> archive;
  imported_model m;

  void add(const std::string& name, std::vector<extent> shape, std::vector<float> values) {
    m.tensors.push_back({.name = name, .shape = std::move(shape), .read = [values](std::span<float> y) {
                           std::copy(values.begin(), values.end(), y.begin());
                         }});
  }
  std::vector<float> read(const std::string& name) const {
    const auto* e = archive->weights().find(name);
    std::vector<float> v(e->count);
    archive->weights().read(*e, v);
    return v;
  }
  std::vector<std::byte> bytes() {
    add_tensors(m, {});
    return m.file.bytes();
  }
};

template <class T>
void number(written& w, const std::string& key, T value) {
  w.m.file.set(key, value);
}
void u32(written& w, const std::string& key, extent value) { number(w, key, static_cast<std::uint32_t>(value)); }

std::vector<std::byte> crispasr(const fs::path& nemo, const std::function<void(written&)>& more = {}) {
  written w{std::make_shared<nemo_files::nemo_archive>(nemo), {}};
  const auto s = nemo_files::read_parakeet_settings(w.archive->config);
  const opened_checkpoint ours = open_checkpoint(nemo);
  const auto tokens = ours.file.strings("tokenizer.ggml.tokens");
  const frontends::nemo_mel_options& mel = s.frontend.mel;
  const bool nemotron = s.prompts.count > 0;
  const std::string at = nemotron ? "nemotron." : "parakeet.";
  w.m.file.set("general.architecture", nemotron ? "nemotron" : "parakeet");
  w.m.file.set("tokenizer.ggml.tokens", tokens);
  for (const auto& [key, value] : std::map<std::string, extent>{{"sample_rate", 16000},
                                                                {"n_mels", mel.mels},
                                                                {"n_fft", mel.fft_size},
                                                                {"win_length", mel.window},
                                                                {"hop_length", mel.shift},
                                                                {"d_model", s.width},
                                                                {"n_layers", s.blocks},
                                                                {"n_heads", s.heads},
                                                                {"head_dim", s.width / s.heads},
                                                                {"ff_dim", s.units},
                                                                {"subsampling_factor", 8},
                                                                {"subsampling_channels", s.channels},
                                                                {"conv_kernel", s.taps},
                                                                {"pred_hidden", s.predictor},
                                                                {"pred_layers", s.predictor_layers},
                                                                {"joint_hidden", s.joint},
                                                                {"vocab_size", static_cast<extent>(tokens.size())},
                                                                {"blank_id", static_cast<extent>(tokens.size())},
                                                                {"n_tdt_durations", std::ssize(s.durations)},
                                                                {"frame_dur_cs", 8}})
    u32(w, at + key, value);
  number(w, at + "xscaling", s.xscaling);
  if (nemotron) {
    number(w, at + "causal_downsampling", s.causal_downsampling);
    w.m.file.set(at + "conv_norm_type", s.layer_norm ? "layer_norm" : "batch_norm");
    w.m.file.set(at + "att_context_style", "chunked_limited");
    std::vector<std::int32_t> lefts, rights;
    for (std::size_t i = 0; i < s.contexts.size(); ++i) (i % 2 == 0 ? lefts : rights).push_back(s.contexts[i]);
    u32(w, at + "n_att_context_presets", std::ssize(lefts));
    w.m.file.set(at + "att_context_left", lefts);
    w.m.file.set(at + "att_context_right", rights);
    u32(w, at + "num_prompts", s.prompts.count);
    u32(w, at + "prompt_kernel_in", s.width + s.prompts.count);
    u32(w, at + "prompt_kernel_mid", 2 * s.width);
    std::map<std::string, std::int32_t> sorted;
    for (std::size_t i = 0; i < s.prompts.languages.names.size(); ++i)
      sorted[s.prompts.languages.names[i]] = s.prompts.languages.numbers[i];
    std::vector<std::string> names;
    std::vector<std::int32_t> numbers;
    for (const auto& [name, prompt] : sorted) {
      names.push_back(name);
      numbers.push_back(prompt);
    }
    w.m.file.set(at + "prompt_langs", names);
    w.m.file.set(at + "prompt_ids", numbers);
  } else {
    number(w, at + "has_ctc", s.hybrid);
    number(w, at + "att_context_left", s.left);
    number(w, at + "att_context_right", s.right);
  }
  if (!s.durations.empty()) w.m.file.set(at + "tdt_durations", s.durations);
  if (more) more(w);
  for (const auto& e : w.archive->weights().tensors()) {
    if (e.name.ends_with("num_batches_tracked")) continue;
    std::string name = renamed(e.name, crispasr_encoder);
    if (const std::size_t i = name.find(".conv.bn."); nemotron && i != std::string::npos)
      name.replace(i, 9, ".conv.ln.");
    if (const std::size_t l = name.find("lstm."); l != std::string::npos) {  // lstm.weight_ih_l0 -> lstm.0.w_ih
      const std::size_t layer = name.rfind("_l");
      const std::string part = name.substr(l + 5, layer - l - 5);
      name =
          name.substr(0, l + 5) + name.substr(layer + 2) + (part[0] == 'w' ? ".w" : ".b") + part.substr(part.find('_'));
    }
    w.add(name, {e.shape.begin(), e.shape.end()}, w.read(e.name));
    if (!s.bias && name.ends_with("conv.dw.weight"))
      w.add(name.substr(0, name.size() - 6) + "bias", {s.width}, std::vector<float>(s.width));
  }
  return w.bytes();
}

void transcribe_encoder(written& w, const std::string& at, const nemo_files::fastconformer_settings& s) {
  const frontends::nemo_mel_options& mel = s.frontend.mel;
  const std::string e = at + "encoder.", f = "stt.frontend.";
  for (const auto& [key, value] : std::map<std::string, extent>{{e + "d_model", s.width},
                                                                {e + "n_layers", s.blocks},
                                                                {e + "n_heads", s.heads},
                                                                {e + "d_ff", s.units},
                                                                {e + "conv_kernel", s.taps},
                                                                {e + "subsampling_factor", 8},
                                                                {e + "subsampling_channels", s.channels},
                                                                {e + "pos_emb_max_len", 5000},
                                                                {f + "num_mels", mel.mels},
                                                                {f + "sample_rate", 16000},
                                                                {f + "n_fft", mel.fft_size},
                                                                {f + "win_length", mel.window},
                                                                {f + "hop_length", mel.shift}})
    u32(w, key, value);
  w.m.file.set(f + "type", "mel");
  w.m.file.set(f + "window", "hann");
  w.m.file.set(f + "normalize", s.frontend.normalise == frontends::normalisation::none ? "NA" : "per_feature");
  number(w, f + "dither", 0.0f);
  number(w, f + "pre_emphasis", 0.97f);
  number(w, f + "f_min", 0.0f);
  number(w, f + "f_max", 8000.0f);
  w.m.file.set(e + "conv_norm_type", s.layer_norm ? "layer_norm" : "batch_norm");
}

void transcribe_tensors(written& w) {
  for (const auto& e : w.archive->weights().tensors()) {
    if (e.name.ends_with("num_batches_tracked") || e.name.starts_with("preprocessor")) continue;
    std::string name = renamed(e.name, transcribe_all);
    if (const std::size_t l = name.find("lstm."); l != std::string::npos) {
      const std::string layer = name.substr(name.rfind("_l") + 2), part = name.substr(l + 5, name.rfind("_l") - l - 5);
      if (part == "bias_hh") continue;
      name = "pred.lstm." + layer + (part == "weight_ih" ? ".Wx" : part == "weight_hh" ? ".Wh" : ".bias");
      if (part == "bias_ih") {
        std::vector<float> sum = w.read(e.name);
        const std::vector<float> more = w.read(e.name.substr(0, e.name.size() - layer.size() - 4) + "hh_l" + layer);
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += more[i];
        w.add(name, {static_cast<extent>(sum.size())}, sum);
        continue;
      }
    }
    w.add(name, {e.shape.begin(), e.shape.end()}, w.read(e.name));
  }
}

std::vector<std::byte> transcribe(const fs::path& nemo, const std::function<void(written&)>& more = {}) {
  written w{std::make_shared<nemo_files::nemo_archive>(nemo), {}};
  const auto s = nemo_files::read_parakeet_settings(w.archive->config);
  const opened_checkpoint ours = open_checkpoint(nemo);
  std::vector<std::string> tokens = ours.file.strings("tokenizer.ggml.tokens");
  std::vector<float> scores;
  for (const double v : ours.file.numbers("tokenizer.ggml.scores")) scores.push_back(static_cast<float>(v));
  std::vector<std::int32_t> types;
  for (const double v : ours.file.numbers("tokenizer.ggml.token_type")) types.push_back(static_cast<std::int32_t>(v));
  tokens.push_back("<blank>");
  scores.push_back(0);
  types.push_back(3);
  const std::string at = "stt.parakeet.";
  w.m.file.set("general.architecture", "parakeet");
  w.m.file.set("stt.variant", "made up");
  w.m.file.set("stt.capability.streaming", false);
  w.m.file.set("tokenizer.ggml.model", "bpe");
  w.m.file.set("tokenizer.ggml.tokens", tokens);
  w.m.file.set("tokenizer.ggml.scores", scores);
  w.m.file.set("tokenizer.ggml.token_type", types);
  u32(w, "tokenizer.ggml.blank_token_id", std::ssize(tokens) - 1);
  transcribe_encoder(w, at, s);
  number(w, at + "encoder.use_bias", s.bias);
  number(w, at + "encoder.xscaling", s.xscaling);
  number(w, at + "encoder.att_context_left", s.left);
  number(w, at + "encoder.att_context_right", s.right);
  w.m.file.set(at + "encoder.att_context_style", !s.windows.empty() ? "chunked_limited_with_rc"
                                                 : s.chunked        ? "chunked_limited"
                                                                    : "regular");
  if (!s.windows.empty()) {
    const auto rows = [&](const char* key, const std::vector<int>& sizes) {
      w.m.file.set(at + "encoder.att_chunk_" + key + "_choices", std::vector<std::int32_t>(sizes.begin(), sizes.end()));
    };
    rows("left", s.windows.left);
    rows("chunk", s.windows.chunk);
    rows("right", s.windows.right);
  }
  if (!s.contexts.empty()) {
    std::vector<std::int32_t> turned;  // in another order, the usual one is not the first
    for (std::size_t i = 0; i < s.contexts.size(); i += 2)
      turned.insert(turned.begin(), {s.contexts[i], s.contexts[i + 1]});
    w.m.file.set(at + "encoder.att_context_size_choices", turned);
    number(w, at + "encoder.streaming.pre_encode_cache_size", std::int32_t{9});
  }
  if (s.prompts.count > 0) {
    u32(w, at + "prompt.num_prompts", s.prompts.count);
    u32(w, at + "prompt.hidden", 2 * s.width);
    w.m.file.set(at + "prompt.field", "target_lang");
    w.m.file.set(at + "prompt.activation", "relu");
    w.m.file.set(at + "prompt.dictionary.locales", s.prompts.languages.names);
    w.m.file.set(at + "prompt.dictionary.indices",
                 std::vector<std::int32_t>(s.prompts.languages.numbers.begin(), s.prompts.languages.numbers.end()));
    u32(w, at + "prompt.auto_id", s.prompts.languages.usual);
  }
  const auto before = static_cast<std::int32_t>(s.taps) - 1;
  number(w, at + "encoder.conv_context_left", s.causal ? before : before / 2);
  number(w, at + "encoder.conv_context_right", s.causal ? 0 : before / 2);
  w.m.file.set(at + "head_kind", !s.transducer ? "ctc" : s.durations.empty() ? "rnnt" : "tdt");
  if (s.transducer) {
    u32(w, at + "predictor.hidden", s.predictor);
    u32(w, at + "predictor.n_layers", s.predictor_layers);
    u32(w, at + "predictor.vocab", std::ssize(tokens));
    u32(w, at + "joint.hidden", s.joint);
    u32(w, at + "joint.num_extra_outputs", std::ssize(s.durations));
    w.m.file.set(at + "joint.activation", "relu");
    u32(w, at + "tdt.max_symbols", s.max_symbols);
    if (!s.durations.empty()) w.m.file.set(at + "tdt.durations", s.durations);
  }
  if (more) more(w);
  transcribe_tensors(w);
  return w.bytes();
}

std::vector<std::byte> transcribe_sortformer(const fs::path& nemo) {
  written w{std::make_shared<nemo_files::nemo_archive>(nemo), {}};
  const auto s = nemo_files::read_sortformer_settings(w.archive->config);
  const std::string at = "stt.sortformer.";
  w.m.file.set("general.architecture", "sortformer");
  w.m.file.set("stt.variant", "made up");
  transcribe_encoder(w, at, s);
  for (const auto& [key, value] :
       std::map<std::string, extent>{{"max_speakers", s.speakers},
                                     {"frame_hop", 1280},
                                     {"encoder.feat_in", s.frontend.mel.mels},
                                     {"transformer.n_layers", s.layers},
                                     {"transformer.d_model", s.hidden},
                                     {"transformer.n_heads", s.attention_heads},
                                     {"transformer.d_ff", s.inner},
                                     {"stream.chunk_len", s.streaming.chunk_len},
                                     {"stream.spkcache_len", s.streaming.spkcache_len},
                                     {"stream.fifo_len", s.streaming.fifo_len},
                                     {"stream.spkcache_update_period", s.streaming.spkcache_update_period}})
    u32(w, at + key, value);
  w.m.file.set(at + "transformer.activation", "relu");
  if (!s.xscaling) number(w, at + "encoder.xscaling", false);
  number(w, at + "transformer.pre_ln", false);
  transcribe_tensors(w);
  return w.bytes();
}

std::vector<float> values_of(const gguf_file& file, const std::string& name) {
  const weights::tensor_ref t = file.find(name).value();
  EXPECT_EQ(t.format, dtype::f32);
  std::vector<float> v(t.bytes.size() / 4);
  std::copy(t.bytes.begin(), t.bytes.end(), std::as_writable_bytes(std::span(v)).begin());
  return v;
}

// The packaged file that theirs becomes, held against that of the .nemo file.
std::vector<std::byte> expect_the_same(const fs::path& nemo, const std::vector<std::byte>& theirs) {
  imported_model m = import_gguf(gguf_file("theirs", theirs), {});
  EXPECT_TRUE(m.notes.empty()) << m.notes.front();
  add_tensors(m, {});
  std::vector<std::byte> image = m.file.bytes();
  const gguf_file one("ours", image);
  const opened_checkpoint two = open_checkpoint(nemo);
  EXPECT_EQ(one.size(), two.file.size());
  for (std::size_t i = 0; i < two.file.size(); ++i) {
    const std::string name(two.file.tensor(i).name);
    EXPECT_TRUE(one.find(name).has_value()) << name;
    if (!one.find(name)) continue;
    std::vector<float> a = values_of(one, name), b = values_of(two.file, name);
    const std::size_t bias = name.find(".bias_ih_l");
    if (name.find(".bias_hh_l") != std::string::npos) continue;
    if (bias != std::string::npos) {  // the sum of both counts
      std::string other = name;
      other.replace(bias, 8, ".bias_hh");
      const auto x = values_of(one, other), y = values_of(two.file, other);
      for (std::size_t k = 0; k < a.size(); ++k) {
        a[k] += x[k];
        b[k] += y[k];
      }
    }
    EXPECT_EQ(a, b) << name;
  }
  for (const weights::gguf_value& v : two.file.values()) {
    if (v.key.starts_with("general.") || v.key.starts_with("tokenizer.ggml.scores") ||
        v.key.find("spkcache_sil_frames") != std::string_view::npos || v.is_array() || v.text())
      continue;
    if (v.key.starts_with("sortformer.streaming.")) continue;
    EXPECT_EQ(one.number(v.key), two.file.number(v.key)) << v.key;
  }
  if (two.file.has("tokenizer.ggml.tokens")) {
    EXPECT_EQ(one.strings("tokenizer.ggml.tokens"), two.file.strings("tokenizer.ggml.tokens"));
  }
  return image;
}

fs::path nemo_of(const char* name) { return test::compact() / "other_sizes" / name / "checkpoint/model.nemo"; }

TEST(other_gguf, crispasr_becomes_the_model_of_the_nemo_file) {
  for (const char* name : {"parakeet_tdt", "parakeet_rnnt"}) {
    SCOPED_TRACE(name);
    std::vector<std::byte> image = expect_the_same(nemo_of(name), crispasr(nemo_of(name)));
    gguf_file file("x", image);
    EXPECT_NO_THROW((void)load<nemo::parakeet_transducer_any>(std::move(file), {}, std::move(image)));
  }
}

TEST(other_gguf, transcribe_becomes_the_model_of_the_nemo_file) {
  for (const char* name : {"parakeet_ctc", "parakeet_tdt", "parakeet_rnnt", "parakeet_eou"}) {
    SCOPED_TRACE(name);
    const std::vector<std::byte> image = expect_the_same(nemo_of(name), transcribe(nemo_of(name)));
    // Types of pieces are those of the file; <EOU> and <EOB> are labels of their own in each.
    const gguf_file one("x", image);
    const opened_checkpoint two = open_checkpoint(nemo_of(name));
    EXPECT_EQ(one.numbers("tokenizer.ggml.token_type"), two.file.numbers("tokenizer.ggml.token_type"));
  }
  (void)expect_the_same(nemo_of("sortformer"), transcribe_sortformer(nemo_of("sortformer")));
}

TEST(other_gguf, nemotron_and_unified_keep_what_can_be_chosen) {
  STENO_REQUIRE_SHARED(shared);
  const auto expect_choices = [&](const char* name, auto&& write) {
    SCOPED_TRACE(name);
    const fs::path nemo = shared / "golden/nemo" / name / "checkpoint/model.nemo";
    std::vector<std::byte> image = expect_the_same(nemo, write(nemo));
    gguf_file file("x", image);
    const auto one = load<nemo::parakeet_transducer_any>(std::move(file), {}, std::move(image));
    opened_checkpoint opened = open_checkpoint(nemo);
    const auto two = load<nemo::parakeet_transducer_any>(std::move(opened.file));
    ASSERT_EQ(one.windows.size(), two.windows.size());
    EXPECT_EQ(one.window.chunk, two.window.chunk);
    for (const nn::attention_window& w : two.windows)
      EXPECT_EQ(one.window_for(static_cast<int>(nemo::look_ahead_of(w))).left, w.left);
    EXPECT_EQ(one.stream_windows.chunk, two.stream_windows.chunk);
    EXPECT_EQ(one.stream_windows.right, two.stream_windows.right);
    EXPECT_EQ(one.prompts.names.size(), two.prompts.names.size());
    EXPECT_EQ(one.prompts.usual, two.prompts.usual);
    for (const std::string& language : two.prompts.names)
      EXPECT_EQ(one.prompts.find(language), two.prompts.find(language)) << language;
  };
  expect_choices("nemotron-3.5-streaming", [](const fs::path& nemo) { return crispasr(nemo); });
  expect_choices("nemotron-3.5-streaming", [](const fs::path& nemo) { return transcribe(nemo); });
  expect_choices("parakeet-unified", [](const fs::path& nemo) { return transcribe(nemo); });
}

TEST(other_gguf, transcribe_keeps_the_lengths_of_streams) {
  STENO_REQUIRE_SHARED(shared);
  const fs::path nemo = shared / "golden/nemo/sortformer-streaming-v2/checkpoint/model.nemo";
  const std::vector<std::byte> image = expect_the_same(nemo, transcribe_sortformer(nemo));
  const gguf_file one("x", image);
  const opened_checkpoint two = open_checkpoint(nemo);
  EXPECT_EQ(one.number("sortformer.streaming_mode"), 1);
  for (const char* key : {"chunk_len", "spkcache_len", "fifo_len", "spkcache_update_period"})
    EXPECT_EQ(one.number(std::string("sortformer.streaming.") + key),
              two.file.number(std::string("sortformer.streaming.") + key));
}

TEST(other_gguf, what_is_missing_or_something_else_is_named) {
  const fs::path nemo = nemo_of("parakeet_tdt");
  const auto refused = [](const std::vector<std::byte>& bytes) {
    return test::refusal([&] { (void)import_gguf(gguf_file("x", bytes), {}); });
  };
  EXPECT_NE(refused(crispasr(nemo, [](written& w) { number(w, "parakeet.gain", 2.0f); })).find("parakeet.gain"),
            std::string::npos);
  EXPECT_NE(refused(crispasr(nemo, [](written& w) { u32(w, "parakeet.global_tokens", 1); })).find("global_tokens"),
            std::string::npos);
  EXPECT_NE(
      refused(transcribe(nemo, [](written& w) { number(w, "stt.parakeet.gain", 2.0f); })).find("stt.parakeet.gain"),
      std::string::npos);
  EXPECT_NE(refused(transcribe(nemo, [](written& w) { u32(w, "stt.parakeet.prompt.num_prompts", 4); })).find("prompt"),
            std::string::npos);
  imported_model m;
  m.file.set("general.architecture", "parakeet");
  EXPECT_NE(refused(m.file.bytes()).find("CrispASR"), std::string::npos);
  m.file.set("parakeet.d_model", std::uint32_t{8});
  EXPECT_NE(refused(m.file.bytes()).find("parakeet.n_mels"), std::string::npos);
  imported_model n;
  n.file.set("general.architecture", "sortformer");
  EXPECT_NE(refused(n.file.bytes()).find("stt.variant"), std::string::npos);
}

}  // namespace other_gguf_test
