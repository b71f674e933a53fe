// tools/convert/nemo/frontend_settings.cpp - `model.preprocessor` of a NeMo config, the tables that archives store
// beside it, and the keys of packaged files; see fastconformer.hpp.
//
// Names, defaults and what is refused are those of AudioToMelSpectrogramPreprocessor and FilterbankFeatures
// (audio_preprocessing.py, features.py). Tested in tests/convert/nemo_frontend_test.cpp and
// tests/parity/nemo_frontend_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#include <steno/error.hpp>
#include <steno/weights/byte_cursor.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>

#include "../number_text.hpp"
#include "limits.hpp"
#include "nemo/fastconformer.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace nemo_files {

namespace {

using frontends::normalisation;

const std::string preprocessor = "preprocessor.";

std::optional<double> number_of(const std::string& text) {
  double v = 0;
  return is_number(text, v) ? std::optional(v) : std::nullopt;
}

[[noreturn]] void refuse_setting(const checkpoint_settings& f, const std::string& key, const std::string& expected,
                                 const std::string& found, const std::string& hint = "") {
  fail({.where = f.source,
        .what = preprocessor + key + " is not supported",
        .expected = expected,
        .found = steno::weights::quoted(found),
        .hint = hint});
}

// One of `names`, or the first where the config does not say. A null is none of them.
std::size_t choice(const checkpoint_settings& f, const std::string& key, std::span<const std::string_view> names,
                   const std::string& hint = "") {
  const std::string found = f.is_null(preprocessor + key) ? "null" : f.text(preprocessor + key, std::string(names[0]));
  const auto i = std::find(names.begin(), names.end(), found);
  if (i != names.end()) return static_cast<std::size_t>(i - names.begin());
  std::string all;
  for (const std::string_view name : names) all.append(all.empty() ? "" : ", ").append(name);
  refuse_setting(f, key, all, found, hint);
}

// Samples: int(seconds * rate), or a number of their own; the class's seconds where neither is there.
extent samples_of(const checkpoint_settings& f, const std::string& seconds, const std::string& number, double otherwise,
                  double rate) {
  const bool own = f.has(preprocessor + number);
  if (f.is_null(preprocessor + seconds)) {
    if (!own)
      fail({.where = f.source,
            .what = preprocessor + seconds + " and " + preprocessor + number,
            .expected = "one of them",
            .found = "null for both"});
    return f.number(preprocessor + number, 0, 1, limits::width);
  }
  const double given = f.real(preprocessor + seconds, otherwise, 0.001, 1);
  if (own)
    fail({.where = f.source,
          .what = preprocessor + seconds + " and " + preprocessor + number,
          .expected = "one of them, and null for the other",
          .found = "both",
          .hint = "without a key the first is " + steno::weights::number_text(otherwise)});
  return static_cast<extent>(given * rate);
}

float guard_value(const checkpoint_settings& f) {
  const std::string key = "log_zero_guard_value";
  const std::string found = f.is_null(preprocessor + key) ? "null" : f.text(preprocessor + key, "");
  if (found.empty()) return 0x1p-24f;
  if (found == "tiny") return 0x1p-126f;
  if (found == "eps") return 0x1p-23f;
  const auto v = number_of(found);
  if (!v || !(*v >= 0x1p-126 && *v <= 0x1p16))
    refuse_setting(f, key, "a number from 2^-126 to 65536, tiny or eps", found);
  return static_cast<float>(*v);
}

std::vector<float> fixed_values(const checkpoint_settings& f, const std::string& key, extent count, double least) {
  const auto list = f.lists.find(preprocessor + key);
  f.mark_read(preprocessor + key);
  std::vector<float> values;
  if (list != f.lists.end())
    for (const std::string& text : list->second) {
      const auto v = number_of(text);
      if (!v || !(*v >= least && *v <= 0x1p16))
        fail({.where = f.source,
              .what = preprocessor + key,
              .expected = "numbers from " + steno::weights::number_text(least) + " to 65536",
              .found = steno::weights::quoted(text)});
      values.push_back(static_cast<float>(*v));
    }
  if (static_cast<extent>(values.size()) != count)
    fail({.where = f.source,
          .what = preprocessor + key,
          .expected = std::to_string(count) + " numbers, one for each of " + preprocessor + "features",
          .found = std::to_string(values.size())});
  return values;
}

void read_normalisation(const checkpoint_settings& f, fastconformer_settings& s) {
  const std::string key = preprocessor + "normalize";
  nemo::nemo_frontend_options& o = s.frontend;
  if (f.maps.contains(key)) {
    o.normalise = normalisation::fixed;
    o.mean = fixed_values(f, "normalize.fixed_mean", o.mel.mels, -0x1p16);
    o.deviation = fixed_values(f, "normalize.fixed_std", o.mel.mels, 0x1p-16);
    return;
  }
  o.normalise = normalisation::none;
  if (f.is_null(key)) return;
  const std::string found = f.text(key, "per_feature");
  if (found == "per_feature") {
    o.normalise = normalisation::per_feature;
  } else if (found == "all_features") {
    o.normalise = normalisation::all_features;
  } else if (found == "true" || found == "True" || (number_of(found) && *number_of(found) != 0) ||
             (found.find("fixed_mean") != std::string::npos && found.find("fixed_std") != std::string::npos)) {
    refuse_setting(f, "normalize", "per_feature, all_features, null, or fixed_mean and fixed_std", found);
  } else if (found != "NA" && found != "None" && found != "false" && found != "False" && !found.empty()) {
    s.notes.push_back(f.source + ": " + key + " is " + steno::weights::quoted(found) +
                      ", which normalises nothing, as in NeMo");
  }
}

bool differ(std::span<const float> a, std::span<const float> b, float tolerance) {
  return !std::equal(a.begin(), a.end(), b.begin(), b.end(),
                     [&](float x, float y) { return std::fabs(x - y) <= tolerance; });
}

void check_values(std::span<const float> values, float low, const std::string& name, const std::string& where) {
  for (const float v : values)
    if (!(v >= low && v <= 0x1p16f))
      fail({.where = where,
            .what = "tensor " + steno::weights::quoted(name),
            .expected = "numbers from " + steno::weights::number_text(static_cast<double>(low)) + " to 65536",
            .found = steno::weights::number_text(static_cast<double>(v))});
}

}  // namespace

