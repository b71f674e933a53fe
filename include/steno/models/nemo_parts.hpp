// steno/models/nemo_parts.hpp - what models of NeMo share besides their encoder: the front end and its settings, what a
// row of the encoder sees, and the names of traced stages.
//
// Tested in tests/parity/parakeet_test.cpp and tests/parity/sortformer_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/frontends/feature_norm.hpp>
#include <steno/frontends/nemo_mel.hpp>
#include <steno/layers/attention_window.hpp>
#include <steno/models/metadata.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace nemo {

/// Samples to log-mel features, normalised as the model wants it.
template <extent Mels = dynamic>
using nemo_frontend = frontends::frontend_chain<frontends::nemo_mel<Mels>, frontends::feature_norm<Mels>>;

/// Settings of a model's front end.
struct nemo_frontend_options {
  frontends::nemo_mel_options mel = {};                                        ///< of the log-mel features
  frontends::normalisation normalise = frontends::normalisation::per_feature;  ///< of the clip
  std::vector<float> mean = {};                                                ///< of `fixed`: one for each band
  std::vector<float> deviation = {};                                           ///< of `fixed`: one for each band
};

/// Names of choices in packaged files, in the order of the enumerations.
inline constexpr std::string_view nemo_windows[] = {"hann", "hamming", "blackman", "bartlett"};
inline constexpr std::string_view nemo_guards[] = {"add", "clamp"};
inline constexpr std::string_view nemo_normalisations[] = {"none", "per_feature", "all_features", "fixed"};

/// Settings under `prefix`.frontend.*, of `mels` bands where that is static. Throws steno::error.
STENO_ON_CALL STENO_COLD inline nemo_frontend_options read_nemo_frontend_options(const gguf_file& file,
                                                                                 std::string_view prefix, extent mels) {
  const std::string at = std::string(prefix) + ".frontend.";
  const auto size = [&](const char* key, extent min, extent max, extent otherwise) {
    return models::read_whole(file, at + key, min, max, otherwise);
  };
  const auto number = [&](const char* key, double min, double max, double otherwise) {
    return models::read_number(file, at + key, min, max, otherwise);
  };
  nemo_frontend_options all;
  frontends::nemo_mel_options& o = all.mel;
  o.sample_rate = number("sample_rate", 16000, 16000, 16000);
  o.fft_size = size("fft_size", 16, 8192, 512);
  o.window = size("window", 2, o.fft_size, 400);
  o.shift = size("shift", std::min<extent>(16, o.window), o.window, 160);
  o.mels = core::is_static(mels) ? size("n_mels", mels, mels, mels) : size("n_mels", 8, 1024, 80);
  o.preemphasis = static_cast<float>(number("preemphasis", 0, 1, static_cast<double>(*o.preemphasis)));
  if (models::read_flag(file, at + "no_preemphasis", false)) o.preemphasis.reset();
  o.guard = static_cast<float>(number("guard", 0x1p-126, 0x1p16, static_cast<double>(o.guard)));
  o.guard_type = frontends::nemo_guard(models::read_choice(file, at + "guard_type", nemo_guards, 0));
  o.shape = frontends::nemo_window(models::read_choice(file, at + "window_shape", nemo_windows, 0));
  o.band.high = number("high_frequency", 1, o.sample_rate / 2, o.sample_rate / 2);
  o.band.low = number("low_frequency", 0, o.band.high - 1, 0);
  o.band.unit_area = models::read_flag(file, at + "unit_area", true);
  o.mag_power = static_cast<float>(number("mag_power", 0.125, 4, 2));
  o.log = models::read_flag(file, at + "log", true);
  o.exact_pad = models::read_flag(file, at + "exact_pad", false);
  if (o.exact_pad && o.shift % 2 != 0)
    fail({.where = file.where(),
          .what = "key " + steno::weights::quoted(at + "shift"),
          .expected = "an even number of samples, for exact_pad",
          .found = std::to_string(o.shift)});
  constexpr float limit = 0x1p16f, least = 0x1p-16f;
  o.window_values = models::read_numbers(file, at + "window_values", -limit, limit, o.window);
  o.filter_values = models::read_numbers(file, at + "filter_values", 0, limit, o.mels * (o.fft_size / 2 + 1));
  const bool per_feature = models::read_flag(file, at + "per_feature", true);
  all.normalise =
      frontends::normalisation(models::read_choice(file, at + "normalize", nemo_normalisations, per_feature ? 1 : 0));
  if (all.normalise == frontends::normalisation::fixed) {
    all.mean = models::read_numbers(file, at + "fixed_mean", -limit, limit, o.mels);
    all.deviation = models::read_numbers(file, at + "fixed_std", least, limit, o.mels);
    if (all.mean.empty() || all.deviation.empty())
      fail({.where = file.where(),
            .what = "keys " + steno::weights::quoted(at + "fixed_mean") + " and fixed_std",
            .expected = std::to_string(o.mels) + " numbers each",
            .found = "none"});
  }
  return all;
}

