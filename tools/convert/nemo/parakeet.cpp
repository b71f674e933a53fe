// tools/convert/nemo/parakeet.cpp - Parakeet from a .nemo file; see parakeet.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "nemo/parakeet.hpp"

#include <steno/error.hpp>
#include <steno/models/parakeet_ctc.hpp>
#include <steno/models/parakeet_transducer.hpp>
#include <steno/weights/byte_cursor.hpp>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "limits.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace nemo_files {

namespace {

void read_transducer(const checkpoint_settings& f, parakeet_settings& s) {
  s.predictor = f.number("decoder.prednet.pred_hidden", f.number("model_defaults.pred_hidden", 640, 1, limits::width),
                         1, limits::width);
  s.predictor_layers = f.number("decoder.prednet.pred_rnn_layers", 1, 1, 64);
  s.joint = f.number("joint.jointnet.joint_hidden", f.number("model_defaults.joint_hidden", 640, 1, limits::width), 1,
                     limits::width);
  f.require("decoder.normalization_mode", "null");
  f.require("decoder.blank_as_pad", "true");
  f.require("joint.jointnet.activation", "relu");
  s.max_symbols = f.number("decoding.greedy.max_symbols", 10, 1, limits::symbols_per_frame);
  const std::vector<int> given = f.numbers("model_defaults.tdt_durations", {}, 0, 1 << 16);
  const std::vector<int> durations = f.numbers("decoding.durations", given, 0, 1 << 16);
  s.durations.assign(durations.begin(), durations.end());
  check_durations(s, f.source);
  f.require("joint.num_extra_outputs", std::to_string(s.durations.size()));
}

// What `model_defaults` says of prompts: those of EncDecRNNTBPEModelWithPrompt and its hybrid, or of LangIdPromptMixin
// (lang_id_prompt.py), whose names are others.
void read_prompts(const checkpoint_settings& f, bool with_prompt, parakeet_settings& s) {
  const std::string at = "model_defaults.";
  const bool mixin = f.flag(at + "initialize_lang_id_prompt", false),
             feature = f.flag(at + "initialize_prompt_feature", false);
  if (!mixin && !(with_prompt && feature)) return;
  constexpr std::uint32_t most = 1u << 16;
  prompt_settings& p = s.prompts;
  p.count = f.number(at + (mixin ? "num_lang_id_prompts" : "num_prompts"), 128, 1, most);
  if (mixin) p.kernel = "lang_id_prompt_kernel";
  std::string dictionary = at + "prompt_dictionary";
  for (const char* name : {"lang_id_prompt_dictionary", "language_dictionary"})
    if (mixin && f.maps.contains(at + name)) dictionary = at + name;
  if (const auto names = f.maps.find(dictionary); names != f.maps.end())
    for (const std::string& name : names->second) {
      p.languages.names.push_back(name);
      p.languages.numbers.push_back(static_cast<int>(f.number(dictionary + "." + name, most, 0, most)));
    }
  check_prompts(p, f.source, dictionary);
  // The originals' own choices where nobody names a language: transcribe() of the one says auto, of the hybrid en-US.
  std::vector<const char*> usual{"auto"};
  if (mixin) usual = {"unk", "auto", "en-US"};
  if (s.hybrid) usual = {"auto", "en-US"};
  for (const char* name : usual)
    if (const auto number = p.languages.find(name); number && p.languages.usual < 0) p.languages.usual = *number;
}

}  // namespace