void read_frontend(const checkpoint_settings& f, fastconformer_settings& s) {
  f.require(preprocessor + "use_torchaudio",
            "false");  // another class: it reflects the ends of a clip and has a row more
  f.require(preprocessor + "frame_splicing", "1");
  if (f.is_null(preprocessor + "pad_to")) refuse_setting(f, "pad_to", "a number", "null");
  (void)f.number(preprocessor + "pad_to", 16, 0, 1u << 20);  // transcribe() sets it to 0
  frontends::nemo_mel_options& o = s.frontend.mel;
  o.mels = f.number(preprocessor + "features", 64, 8, 1024);
  const double rate = f.real(preprocessor + "sample_rate", 16000, 1000, 400000);
  if (rate != 16000)
    fail({.where = f.source,
          .what = "sample rate in Hz",
          .expected = "16000",
          .found = steno::weights::number_text(rate)});
  o.window = samples_of(f, "window_size", "n_window_size", 0.02, rate);
  o.shift = samples_of(f, "window_stride", "n_window_stride", 0.01, rate);
  o.fft_size = f.number(preprocessor + "n_fft", 0, 0, limits::width);
  if (o.fft_size == 0) o.fft_size = static_cast<extent>(std::bit_ceil(static_cast<std::size_t>(o.window)));
  o.shape = frontends::nemo_window(choice(f, "window", nemo::nemo_windows, "NeMo has no window by another name"));
  o.guard_type = frontends::nemo_guard(choice(f, "log_zero_guard_type", nemo::nemo_guards));
  o.guard = guard_value(f);
  if (f.is_null(preprocessor + "preemph"))
    o.preemphasis.reset();
  else
    o.preemphasis = static_cast<float>(f.real(preprocessor + "preemph", 0.97, 0, 1));
  o.mag_power = static_cast<float>(f.real(preprocessor + "mag_power", 2, 0.125, 4));
  o.log = f.flag(preprocessor + "log", true);
  o.exact_pad = f.flag(preprocessor + "exact_pad", false);
  if (o.exact_pad && o.shift % 2 != 0)
    fail({.where = f.source,
          .what = preprocessor + "exact_pad",
          .expected = "an even number of samples for " + preprocessor + "window_stride",
          .found = std::to_string(o.shift)});
  o.band.high = f.real(preprocessor + "highfreq", 0, 0, rate / 2);
  if (o.band.high == 0) o.band.high = rate / 2;
  o.band.low = f.real(preprocessor + "lowfreq", 0, 0, o.band.high - 1);
  constexpr std::string_view norms[] = {"slaney", "null"};
  o.band.unit_area = choice(f, "mel_norm", norms) == 0;
  s.pad_value = static_cast<float>(f.real(preprocessor + "pad_value", 0, -0x1p16, 0x1p16));
  read_normalisation(f, s);
  check_frontend(s, f.source);
}

