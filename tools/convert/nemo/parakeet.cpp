// tools/convert/nemo/parakeet.cpp - FastConformer models from a .nemo file; see parakeet.hpp.
#include "nemo/parakeet.hpp"

#include <steno/error.hpp>
#include <steno/frontends/nemo_mel.hpp>
#include <steno/tokenizers/sentencepiece_model.hpp>
#include <steno/weights/byte_cursor.hpp>
#include <steno/weights/mapped_file.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "content.hpp"
#include "nemo/tar.hpp"

namespace steno::inline STENO_ABI::nemo {

namespace fs = std::filesystem;

namespace {

// An open .nemo file: mapped, or inflated into memory.
struct nemo_archive {
  explicit nemo_archive(const fs::path& path) : file(path.string()), where(path.string()) {
    if (!is_tar(file.bytes()) && !is_gzip(file.bytes()))
      fail({.where = where, .what = "not a .nemo archive", .expected = "a tar, perhaps gzip"});
    archive.emplace(file.bytes(), where);
  }
  const std::vector<tar_member>& members() const { return archive->members(); }
  const tar_member* find(std::string_view name) const {
    const auto found =
        std::find_if(members().begin(), members().end(), [&](const tar_member& m) { return m.name == name; });
    return found == members().end() ? nullptr : &*found;
  }
  const tar_member& need(std::string_view name) const {
    if (const tar_member* m = find(name)) return *m;
    std::string names;
    for (const tar_member& m : members()) names.append(names.empty() ? "" : ", ").append(m.name);
    fail({.where = where, .what = "it holds no " + steno::quoted(std::string(name)), .found = names});
  }

