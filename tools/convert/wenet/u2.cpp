// tools/convert/wenet/u2.cpp - U2 and U2++ from the folder WeNet publishes; see u2.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "wenet/u2.hpp"

#include <steno/error.hpp>
#include <steno/models/u2.hpp>
#include <steno/tokenizers/sentencepiece_model.hpp>

#include <cmath>
#include <iterator>
#include <utility>

#include "content.hpp"
#include "folder_entries.hpp"
#include "torch/tensors.hpp"
#include "wenet/folder.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace wenet_files {

namespace fs = std::filesystem;

void walk_u2_conformer(const gguf_file& keys, tensor_taker& taker) { walk_model<wenet::u2_conformer_any>(keys, taker); }
void walk_u2_transformer(const gguf_file& keys, tensor_taker& taker) {
  walk_model<wenet::u2_transformer_any>(keys, taker);
}

void set_keys(weights::gguf_writer& file, const u2_settings& s) {
  const std::string name = s.conformer ? "u2_conformer" : "u2_transformer";
  const auto set = [&](const char* key, std::uint32_t value) { file.set(name + "." + key, value); };
  file.set("general.architecture", name);
  file.set("general.name",
           std::string(s.bidirectional ? "WeNet U2++ " : "WeNet U2 ") + (s.conformer ? "conformer" : "transformer"));
  file.set("steno.version",
           std::to_string(version.major) + "." + std::to_string(version.minor) + "." + std::to_string(version.patch));
  set("encoder.subsampling_rate", s.rate);
  set("encoder.input_dim", s.mels);
  set("encoder.output_size", s.width);
  set("encoder.attention_heads", s.heads);
  set("encoder.linear_units", s.units);
  set("encoder.num_blocks", s.blocks);
  set("encoder.relative_positions", s.relative);
  set("encoder.activation", s.activation);
  set("encoder.dynamic_chunk", s.dynamic_chunk);
  if (s.conformer) {
    set("encoder.cnn_module_kernel", s.taps);
    set("encoder.causal", s.causal);
    set("encoder.cnn_layer_norm", !s.batch_norm);
  }
  set("decoder.attention_heads", s.decoder_heads);
  set("decoder.linear_units", s.decoder_units);
  set("decoder.num_blocks", s.decoder_blocks);
  set("bidirectional", s.bidirectional);
  file.set(name + ".reverse_weight", s.reverse_weight);
  set("blank_id", s.blank);
  set("sos_id", s.sos);
  set("eos_id", s.eos);
  set("frontend.sample_rate", 16000);
  file.set(name + ".frontend.window", "povey");
  set("frontend.n_mels", s.mels);
  set("frontend.frame_length", 25);
  set("frontend.frame_shift", 10);
}

void promise(checkpoint_tensors& from, const u2_settings& s) {
  const auto d = static_cast<extent>(s.width), v = static_cast<extent>(s.vocabulary);
  from.sizes = {{"encoder.embed.conv.0.weight", d, 9},
                {"encoder.*.w_1.weight", static_cast<extent>(s.units), d},
                {"encoder.*.linear_out.weight", d, d},
                {"encoder.*.depthwise_conv.weight", static_cast<extent>(s.taps), d},
                {"encoder.*.depthwise_conv.bias", dynamic, d},
                {"ctc.ctc_lo.weight", v, d},
                {"decoder.*embed.0.weight", v, d},
                {"decoder.*output_layer.weight", v, d},
                {"decoder.*.w_1.weight", static_cast<extent>(s.decoder_units), d}};
  const std::string left = s.bidirectional ? "decoder.left_decoder" : "decoder";
  from.counts = {{"encoder.encoders", static_cast<extent>(s.blocks)},
                 {left + ".decoders", static_cast<extent>(s.decoder_blocks)},
                 {"decoder.right_decoder.decoders", static_cast<extent>(s.reverse_blocks)}};
  from.ignored = {{".pe", "positions are computed"},
                  {".num_batches_tracked", "a counter of training"},
                  {".concat_linear", "no version ever applied it"}};
}

