// tools/convert/whisper/package.cpp - keys and tensors of the packaged file; see whisper.hpp.
// SPDX-License-Identifier: Apache-2.0
#include <steno/error.hpp>
#include <steno/models/whisper.hpp>
#include <steno/weights/byte_cursor.hpp>

#include <algorithm>

#include "limits.hpp"
#include "utf8_path.hpp"
#include "whisper/whisper.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace whisper_files {

namespace {

std::string size_name(const settings& s) {
  if (s.audio_layers == 32 && s.text_layers == 4) return "large-v3-turbo";
  const std::string distil = s.text_layers < s.audio_layers ? "distil-" : "";
  if (s.audio_layers == 4) return distil + "tiny";
  if (s.audio_layers == 6) return distil + "base";
  if (s.audio_layers == 12) return distil + "small";
  if (s.audio_layers == 24) return distil + "medium";
  return s.audio_layers == 32 ? distil + "large" : "";
}

void check(const std::string& where, const settings& s) {
  const auto in = [&](const char* what, std::uint32_t n, std::uint32_t low, std::uint32_t high) {
    if (n < low || n > high)
      fail({.where = where,
            .what = what,
            .expected = std::to_string(low) + " to " + std::to_string(high),
            .found = std::to_string(n)});
  };
  in("number of mel bands", s.mels, 80, 128);
  if (s.text == 0) in("vocabulary", s.vocabulary, 51864, 51866);
  in("width", s.width, 1, 16384);
  in("audio positions", s.audio_context, 1, 65536);
  in("text positions", s.text_context, 8, 65536);
  in("attention heads of the encoder", s.audio_heads, 1, s.width);
  in("attention heads of the decoder", s.text_heads, 1, s.width);
  in("layers of the encoder", s.audio_layers, 1, limits::layers);
  in("layers of the decoder", s.text_layers, 1, limits::layers);
}

using id_list = std::vector<std::uint32_t>;

id_list in_order(const std::vector<int>& from) {
  id_list all(from.begin(), from.end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

// What differs from openai's rules alone: all kinds of files of a published model become the same.
void set_generation(weights::gguf_writer& file, const settings& s, const string_list& tokens, bool multilingual) {
  if (s.suppressed || s.first_suppressed) {
    const tokenizers::whisper_tokens t(tokens.view(), static_cast<extent>(s.vocabulary), multilingual);
    std::vector<int> never = t.non_speech_tokens(), first = t.encode(" ");
    never.insert(never.end(), {t.transcribe, t.translate, t.sot, t.sot_prev, t.sot_lm, t.no_speech});
    first.push_back(t.eot);
    if (s.suppressed && *s.suppressed != in_order(never)) file.set("whisper.suppress_tokens", *s.suppressed);
    if (s.first_suppressed && *s.first_suppressed != in_order(first))
      file.set("whisper.begin_suppress_tokens", *s.first_suppressed);
  }
  if (!s.languages.empty()) file.set("whisper.languages", s.languages);
  if (!s.language.empty()) file.set("whisper.language", s.language);
  if (s.translate) file.set("whisper.translate", true);
  if (s.max_initial && *s.max_initial != 50) file.set("whisper.max_initial_timestamp_index", *s.max_initial);
}

}  // namespace

std::uint32_t text_tokens(std::uint32_t vocabulary) {
  if (vocabulary < 51864 || vocabulary > 51866) return 0;
  return vocabulary >= 51865 ? 50257 : 50256;
}

std::uint32_t text_tokens(const settings& s) { return s.text > 0 ? s.text : text_tokens(s.vocabulary); }

void walk_whisper(const gguf_file& keys, tensor_taker& taker) { walk_model<whisper::whisper_any>(keys, taker); }

imported_model package(std::string where, const settings& s, string_list tokens, std::vector<stored_tensor> tensors,
                       std::shared_ptr<const void> source) {
  check(where, s);
  if (tokens.size() != text_tokens(s))
    fail({.where = where,
          .what = "number of text tokens",
          .expected = std::to_string(text_tokens(s)),
          .found = std::to_string(tokens.size())});
  imported_model model;
  model.where = std::move(where);
  model.source = std::move(source);
  weights::gguf_writer& file = model.file;
  const std::string size = size_name(s);
  file.set("general.architecture", "whisper");
  file.set("general.name", "Whisper" + (size.empty() ? "" : " " + size) + (s.vocabulary == 51864 ? ".en" : ""));
  file.set("steno.version",
           std::to_string(version.major) + "." + std::to_string(version.minor) + "." + std::to_string(version.patch));
  file.set("whisper.encoder.attention_heads", s.audio_heads);
  file.set("whisper.decoder.attention_heads", s.text_heads);
  file.set("whisper.frontend.n_mels", s.mels);
  // A folder of Hugging Face's has the size in its own name.
  const std::filesystem::path path = utf8_path(model.where);
  const std::string names = path.parent_path().filename().string() + "/" + path.filename().string();
  auto heads = s.alignment_heads.empty() ? published_alignment_heads(s, names) : s.alignment_heads;
  // Distilled models may have those of their teacher.
  const auto there = [&](const auto& at) { return at.first < s.text_layers && at.second < s.text_heads; };
  if (!std::all_of(heads.begin(), heads.end(), there)) {
    heads.clear();
    model.notes.push_back(
        "its alignment heads are those of a larger decoder and are not used: words get their times "
        "from all heads of the upper half of the layers");
  }
  if (!heads.empty()) {
    std::vector<std::uint32_t> flat;
    for (const auto& [layer, head] : heads) flat.insert(flat.end(), {layer, head});
    file.set("whisper.alignment_heads", flat);
  }
  const bool usual = s.vocabulary >= 51865, told = s.told_multilingual.value_or(s.text > 0 || usual);
  if (s.text > 0 || told != usual) file.set("whisper.multilingual", told);
  set_generation(file, s, tokens, told);
  file.set("tokenizer.ggml.model", "gpt2");
  file.set("tokenizer.ggml.tokens", tokens.view());
  tokens = {};

  const auto d = static_cast<extent>(s.width);
  checkpoint_tensors from{.where = model.where, .all = std::move(tensors)};
  from.sizes = {{"encoder.positional_embedding", static_cast<extent>(s.audio_context), d},
                {"encoder.conv1.weight", d, 3 * static_cast<extent>(s.mels)},
                {"decoder.positional_embedding", static_cast<extent>(s.text_context), d},
                {"decoder.token_embedding.weight", static_cast<extent>(s.vocabulary), d}};
  from.counts = {{"encoder.blocks", static_cast<extent>(s.audio_layers)},
                 {"decoder.blocks", static_cast<extent>(s.text_layers)}};
  // The original counts a bias of [d] and one of [1 x d] or [d x 1] as the same.
  from.compared = checkpoint_tensors::shapes::without_ones;
  from.widened = true;
  take_tensors(model, std::move(from));
  return model;
}

}  // namespace whisper_files
}  // namespace STENO_ABI
}  // namespace steno
