// tools/convert/wenet/u2.cpp - U2 and U2++ from the folder WeNet publishes; see u2.hpp.
#include "wenet/u2.hpp"

#include <steno/error.hpp>
#include <steno/tokenizers/sentencepiece_model.hpp>

#include <cmath>
#include <map>
#include <utility>

#include "content.hpp"
#include "torch/checkpoint.hpp"
#include "wenet/folder.hpp"

namespace steno::inline STENO_ABI::wenet {

namespace fs = std::filesystem;

namespace {

void set_keys(gguf_writer& file, const u2_settings& s, const folder& f, const std::vector<std::string>& units) {
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
  file.set("tokenizer.ggml.model", "wenet");
  file.set("tokenizer.ggml.tokens", units);
  if (!f.pieces) return;
  // The SentencePiece model is needed to split phrases for contexts; its pieces are numbered otherwise than the units.
  const mapped_file pieces(f.pieces->string());
  const sentencepiece_vocabulary v = read_sentencepiece_model(pieces.bytes(), f.pieces->string());
  file.set("tokenizer.wenet.pieces", v.pieces);
  file.set("tokenizer.wenet.scores", v.scores);
  file.set("tokenizer.wenet.types", std::vector<std::int32_t>(v.types.begin(), v.types.end()));
}

// The four vectors of a batch norm and what it does to the convolution before it.
struct batch_norm {
  const torch::checkpoint::entry *weight, *bias, *mean, *variance;

  std::vector<double> scale(torch::checkpoint& c) const {
    std::vector<float> w(static_cast<std::size_t>(weight->count)), v(w.size());
    c.read(*weight, w);
    c.read(*variance, v);
    std::vector<double> s(w.size());
    for (std::size_t i = 0; i < s.size(); ++i)
      s[i] = static_cast<double>(w[i]) / std::sqrt(static_cast<double>(v[i]) + 1e-5);
    return s;
  }
};

void read_values(torch::checkpoint& c, const torch::checkpoint::entry& e, const u2_tensor& t,
                 const std::optional<batch_norm>& norm, std::span<float> out) {
  if (t.made == layout::same || (t.made == layout::taps_bias && !norm)) return c.read(e, out);
  std::vector<float> values(out.size());
  c.read(e, values);
  const auto size = [&](std::size_t axis) { return static_cast<std::size_t>(t.shape[axis]); };
  if (t.made == layout::taps) {
    const std::size_t d = size(0), k = size(2);
    const std::vector<double> scale = norm ? norm->scale(c) : std::vector<double>(d, 1.0);
    for (std::size_t i = 0; i < d; ++i)
      for (std::size_t j = 0; j < k; ++j)
        out[j * d + i] = static_cast<float>(static_cast<double>(values[i * k + j]) * scale[i]);
  } else if (t.made == layout::taps_bias) {
    const std::vector<double> scale = norm->scale(c);
    std::vector<float> mean(out.size()), shift(out.size());
    c.read(*norm->mean, mean);
    c.read(*norm->bias, shift);
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = static_cast<float>((static_cast<double>(values[i]) - static_cast<double>(mean[i])) * scale[i] +
                                  static_cast<double>(shift[i]));
  } else {  // swap the channel axis with what follows it
    const std::size_t rows = size(0);
    const std::size_t channels = t.made == layout::kernel ? size(1) : rows, rest = out.size() / rows / channels;
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t i = 0; i < channels; ++i)
        for (std::size_t j = 0; j < rest; ++j)
          out[(r * rest + j) * channels + i] = values[(r * channels + i) * rest + j];
  }
}

// Names and shapes of the checkpoint against what the settings promise; complains about everything at once.
class inventory {
 public:
  inventory(const torch::checkpoint& c) : checkpoint_(c) {
    for (const auto& e : c.tensors()) left_.emplace(e.name, &e);
  }
  const torch::checkpoint::entry* take(const std::string& name, const std::vector<extent>& shape) {
    const auto found = left_.find(name);
    if (found == left_.end()) {
      note(steno::quoted(name) + " is missing");
      return nullptr;
    }
    const torch::checkpoint::entry* e = found->second;
    left_.erase(found);
    bool same = e->shape.size() == shape.size();
    for (std::size_t i = 0; same && i < shape.size(); ++i) same = e->shape[i] == static_cast<std::uint64_t>(shape[i]);
    if (same) return e;
    std::string is, wanted;
    for (const auto n : e->shape) is.append(is.empty() ? "" : " x ").append(std::to_string(n));
    for (const auto n : shape) wanted.append(wanted.empty() ? "" : " x ").append(std::to_string(n));
    note(steno::quoted(name) + " is [" + is + "], not [" + wanted + "]");
    return nullptr;
  }
  bool has(const std::string& name) const { return left_.contains(name); }
  void finish() {
    for (const auto& [name, e] : left_) {
      // Position tables, counters and a layer that no version ever applied.
      if (name.ends_with(".pe") || name.ends_with(".num_batches_tracked") ||
          name.find(".concat_linear") != std::string::npos)
        continue;
      note(steno::quoted(name) + " is not part of the model");
    }
    if (count_ == 0) return;
    if (count_ > most) problems_ += ", and " + std::to_string(count_ - most) + " more";
    fail({.where = checkpoint_.where(), .what = "the tensors are not those that train.yaml describes: " + problems_});
  }

