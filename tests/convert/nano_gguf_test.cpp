// Fun-ASR-Nano from two GGUF files: the golden case's audio half, and a Qwen3 made of the small Qwen3-ASR.
#include <steno/weights/gguf.hpp>
#include <steno/weights/gguf_writer.hpp>

#include "convert/convert.hpp"
#include "support/golden.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace fs = std::filesystem;
using namespace steno;

namespace {

gguf_file packed(const fs::path& from, const fs::path& to) {
  convert(from, to, {.type = dtype::f32});
  return gguf_file(to.string());
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

}  // namespace

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
  std::size_t count = 0;
  for (std::size_t i = 0; i < nano.size(); ++i) {
    const weights::tensor_ref t = nano.tensor(i);
    if (!t.name.starts_with("audio_")) continue;
    add(audio, std::string(t.name), t);
    ++count;
  }
  audio.write((scratch.path() / "encoder.gguf").string());
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
  fs::copy_file(scratch.path() / "qwen3.gguf", scratch.path() / "another.gguf");
  EXPECT_NE(refusal().find("several language models"), std::string::npos) << refusal();
}
