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
// SPDX-License-Identifier: Apache-2.0
#include <steno/error.hpp>
#include <steno/weights/blocks.hpp>
#include <steno/weights/byte_cursor.hpp>
#include <steno/weights/mapped_file.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "content.hpp"
#include "ggml_file.hpp"
#include "limits.hpp"
#include "nemo/parakeet.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace nemo_files {

namespace fs = std::filesystem;

namespace {

parakeet_settings read_header(weights::byte_cursor& at) {
  at.take(4, "the magic number");
  const auto size = [&](const char* what, std::int32_t min, std::int32_t max) { return ggml_size(at, what, min, max); };
  parakeet_settings s;
  s.transducer = true;
  s.bias = s.xscaling = false;
  s.vocabulary = size("n_vocab", 1, 1 << 20);
  at.number<std::int32_t>("n_audio_ctx");  // how much the original computes at once
  s.width = size("n_audio_state", 2, limits::width);
  s.heads = size("n_audio_head", 1, 1024);
  s.blocks = size("n_audio_layer", 1, limits::layers);
  s.frontend.mel.mels = size("n_mels", 8, 1024);
  at.number<std::int32_t>("ftype");  // every tensor says its own format
  s.frontend.mel.fft_size = size("n_fft", 16, limits::width);
  size("subsampling_factor", 8, 8);
  s.channels = size("n_subsampling_channels", 1, limits::width);
  s.taps = size("n_conv_kernel", 1, 1023);
  s.predictor = size("n_pred_dim", 1, limits::width);
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
void read_tables(weights::byte_cursor& at, const std::string& where, parakeet_settings& s) {
  frontends::nemo_mel_options& mel = s.frontend.mel;
  const std::uint32_t mels = ggml_size(at, "number of mel filters", 8, 1024);
  const std::uint32_t bins = ggml_size(at, "number of frequencies", 1, limits::width);
  if (mels != mel.mels || bins != mel.fft_size / 2 + 1)
    at.stop("mel filters", "[" + std::to_string(mel.mels) + " x " + std::to_string(mel.fft_size / 2 + 1) + "]",
            "[" + std::to_string(mels) + " x " + std::to_string(bins) + "]");
  const auto bytes = at.take(std::uint64_t{4} * mels * bins, "the mel filters");
  std::vector<float> filters(bytes.size() / 4);
  std::copy(bytes.begin(), bytes.end(), std::as_writable_bytes(std::span(filters)).begin());
  mel.window = ggml_size(at, "length of the window", 2, limits::width);
  at.take(std::uint64_t{4} * static_cast<std::uint64_t>(mel.window), "the window");
  check_frontend(s, where);
  check_mel_filters(filters, s, where);
  for (std::int32_t& d : s.durations) d = static_cast<std::int32_t>(ggml_size(at, "a duration", 0, limits::width));
  check_durations(s, where);
}

tokenizers::piece_type type_of(const std::string& piece) {
  if (piece == "<unk>") return tokenizers::piece_type::unknown;
  if (piece == "<s>" || piece == "</s>" || piece == "<pad>") return tokenizers::piece_type::control;
  if (piece.size() > 4 && piece.starts_with("<|") && piece.ends_with("|>")) return tokenizers::piece_type::control;
  return piece.size() == 6 && piece.starts_with("<0x") && piece.back() == '>' ? tokenizers::piece_type::byte
                                                                              : tokenizers::piece_type::normal;
}

tokenizers::sentencepiece_vocabulary read_pieces(weights::byte_cursor& at, std::uint32_t wanted) {
  const std::uint32_t count = ggml_size(at, "number of pieces", 1, 1 << 20);
  if (count != wanted) at.stop("number of pieces", std::to_string(wanted), std::to_string(count));
  tokenizers::sentencepiece_vocabulary v;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto bytes = at.take(at.number<std::uint32_t>("length of a piece"), "a piece");
    v.pieces.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    v.types.push_back(static_cast<int>(type_of(v.pieces.back())));
  }
  v.scores.assign(v.pieces.size(), 0);
  return v;
}

// Gates i, f, o, g become i, f, g, o.
void put_in_order(std::span<std::byte> rows) {
  const auto half = rows.begin() + static_cast<std::ptrdiff_t>(rows.size() / 2);
  std::rotate(half, half + static_cast<std::ptrdiff_t>(rows.size() / 4), rows.end());
}

stored_tensor vector_of(std::string name, std::vector<float> values) {
  stored_tensor t{.name = std::move(name), .shape = {static_cast<extent>(values.size())}};
  t.read = [values = std::move(values)](std::span<float> y) { std::copy(values.begin(), values.end(), y.begin()); };
  return t;
}

// An LSTM with one bias becomes torch's: rows in its order, and one of two biases is 0.
void split_biases(checkpoint_tensors& from, std::uint32_t layers, extent width) {
  const std::string at = "decoder.prediction.dec_rnn.lstm.";
  if (find(from, at + "bias_h_l0") == nullptr) return;
  for (std::uint32_t i = 0; i < layers; ++i) {
    const std::string end = "_l" + std::to_string(i);
    std::vector<float> sum = take_values(from, at + "bias_h" + end, {4 * width});
    put_in_order(std::as_writable_bytes(std::span(sum)));
    from.all.push_back(vector_of(at + "bias_ih" + end, std::vector<float>(sum.size())));
    from.all.push_back(vector_of(at + "bias_hh" + end, std::move(sum)));
  }
  for (stored_tensor& t : from.all) {
    if (!t.name.starts_with(at + "weight_")) continue;
    const auto bytes = std::make_shared<std::vector<std::byte>>(t.bytes.begin(), t.bytes.end());
    put_in_order(*bytes);
    t.bytes = *bytes;
    t.read = [bytes, stored = t.stored](std::span<float> y) {
      weights::dequantise(stored, bytes->data(), y.data(), y.size());
    };
  }
}

// Batch norms become scale and shift, in floats.
void fold_norms(checkpoint_tensors& from, const parakeet_settings& s) {
  const std::vector<extent> width = {static_cast<extent>(s.width)};
  for (std::uint32_t i = 0; i < s.blocks; ++i) {
    const std::string at = "encoder.layers." + std::to_string(i) + ".conv.batch_norm.";
    std::vector<float> scale = take_values(from, at + "weight", width), shift = take_values(from, at + "bias", width);
    const std::vector<float> mean = take_values(from, at + "running_mean", width);
    const std::vector<float> variance = take_values(from, at + "running_var", width);
    for (std::size_t j = 0; j < mean.size(); ++j) {
      const double by = static_cast<double>(scale[j]) / std::sqrt(static_cast<double>(variance[j]) + 1e-5);
      shift[j] = static_cast<float>(static_cast<double>(shift[j]) - static_cast<double>(mean[j]) * by);
      scale[j] = static_cast<float>(by);
    }
    from.all.push_back(vector_of(at + "scale", std::move(scale)));
    from.all.push_back(vector_of(at + "shift", std::move(shift)));
  }
}

}  // namespace

