// Fun-ASR-Nano from two GGUF files: the golden case's audio half, and a Qwen3 made of the small Qwen3-ASR.
// SPDX-License-Identifier: Apache-2.0
#include <steno/weights/gguf.hpp>
#include <steno/weights/gguf_writer.hpp>

#include "convert/convert.hpp"
#include "convert/fixtures.hpp"
#include "support/golden.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace nano_gguf_test {

namespace fs = std::filesystem;
using namespace steno;

gguf_file packed(const fs::path& from, const fs::path& beside) {
  const fs::path to = beside.parent_path() / test::new_name(beside.filename().string());
  convert(from, to, {.type = dtype::f32});
  return gguf_file(to.string());
}

std::vector<std::string> packed_notes(const fs::path& folder) {
  return import_checkpoint(folder / "encoder.gguf").notes;
}

void add(weights::gguf_writer& out, const std::string& name, const weights::tensor_ref& t) {
  out.add(name, t.format, std::span<const extent>(t.shape.data(), static_cast<std::size_t>(t.rank)), t.bytes);
}

// The names llama.cpp gives them.
std::string llama_name(std::string name) {
  if (name == "model.embed_tokens.weight") return "token_embd.weight";
  if (name == "model.norm.weight") return "output_norm.weight";
  const std::pair<const char*, const char*> parts[] = {{"model.layers.", "blk."},
                                                       {"input_layernorm", "attn_norm"},
                                                       {"post_attention_layernorm", "ffn_norm"},
                                                       {"self_attn.q_proj", "attn_q"},
                                                       {"self_attn.k_proj", "attn_k"},
                                                       {"self_attn.v_proj", "attn_v"},
                                                       {"self_attn.o_proj", "attn_output"},
                                                       {"self_attn.q_norm", "attn_q_norm"},
                                                       {"self_attn.k_norm", "attn_k_norm"},
                                                       {"mlp.gate_proj", "ffn_gate"},
                                                       {"mlp.up_proj", "ffn_up"},
                                                       {"mlp.down_proj", "ffn_down"}};
  for (const auto& [from, to] : parts)
    if (const std::size_t at = name.find(from); at != std::string::npos) name.replace(at, std::strlen(from), to);
  return name;
}