void check_prompts(prompt_settings& p, const std::string& where, const std::string& what) {
  constexpr std::size_t most = 4096;
  std::vector<std::string>& names = p.languages.names;
  std::vector<int>& numbers = p.languages.numbers;
  if (names.empty() || names.size() > most || names.size() != numbers.size())
    fail({.where = where,
          .what = what,
          .expected = "1 to " + std::to_string(most) + " languages and their numbers",
          .found = std::to_string(names.size()) + " and " + std::to_string(numbers.size())});
  for (std::size_t i = 0; i < names.size(); ++i)
    if (numbers[i] < 0 || numbers[i] >= static_cast<int>(p.count))
      fail({.where = where,
            .what = what + ": " + steno::weights::quoted(names[i]),
            .expected = "a number below that of prompts, " + std::to_string(p.count),
            .found = std::to_string(numbers[i])});
  for (std::size_t i = names.size(); i-- > 0;) {
    const auto first = std::find(names.begin(), names.end(), names[i]) - names.begin();
    if (static_cast<std::size_t>(first) == i) continue;
    numbers[static_cast<std::size_t>(first)] = numbers[i];
    names.erase(names.begin() + static_cast<std::ptrdiff_t>(i));
    numbers.erase(numbers.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

void check_durations(const parakeet_settings& s, const std::string& where) {
  if (s.durations.empty() || *std::max_element(s.durations.begin(), s.durations.end()) > 0) return;
  fail({.where = where,
        .what = "durations of the transducer",
        .expected = "at least one of a frame or more",
        .found = "none: no step would reach the next frame"});
}

parakeet_settings read_parakeet_settings(const checkpoint_settings& f) {
  parakeet_settings s;
  const std::string target = f.text("target", "");
  s.hybrid = target.find("Hybrid") != std::string::npos;
  s.transducer = target.find("RNNT") != std::string::npos;
  if (target.find("EncDec") == std::string::npos || (!s.transducer && target.find("CTC") == std::string::npos))
    fail({.where = f.source,
          .what = "target is not supported",
          .expected = "a CTC, RNN-T or hybrid model",
          .found = steno::weights::quoted(target)});
  read_fastconformer(f, s);
  read_tokenizer(f, s);
  if (s.transducer) read_prompts(f, target.find("WithPrompt") != std::string::npos, s);
  if (s.transducer)
    read_transducer(f, s);
  else
    f.require("decoder.add_blank", "true");
  return s;
}

void walk_parakeet_ctc(const gguf_file& keys, tensor_taker& taker) { walk_model<nemo::parakeet_ctc_any>(keys, taker); }
void walk_parakeet_transducer(const gguf_file& keys, tensor_taker& taker) {
  walk_model<nemo::parakeet_transducer_any>(keys, taker);
}

void promise_heads(checkpoint_tensors& from, const parakeet_settings& s) {
  const auto d = static_cast<extent>(s.width), labels = static_cast<extent>(s.vocabulary) + 1;
  from.sizes.push_back({"*decoder.decoder_layers.0.weight", labels, d});
  if (!s.transducer) return;
  const auto p = static_cast<extent>(s.predictor), j = static_cast<extent>(s.joint);
  from.sizes.push_back({"decoder.prediction.embed.weight", labels, p});
  from.sizes.push_back({"joint.enc.weight", j, d});
  from.sizes.push_back({"joint.pred.weight", j, p});
  from.sizes.push_back({"joint.joint_net.2.weight", labels + static_cast<extent>(s.durations.size()), j});
  if (s.prompts.count == 0) return;
  const extent inner = s.prompts.inner > 0 ? static_cast<extent>(s.prompts.inner) : dynamic;
  from.sizes.push_back({"prompt_kernel.0.weight", inner, d + static_cast<extent>(s.prompts.count)});
  from.sizes.push_back({"prompt_kernel.2.weight", d, inner});
}

void set_parakeet_keys(weights::gguf_writer& file, const parakeet_settings& s,
                       const tokenizers::sentencepiece_vocabulary& v) {
  const std::string name = s.architecture();
  const auto set = [&](const char* key, auto value) { file.set(name + "." + key, value); };
  const auto number = [](bool value) { return std::uint32_t{value}; };
  file.set("general.architecture", name);
  const char* const kind = s.prompts.count > 0   ? "nemotron"
                           : !s.windows.empty()  ? "parakeet-unified"
                           : !s.transducer       ? "parakeet-ctc"
                           : s.durations.empty() ? "parakeet-rnnt"
                                                 : "parakeet-tdt";
  file.set("general.name", std::string(kind) + "-" + std::to_string(s.width) + "-" + std::to_string(s.blocks) + "l");
  set_fastconformer_keys(file, name, s);
  if (s.transducer) {
    set("decoder.pred_rnn_layers", s.predictor_layers);
    set("max_symbols", s.max_symbols);
    set("hybrid", number(s.hybrid));
    if (!s.durations.empty()) set("durations", s.durations);
  }
  if (s.prompts.count > 0) {
    const nemo::nemo_prompts& languages = s.prompts.languages;
    set("prompt.names", languages.names);
    set("prompt.numbers", std::vector<std::int32_t>(languages.numbers.begin(), languages.numbers.end()));
    if (languages.usual >= 0) set("prompt.usual", static_cast<std::uint32_t>(languages.usual));
  }
  set_tokenizer_keys(file, v);
}

imported_model import_parakeet(const std::shared_ptr<nemo_archive>& archive) {
  parakeet_settings s = read_parakeet_settings(archive->config);
  const tokenizers::sentencepiece_vocabulary pieces = read_pieces(*archive, s);
  s.vocabulary = static_cast<std::uint32_t>(pieces.pieces.size());
  imported_model model;
  model.where = archive->where;
  model.source = archive;
  model.notes = s.notes;
  check_settings(archive->config, model.notes);
  checkpoint_tensors from = open_tensors(archive, s);
  set_parakeet_keys(model.file, s, pieces);
  promise_heads(from, s);
  from.named = [kernel = s.prompts.kernel](std::string name) {
    constexpr std::string_view ours = "prompt_kernel";
    return name.starts_with(ours) ? kernel + name.substr(ours.size()) : nemo_name(std::move(name));
  };
  take_tensors(model, std::move(from));
  return model;
}

}  // namespace nemo_files
}  // namespace STENO_ABI
}  // namespace steno
