// tools/convert/nemo/parakeet_gguf.cpp - Parakeet from the GGUF files of qvac-parakeet.cpp (general.architecture
// "parakeet-ctc" for all kinds, keys parakeet.*); see parakeet.hpp.
//
// Each tensor the packaged file needs has a name there. A batch norm is stored as scale and shift and goes into the
// depthwise weights; q, k and v may stand there a second time as one matrix, which is ignored, as are the mel filters
// and the window, which steno computes. max_symbols_per_step is 5 in all of these files whatever the model was made
// with, so NeMo's 10 is used. Diarization models are refused.
#include <steno/error.hpp>
#include <steno/tokenizers/sentencepiece_model.hpp>
#include <steno/weights/byte_cursor.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "gguf_import.hpp"
#include "nemo/parakeet.hpp"

namespace steno::inline STENO_ABI::nemo {

namespace {

bool flag(const gguf_file& file, const std::string& key, bool otherwise) {
  const gguf_value* v = file.value(key);
  if (v == nullptr) return otherwise;
  if (const auto b = v->get<bool>()) return *b;
  return v->number().value_or(otherwise ? 1 : 0) != 0;
}
void require(const gguf_file& file, const std::string& key, const std::string& found, const std::string& expected) {
  if (found != expected)
    fail({.where = file.where(), .what = "key " + steno::quoted(key), .expected = expected, .found = found});
}
std::int32_t context(const gguf_file& file, const char* key) {
  const double n = file.number(key).value_or(-1);
  return n >= 0 && n <= 1 << 20 ? static_cast<std::int32_t>(n) : -1;
}

parakeet_settings settings_of(const gguf_file& file, const std::string& type) {
  constexpr std::uint32_t wide = 65536;
  const std::string at = "parakeet.";
  const auto number = [&](const std::string& key, std::uint32_t least, std::uint32_t most) {
    return whole_number(file, (at + key).c_str(), least, most);
  };
  parakeet_settings s;
  s.transducer = type != "ctc";
  (void)number("preproc.sample_rate", 16000, 16000);
  s.mels = number("preproc.n_mels", 8, 1024);
  s.fft_size = number("preproc.n_fft", 16, wide);
  s.window = number("preproc.win_length", 2, wide);
  s.shift = number("preproc.hop_length", 1, wide);
  const std::string normal = file.text("parakeet.preproc.normalize").value_or("per_feature");
  s.per_feature = normal != "NA";
  if (s.per_feature) require(file, "parakeet.preproc.normalize", normal, "per_feature");
  s.width = number("encoder.d_model", 2, wide);
  s.blocks = number("encoder.n_layers", 1, 1024);
  s.heads = number("encoder.n_heads", 1, 1024);
  s.units = number("encoder.ff_dim", 1, 1u << 22);
  s.taps = number("encoder.conv_kernel", 1, 1023);
  s.channels = number("encoder.subsampling_conv_channels", 1, wide);
  (void)number("encoder.subsampling_factor", 8, 8);
  s.xscaling = flag(file, "parakeet.encoder.xscaling", true);
  s.bias = flag(file, "parakeet.encoder.use_bias", true);
  s.causal_downsampling = flag(file, "parakeet.encoder.causal_downsampling", false);
  if (!flag(file, "parakeet.encoder.untie_biases", true))
    fail({.where = file.where(), .what = "key \"parakeet.encoder.untie_biases\"", .expected = "true"});
  const std::string norm = file.text("parakeet.encoder.conv_norm_type").value_or("batch_norm");
  s.layer_norm = norm == "layer_norm";
  if (!s.layer_norm) require(file, "parakeet.encoder.conv_norm_type", norm, "batch_norm");
  s.causal = file.text("parakeet.encoder.conv_context_size").value_or("None") == "causal";
  const std::string style = file.text("parakeet.encoder.att_context_style").value_or("regular");
  s.chunked = style == "chunked_limited";
  if (!s.chunked) require(file, "parakeet.encoder.att_context_style", style, "regular");
  s.left = context(file, "parakeet.encoder.att_context_size_left");
  s.right = context(file, "parakeet.encoder.att_context_size_right");
  if (s.width % s.heads != 0 || s.width % 2 != 0 || s.taps % 2 == 0 || (s.chunked && s.right < 0))
    fail({.where = file.where(),
          .what = "the encoder's sizes",
          .expected = "an even width that the heads divide, an odd kernel, and a limit on the right of chunks"});
  if (!s.transducer) return s;
  s.predictor = number(type + ".pred_hidden", 1, wide);
  s.predictor_layers = number(type + ".pred_rnn_layers", 1, 64);
  s.joint = number(type + ".joint_hidden", 1, wide);
  if (!file.has(at + type + ".durations")) return s;
  for (const double d : file.numbers(at + type + ".durations")) {
    if (!(d >= 0 && d <= 1 << 16) || s.durations.size() >= 1024)
      fail({.where = file.where(), .what = "the durations", .expected = "numbers of frames"});
    s.durations.push_back(static_cast<std::int32_t>(d));
  }
  return s;
}

// The tokenizer as it was, and labels behind its pieces (<EOU>, <EOB>).
sentencepiece_vocabulary pieces_of(const gguf_file& file) {
  sentencepiece_vocabulary v;
  const std::vector<std::string> tokens = file.strings("tokenizer.ggml.tokens");
  if (file.has("tokenizer.ggml.sentencepiece_model")) {
    std::vector<std::byte> bytes;
    for (const double b : file.numbers("tokenizer.ggml.sentencepiece_model"))
      bytes.push_back(static_cast<std::byte>(static_cast<int>(std::clamp(b, 0.0, 255.0))));
    v = read_sentencepiece_model(bytes, file.where() + ": tokenizer");
    if (v.pieces.size() > tokens.size()) v = {};
  }
  for (std::size_t i = v.pieces.size(); i < tokens.size(); ++i) {
    v.pieces.push_back(tokens[i]);
    v.scores.push_back(0);
    const bool marked = tokens[i].size() > 2 && tokens[i].front() == '<' && tokens[i].back() == '>';
    v.types.push_back(static_cast<int>(marked ? piece_type::user_defined : piece_type::normal));
  }
  return v;
}

// The name in these files of what a .nemo file calls `name`.
std::string their_name(std::string name, const std::string& type) {
  const auto replace = [&](std::string_view from, std::string_view to) {
    if (const std::size_t i = name.find(from); i != std::string::npos) name.replace(i, from.size(), to);
  };
  if (name.starts_with("encoder.pre_encode.")) {
    replace("pre_encode.", "subsampling.");
    constexpr std::pair<std::string_view, std::string_view> parts[] = {{"conv.0.", "conv0."},
                                                                       {"conv.2.", "conv1_dw."},
                                                                       {"conv.3.", "conv1_pw."},
                                                                       {"conv.5.", "conv2_dw."},
                                                                       {"conv.6.", "conv2_pw."}};
    for (const auto& [from, to] : parts) replace(from, to);
    return name;
  }
  if (name.starts_with("encoder.layers.")) {
    constexpr std::pair<std::string_view, std::string_view> parts[] = {{"encoder.layers.", "encoder.blk."},
                                                                       {".norm_feed_forward1.", ".norm_ff1."},
                                                                       {".norm_feed_forward2.", ".norm_ff2."},
                                                                       {".norm_self_att.", ".norm_attn."},
                                                                       {".feed_forward1.", ".ff1."},
                                                                       {".feed_forward2.", ".ff2."},
                                                                       {".self_attn.linear_", ".attn."},
                                                                       {".self_attn.", ".attn."},
                                                                       {".conv.pointwise_conv1.", ".conv.pw1."},
                                                                       {".conv.pointwise_conv2.", ".conv.pw2."},
                                                                       {".conv.depthwise_conv.", ".conv.dw."},
                                                                       {".conv.batch_norm.", ".conv.norm."}};
    for (const auto& [from, to] : parts) replace(from, to);
    return name;
  }
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

class published_file {
 public:
  published_file(const gguf_file& file, const parakeet_settings& s, std::string type)
      : file_(file), settings_(s), type_(std::move(type)) {
    for (std::size_t i = 0; i < file.size(); ++i) numbers_.emplace(std::string(file.tensor(i).name), i);
  }

  imported_tensor take(const torch::laid_out_tensor& t) {
    const std::string name = their_name(t.name, type_);
    const bool bare = t.made == torch::layout::taps_bias && !settings_.bias;  // made by the batch norm alone
    imported_tensor stored;
    std::uint64_t count = 1;
    for (const extent n : t.packed) count *= static_cast<std::uint64_t>(n);
    if (!bare) stored = find(name, count);
    const bool depthwise = t.name.find(".conv.depthwise_conv.") != std::string::npos;
    if (t.made == torch::layout::same || !depthwise || settings_.layer_norm) return lay_out(t, std::move(stored));
    const std::string norm = name.substr(0, name.find(".dw.")) + ".bn.";
    return lay_out(t, std::move(stored),
                   {values(norm + "scale", settings_.width), values(norm + "shift", settings_.width)});
  }
  void finish() const {
    std::string left;
    for (const auto& [name, i] : numbers_)
      if (!used_.contains(name) && !name.starts_with("preproc.") && name.find(".attn.qkv.") == std::string::npos)
        left.append(left.empty() ? "" : ", ").append(name);
    if (!left.empty()) fail({.where = file_.where(), .what = "tensors that such a model has not", .found = left});
  }

 private:
  imported_tensor find(const std::string& name, std::uint64_t count) {
    const auto at = numbers_.find(name);
    if (at == numbers_.end()) fail({.where = file_.where(), .what = "tensor " + steno::quoted(name) + " is missing"});
    used_.insert(name);
    imported_tensor t = take_tensor(file_, at->second, is_parakeet_product);
    if (t.count() != count)
      fail({.where = file_.where(),
            .what = "tensor " + steno::quoted(name),
            .expected = std::to_string(count) + " values",
            .found = std::to_string(t.count())});
    return t;
  }
  std::vector<float> values(const std::string& name, std::uint32_t count) {
    std::vector<float> v(count);
    find(name, count).read(v);
    return v;
  }

  const gguf_file& file_;
  const parakeet_settings& settings_;
  std::string type_;
  std::map<std::string, std::size_t> numbers_;
  std::set<std::string> used_;
};

}  // namespace

imported_model import_published_parakeet(const std::shared_ptr<gguf_file>& file) {
  const std::string type = file->text("parakeet.model.type").value_or("ctc");
  if (type != "ctc" && type != "tdt" && type != "eou" && type != "rnnt")
    fail({.where = file->where(),
          .what = "key \"parakeet.model.type\"",
          .expected = "ctc, tdt, eou or rnnt",
          .found = steno::quoted(type)});
  parakeet_settings s = settings_of(*file, type);
  const sentencepiece_vocabulary pieces = pieces_of(*file);
  s.vocabulary = static_cast<std::uint32_t>(pieces.pieces.size());
  imported_model model;
  model.where = file->where();
  model.source = file;
  set_parakeet_keys(model.file, s, pieces);
  published_file published(*file, s, type);
  for (const torch::laid_out_tensor& t : parakeet_tensors(s)) model.tensors.push_back(published.take(t));
  published.finish();
  return model;
}

}  // namespace steno::inline STENO_ABI::nemo
