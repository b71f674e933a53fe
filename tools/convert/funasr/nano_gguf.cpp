// tools/convert/funasr/nano_gguf.cpp - Fun-ASR-Nano from the GGUF files people hold: FunASR's audio half
// (general.architecture "funasr-sensevoice-encoder") and llama.cpp's Qwen3 beside it; see nano.hpp.
//
// The language model is the one file of architecture "qwen3" in the audio half's folder. Each tensor keeps its number
// format where products know it, else it becomes f16. There is no CTC head in these files.
// SPDX-License-Identifier: Apache-2.0
#include <steno/error.hpp>
#include <steno/weights/byte_cursor.hpp>

#include <array>
#include <cmath>

#include "content.hpp"
#include "folder_entries.hpp"
#include "funasr/nano.hpp"
#include "funasr/tensors.hpp"
#include "limits.hpp"
#include "qwen/qwen3_asr.hpp"
#include "utf8_path.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace funasr_files {

namespace fs = std::filesystem;

namespace {

struct both {
  std::shared_ptr<gguf_file> audio, text;
};

std::shared_ptr<gguf_file> find_language_model(const std::string& audio) {
  std::shared_ptr<gguf_file> found;
  const fs::path folder = folder_of(utf8_path(audio));
  for (const fs::path& beside : folder_entries(folder)) {
    if (!fs::is_regular_file(beside) || !file_starts_with(beside, weights::gguf_magic)) continue;
    auto file = std::make_shared<gguf_file>(beside.string());
    if (file->text("general.architecture").value_or("") != "qwen3") continue;
    if (found)
      fail({.where = folder.string(),
            .what = "holds several language models",
            .expected = "one beside the audio half",
            .found = found->where() + " and " + file->where()});
    found = std::move(file);
  }
  if (!found)
    fail({.where = audio,
          .what = "is the audio half of Fun-ASR-Nano",
          .expected = "the language model (a GGUF of architecture qwen3) in the same folder"});
  return found;
}

// llama.cpp's names below "blk.N." and those below "model.layers.N.".
constexpr std::array<std::pair<std::string_view, std::string_view>, 11> layer_names = {{
    {"attn_norm", "input_layernorm"},
    {"attn_q", "self_attn.q_proj"},
    {"attn_k", "self_attn.k_proj"},
    {"attn_v", "self_attn.v_proj"},
    {"attn_output", "self_attn.o_proj"},
    {"attn_q_norm", "self_attn.q_norm"},
    {"attn_k_norm", "self_attn.k_norm"},
    {"ffn_norm", "post_attention_layernorm"},
    {"ffn_gate", "mlp.gate_proj"},
    {"ffn_up", "mlp.up_proj"},
    {"ffn_down", "mlp.down_proj"},
}};

std::string name_of(const std::string& name) {
  if (name == "token_embd.weight") return "llm.model.embed_tokens.weight";
  if (name == "output_norm.weight") return "llm.model.norm.weight";
  if (name == "output.weight") return "llm.lm_head.weight";
  const std::size_t dot = name.find('.', 4);
  if (!name.starts_with("blk.") || dot == std::string::npos || !name.ends_with(".weight")) return name;
  const std::string_view what = std::string_view(name).substr(dot + 1, name.size() - dot - 1 - 7);
  for (const auto& [from, to] : layer_names)
    if (what == from)
      return std::string("llm.model.layers.").append(name, 4, dot - 4).append(".").append(to).append(".weight");
  return name;
}

qwen_files::decoder_settings read_decoder(const gguf_file& f, const published_keys& keys) {
  qwen_files::decoder_settings s;
  constexpr std::uint32_t wide = 65536;
  s.width = keys.number("qwen3.embedding_length", 1, wide);
  s.layers = keys.number("qwen3.block_count", 1, limits::layers);
  s.heads = keys.number("qwen3.attention.head_count", 1, 1024);
  s.key_heads = keys.number("qwen3.attention.head_count_kv", 1, 1024);
  s.head_width = keys.number("qwen3.attention.key_length", 2, 4096);
  s.units = keys.number("qwen3.feed_forward_length", 1, 1u << 20);
  for (const char* same : {"qwen3.attention.value_length", "qwen3.rope.dimension_count"})
    (void)keys.optional_number(same, s.head_width, s.head_width);
  const auto table = f.find("token_embd.weight");
  s.vocabulary = s.outputs = table ? static_cast<std::uint32_t>(table->rows()) : 0;
  const double theta = keys.real("qwen3.rope.freq_base", 1e6, 1, 1e9);
  const double eps = keys.real("qwen3.attention.layer_norm_rms_epsilon", 1e-6, 0, 1);
  if (theta != std::floor(theta) || std::fabs(eps - 1e-6) > 1e-9)
    fail({.where = f.where(),
          .what = "qwen3.rope.freq_base and layer_norm_rms_epsilon",
          .expected = "a whole number and 1e-6",
          .found = std::to_string(theta) + " and " + std::to_string(eps)});
  s.theta = static_cast<std::uint32_t>(theta);
  return s;
}

void set_tokenizer(weights::gguf_writer& file, const gguf_file& from, const published_keys& keys) {
  if (keys.text("tokenizer.ggml.model", "") != "gpt2" || !from.has("tokenizer.ggml.token_type"))
    fail({.where = from.where(), .what = "tokenizer.ggml.*", .expected = "byte pairs (gpt2) with kinds of tokens"});
  std::vector<std::string> tokens = keys.strings("tokenizer.ggml.tokens");
  std::vector<std::int32_t> types, ends;
  for (const double t : keys.numbers("tokenizer.ggml.token_type")) types.push_back(static_cast<std::int32_t>(t));
  if (types.size() != tokens.size())
    fail({.where = from.where(), .what = "tokenizer.ggml.tokens and token_type have different lengths"});
  if (const auto end = keys.optional_number("tokenizer.ggml.eos_token_id", 0, 1u << 24))
    ends.push_back(static_cast<std::int32_t>(*end));
  for (std::size_t i = 0; i < tokens.size(); ++i)
    if (types[i] == 3 && tokens[i] == "<|endoftext|>") ends.push_back(static_cast<std::int32_t>(i));
  file.set("tokenizer.ggml.model", "gpt2");
  file.set("tokenizer.ggml.pre", "qwen2");
  file.set("tokenizer.ggml.tokens", tokens);
  file.set("tokenizer.ggml.token_type", types);
  if (!ends.empty()) file.set("fun_asr_nano.eos_ids", ends);
}

constexpr unused_setting unused_by_llm[] = {
    {"qwen3.context_length", "a prompt has as many rows as it needs"},
    {"qwen3.vocab_size", "the embedding has so many rows"},
    {"quantize.imatrix", "says how the weights were quantised", "chunks_count dataset entries_count file"},
    {"tokenizer.ggml.pre", "the patterns of Qwen2 and Qwen3 are the same"},
    {"tokenizer.ggml.merges", "a token's number is its rank"},
    {"tokenizer.ggml.bos_token_id", "no prompt begins with it"},
    {"tokenizer.ggml.add_bos_token", "no prompt begins with it"},
    {"tokenizer.ggml.add_eos_token", "no prompt ends with it"},
    {"tokenizer.ggml.padding_token_id", "nothing is padded"},
    {"tokenizer.chat_template", "the prompt is FunASR's"},
};

// What the keys of the audio half say of its tensors.
void promise_audio(checkpoint_tensors& from, const published_keys& keys, std::uint32_t rate) {
  const auto size = [&](const char* key) {
    const auto n = keys.optional_number(key, 1, 65536);
    return n ? static_cast<extent>(*n) : dynamic;
  };
  const auto count = [&](const char* key, const char* path, extent others) {
    const auto n = keys.optional_number(key, static_cast<std::uint32_t>(others), limits::layers);
    if (n) from.counts.push_back({path, static_cast<extent>(*n) - others});
  };
  from.sizes.push_back({"audio_encoder.encoders0.0.norm1.weight", dynamic, size("funasr.enc.input_size")});
  from.sizes.push_back({"audio_encoder.*.w_1.weight", size("funasr.enc.linear_units"), dynamic});
  count("funasr.enc.num_blocks", "audio_encoder.encoders", 1);
  count("funasr.enc.tp_blocks", "audio_encoder.tp_encoders", 0);
  const extent in = size("funasr.adp.encoder_dim");
  from.sizes.push_back({"audio_adaptor.linear1.weight", size("funasr.adp.ffn_dim"),
                        core::is_static(in) ? in * static_cast<extent>(rate) : dynamic});
  from.sizes.push_back({"audio_adaptor.linear2.weight", size("funasr.adp.llm_dim"), dynamic});
  count("funasr.adp.n_layer", "audio_adaptor.blocks", 0);
}

}  // namespace

