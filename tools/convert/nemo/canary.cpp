// tools/convert/nemo/canary.cpp - Canary from a .nemo file; see canary.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "nemo/canary.hpp"

#include <steno/error.hpp>
#include <steno/models/canary.hpp>
#include <steno/weights/byte_cursor.hpp>

#include <algorithm>
#include <string_view>
#include <utility>

#include "limits.hpp"
#include "nemo/parakeet.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace nemo_files {

namespace {

void read_decoder(const checkpoint_settings& f, canary_settings& s) {
  f.require("transf_encoder.num_layers", "0");
  const std::string at = "transf_decoder.";
  f.require(at + "model_name", "null");
  f.require(at + "pretrained", "false");
  f.require(at + "encoder", "null");
  f.require(at + "pre_ln_final_layer_norm", "true");
  const std::string decoder = at + "config_dict.";
  f.require(decoder + "num_token_types", "0");
  f.require(decoder + "learn_positional_encodings", "false");
  f.require(decoder + "hidden_act", "relu");
  f.require(decoder + "pre_ln", "true");
  f.require("head.num_layers", "1");
  f.require("head.log_softmax", "true");
  s.hidden = f.number(decoder + "hidden_size", f.number("model_defaults.lm_dec_hidden", 1024, 2, limits::width), 2,
                      limits::width);
  s.layers = f.number(decoder + "num_layers", 1, 1, limits::layers);
  s.attention_heads = f.number(decoder + "num_attention_heads", 1, 1, 1024);
  s.context = f.number(decoder + "max_sequence_length", 512, 16, 1u << 20);
  if (s.hidden % s.attention_heads != 0)
    fail({.where = f.source,
          .what = decoder + "hidden_size",
          .expected = "a width that num_attention_heads divides",
          .found = std::to_string(s.hidden) + " and " + std::to_string(s.attention_heads)});
}

// What the decoding section says of the search, under the names that the original's decoder asks for.
void read_decoding(const checkpoint_settings& f, canary_settings& s) {
  const std::string strategy = f.text("decoding.strategy", "beam");
  const bool greedy = strategy == "greedy" || strategy == "greedy_batch";
  if (!greedy) f.require("decoding.strategy", "beam");
  const std::string at = greedy ? "decoding.greedy." : "decoding.beam.";
  const double delta = f.real(at + "max_generation_delta", -1, -1 << 20, 1 << 20);
  s.max_generation_delta = delta < 0 ? -1 : static_cast<std::int32_t>(delta);
  if (greedy) return;
  s.beam = f.number(at + "beam_size", 1, 1, 1024);
  s.length_penalty = f.real(at + "length_penalty", 0, 0, 64);
}

void set_canary_keys(weights::gguf_writer& file, const canary_settings& s,
                     const tokenizers::sentencepiece_vocabulary& v) {
  const std::string name = "canary";
  const auto set = [&](const std::string& key, auto value) { file.set(name + "." + key, value); };
  file.set("general.architecture", name);
  file.set("general.name", name + "-" + std::to_string(s.width) + "-" + std::to_string(s.blocks) + "l-" +
                               std::to_string(s.layers) + "l");
  set_fastconformer_keys(file, name, s);
  set("transf_decoder.attention_heads", s.attention_heads);
  set("encoder_decoder_proj", std::uint32_t{s.hidden != s.width});
  set("prompt_format", s.prompt_format);
  set("writes_times", std::uint32_t{s.writes_times});
  set("decoding.beam_size", s.beam);
  set("decoding.length_penalty", static_cast<float>(s.length_penalty));
  set("decoding.max_generation_delta", s.max_generation_delta);
  if (!s.parts.empty()) {
    std::vector<std::string> names;
    std::vector<std::int32_t> sizes, prefixes, squeezed;
    for (const nemo::canary_part& p : s.parts) {
      names.push_back(p.name);
      sizes.push_back(p.size);
      prefixes.push_back(p.add_dummy_prefix ? 1 : 0);
      squeezed.push_back(p.remove_extra_whitespaces ? 1 : 0);
    }
    set("tokenizer.names", names);
    set("tokenizer.sizes", sizes);
    set("tokenizer.add_space_prefix", prefixes);
    set("tokenizer.remove_extra_whitespaces", squeezed);
  }
  set_tokenizer_keys(file, v);
}

constexpr std::string_view aligner_members = "timestamps_asr_model", aligner_path = "timestamps.";

// The second model of an archive, a FastConformer with CTC: its keys and tensors, each behind "timestamps.".
void add_aligner(const nemo_archive& archive, imported_model& model, checkpoint_tensors& from) {
  const auto second = std::make_shared<nemo_archive>(archive.where, std::string(aligner_members));
  parakeet_settings s = read_parakeet_settings(second->config);
  if (s.transducer || s.aggregate)
    fail({.where = second->config.source,
          .what = "the model for times of words",
          .expected = "a CTC model with one tokenizer",
          .found = steno::weights::quoted(second->config.text("target", ""))});
  check_settings(second->config, model.notes);
  const tokenizers::sentencepiece_vocabulary v = read_pieces(*second, s);
  s.vocabulary = static_cast<std::uint32_t>(v.pieces.size());
  checkpoint_tensors more = open_tensors(second, s);
  promise_heads(more, s);
  const std::string at = "canary.timestamps";
  set_encoder_keys(model.file, at, s);
  model.file.set(at + ".tokens", v.pieces);
  model.file.set(at + ".scores", v.scores);
  model.file.set(at + ".token_type", std::vector<std::int32_t>(v.types.begin(), v.types.end()));
  model.file.set(at + ".add_space_prefix", v.add_dummy_prefix);
  model.file.set(at + ".remove_extra_whitespaces", v.remove_extra_whitespaces);
  const std::string front(aligner_path);
  for (stored_tensor& t : more.all) {
    t.name = front + t.name;
    from.all.push_back(std::move(t));
  }
  for (const promised_size& p : more.sizes)
    from.sizes.push_back({(p.names.starts_with('*') ? front + p.names.substr(1) : front + p.names), p.rows, p.cols});
  for (const promised_count& p : more.counts) from.counts.push_back({front + p.path, p.count});
  if (from.optional_weights != more.optional_weights) from.optional_weights = std::nullopt;
  from.named = [](std::string name) {
    if (!name.starts_with(aligner_path)) return nemo_name(std::move(name));
    return std::string(aligner_path) + nemo_name(name.substr(aligner_path.size()));
  };
}

// One matrix under two names, as the original has it in memory, too: of different ones the last would count.
void check_tied(const checkpoint_tensors& from) {
  constexpr const char* names[] = {"transf_decoder._embedding.token_embedding.weight", "log_softmax.mlp.layer0.weight"};
  const stored_tensor *const embedding = find(from, names[0]), *const scores = find(from, names[1]);
  if (embedding == nullptr || scores == nullptr) return;
  bool same = embedding->shape == scores->shape;
  if (same) {
    std::vector<float> a(embedding->count()), b(scores->count());
    embedding->read(a);
    scores->read(b);
    same = std::equal(a.begin(), a.end(), b.begin());
  }
  if (!same)
    fail({.where = from.where,
          .what = std::string("tensors \"") + names[0] + "\" and \"" + names[1] + "\"",
          .expected = "the same matrix",
          .found = "others"});
}

}  // namespace

