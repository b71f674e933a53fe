// tools/convert/nemo/parakeet_gguf.cpp - Parakeet from the GGUF files of qvac-parakeet.cpp; see parakeet.hpp and
// published_gguf.hpp.
//
// max_symbols_per_step of "eou" is 5 whatever the model was made with, so NeMo's 10 is used; "rnnt" and "nemotron" say
// what the model has.
// SPDX-License-Identifier: Apache-2.0
#include <steno/error.hpp>
#include <steno/tokenizers/sentencepiece_model.hpp>
#include <steno/weights/byte_cursor.hpp>

#include <algorithm>
#include <utility>

#include "gguf_import.hpp"
#include "limits.hpp"
#include "nemo/parakeet.hpp"
#include "nemo/published_gguf.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace nemo_files {

namespace {

// Whole numbers of an array, as many as a file may have.
std::vector<int> wholes(const gguf_file& file, const std::string& key, int least, int most) {
  if (!file.has(key))
    fail({.where = file.where(), .what = "key " + steno::weights::quoted(key), .expected = "numbers", .found = "none"});
  return models::read_wholes(file, key, least, most, 4096);
}

// Of "nemotron": what the attention may look ahead, the usual one first, and the languages of the prompts.
void read_nemotron(const gguf_file& file, parakeet_settings& s) {
  const std::string at = "parakeet.nemotron.";
  const auto left = static_cast<int>(whole_number(file, (at + "left_context_frames").c_str(), 0, 1u << 20));
  if (left != s.left)
    fail({.where = file.where(),
          .what = "key " + steno::weights::quoted(at + "left_context_frames"),
          .expected = std::to_string(s.left) + ", as att_context_size_left has it",
          .found = std::to_string(left)});
  std::vector<std::vector<int>> pairs{{s.left, s.right}};
  for (const int right : wholes(file, at + "allowed_right_context_frames", 0, 1 << 20))
    if (right != s.right) pairs.push_back({s.left, right});
  take_contexts(pairs, file.where(), "key " + steno::weights::quoted(at + "allowed_right_context_frames"), s);
  prompt_settings& p = s.prompts;
  p.count = whole_number(file, (at + "num_prompts").c_str(), 1, 1u << 16);
  p.languages.names = file.strings(at + "locale_aliases");
  p.languages.numbers = wholes(file, at + "locale_prompt_ids", 0, 1 << 16);
  check_prompts(p, file.where(), "keys " + steno::weights::quoted(at + "locale_aliases") + " and locale_prompt_ids");
  if (const auto usual = file.text(at + "default_locale")) p.languages.usual = p.languages.prompt_of(*usual);
}

parakeet_settings settings_of(const gguf_file& file, const std::string& type) {
  const std::string at = "parakeet.";
  const auto number = [&](const std::string& key, std::uint32_t min, std::uint32_t max) {
    return whole_number(file, (at + key).c_str(), min, max);
  };
  parakeet_settings s;
  s.transducer = type != "ctc";
  read_published_encoder(file, s);
  if (!s.transducer) return s;
  s.predictor = number(type + ".pred_hidden", 1, limits::width);
  s.predictor_layers = number(type + ".pred_rnn_layers", 1, 64);
  s.joint = number(type + ".joint_hidden", 1, limits::width);
  if ((type == "rnnt" || type == "nemotron") && file.has(at + type + ".max_symbols_per_step"))
    s.max_symbols = number(type + ".max_symbols_per_step", 1, limits::symbols_per_frame);
  if (type == "nemotron") read_nemotron(file, s);
  if (!file.has(at + type + ".durations")) return s;
  for (const double d : file.numbers(at + type + ".durations")) {
    if (!(d >= 0 && d <= 1 << 16) || s.durations.size() >= 1024)
      fail({.where = file.where(), .what = "the durations", .expected = "numbers of frames"});
    s.durations.push_back(static_cast<std::int32_t>(d));
  }
  check_durations(s, file.where());
  return s;
}

// The tokenizer as it was, and labels behind its pieces (<EOU>, <EOB>).
tokenizers::sentencepiece_vocabulary pieces_of(const gguf_file& file) {
  tokenizers::sentencepiece_vocabulary v;
  const std::vector<std::string> tokens = file.strings("tokenizer.ggml.tokens");
  if (file.has("tokenizer.ggml.sentencepiece_model")) {
    std::vector<std::byte> bytes;
    for (const double b : file.numbers("tokenizer.ggml.sentencepiece_model"))
      bytes.push_back(static_cast<std::byte>(static_cast<int>(std::clamp(b, 0.0, 255.0))));
    v = tokenizers::read_sentencepiece_model(bytes, file.where() + ": tokenizer");
    if (v.pieces.size() > tokens.size()) v = {};
  }
  for (std::size_t i = v.pieces.size(); i < tokens.size(); ++i) {
    v.pieces.push_back(tokens[i]);
    v.scores.push_back(0);
    const bool marked = tokens[i].size() > 2 && tokens[i].front() == '<' && tokens[i].back() == '>';
    v.types.push_back(static_cast<int>(marked ? tokenizers::piece_type::user_defined : tokenizers::piece_type::normal));
  }
  return v;
}

// The name in these files of what a .nemo file calls `name`, for tensors outside of the encoder.
std::string head_name(std::string name, const std::string& type) {
  const auto replace = [&](std::string_view from, std::string_view to) {
    if (const std::size_t i = name.find(from); i != std::string::npos) name.replace(i, from.size(), to);
  };
  replace("decoder.decoder_layers.0.", "ctc.decoder.");
  replace("decoder.prediction.embed.", type + ".predict.embed.");
  if (name.starts_with("decoder.prediction.dec_rnn.lstm.")) {
    const std::size_t layer = name.rfind("_l");
    const std::string part = name.substr(32, layer - 32);  // weight_ih, ..., bias_hh
    return type + ".predict.lstm." + name.substr(layer + 2) + (part[0] == 'w' ? ".w" : ".b") +
           part.substr(part.find('_'));
  }
  replace("prompt_kernel.", type + ".prompt.proj.");
  replace("joint.joint_net.2.", type + ".joint.out.");
  if (name.starts_with("joint.")) name.insert(0, type + ".");
  return name;
}

}  // namespace

imported_model import_published_parakeet(const std::shared_ptr<gguf_file>& file) {
  const std::string type = file->text("parakeet.model.type").value_or("ctc");
  if (type != "ctc" && type != "tdt" && type != "eou" && type != "rnnt" && type != "nemotron")
    fail({.where = file->where(),
          .what = "key \"parakeet.model.type\"",
          .expected = "ctc, tdt, eou, rnnt, nemotron or sortformer",
          .found = steno::weights::quoted(type)});
  parakeet_settings s = settings_of(*file, type);
  const tokenizers::sentencepiece_vocabulary pieces = pieces_of(*file);
  s.vocabulary = static_cast<std::uint32_t>(pieces.pieces.size());
  imported_model model;
  model.where = file->where();
  model.source = file;
  check_published_keys(*file, model.notes);
  checkpoint_tensors from =
      published_tensors(*file, s, [type](std::string name) { return head_name(std::move(name), type); });
  set_parakeet_keys(model.file, s, pieces);
  promise_heads(from, s);
  take_tensors(model, std::move(from));
  return model;
}

}  // namespace nemo_files
}  // namespace STENO_ABI
}  // namespace steno