imported_model import_published_nano(const std::shared_ptr<gguf_file>& audio) {
  const auto keep = std::make_shared<both>(both{audio, find_language_model(audio->where())});
  gguf_file& text = *keep->text;
  const published_keys of_audio(*audio), of_text(text);
  const qwen_files::decoder_settings llm = read_decoder(text, of_text);
  imported_model model;
  model.where = audio->where();
  model.source = keep;
  weights::gguf_writer& file = model.file;
  file.set("general.architecture", "fun_asr_nano");
  file.set("general.name", "Fun-ASR-Nano");
  file.set("steno.version",
           std::to_string(version.major) + "." + std::to_string(version.minor) + "." + std::to_string(version.patch));
  const auto copy = [&](const char* from, const char* to, std::uint32_t min, std::uint32_t max) {
    const std::uint32_t value = of_audio.number(from, min, max);
    file.set(std::string("fun_asr_nano.").append(to), value);
    return value;
  };
  copy("funasr.enc.output_size", "audio_encoder.output_size", 1, 65536);
  copy("funasr.enc.attention_heads", "audio_encoder.attention_heads", 1, 1024);
  copy("funasr.enc.kernel_size", "audio_encoder.kernel_size", 1, 1023);
  copy("funasr.adp.attention_heads", "audio_adaptor.attention_heads", 1, 1024);
  const std::uint32_t rate = copy("funasr.adp.downsample_rate", "audio_adaptor.downsample_rate", 1, 1024);
  copy("funasr.frontend.n_mels", "frontend.n_mels", 3, 1024);
  copy("funasr.frontend.lfr_m", "frontend.lfr_m", 1, 64);
  copy("funasr.frontend.lfr_n", "frontend.lfr_n", 1, 64);
  (void)of_audio.optional_number("funasr.enc.sanm_shfit", 0, 0);
  file.set("fun_asr_nano.llm.rope_theta", llm.theta);
  // FunASR's exporter does not write it: its program reads an eighth of the rows of every model.
  const char* const all_rows = "funasr.adp.use_low_frame_rate";
  if (!audio->has(all_rows))
    model.notes.push_back(audio->where() + ": has no key " + all_rows +
                          ", so the language model gets an eighth of the rows, which is wrong for Fun-ASR-MLT-Nano");
  file.set("fun_asr_nano.use_low_frame_rate", of_audio.flag(all_rows, true) ? std::uint32_t{1} : std::uint32_t{0});
  file.set("fun_asr_nano.do_think", std::uint32_t{1});
  set_tokenizer(file, text, of_text);

  checkpoint_tensors from = all_tensors(*audio);
  promise_audio(from, of_audio, rate);
  of_audio.check("funasr.", {}, model.notes);
  (void)of_text.optional_number("split.count", 0, 1);  // of a model in several files
  of_text.check("qwen3.", unused_by_llm, model.notes);
  from.where.append(" and ").append(text.where());
  from.compared = checkpoint_tensors::shapes::kept;
  from.widened = true;
  bool head = false;
  for (stored_tensor& t : all_tensors(text).all) {
    t.name = name_of(t.name);
    head = head || t.name == "llm.lm_head.weight";
    from.all.push_back(std::move(t));
  }
  qwen_files::promise(from, "llm.", llm, head);
  take_tensors(model, std::move(from));
  return model;
}

}  // namespace funasr_files
}  // namespace STENO_ABI
}  // namespace steno
