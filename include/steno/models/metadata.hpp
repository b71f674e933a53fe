// steno/models/metadata.hpp - front end and tokenizer of a packaged file, from its key-value pairs (docs/formats.md).
//
// Tested in tests/models/sense_voice_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/frontends/wav_frontend.hpp>
#include <steno/tokenizers/vocabulary.hpp>
#include <steno/weights/gguf.hpp>

#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace models {

/// A number in [low, high] under `key`, or `otherwise` when the file does not say. Throws steno::error outside of it.
/// These readers are the only way from a file's settings to a model: none can do without a range (a test looks).
STENO_ON_CALL STENO_COLD inline double read_number(const gguf_file& file, const std::string& key, double low,
                                                   double high, double otherwise) {
  const double v = file.number(key).value_or(otherwise);
  if (!(v >= low && v <= high))
    fail({.where = file.where(),
          .what = "key " + steno::weights::quoted(key),
          .expected = weights::number_text(low) + " to " + weights::number_text(high),
          .found = weights::number_text(v)});
  return v;
}
/// The same for whole numbers.
STENO_ON_CALL STENO_COLD inline extent read_whole(const gguf_file& file, const std::string& key, extent low,
                                                  extent high, extent otherwise) {
  const double v =
      read_number(file, key, static_cast<double>(low), static_cast<double>(high), static_cast<double>(otherwise));
  if (std::floor(v) != v)
    fail({.where = file.where(),
          .what = "key " + steno::weights::quoted(key),
          .expected = "a whole number",
          .found = weights::number_text(v)});
  return static_cast<extent>(v);
}
/// The same for what is on or off: true and false, or 1 and 0.
STENO_ON_CALL STENO_COLD inline bool read_flag(const gguf_file& file, const std::string& key, bool otherwise) {
  return read_whole(file, key, 0, 1, otherwise ? 1 : 0) != 0;
}
/// `count` numbers in [low, high], or none when the key is missing. Throws steno::error.
STENO_ON_CALL STENO_COLD inline std::vector<float> read_numbers(const gguf_file& file, const std::string& key,
                                                                float low, float high, extent count) {
  if (!file.has(key)) return {};
  const std::vector<double> given = file.numbers(key);
  if (static_cast<extent>(given.size()) != count)
    fail({.where = file.where(),
          .what = "key " + steno::weights::quoted(key),
          .expected = std::to_string(count) + " numbers",
          .found = std::to_string(given.size())});
  std::vector<float> numbers;
  for (const double v : given) {
    if (!(v >= static_cast<double>(low) && v <= static_cast<double>(high)))
      fail({.where = file.where(),
            .what = "key " + steno::weights::quoted(key),
            .expected = "numbers from " + weights::number_text(static_cast<double>(low)) + " to " +
                        weights::number_text(static_cast<double>(high)),
            .found = weights::number_text(v)});
    numbers.push_back(static_cast<float>(v));
  }
  return numbers;
}
/// The number under `key` of one of `names`, or `otherwise` when the file does not say. Throws steno::error.
STENO_COLD inline std::size_t read_choice(const gguf_file& file, const std::string& key,
                                          std::span<const std::string_view> names, std::size_t otherwise) {
  const auto found = file.text(key);
  if (!found) return otherwise;
  std::string all;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (*found == names[i]) return i;
    all.append(all.empty() ? "" : i + 1 < names.size() ? ", " : " or ").append(names[i]);
  }
  fail({.where = file.where(),
        .what = "key " + steno::weights::quoted(key),
        .expected = all,
        .found = steno::weights::quoted(*found)});
}
/// An array of whole numbers in [low, high]. Throws steno::error when it is missing, too, and for more than
/// `max_count`.
STENO_ON_CALL STENO_COLD inline std::vector<int> read_wholes(const gguf_file& file, const std::string& key, int low,
                                                             int high, std::size_t max_count) {
  const std::vector<double> given = file.numbers(key);
  std::vector<int> numbers;
  if (given.size() > max_count)
    fail({.where = file.where(),
          .what = "key " + steno::weights::quoted(key),
          .expected = "up to " + std::to_string(max_count) + " numbers",
          .found = std::to_string(given.size())});
  for (const double v : given) {
    if (!(v >= low && v <= high) || std::floor(v) != v)
      fail({.where = file.where(),
            .what = "key " + steno::weights::quoted(key),
            .expected = "whole numbers from " + std::to_string(low) + " to " + std::to_string(high),
            .found = weights::number_text(v)});
    numbers.push_back(static_cast<int>(v));
  }
  return numbers;
}
/// Ids of tokens; how many there are is for members() to compare.
STENO_ON_CALL STENO_COLD inline std::vector<int> read_ids(const gguf_file& file, const std::string& key) {
  return read_wholes(file, key, 0, 1 << 24, 1024);
}

/// Sample rates that a model takes, in Hz: 16 kHz alone, unless it says otherwise.
struct rate_range {
  extent low = 16000;   ///< the least
  extent high = 16000;  ///< the greatest
};
/// From a telephone's to a studio's.
inline constexpr rate_range any_rate{8000, 48000};