 private:
  static constexpr std::size_t most = 8;
  void note(const std::string& what) {
    if (++count_ <= most) problems_.append(problems_.empty() ? "" : ", ").append(what);
  }
  const torch::checkpoint& checkpoint_;
  std::map<std::string, const torch::checkpoint::entry*> left_;
  std::string problems_;
  std::size_t count_ = 0;
};

void add_vector(imported_model& model, const char* name, std::vector<float> values) {
  const auto n = static_cast<extent>(values.size());
  model.tensors.push_back({.name = name, .shape = {n}, .read = [values = std::move(values)](std::span<float> out) {
                             std::copy(values.begin(), values.end(), out.begin());
                           }});
}

// encoder.global_cmvn of the checkpoint; the file only initialises it (and is all there is before training).
void add_cmvn(imported_model& model, inventory& stock, torch::checkpoint& c, const folder& f, std::uint32_t mels) {
  cmvn_statistics s;
  if (stock.has("encoder.global_cmvn.mean")) {
    const std::vector<extent> shape{static_cast<extent>(mels)};
    const auto* mean = stock.take("encoder.global_cmvn.mean", shape);
    const auto* istd = stock.take("encoder.global_cmvn.istd", shape);
    if (mean == nullptr || istd == nullptr) return;  // finish() reports it
    s.mean.resize(mels);
    s.istd.resize(mels);
    c.read(*mean, s.mean);
    c.read(*istd, s.istd);
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
  add_vector(model, "cmvn.shift", std::move(s.mean));
  add_vector(model, "cmvn.scale", std::move(s.istd));
}

imported_model import_u2(const folder& f) {
  const std::vector<std::string> units = read_units(f.units);
  const u2_settings s = read_settings(f, units.size());
  const auto weights = std::make_shared<torch::checkpoint>(f.weights);
  imported_model model;
  model.where = f.weights.string();
  model.source = weights;
  set_keys(model.file, s, f, units);

  inventory stock(*weights);
  std::uint64_t total = 0;
  for (u2_tensor& e : u2_tensors(s)) {
    const auto* entry = stock.take(e.name, e.shape);
    std::optional<batch_norm> norm;
    if (s.batch_norm && (e.made == layout::taps || e.made == layout::taps_bias)) {
      const std::string at = e.name.substr(0, e.name.find("depthwise_conv")) + "norm.";
      const std::vector<extent> shape{static_cast<extent>(s.width)};
      // Both the taps and their bias need them; they are taken from the stock once.
      const auto find = [&](const char* part) {
        return e.made == layout::taps ? stock.take(at + part, shape) : weights->find(at + part);
      };
      norm = batch_norm{find("weight"), find("bias"), find("running_mean"), find("running_var")};
    }
    if (entry == nullptr) continue;
    total += entry->count * torch::size_of_scalar(entry->type);
    const dtype stored = entry->type == torch::scalar::f16    ? dtype::f16
                         : entry->type == torch::scalar::bf16 ? dtype::bf16
                                                              : dtype::f32;
    imported_tensor t{.name = e.name, .shape = e.packed, .stored = stored, .product = e.product};
    t.read = [c = weights.get(), entry, e, norm](std::span<float> out) { read_values(*c, *entry, e, norm, out); };
    model.tensors.push_back(std::move(t));
  }
  add_cmvn(model, stock, *weights, f, s.mels);
  stock.finish();
  // Tensors may share a storage, but a file whose every tensor is all of it is no checkpoint.
  if (total / 4 > weights->size())
    fail({.where = model.where, .what = "the tensors claim far more than the file holds"});
  if (!s.dynamic_chunk)
    model.notes.push_back(f.config.string() +
                          ": the model was not trained for streaming (use_dynamic_chunk); chunks lose accuracy");
  return model;
}

fs::path folder_of(const fs::path& file) { return file.has_parent_path() ? file.parent_path() : fs::path("."); }

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

}  // namespace steno::inline STENO_ABI::wenet
