// steno/models/metadata.hpp - front end and tokenizer of a packaged file, from its key-value pairs (docs/formats.md).
//
// Tested in tests/models/sense_voice_test.cpp.
#pragma once
#include <steno/frontends/wav_frontend.hpp>
#include <steno/tokenizers/vocabulary.hpp>
#include <steno/weights/gguf.hpp>

#include <string>
#include <string_view>

namespace steno::inline STENO_ABI {

/// A number in [low, high] under `key`, or `otherwise` when the file does not say. Throws steno::error outside of it.
STENO_COLD inline double read_number(const gguf_file& file, const std::string& key, double low, double high,
                                     double otherwise) {
  const double v = file.number(key).value_or(otherwise);
  if (!(v >= low && v <= high))
    fail({.where = file.where(),
          .what = "key \"" + key + "\"",
          .expected = std::to_string(low) + " to " + std::to_string(high),
          .found = std::to_string(v)});
  return v;
}

/// Filterbank and stacking from `prefix`.frontend.*; what is missing has the published models' values.
STENO_COLD inline fbank_options read_fbank(const gguf_file& file, std::string_view prefix) {
  const std::string at = std::string(prefix) + ".frontend.";
  fbank_options o;
  o.sample_rate = read_number(file, at + "sample_rate", 1000, 400000, 16000);
  o.frame_length = read_number(file, at + "frame_length", 1, 1000, 25);
  o.frame_shift = read_number(file, at + "frame_shift", 1, 1000, 10);
  o.mels = static_cast<extent>(read_number(file, at + "n_mels", 3, 1024, 80));
  const std::string window = file.text(at + "window").value_or("hamming");
  if (window == "hamming")
    o.window = window_shape::hamming;
  else if (window == "povey")
    o.window = window_shape::povey;
  else if (window == "hann" || window == "hanning")
    o.window = window_shape::hann;
  else
    fail({.where = file.where(),
          .what = "key \"" + at + "window\"",
          .expected = "hamming, hann or povey",
          .found = "\"" + window + "\""});
  return o;
}

namespace detail {
template <class Fbank, class Lfr, class Cmvn>
linked<linked<Fbank, Lfr>, Cmvn> like(const linked<linked<Fbank, Lfr>, Cmvn>*, const fbank_options& o, extent m,
                                      extent n) {
  const Lfr stack(o.mels, m, n);
  return {{Fbank(o), stack}, Cmvn(stack.width())};
}
}  // namespace detail

/// A front end of type `Frontend` (a wav_frontend) with the file's settings; `m_otherwise` and `n_otherwise` are the
/// stacking of a file that does not say. Throws steno::error when they do not fit it.
template <class Frontend>
Frontend read_wav_frontend(const gguf_file& file, std::string_view prefix, int m_otherwise = 7, int n_otherwise = 6) {
  const std::string at = std::string(prefix) + ".frontend.";
  const auto m = static_cast<extent>(read_number(file, at + "lfr_m", 1, 1024, m_otherwise));
  const auto n = static_cast<extent>(read_number(file, at + "lfr_n", 1, 1024, n_otherwise));
  return detail::like(static_cast<const Frontend*>(nullptr), read_fbank(file, prefix), m, n);
}

/// Pieces from tokenizer.ggml.*. Throws steno::error when they are missing or their arrays disagree.
STENO_COLD inline sentencepiece_vocabulary read_sentencepiece(const gguf_file& file) {
  sentencepiece_vocabulary v;
  v.pieces = file.strings("tokenizer.ggml.tokens");
  if (file.has("tokenizer.ggml.scores"))
    for (const double s : file.numbers("tokenizer.ggml.scores")) v.scores.push_back(static_cast<float>(s));
  if (file.has("tokenizer.ggml.token_type"))
    for (const double t : file.numbers("tokenizer.ggml.token_type")) v.types.push_back(static_cast<int>(t));
  if ((!v.scores.empty() && v.scores.size() != v.pieces.size()) ||
      (!v.types.empty() && v.types.size() != v.pieces.size()))
    fail({.where = file.where(),
          .what = "tokenizer.ggml.tokens, scores and token_type",
          .expected = "equal lengths",
          .found = std::to_string(v.pieces.size()) + ", " + std::to_string(v.scores.size()) + ", " +
                   std::to_string(v.types.size())});
  v.add_dummy_prefix = file.number("tokenizer.ggml.add_space_prefix").value_or(1) != 0;
  v.remove_extra_whitespaces = file.number("tokenizer.ggml.remove_extra_whitespaces").value_or(1) != 0;
  if (const auto surface = file.text("tokenizer.ggml.unk_surface")) v.unk_surface = *surface;
  return v;
}

}  // namespace steno::inline STENO_ABI