void check_frontend(const fastconformer_settings& s, const std::string& where) {
  const frontends::nemo_mel_options& o = s.frontend.mel;
  if (o.window < 2 || o.window > o.fft_size || o.shift < std::min<extent>(16, o.window) || o.shift > o.window ||
      o.fft_size < 16 || o.fft_size > 8192)
    fail({.where = where,
          .what = "n_fft, window_size and window_stride of the front end in samples",
          .expected = "16 to 8192, at most the transform, 16 to a window",
          .found = std::to_string(o.fft_size) + ", " + std::to_string(o.window) + ", " + std::to_string(o.shift)});
}

void take_tables(fastconformer_settings& s, std::span<const float> window, std::span<const float> filters,
                 const stored_tables& from) {
  frontends::nemo_mel_options& o = s.frontend.mel;
  // torch computes windows in floats. A filter's weights are 0.0003 and more where they are largest.
  constexpr float window_error = 1e-6f, filter_error = 1e-7f;
  const auto contradicts = [&](const std::string& keys) {
    fail({.where = from.where,
          .what = keys + " and the tables that are stored beside the weights",
          .expected = "tables that these settings make, or others",
          .found = "those of NeMo's defaults",
          .hint = "NeMo would take the stored ones; take these keys out if that is meant"});
  };
  if (!window.empty()) {
    check_values(window, -0x1p16f, from.window, from.where);
    if (differ(window, frontends::make_nemo_window(o.shape, o.window), window_error)) {
      if (o.shape != frontends::nemo_window::hann &&
          !differ(window, frontends::make_nemo_window(frontends::nemo_window::hann, o.window), window_error))
        contradicts("preprocessor.window");
      o.window_values.assign(window.begin(), window.end());
    }
  }
  if (filters.empty()) return;
  check_values(filters, 0, from.filters, from.where);
  const extent bins = o.fft_size / 2 + 1;
  const auto made = [&](const frontends::slaney_band& band) {
    return frontends::mel_filters::slaney(o.mels, o.fft_size, o.sample_rate, band).matrix(bins);
  };
  if (!differ(filters, made(o.band), filter_error)) return;
  if (!differ(filters, made({}), filter_error)) contradicts("preprocessor.lowfreq, highfreq or mel_norm");
  o.filter_values.assign(filters.begin(), filters.end());
}

void set_frontend_keys(weights::gguf_writer& file, const std::string& architecture, const fastconformer_settings& s) {
  const auto set = [&](const char* key, auto value) { file.set(architecture + ".frontend." + key, value); };
  const auto whole = [&](const char* key, extent value) { set(key, static_cast<std::uint32_t>(value)); };
  const frontends::nemo_mel_options &o = s.frontend.mel, usual = {};
  whole("sample_rate", 16000);
  whole("window", o.window);
  whole("shift", o.shift);
  whole("fft_size", o.fft_size);
  whole("n_mels", o.mels);
  whole("per_feature", s.frontend.normalise == normalisation::per_feature);
  // What is as usual has no key.
  if (s.frontend.normalise > normalisation::per_feature)
    set("normalize", std::string(nemo::nemo_normalisations[static_cast<std::size_t>(s.frontend.normalise)]));
  if (s.frontend.normalise == normalisation::fixed) {
    set("fixed_mean", s.frontend.mean);
    set("fixed_std", s.frontend.deviation);
  }
  if (!o.preemphasis)
    whole("no_preemphasis", 1);
  else if (o.preemphasis != usual.preemphasis)
    set("preemphasis", *o.preemphasis);
  if (o.guard != usual.guard) set("guard", o.guard);
  if (o.guard_type != usual.guard_type)
    set("guard_type", std::string(nemo::nemo_guards[static_cast<std::size_t>(o.guard_type)]));
  if (o.shape != usual.shape) set("window_shape", std::string(nemo::nemo_windows[static_cast<std::size_t>(o.shape)]));
  if (o.band.low > 0) set("low_frequency", o.band.low);
  if (o.band.high > 0 && o.band.high < o.sample_rate / 2) set("high_frequency", o.band.high);
  if (!o.band.unit_area) whole("unit_area", 0);
  if (o.mag_power != usual.mag_power) set("mag_power", o.mag_power);
  if (!o.log) whole("log", 0);
  if (o.exact_pad) whole("exact_pad", 1);
  if (!o.window_values.empty()) set("window_values", o.window_values);
  if (!o.filter_values.empty()) set("filter_values", o.filter_values);
  if (s.pad_value != 0) set("pad_value", s.pad_value);
}

}  // namespace nemo_files
}  // namespace STENO_ABI
}  // namespace steno