namespace {

void set_tokenizer(weights::gguf_writer& file, const folder& f, const std::vector<std::string>& units) {
  file.set("tokenizer.ggml.model", "wenet");
  file.set("tokenizer.ggml.tokens", units);
  if (!f.pieces) return;
  // The SentencePiece model is needed to split phrases for contexts; its pieces are numbered otherwise than the units.
  const weights::mapped_file pieces(f.pieces->string());
  const tokenizers::sentencepiece_vocabulary v =
      tokenizers::read_sentencepiece_model(pieces.bytes(), f.pieces->string());
  file.set("tokenizer.wenet.pieces", v.pieces);
  file.set("tokenizer.wenet.scores", v.scores);
  file.set("tokenizer.wenet.types", std::vector<std::int32_t>(v.types.begin(), v.types.end()));
}

// encoder.global_cmvn of the checkpoint; the file only initialises it (and is all there is before training).
void add_cmvn(imported_model& model, checkpoint_tensors& from, const folder& f, std::uint32_t mels) {
  cmvn_statistics s;
  const std::string at = "encoder.global_cmvn.";
  if (find(from, at + "mean") != nullptr) {
    s.mean = take_values(from, at + "mean", {static_cast<extent>(mels)});
    s.istd = take_values(from, at + "istd", {static_cast<extent>(mels)});
    for (const auto& [name, values] : {std::pair("mean", &s.mean), std::pair("istd", &s.istd)})
      for (std::size_t i = 0; i < values->size(); ++i)
        if (!std::isfinite((*values)[i]))
          fail({.where = f.weights.string(),
                .what = "\"encoder.global_cmvn." + std::string(name) + "\": element " + std::to_string(i),
                .expected = "a finite number",
                .found = std::to_string((*values)[i])});
  } else if (f.cmvn) {
    s = read_cmvn(*f.cmvn, f.json_cmvn);
    if (s.mean.size() != mels)
      fail({.where = f.cmvn->string(),
            .what = "length of the vectors",
            .expected = std::to_string(mels),
            .found = std::to_string(s.mean.size())});
  } else {
    return;
  }
  for (float& v : s.mean) v = -v;
  steno::add_cmvn(model, std::move(s.mean), std::move(s.istd));
}

imported_model import_u2(const folder& f) {
  const std::vector<std::string> units = read_units(f.units);
  const u2_settings s = read_settings(f, units.size());
  imported_model model;
  check_settings(f, model.notes);
  checkpoint_tensors from = torch::open_tensors(f.weights);
  model.where = from.where;
  set_keys(model.file, s);
  set_tokenizer(model.file, f, units);
  promise(from, s);
  imported_model statistics;
  add_cmvn(statistics, from, f, s.mels);
  take_tensors(model, std::move(from));
  std::move(statistics.tensors.begin(), statistics.tensors.end(), std::back_inserter(model.tensors));
  if (!s.dynamic_chunk)
    model.notes.push_back(f.config.string() +
                          ": the model was not trained for streaming (use_dynamic_chunk); chunks lose accuracy");
  return model;
}

}  // namespace

bool is_checkpoint(const fs::path& path) {
  if (fs::is_directory(path)) return is_folder(path);
  return (path.filename() == "train.yaml" || is_torch_file(path)) && is_folder(folder_of(path));
}

imported_model import_checkpoint(const fs::path& path, const import_options& options) {
  if (options.cmvn)
    fail({.where = path.string(), .what = "--cmvn is for FunASR models", .hint = "WeNet's statistics are in final.pt"});
  if (fs::is_directory(path)) return import_u2(open_folder(path));
  std::optional<fs::path> weights;
  if (path.filename() != "train.yaml") weights = path;
  return import_u2(open_folder(folder_of(path), weights));
}

}  // namespace wenet_files
}  // namespace STENO_ABI
}  // namespace steno
