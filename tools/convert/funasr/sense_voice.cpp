// tools/convert/funasr/sense_voice.cpp - tensors and keys of SenseVoiceSmall; see sense_voice.hpp.
#include "funasr/sense_voice.hpp"

#include <utility>

namespace steno::inline STENO_ABI::funasr {

namespace {
constexpr extent query_rows = 7 + 7 + 2;
}  // namespace

std::vector<expected_tensor> sense_voice_tensors(const sense_voice_settings& s, std::size_t vocabulary) {
  tensor_list t;
  const auto input = static_cast<extent>(s.input_size()), d = static_cast<extent>(s.output_size);
  const auto units = static_cast<extent>(s.linear_units), taps = static_cast<extent>(s.kernel_size);
  t.all.push_back({.name = "embed.weight", .shape = {query_rows, input}});
  t.sanm_layer("encoder.encoders0.0", input, d, units, taps);
  for (std::uint32_t i = 1; i < s.num_blocks; ++i)
    t.sanm_layer("encoder.encoders." + std::to_string(i - 1), d, d, units, taps);
  t.norm("encoder.after_norm", d);
  for (std::uint32_t i = 0; i < s.tp_blocks; ++i)
    t.sanm_layer("encoder.tp_encoders." + std::to_string(i), d, d, units, taps);
  t.norm("encoder.tp_norm", d);
  t.linear("ctc.ctc_lo", static_cast<extent>(vocabulary), d);
  return std::move(t.all);
}

bool is_sense_voice_product(const std::string& name, std::size_t rank) {
  return rank == 2 && name != "embed.weight" && name.ends_with(".weight") &&
         name.find("fsmn_block") == std::string::npos && name.find("norm") == std::string::npos;
}

void set_sense_voice_keys(gguf_writer& file, const sense_voice_settings& s, const sentencepiece_vocabulary& v) {
  file.set("general.architecture", "sense_voice");
  file.set("general.name", "SenseVoiceSmall");
  file.set("steno.version",
           std::to_string(version.major) + "." + std::to_string(version.minor) + "." + std::to_string(version.patch));
  file.set("sense_voice.encoder.attention_heads", s.attention_heads);
  file.set("sense_voice.encoder.kernel_size", s.kernel_size);
  file.set("sense_voice.encoder.num_blocks", s.num_blocks);
  file.set("sense_voice.encoder.tp_blocks", s.tp_blocks);
  file.set("sense_voice.encoder.output_size", s.output_size);
  file.set("sense_voice.encoder.linear_units", s.linear_units);
  file.set("sense_voice.frontend.sample_rate", s.sample_rate);
  file.set("sense_voice.frontend.window", s.window);
  file.set("sense_voice.frontend.n_mels", s.n_mels);
  file.set("sense_voice.frontend.frame_length", s.frame_length);
  file.set("sense_voice.frontend.frame_shift", s.frame_shift);
  file.set("sense_voice.frontend.lfr_m", s.lfr_m);
  file.set("sense_voice.frontend.lfr_n", s.lfr_n);
  file.set("sense_voice.blank_id", s.blank_id);
  file.set("tokenizer.ggml.model", "sentencepiece");
  file.set("tokenizer.ggml.tokens", v.pieces);
  if (!v.scores.empty()) file.set("tokenizer.ggml.scores", v.scores);
  if (!v.types.empty())
    file.set("tokenizer.ggml.token_type", std::vector<std::int32_t>(v.types.begin(), v.types.end()));
  file.set("tokenizer.ggml.add_space_prefix", v.add_dummy_prefix);
  file.set("tokenizer.ggml.remove_extra_whitespaces", v.remove_extra_whitespaces);
  file.set("tokenizer.ggml.unk_surface", v.unk_surface);
}

}  // namespace steno::inline STENO_ABI::funasr