TEST(nano_gguf, two_files_become_one) {
  STENO_REQUIRE_SHARED(shared);
  const test::temporary_directory scratch;
  const gguf_file nano = packed(shared / "golden/funasr/nano/checkpoint", scratch.path() / "nano.packed");
  const gguf_file qwen = packed(shared / "golden/qwen3_asr/qwen3-asr-0.6b/checkpoint", scratch.path() / "qwen.packed");

  weights::gguf_writer audio;
  audio.set("general.architecture", "funasr-sensevoice-encoder");
  const auto number = [&](weights::gguf_writer& w, const char* key, std::uint32_t value) { w.set(key, value); };
  number(audio, "funasr.enc.output_size", 32);
  number(audio, "funasr.enc.attention_heads", 4);
  number(audio, "funasr.enc.kernel_size", 11);
  number(audio, "funasr.enc.sanm_shfit", 0);
  number(audio, "funasr.adp.attention_heads", 8);
  number(audio, "funasr.adp.downsample_rate", 1);
  number(audio, "funasr.frontend.n_mels", 80);
  number(audio, "funasr.frontend.lfr_m", 7);
  number(audio, "funasr.frontend.lfr_n", 6);
  number(audio, "funasr.enc.input_size", 560);
  number(audio, "funasr.enc.linear_units", 64);
  number(audio, "funasr.enc.num_blocks", 3);
  number(audio, "funasr.enc.tp_blocks", 2);
  number(audio, "funasr.adp.llm_dim", 64);
  number(audio, "funasr.adp.encoder_dim", 32);
  number(audio, "funasr.adp.ffn_dim", 96);
  number(audio, "funasr.adp.n_layer", 2);
  std::size_t count = 0;
  for (std::size_t i = 0; i < nano.size(); ++i) {
    const weights::tensor_ref t = nano.tensor(i);
    if (!t.name.starts_with("audio_")) continue;
    add(audio, std::string(t.name), t);
    ++count;
  }
  audio.write((scratch.path() / "encoder.gguf").string());
  // The same with one more key.
  const auto audio_with = [&](const char* key, auto value) {
    weights::gguf_writer more;
    const std::vector<std::byte> image = audio.bytes();
    const gguf_file known("audio", image);
    for (const weights::gguf_value& v : known.values())
      if (v.key != key) more.copy(v);
    more.set(key, value);
    for (std::size_t i = 0; i < known.size(); ++i) add(more, std::string(known.tensor(i).name), known.tensor(i));
    more.write((scratch.path() / "encoder.gguf").string());
  };
  const auto refusal = [&] {
    try {
      (void)packed(scratch.path() / "encoder.gguf", scratch.path() / "out.packed");
    } catch (const error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_NE(refusal().find("architecture qwen3"), std::string::npos) << refusal();

  weights::gguf_writer text;
  text.set("general.architecture", "qwen3");
  number(text, "qwen3.embedding_length", 64);
  number(text, "qwen3.block_count", 3);
  number(text, "qwen3.attention.head_count", 4);
  number(text, "qwen3.attention.head_count_kv", 2);
  number(text, "qwen3.attention.key_length", 32);
  number(text, "qwen3.feed_forward_length", 192);
  text.set("qwen3.rope.freq_base", 1e6f);
  text.set("qwen3.attention.layer_norm_rms_epsilon", 1e-6f);
  text.set("tokenizer.ggml.model", "gpt2");
  text.set("tokenizer.ggml.tokens", qwen.strings("tokenizer.ggml.tokens"));
  std::vector<std::int32_t> types;
  for (const double t : qwen.numbers("tokenizer.ggml.token_type")) types.push_back(static_cast<std::int32_t>(t));
  text.set("tokenizer.ggml.token_type", types);
  number(text, "tokenizer.ggml.eos_token_id", 428);
  for (std::size_t i = 0; i < qwen.size(); ++i) {
    const weights::tensor_ref t = qwen.tensor(i);
    if (!t.name.starts_with("thinker.model.")) continue;
    add(text, llama_name(std::string(t.name.substr(8))), t);
    ++count;
  }
  text.write((scratch.path() / "qwen3.gguf").string());

  const gguf_file both = packed(scratch.path() / "encoder.gguf", scratch.path() / "out.packed");
  EXPECT_EQ(both.text("general.architecture"), "fun_asr_nano");
  EXPECT_EQ(both.size(), count);
  EXPECT_EQ(both.numbers("fun_asr_nano.eos_ids"), (std::vector<double>{428, 426}));
  EXPECT_EQ(both.strings("tokenizer.ggml.tokens"), qwen.strings("tokenizer.ggml.tokens"));
  for (std::size_t i = 0; i < both.size(); ++i) {
    const weights::tensor_ref t = both.tensor(i);
    const auto want =
        t.name.starts_with("llm.") ? qwen.find("thinker." + std::string(t.name.substr(4))) : nano.find(t.name);
    ASSERT_TRUE(want) << t.name;
    EXPECT_EQ(t.shape, want->shape) << t.name;
    ASSERT_EQ(t.bytes.size(), want->bytes.size()) << t.name;
    EXPECT_EQ(std::memcmp(t.bytes.data(), want->bytes.data(), t.bytes.size()), 0) << t.name;
  }
  // Every key is read, or named.
  EXPECT_EQ(both.number("fun_asr_nano.use_low_frame_rate"), 1);
  EXPECT_EQ(packed_notes(scratch.path()).size(), 1u);  // what the exporter never writes
  audio_with("funasr.adp.use_low_frame_rate", false);
  EXPECT_EQ(
      packed(scratch.path() / "encoder.gguf", scratch.path() / "out.packed").number("fun_asr_nano.use_low_frame_rate"),
      0);
  audio_with("funasr.adp.use_low_frame_rate", std::uint32_t{0});
  EXPECT_EQ(
      packed(scratch.path() / "encoder.gguf", scratch.path() / "out.packed").number("fun_asr_nano.use_low_frame_rate"),
      0);
  EXPECT_TRUE(packed_notes(scratch.path()).empty());
  for (const char* key : {"funasr.adp.use_low_frame_rate", "funasr.enc.sanm_shfit", "funasr.enc.num_blocks",
                          "funasr.enc.linear_units", "funasr.adp.n_layer", "funasr.adp.ffn_dim", "funasr.adp.new"}) {
    audio_with(key, std::uint32_t{7});
    EXPECT_NE(refusal(), "") << key;
  }
  audio_with("other.key", std::uint32_t{7});
  EXPECT_EQ(packed_notes(scratch.path()).size(), 2u);
  const auto text_with = [&](const char* key, auto value) {
    weights::gguf_writer more;
    const std::vector<std::byte> image = text.bytes();
    const gguf_file known("text", image);
    for (const weights::gguf_value& v : known.values())
      if (v.key != key) more.copy(v);
    more.set(key, value);
    for (std::size_t i = 0; i < known.size(); ++i) add(more, std::string(known.tensor(i).name), known.tensor(i));
    more.write((scratch.path() / "qwen3.gguf").string());
  };
  for (const char* key :
       {"qwen3.attention.value_length", "qwen3.rope.dimension_count", "qwen3.expert_count", "split.count"}) {
    text_with(key, std::uint32_t{7});
    EXPECT_NE(refusal().find(key), std::string::npos) << key << ": " << refusal();
  }
  text_with("qwen3.context_length", std::uint32_t{40960});
  EXPECT_EQ(refusal(), "");
  fs::copy_file(scratch.path() / "qwen3.gguf", scratch.path() / "another.gguf");
  EXPECT_NE(refusal().find("several language models"), std::string::npos) << refusal();
}

}  // namespace nano_gguf_test