bool is_canary(const checkpoint_settings& config) {
  return config.text("target", "").find("EncDecMultiTask") != std::string::npos;
}

canary_settings read_canary_settings(const checkpoint_settings& f) {
  canary_settings s;
  read_fastconformer(f, s);
  if (!s.windows.empty()) f.require("encoder.att_context_style", "regular");
  f.require("model_defaults.asr_enc_hidden", std::to_string(s.width));
  read_decoder(f, s);
  read_decoding(f, s);
  s.prompt_format = f.text("prompt_format", "");
  if (s.prompt_format != "canary" && s.prompt_format != "canary2")
    fail({.where = f.source,
          .what = "prompt_format",
          .expected = "canary or canary2",
          .found = steno::weights::quoted(s.prompt_format)});
  read_tokenizer(f, s);
  const std::string kind = f.text("tokenizer.custom_tokenizer._target_", "");
  if (!kind.ends_with(s.aggregate ? ".CanaryTokenizer" : ".CanaryBPETokenizer"))
    fail({.where = f.source,
          .what = "tokenizer.custom_tokenizer._target_",
          .expected = s.aggregate ? "CanaryTokenizer, for a tokenizer of type agg" : "CanaryBPETokenizer",
          .found = kind.empty() ? "none" : steno::weights::quoted(kind)});
  return s;
}

void walk_canary(const gguf_file& keys, tensor_taker& taker) { walk_model<nemo::canary_any>(keys, taker); }

imported_model import_canary(const std::shared_ptr<nemo_archive>& archive) {
  canary_settings s = read_canary_settings(archive->config);
  const tokenizers::sentencepiece_vocabulary pieces = read_pieces(*archive, s, &s.parts);
  imported_model model;
  model.where = archive->where;
  model.source = archive;
  model.notes = s.notes;
  check_settings(archive->config, model.notes);
  s.writes_times = archive->find(std::string(aligner_members) + "_weights.ckpt") == nullptr;
  checkpoint_tensors from = open_tensors(archive, s);
  check_tied(from);
  from.ignored.push_back({"log_softmax.mlp.layer0.weight", "it is the embedding"});
  set_canary_keys(model.file, s, pieces);
  const auto d = static_cast<extent>(s.hidden), columns = (static_cast<extent>(pieces.pieces.size()) + 7) / 8 * 8;
  from.sizes.push_back({"transf_decoder._embedding.token_embedding.weight", columns, d});
  from.sizes.push_back({"transf_decoder._embedding.position_embedding.pos_enc", static_cast<extent>(s.context), d});
  from.sizes.push_back({"encoder_decoder_proj.weight", d, static_cast<extent>(s.width)});
  from.counts.push_back({"transf_decoder", static_cast<extent>(s.layers)});
  if (!s.writes_times) add_aligner(*archive, model, from);
  take_tensors(model, std::move(from));
  return model;
}

}  // namespace nemo_files
}  // namespace STENO_ABI
}  // namespace steno
