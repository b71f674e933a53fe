// tools/convert/nemo/parakeet_gguf.cpp - Parakeet from the GGUF files of qvac-parakeet.cpp; see parakeet.hpp and
// published_gguf.hpp.
//
// max_symbols_per_step is 5 in all of these files whatever the model was made with, so NeMo's 10 is used.
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
  replace("joint.joint_net.2.", type + ".joint.out.");
  if (name.starts_with("joint.")) name.insert(0, type + ".");
  return name;
}

}  // namespace

imported_model import_published_parakeet(const std::shared_ptr<gguf_file>& file) {
  const std::string type = file->text("parakeet.model.type").value_or("ctc");
  if (type != "ctc" && type != "tdt" && type != "eou" && type != "rnnt")
    fail({.where = file->where(),
          .what = "key \"parakeet.model.type\"",
          .expected = "ctc, tdt, eou, rnnt or sortformer",
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
