// tools/convert/nemo/parakeet_ggml.cpp - Parakeet TDT from whisper.cpp's .bin (ggml's container before GGUF); see
// parakeet.hpp.
//
//   u32 magic "lmgg"; i32 n_vocab, n_audio_ctx, n_audio_state, n_audio_head, n_audio_layer, n_mels, ftype, n_fft,
//   subsampling factor, subsampling channels, conv kernel, prediction width, its layers, n durations, max symbols
//   i32 mels, i32 bins, f32 [mels][bins]; i32 n, f32 [n] window    the front end, which steno computes itself
//   u32 durations; i32 count, then i32 length and bytes of a piece
//   the tensors, as in ggml_file.hpp
//
// Names and orders of values are NeMo's, axes of 1 come and go. What the header cannot say is that of
// parakeet-tdt-0.6b: no biases in the blocks, no xscaling, batch norm, full attention, the joint network as wide as the
// prediction network. The LSTM has one bias `bias_h_lN`, the sum of both, and its rows are the gates i, f, o, g, where
// torch has i, f, g, o; files of the time before that (two biases) have torch's order. Pieces come without types:
// <unk>, <s>, </s>, <pad>,
// <|...|> and bytes <0x..> are known by how they are written.
#include <steno/error.hpp>
#include <steno/weights/blocks.hpp>
#include <steno/weights/byte_cursor.hpp>
#include <steno/weights/mapped_file.hpp>

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <utility>

#include "content.hpp"
#include "ggml_file.hpp"
#include "limits.hpp"
#include "nemo/parakeet.hpp"

namespace steno::inline STENO_ABI::nemo {

namespace fs = std::filesystem;

namespace {

constexpr std::uint32_t wide = 65536;

// The file, and tensors whose rows had to be put in order.
struct opened_ggml {
  std::shared_ptr<void> file;
  std::deque<std::vector<std::byte>> ordered = {};
  std::deque<std::vector<float>> values = {};
};

parakeet_settings read_header(byte_cursor& at) {
  at.take(4, "the magic number");
  const auto size = [&](const char* what, std::int32_t least, std::int32_t most) {
    return ggml_size(at, what, least, most);
  };
  parakeet_settings s;
  s.transducer = true;
  s.bias = s.xscaling = false;
  s.vocabulary = size("n_vocab", 1, 1 << 20);
  at.number<std::int32_t>("n_audio_ctx");  // how much the original computes at once
  s.width = size("n_audio_state", 2, wide);
  s.heads = size("n_audio_head", 1, 1024);
  s.blocks = size("n_audio_layer", 1, limits::layers);
  s.mels = size("n_mels", 8, 1024);
  at.number<std::int32_t>("ftype");  // every tensor says its own format
  s.fft_size = size("n_fft", 16, wide);
  size("subsampling_factor", 8, 8);
  s.channels = size("n_subsampling_channels", 1, wide);
  s.taps = size("n_conv_kernel", 1, 1023);
  s.predictor = size("n_pred_dim", 1, wide);
  s.predictor_layers = size("n_pred_layers", 1, 64);
  s.durations.resize(size("n_tdt_durations", 1, 1024));
  s.max_symbols = size("n_max_tokens", 1, limits::symbols_per_frame);
  s.units = 4 * s.width;
  if (s.width % s.heads != 0 || s.width % 2 != 0 || s.taps % 2 == 0)
    at.stop("the encoder's sizes", "an even width that the heads divide, and an odd kernel",
            std::to_string(s.width) + ", " + std::to_string(s.heads) + ", " + std::to_string(s.taps));
  return s;
}

// Filters, window and durations.
void read_tables(byte_cursor& at, const std::string& where, parakeet_settings& s) {
  const std::uint32_t mels = ggml_size(at, "number of mel filters", 8, 1024);
  const std::uint32_t bins = ggml_size(at, "number of frequencies", 1, wide);
  if (mels != s.mels || bins != s.fft_size / 2 + 1)
    at.stop("mel filters", "[" + std::to_string(s.mels) + " x " + std::to_string(s.fft_size / 2 + 1) + "]",
            "[" + std::to_string(mels) + " x " + std::to_string(bins) + "]");
  const auto bytes = at.take(std::uint64_t{4} * mels * bins, "the mel filters");
  std::vector<float> filters(bytes.size() / 4);
  std::copy(bytes.begin(), bytes.end(), std::as_writable_bytes(std::span(filters)).begin());
  s.window = ggml_size(at, "length of the window", 2, wide);
  at.take(std::uint64_t{4} * s.window, "the window");
  check_mel_filters(filters, s, where);
  for (std::int32_t& d : s.durations) d = static_cast<std::int32_t>(ggml_size(at, "a duration", 0, wide));
  check_durations(s, where);
}

piece_type type_of(const std::string& piece) {
  if (piece == "<unk>") return piece_type::unknown;
  if (piece == "<s>" || piece == "</s>" || piece == "<pad>") return piece_type::control;
  if (piece.size() > 4 && piece.starts_with("<|") && piece.ends_with("|>")) return piece_type::control;
  return piece.size() == 6 && piece.starts_with("<0x") && piece.back() == '>' ? piece_type::byte : piece_type::normal;
}

sentencepiece_vocabulary read_pieces(byte_cursor& at, std::uint32_t wanted) {
  const std::uint32_t count = ggml_size(at, "number of pieces", 1, 1 << 20);
  if (count != wanted) at.stop("number of pieces", std::to_string(wanted), std::to_string(count));
  sentencepiece_vocabulary v;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto bytes = at.take(at.number<std::uint32_t>("length of a piece"), "a piece");
    v.pieces.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    v.types.push_back(static_cast<int>(type_of(v.pieces.back())));
  }
  v.scores.assign(v.pieces.size(), 0);
  return v;
}

std::vector<extent> without_ones(const std::vector<extent>& shape) {
  std::vector<extent> kept;
  for (const extent n : shape)
    if (n != 1) kept.push_back(n);
  return kept;
}
std::string shape_text(const std::vector<extent>& shape) {
  std::string text = "[";
  for (const extent n : shape) text.append(text.size() == 1 ? "" : " x ").append(std::to_string(n));
  return text.append("]");
}

class tensor_stock {
 public:
  tensor_stock(const std::string& where, std::vector<stored_tensor> all, opened_ggml& file)
      : where_(where), file_(file) {
    for (stored_tensor& t : all) {
      const std::string name = t.name;
      if (!left_.emplace(name, std::move(t)).second)
        fail({.where = where, .what = "tensor " + steno::quoted(name) + " is there twice"});
    }
    joined_biases_ = left_.contains("decoder.prediction.dec_rnn.lstm.bias_h_l0");
  }