  mapped_file file;
  std::string where;
  std::optional<tar_archive> archive;
  std::optional<torch::checkpoint> weights;
};

std::string text_of(const tar_member& m, const std::string& where) {
  constexpr std::size_t largest = std::size_t{64} << 20;
  if (m.bytes.size() > largest) fail({.where = where, .what = steno::quoted(m.name) + " is too large for such a file"});
  return {reinterpret_cast<const char*>(m.bytes.data()), m.bytes.size()};
}

// Pieces of the SentencePiece model, and labels behind them that the model was given later (<EOU>, <EOB>).
sentencepiece_vocabulary read_pieces(const nemo_archive& archive, const yaml_settings& config) {
  std::string name = config.text("tokenizer.model_path", "");
  if (name.starts_with("nemo:")) name.erase(0, 5);
  const tar_member* m = archive.find(fs::path(name).filename().string());
  for (const tar_member& other : archive.members())
    if (m == nullptr && other.name.ends_with("tokenizer.model")) m = &other;
  if (m == nullptr) (void)archive.need("tokenizer.model");
  sentencepiece_vocabulary v = read_sentencepiece_model(m->bytes, archive.where + ": " + m->name);
  for (const char* key : {"labels", "joint.vocabulary", "decoder.vocabulary"}) {
    const auto labels = config.lists.find(key);
    if (labels == config.lists.end() || labels->second.size() <= v.pieces.size()) continue;
    if (labels->second.size() > v.pieces.size() + 1024)
      fail({.where = archive.where, .what = std::string(key) + " has many more entries than the tokenizer"});
    for (std::size_t i = v.pieces.size(); i < labels->second.size(); ++i) {
      v.pieces.push_back(labels->second[i]);
      v.scores.push_back(0);
      v.types.push_back(static_cast<int>(piece_type::user_defined));
    }
    break;
  }
  return v;
}

// The checkpoint's own filters must be the ones that steno computes.
void check_front_end(torch::inventory& stock, torch::checkpoint& weights, const parakeet_settings& s) {
  const auto bins = static_cast<extent>(s.fft_size / 2 + 1), mels = static_cast<extent>(s.mels);
  const std::string at = "preprocessor.featurizer.";
  if (stock.has(at + "window")) (void)stock.take(at + "window", {static_cast<extent>(s.window)});
  if (!stock.has(at + "fb")) return;
  const auto* filters = stock.take(at + "fb", {1, mels, bins});
  if (filters == nullptr) return;
  std::vector<float> stored(static_cast<std::size_t>(mels * bins));
  weights.read(*filters, stored);
  check_mel_filters(stored, s, weights.where());
}

}  // namespace

void check_mel_filters(std::span<const float> stored, const parakeet_settings& s, const std::string& where) {
  const nemo_mel<> ours({.window = static_cast<extent>(s.window),
                         .shift = static_cast<extent>(s.shift),
                         .fft_size = static_cast<extent>(s.fft_size),
                         .mels = static_cast<extent>(s.mels)});
  const std::size_t bins = s.fft_size / 2 + 1;
  std::vector<float> made(stored.size());
  for (std::size_t b = 0; b < s.mels; ++b)
    for (extent k = ours.filters().begin[b]; k < ours.filters().begin[b + 1]; ++k)
      made[b * bins + static_cast<std::size_t>(ours.filters().first[b] + k - ours.filters().begin[b])] =
          ours.filters().weights[static_cast<std::size_t>(k)];
  for (std::size_t i = 0; i < made.size(); ++i)
    if (!(std::fabs(made[i] - stored[i]) <= 1e-6f))  // weights are at most 0.03
      fail({.where = where,
            .what = "its mel filters are not those of librosa that steno computes",
            .expected = std::to_string(made[i]),
            .found = std::to_string(stored[i])});
}

void set_parakeet_keys(gguf_writer& file, const parakeet_settings& s, const sentencepiece_vocabulary& v) {
  const std::string name = s.architecture();
  const auto set = [&](const char* key, auto value) { file.set(name + "." + key, value); };
  const auto number = [](bool value) { return std::uint32_t{value}; };
  file.set("general.architecture", name);
  file.set("general.name", "parakeet-" +
                               std::string(!s.transducer         ? "ctc"
                                           : s.durations.empty() ? "rnnt"
                                                                 : "tdt") +
                               "-" + std::to_string(s.width) + "-" + std::to_string(s.blocks) + "l");
  file.set("steno.version",
           std::to_string(version.major) + "." + std::to_string(version.minor) + "." + std::to_string(version.patch));
  set("frontend.sample_rate", std::uint32_t{16000});
  set("frontend.window", s.window);
  set("frontend.shift", s.shift);
  set("frontend.fft_size", s.fft_size);
  set("frontend.n_mels", s.mels);
  set("frontend.per_feature", number(s.per_feature));
  set("encoder.feat_in", s.mels);
  set("encoder.n_heads", s.heads);
  set("encoder.xscaling", number(s.xscaling));
  set("encoder.causal_downsampling", number(s.causal_downsampling));
  set("encoder.causal", number(s.causal));
  set("encoder.cnn_layer_norm", number(s.layer_norm));
  set("encoder.attention_chunked", number(s.chunked));
  set("encoder.attention_left", s.left);
  set("encoder.attention_right", s.right);
  if (s.transducer) {
    set("decoder.pred_rnn_layers", s.predictor_layers);
    set("max_symbols", s.max_symbols);
    set("hybrid", number(s.hybrid));
    if (!s.durations.empty()) set("durations", s.durations);
  }
  file.set("tokenizer.ggml.model", "sentencepiece");
  file.set("tokenizer.ggml.tokens", v.pieces);
  file.set("tokenizer.ggml.scores", v.scores);
  file.set("tokenizer.ggml.token_type", std::vector<std::int32_t>(v.types.begin(), v.types.end()));
  file.set("tokenizer.ggml.add_space_prefix", v.add_dummy_prefix);
  file.set("tokenizer.ggml.remove_extra_whitespaces", v.remove_extra_whitespaces);
  file.set("tokenizer.ggml.unk_surface", v.unk_surface);
}

bool is_checkpoint(const fs::path& path) {
  if (!fs::is_regular_file(path)) return false;
  if (path.extension() == ".nemo") return true;
  return is_tar(mapped_file(path.string()).bytes());
}

imported_model import_checkpoint(const fs::path& path, const import_options& options) {
  if (options.cmvn)
    fail(
        {.where = path.string(), .what = "--cmvn is for FunASR models", .hint = "NeMo normalises each clip by itself"});
  const auto archive = std::make_shared<nemo_archive>(path);
  const yaml_settings config = read_yaml(archive->where + ": model_config.yaml",
                                         text_of(archive->need("model_config.yaml"), archive->where), "a NeMo config");
  parakeet_settings s = read_parakeet_settings(config);
  const sentencepiece_vocabulary pieces = read_pieces(*archive, config);
  s.vocabulary = static_cast<std::uint32_t>(pieces.pieces.size());
  archive->weights.emplace(archive->need("model_weights.ckpt").bytes, archive->where + ": model_weights.ckpt");
  imported_model model;
  model.where = archive->where;
  model.source = archive;
  set_parakeet_keys(model.file, s, pieces);
  torch::inventory stock(*archive->weights);
  check_front_end(stock, *archive->weights, s);
  torch::add_laid_out(model, stock, *archive->weights, parakeet_tensors(s), s.layer_norm ? "" : "batch_norm.");
  // Counters, and position tables that some versions stored.
  static constexpr std::string_view unused[] = {".num_batches_tracked", ".pos_enc.pe"};
  stock.finish("model_config.yaml", unused);
  return model;
}

}  // namespace steno::inline STENO_ABI::nemo