/// Filterbank and stacking from `prefix`.frontend.*; what is missing has the published models' values. A frame has 5 to
/// 100 ms, and the next one begins before it ends.
STENO_ON_CALL STENO_COLD inline frontends::fbank_options read_fbank(const gguf_file& file, std::string_view prefix,
                                                                    rate_range rates = {}) {
  const std::string at = std::string(prefix) + ".frontend.";
  frontends::fbank_options o;
  o.sample_rate = static_cast<double>(read_whole(file, at + "sample_rate", rates.low, rates.high, 16000));
  o.frame_length = read_number(file, at + "frame_length", 5, 100, 25);
  o.frame_shift = read_number(file, at + "frame_shift", 1, o.frame_length, 10);
  o.mels = read_whole(file, at + "n_mels", 3, 1024, 80);
  const std::string window = file.text(at + "window").value_or("hamming");
  if (window == "hamming")
    o.window = frontends::window_shape::hamming;
  else if (window == "povey")
    o.window = frontends::window_shape::povey;
  else if (window == "hann" || window == "hanning")
    o.window = frontends::window_shape::hann;
  else
    fail({.where = file.where(),
          .what = "key " + steno::weights::quoted(at + "window"),
          .expected = "hamming, hann or povey",
          .found = steno::weights::quoted(window)});
  return o;
}

namespace detail {
template <class Fbank, class Lfr, class Cmvn>
frontends::linked<frontends::linked<Fbank, Lfr>, Cmvn> like(
    const frontends::linked<frontends::linked<Fbank, Lfr>, Cmvn>*, const frontends::fbank_options& o, extent m,
    extent n) {
  const Lfr stack(o.mels, m, n);
  return {{Fbank(o), stack}, Cmvn(stack.width())};
}
}  // namespace detail

/// A front end of type `Frontend` (a wav_frontend) with the file's settings; `m_otherwise` and `n_otherwise` are the
/// stacking of a file that does not say. Throws steno::error when they do not fit it.
template <class Frontend>
STENO_COLD Frontend read_wav_frontend(const gguf_file& file, std::string_view prefix, int m_otherwise = 7,
                                      int n_otherwise = 6, rate_range rates = {}) {
  const std::string at = std::string(prefix) + ".frontend.";
  const extent m = read_whole(file, at + "lfr_m", 1, 1024, m_otherwise);
  const extent n = read_whole(file, at + "lfr_n", 1, m, n_otherwise);
  return detail::like(static_cast<const Frontend*>(nullptr), read_fbank(file, prefix, rates), m, n);
}
/// Hz of the samples that a front end takes.
template <class Frontend>
int sample_rate_of(const Frontend& f) noexcept {
  return static_cast<int>(f.head.head.options().sample_rate);
}

namespace detail {
/// Throws the error at hand again; where it names no file, it names this one and the key.
[[noreturn]] STENO_COLD inline void throw_naming_key(const error& e, const gguf_file& file, std::string_view key) {
  if (!e.parts().where.empty()) throw;
  core::fault named = e.parts();
  named.where = file.where();
  named.what = "key " + steno::weights::quoted(key);
  named.what.append(": ").append(e.parts().what);
  fail(std::move(named));
}
}  // namespace detail

/// What f() makes of the value of `key`: errors that name no file name this one and the key.
template <class F>
STENO_COLD auto made_of(const gguf_file& file, std::string_view key, F&& f) {
  try {
    return f();
  } catch (const error& e) {
    detail::throw_naming_key(e, file, key);
  }
}

/// The tokens of a tokenizer: 1 to 2^20, where they lie in the file. Throws steno::error.
STENO_COLD inline weights::stored_strings stored_tokens(const gguf_file& file,
                                                        std::string_view key = "tokenizer.ggml.tokens") {
  constexpr std::size_t max_count = 1 << 20;
  const weights::gguf_value* const v = file.value(key);
  if (v != nullptr && (v->count < 1 || v->count > max_count))
    fail({.where = file.where(),
          .what = "key " + steno::weights::quoted(key),
          .expected = "1 to " + std::to_string(max_count) + " tokens",
          .found = std::to_string(v->count)});
  return file.string_views(key);
}
/// The same, copied.
STENO_COLD inline std::vector<std::string> read_tokens(const gguf_file& file,
                                                       std::string_view key = "tokenizer.ggml.tokens") {
  return stored_tokens(file, key).copy();
}
/// What each token is (tokenizer.ggml.token_type).
STENO_ON_CALL STENO_COLD inline std::vector<int> read_token_types(const gguf_file& file) {
  return read_wholes(file, "tokenizer.ggml.token_type", 0, 255, std::numeric_limits<std::size_t>::max());
}

/// Pieces from tokenizer.ggml.*. Throws steno::error when they are missing or their arrays disagree.
STENO_ON_CALL STENO_COLD inline tokenizers::sentencepiece_vocabulary read_sentencepiece(const gguf_file& file) {
  tokenizers::sentencepiece_vocabulary v;
  v.pieces = read_tokens(file);
  if (file.has("tokenizer.ggml.scores"))
    for (const double s : file.numbers("tokenizer.ggml.scores")) {
      if (!(std::abs(s) <= std::numeric_limits<float>::max()))
        fail({.where = file.where(),
              .what = "key \"tokenizer.ggml.scores\"",
              .expected = "finite numbers",
              .found = weights::number_text(s)});
      v.scores.push_back(static_cast<float>(s));
    }
  if (file.has("tokenizer.ggml.token_type")) v.types = read_token_types(file);
  if ((!v.scores.empty() && v.scores.size() != v.pieces.size()) ||
      (!v.types.empty() && v.types.size() != v.pieces.size()))
    fail({.where = file.where(),
          .what = "tokenizer.ggml.tokens, scores and token_type",
          .expected = "equal lengths",
          .found = std::to_string(v.pieces.size()) + ", " + std::to_string(v.scores.size()) + ", " +
                   std::to_string(v.types.size())});
  v.add_dummy_prefix = read_flag(file, "tokenizer.ggml.add_space_prefix", true);
  v.remove_extra_whitespaces = read_flag(file, "tokenizer.ggml.remove_extra_whitespaces", true);
  if (const auto surface = file.text("tokenizer.ggml.unk_surface")) v.unk_surface = *surface;
  return v;
}

}  // namespace models
}  // namespace STENO_ABI
}  // namespace steno