  // Rows of `name`; 1 where there is no such matrix.
  std::uint32_t rows(const std::string& name) const {
    const auto at = left_.find(name);
    if (at == left_.end() || at->second.shape[0] > static_cast<extent>(wide)) return 1;
    return static_cast<std::uint32_t>(at->second.shape[0]);
  }

  imported_tensor take(const torch::laid_out_tensor& t) {
    if (t.made == torch::layout::taps && t.name.find(".depthwise_conv.") != std::string::npos)
      norm_ = batch_norm(t.name.substr(0, t.name.find("depthwise_conv.")), t.packed[1]);
    if (t.made == torch::layout::taps_bias) return lay_out(t, {}, std::exchange(norm_, {}));
    const std::size_t lstm = t.name.find(".lstm.");
    if (lstm == std::string::npos || !joined_biases_) {
      const bool depthwise = t.made == torch::layout::taps && !norm_.scale.empty();
      return lay_out(t, as_is(find(t.name, t.shape)), depthwise ? norm_ : folded_norm{});
    }
    const std::size_t kind = t.name.find("bias_");
    if (kind == std::string::npos) return lay_out(t, ordered_rows(find(t.name, t.shape)));
    // One of the two biases is their sum, the other 0.
    std::vector<float>& values = file_.values.emplace_back(static_cast<std::size_t>(t.packed[0]), 0.0f);
    std::string name = t.name;
    if (name.find("bias_hh_") != std::string::npos) {
      find(name.replace(kind, 7, "bias_h"), t.shape).read(values);
      put_in_order(std::as_writable_bytes(std::span(values)));
    }
    imported_tensor bias;
    bias.read = [&values](std::span<float> y) { std::copy(values.begin(), values.end(), y.begin()); };
    return lay_out(t, std::move(bias));
  }

  void finish() const {
    std::string names;
    std::size_t count = 0;
    for (const auto& [name, t] : left_)
      if (!name.ends_with(".num_batches_tracked") && !name.ends_with(".pos_enc.pe") && ++count <= 8)
        names.append(names.empty() ? "" : ", ").append(steno::quoted(name));
    if (count > 8) names.append(", and ").append(std::to_string(count - 8)).append(" more");
    if (count > 0) fail({.where = where_, .what = "tensors that such a model has not", .found = names});
  }

