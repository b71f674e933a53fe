// tools/convert/funasr/sense_voice.cpp - tensors and keys of SenseVoiceSmall; see sense_voice.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "funasr/sense_voice.hpp"

#include <steno/models/sense_voice.hpp>

namespace steno {
inline namespace STENO_ABI {
namespace funasr_files {

void walk_sense_voice(const gguf_file& keys, tensor_taker& taker) { walk_model<funasr::sense_voice_any>(keys, taker); }

void promise_sense_voice(checkpoint_tensors& from, const sense_voice_settings& s, std::size_t vocabulary) {
  promise_sanm(from, "encoder.",
               {s.frontend.width(), s.output_size, s.linear_units, s.kernel_size, s.num_blocks, s.tp_blocks});
  from.sizes.push_back({"ctc.ctc_lo.weight", static_cast<extent>(vocabulary), static_cast<extent>(s.output_size)});
}

void set_sense_voice_keys(weights::gguf_writer& file, const sense_voice_settings& s,
                          const tokenizers::sentencepiece_vocabulary& v) {
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
  set_frontend_keys(file, "sense_voice.", s.frontend);
  file.set("sense_voice.blank_id", s.blank_id);
  file.set("sense_voice.language", s.language);
  file.set("sense_voice.use_itn", s.use_itn);
  file.set("tokenizer.ggml.model", "sentencepiece");
  file.set("tokenizer.ggml.tokens", v.pieces);
  if (!v.scores.empty()) file.set("tokenizer.ggml.scores", v.scores);
  if (!v.types.empty())
    file.set("tokenizer.ggml.token_type", std::vector<std::int32_t>(v.types.begin(), v.types.end()));
  file.set("tokenizer.ggml.add_space_prefix", v.add_dummy_prefix);
  file.set("tokenizer.ggml.remove_extra_whitespaces", v.remove_extra_whitespaces);
  file.set("tokenizer.ggml.unk_surface", v.unk_surface);
}

}  // namespace funasr_files
}  // namespace STENO_ABI
}  // namespace steno