bool is_ggml(const fs::path& path) {
  if (!file_starts_with(path, ggml_magic)) return false;
  const weights::mapped_file file(path.string());
  const auto word = [&](std::size_t i) { return weights::load_as<std::int32_t>(file.bytes().data() + 4 * (i + 1)); };
  // Behind the header stand the mel filters' sizes; in a file of Whisper the filters themselves are there.
  return file.bytes().size() >= 4 * 18 && word(15) == word(5) && word(16) == word(7) / 2 + 1;
}

imported_model read_ggml(const std::string& where, std::span<const std::byte> bytes,
                         std::shared_ptr<weights::mapped_file> file) {
  weights::byte_cursor at(where, bytes);
  parakeet_settings s = read_header(at);
  read_tables(at, where, s);
  const tokenizers::sentencepiece_vocabulary pieces = read_pieces(at, s.vocabulary);
  std::vector<stored_tensor> tensors = ggml_tensors(at, 0, 4, file.get());
  if (tensors.empty())
    fail({.where = where, .what = "holds no tensors", .hint = "it is one of whisper.cpp's files for its own tests"});
  imported_model model;
  model.where = where;
  model.source = std::move(file);
  checkpoint_tensors from{.where = where, .all = std::move(tensors)};
  const stored_tensor* const joint = find(from, "joint.pred.weight");
  if (joint != nullptr && joint->shape[0] <= static_cast<extent>(limits::width))
    s.joint = static_cast<std::uint32_t>(joint->shape[0]);
  set_parakeet_keys(model.file, s, pieces);
  from.compared = checkpoint_tensors::shapes::without_ones;
  from.named = nemo_name;
  from.norms_are_folded = true;
  from.ignored = {{".num_batches_tracked", "a counter of training"}, {".pos_enc.pe", "positions are computed"}};
  split_biases(from, s.predictor_layers, static_cast<extent>(s.predictor));
  fold_norms(from, s);
  promise_encoder(from, s);
  promise_heads(from, s);
  take_tensors(model, std::move(from));
  return model;
}

imported_model import_ggml(const fs::path& path, const import_options& options) {
  if (options.cmvn)
    fail(
        {.where = path.string(), .what = "--cmvn is for FunASR models", .hint = "NeMo normalises each clip by itself"});
  const auto file = std::make_shared<weights::mapped_file>(path.string());
  return read_ggml(path.string(), file->bytes(), file);
}

}  // namespace nemo_files
}  // namespace STENO_ABI
}  // namespace steno