 private:
  stored_tensor find(const std::string& name, const std::vector<extent>& shape) {
    const auto at = left_.find(name);
    if (at == left_.end()) fail({.where = where_, .what = "tensor " + steno::quoted(name) + " is missing"});
    stored_tensor t = std::move(at->second);
    left_.erase(at);
    if (without_ones(t.shape) != without_ones(shape))
      fail({.where = where_,
            .what = "tensor " + steno::quoted(name),
            .expected = shape_text(shape),
            .found = shape_text(t.shape)});
    return t;
  }
  static imported_tensor as_is(stored_tensor t) {
    imported_tensor made{.name = t.name, .shape = {}, .stored = t.stored};
    made.bytes = t.bytes;
    made.read = std::move(t.read);
    return made;
  }
  // Gates i, f, o, g become i, f, g, o.
  static void put_in_order(std::span<std::byte> rows) {
    const auto half = rows.begin() + static_cast<std::ptrdiff_t>(rows.size() / 2);
    std::rotate(half, half + static_cast<std::ptrdiff_t>(rows.size() / 4), rows.end());
  }
  imported_tensor ordered_rows(stored_tensor t) {
    std::vector<std::byte>& bytes = file_.ordered.emplace_back(t.bytes.begin(), t.bytes.end());
    put_in_order(bytes);
    t.bytes = bytes;
    t.read = [&bytes, stored = t.stored](std::span<float> y) { dequantise(stored, bytes.data(), y.data(), y.size()); };
    return as_is(std::move(t));
  }
  folded_norm batch_norm(const std::string& module, extent width) {
    const auto values = [&](const char* part) {
      std::vector<float> v(static_cast<std::size_t>(width));
      find(module + "batch_norm." + part, {width}).read(v);
      return v;
    };
    folded_norm n{.scale = values("weight"), .shift = values("bias")};
    const std::vector<float> mean = values("running_mean"), variance = values("running_var");
    for (std::size_t i = 0; i < mean.size(); ++i) {
      const double scale = static_cast<double>(n.scale[i]) / std::sqrt(static_cast<double>(variance[i]) + 1e-5);
      n.shift[i] = static_cast<float>(static_cast<double>(n.shift[i]) - static_cast<double>(mean[i]) * scale);
      n.scale[i] = static_cast<float>(scale);
    }
    return n;
  }

  const std::string& where_;
  opened_ggml& file_;
  std::map<std::string, stored_tensor> left_;
  bool joined_biases_ = false;
  folded_norm norm_ = {};  // of the convolution whose taps were taken last
};

}  // namespace

bool is_ggml(const fs::path& path) {
  if (!file_starts_with(path, ggml_magic)) return false;
  const mapped_file file(path.string());
  const auto word = [&](std::size_t i) { return load_as<std::int32_t>(file.bytes().data() + 4 * (i + 1)); };
  // Behind the header stand the mel filters' sizes; in a file of Whisper the filters themselves are there.
  return file.bytes().size() >= 4 * 18 && word(15) == word(5) && word(16) == word(7) / 2 + 1;
}

imported_model read_ggml(const std::string& where, std::span<const std::byte> bytes, std::shared_ptr<void> keep) {
  byte_cursor at(where, bytes);
  parakeet_settings s = read_header(at);
  read_tables(at, where, s);
  const sentencepiece_vocabulary pieces = read_pieces(at, s.vocabulary);
  std::vector<stored_tensor> tensors = ggml_tensors(at, 0, 4);
  if (tensors.empty())
    fail({.where = where, .what = "holds no tensors", .hint = "it is one of whisper.cpp's files for its own tests"});
  const auto file = std::make_shared<opened_ggml>(opened_ggml{.file = std::move(keep)});
  imported_model model;
  model.where = where;
  model.source = file;
  set_parakeet_keys(model.file, s, pieces);
  tensor_stock stock(model.where, std::move(tensors), *file);
  s.joint = stock.rows("joint.pred.weight");
  for (const torch::laid_out_tensor& t : parakeet_tensors(s)) model.tensors.push_back(stock.take(t));
  stock.finish();
  return model;
}

imported_model import_ggml(const fs::path& path, const import_options& options) {
  if (options.cmvn)
    fail(
        {.where = path.string(), .what = "--cmvn is for FunASR models", .hint = "NeMo normalises each clip by itself"});
  const auto file = std::make_shared<mapped_file>(path.string());
  return read_ggml(path.string(), file->bytes(), file);
}

}  // namespace steno::inline STENO_ABI::nemo
