// tools/convert/nemo/foreign_gguf.hpp - what readers of other programs' GGUF files of NeMo's models share: names made
// by a table of parts, keys that all must be known, sizes, pieces.
//
// Used by crispasr_gguf.cpp and transcribe_gguf.cpp. Tested in tests/convert/other_gguf_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/error.hpp>
#include <steno/models/metadata.hpp>
#include <steno/weights/byte_cursor.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gguf_settings.hpp"
#include "nemo/parakeet.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace nemo_files {

using name_part = std::pair<std::string_view, std::string_view>;

/// The first occurrence of each part's first name becomes its second, in the order of the list.
std::string replace_parts(std::string name, std::span<const name_part> parts);
/// decoder.prediction.dec_rnn.lstm.weight_ih_l0 -> {weight_ih, 0}; nothing for other names.
std::optional<std::pair<std::string, std::string>> lstm_part(const std::string& name);

/// The keys of a file: those that a model needs must be there, and all must be known.
class foreign_keys {
 public:
  explicit foreign_keys(const gguf_file& file) : file_(file), f_(gguf_settings(file)) {}

  std::uint32_t need(const std::string& key, std::uint32_t min, std::uint32_t max) const {
    if (!f_.settings.contains(key))
      fail({.where = f_.source,
            .what = "key " + steno::weights::quoted(key),
            .expected = "a number from " + std::to_string(min) + " to " + std::to_string(max),
            .found = "nothing"});
    return f_.number(key, 0, min, max);
  }
  std::uint32_t number(const std::string& key, std::uint32_t otherwise, std::uint32_t min, std::uint32_t max) const {
    return f_.number(key, otherwise, min, max);
  }
  double real(const std::string& key, double otherwise, double min, double max) const {
    return f_.real(key, otherwise, min, max);
  }
  bool flag(const std::string& key, bool otherwise) const {
    if (const std::string v = f_.text(key, ""); v == "0" || v == "1") return v == "1";
    return f_.flag(key, otherwise);
  }
  std::string text(const std::string& key, const std::string& otherwise) const { return f_.text(key, otherwise); }
  void require(const std::string& key, const std::string& value) const { f_.require(key, value); }
  void require_number(const std::string& key, double value) const { f_.require(key, value); }
  /// A limit of attention or convolution in rows; negative is none.
  std::int32_t context(const std::string& key) const {
    return static_cast<std::int32_t>(f_.real(key, -1, -1, 1 << 20));
  }
  /// Arrays; empty where there is none.
  std::vector<int> wholes(const std::string& key, int least, int most) const {
    f_.mark_read(key);
    return file_.has(key) ? models::read_wholes(file_, key, least, most, 4096) : std::vector<int>();
  }
  std::vector<std::string> strings(const std::string& key) const {
    f_.mark_read(key);
    return file_.has(key) ? file_.strings(key) : std::vector<std::string>();
  }
  std::vector<std::int32_t> durations(const std::string& key) const {
    std::vector<std::int32_t> all;
    f_.mark_read(key);
    if (!file_.has(key)) return all;
    for (const double d : file_.numbers(key)) {
      if (!(d >= 0 && d <= 1024) || d != static_cast<double>(static_cast<std::int32_t>(d)) || all.size() >= 64)
        fail({.where = f_.source,
              .what = "key " + steno::weights::quoted(key),
              .expected = "up to 64 numbers of frames",
              .found = weights::number_text(d)});
      all.push_back(static_cast<std::int32_t>(d));
    }
    return all;
  }
  /// An unknown key of the model is an error.
  void check(std::span<const unused_setting> known, std::vector<std::string>& notes) const {
    constexpr std::string_view of_models[] = {"parakeet.", "nemotron.", "stt."};
    f_.check_all_read(of_models, known, notes);
  }
  const std::string& where() const { return f_.source; }

 private:
  const gguf_file& file_;
  checkpoint_settings f_;
};
inline constexpr std::string_view of_the_file = "of the file, not the model",
                                  in_the_tensors = "the tensors' shapes say it";

/// Throws steno::error unless the heads divide an even width and the kernel is odd.
void check_encoder_sizes(const fastconformer_settings& s, const std::string& where);
/// The labels; what stands behind them in a file is its name for the blank. Throws steno::error.
tokenizers::sentencepiece_vocabulary pieces_of_file(const gguf_file& file, std::uint32_t count);
/// Pairs of left and right, with those of two other keys behind: what the attention may see. Throws steno::error.
void take_pairs(std::int32_t left, std::int32_t right, const std::vector<int>& lefts, const std::vector<int>& rights,
                const std::string& where, const std::string& what, fastconformer_settings& s);

}  // namespace nemo_files
}  // namespace STENO_ABI
}  // namespace steno