/// Front end of these settings. Throws steno::error.
template <extent Mels>
STENO_COLD nemo_frontend<Mels> make_nemo_frontend(const nemo_frontend_options& o) {
  return {frontends::nemo_mel<Mels>(o.mel),
          frontends::feature_norm<Mels>(o.mel.mels, o.normalise, o.mean, o.deviation)};
}
/// Front end from `prefix`.frontend.*. Throws steno::error.
template <extent Mels>
STENO_COLD nemo_frontend<Mels> read_nemo_frontend(const gguf_file& file, std::string_view prefix) {
  return models::made_of(file, std::string(prefix) + ".frontend",
                         [&] { return make_nemo_frontend<Mels>(read_nemo_frontend_options(file, prefix, Mels)); });
}

/// How many rows the keys and values of a stream may hold on either side: eleven minutes of 80 ms each.
inline constexpr extent nemo_max_window = 8192;

/// The window of `left` rows before and `right` behind: of a row, or of chunks of right + 1 rows that see whole chunks
/// before them. Chunks without a limit on the right are none.
inline nn::attention_window nemo_window_of(extent left, extent right, bool chunked) noexcept {
  if (!chunked || right < 0) return {.back = left, .ahead = right};
  return {.chunk = right + 1, .left = left < 0 ? -1 : left / (right + 1)};
}
/// Rows that a window lets a row look ahead: the last row of a chunk none, its first one all others; -1: to the end.
inline extent look_ahead_of(const nn::attention_window& w) noexcept { return w.chunk > 0 ? w.chunk - 1 : w.ahead; }

/// What a row sees of a whole clip, from `prefix`.encoder.attention_*. Throws steno::error.
STENO_ON_CALL STENO_COLD inline nn::attention_window read_nemo_window(const gguf_file& file, std::string_view prefix) {
  const std::string at = std::string(prefix) + ".encoder.attention_";
  const auto size = [&](const char* key) { return models::read_whole(file, at + key, -1, nemo_max_window, -1); };
  const extent left = size("left"), right = size("right");
  const bool chunked = models::read_flag(file, at + "chunked", false);
  // Where there is a choice, one of them may see everything.
  if (chunked && right < 0 && !file.has(at + "contexts"))
    fail({.where = file.where(), .what = "key \"" + at + "right\"", .expected = "at least 0"});
  return nemo_window_of(left, right, chunked);
}

/// The windows that a model was trained with (`att_context_size_all` of the original), its usual one first: what
/// read_nemo_window() gives, and those of `prefix`.encoder.attention_contexts, pairs of left and right, where the file
/// has several. Throws steno::error.
STENO_ON_CALL STENO_COLD inline std::vector<nn::attention_window> read_nemo_windows(const gguf_file& file,
                                                                                    std::string_view prefix) {
  constexpr std::size_t max_contexts = 64;
  std::vector<nn::attention_window> all{read_nemo_window(file, prefix)};
  const std::string at = std::string(prefix) + ".encoder.attention_";
  if (!file.has(at + "contexts")) return all;
  const bool chunked = models::read_flag(file, at + "chunked", false);
  const std::vector<int> sizes =
      models::read_wholes(file, at + "contexts", -1, static_cast<int>(nemo_max_window), 2 * max_contexts);
  if (sizes.size() % 2 != 0)
    fail({.where = file.where(),
          .what = "key " + steno::weights::quoted(at + "contexts"),
          .expected = "pairs of numbers",
          .found = std::to_string(sizes.size()) + " numbers"});
  for (std::size_t i = 0; i < sizes.size(); i += 2) {
    const nn::attention_window w = nemo_window_of(sizes[i], sizes[i + 1], chunked);
    const auto same = [&](const auto& known) { return look_ahead_of(known) == look_ahead_of(w); };
    if (std::none_of(all.begin(), all.end(), same)) all.push_back(w);
  }
  return all;
}

/// Sizes of the windows that a model streams with when it was trained to look `right` rows behind each `chunk`
/// (`chunked_limited_with_rc`); any size of one list goes with any of another.
struct nemo_stream_windows {
  std::vector<int> left = {};   ///< rows before a chunk; empty: the model was not trained so
  std::vector<int> chunk = {};  ///< rows that count
  std::vector<int> right = {};  ///< rows behind them

  bool empty() const noexcept { return left.empty(); }  ///< the model was not trained so
};
/// Those of `prefix`.encoder.window_left, window_chunk and window_right. Throws steno::error.
STENO_ON_CALL STENO_COLD inline nemo_stream_windows read_nemo_stream_windows(const gguf_file& file,
                                                                             std::string_view prefix) {
  const std::string at = std::string(prefix) + ".encoder.window_";
  nemo_stream_windows w;
  if (!file.has(at + "chunk")) return w;
  const auto sizes = [&](const char* key, int least) {
    std::vector<int> all = models::read_wholes(file, at + key, least, static_cast<int>(nemo_max_window), 64);
    if (all.empty())
      fail({.where = file.where(),
            .what = "key " + steno::weights::quoted(at + key),
            .expected = "numbers of rows",
            .found = "none"});
    return all;
  };
  w.left = sizes("left", 0);
  w.chunk = sizes("chunk", 1);
  w.right = sizes("right", 0);
  return w;
}

}  // namespace nemo
}  // namespace STENO_ABI
}  // namespace steno
