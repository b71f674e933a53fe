// tools/convert/funasr/settings.hpp - what the settings of FunASR's models have in common: the front end, the SAN-M
// encoder, the files that configuration.json names, and the keys without effect.
//
// Follows WavFrontend (frontends/wav_frontend.py), SANMEncoder (models/sanm/encoder.py), AutoModel.build_model and
// inference() of the models, which take any key of config.yaml. An importer makes its look-ups and calls
// check_settings() behind the last one. Tested in tests/convert/funasr_settings_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/weights/gguf.hpp>
#include <steno/weights/gguf_writer.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "checkpoint_settings.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace funasr_files {

struct folder;

/// The front end of a model; defaults are WavFrontend's.
struct frontend_settings {
  std::uint32_t sample_rate = 16000, n_mels = 80, frame_length = 25, frame_shift = 10, lfr_m = 1, lfr_n = 1;
  std::string window = "hamming";

  std::uint32_t width() const { return n_mels * lfr_m; }  ///< features of a row
};

/// `frontend_conf`, and what of it FunASR computes otherwise is refused. Throws steno::error.
frontend_settings read_frontend(const checkpoint_settings& f, frontend_settings otherwise = {});

/// Refuses another class of front end than `name` ("WavFrontend", which FunASR also calls "wav_frontend"). Throws
/// steno::error.
void require_frontend(const checkpoint_settings& f, const std::string& name);

/// Sets `at` + "frontend.*", as docs/formats.md lists them.
void set_frontend_keys(weights::gguf_writer& file, const std::string& at, const frontend_settings& s);

/// Refuses what a SAN-M encoder below `at` ("encoder_conf") with positions added to its input ("pe", "pe_online") and
/// taps that are shifted by `shift` would compute otherwise. Throws steno::error.
void require_sanm_encoder(const checkpoint_settings& f, const std::string& at, const std::string& input_layer = "pe",
                          std::uint32_t shift = 0);

/// To be called behind the last look-up, for config.yaml and configuration.json: an unknown key that may change the
/// result is an error, any other a note. `own` are the model's keys without effect, beside those of every model.
void check_settings(const folder& f, std::span<const unused_setting> own, std::vector<std::string>& notes);

/// The keys of a GGUF file that FunASR publishes.
class published_keys {
 public:
  explicit published_keys(const gguf_file& file);

  /// A whole number between `min` and `max`, which must be there. Throws steno::error.
  std::uint32_t number(const char* key, std::uint32_t min, std::uint32_t max) const;
  /// The same of one that may be absent.
  std::optional<std::uint32_t> optional_number(const char* key, std::uint32_t min, std::uint32_t max) const;
  double real(const char* key, double otherwise, double min, double max) const;
  /// A boolean, or 1 and 0. Throws steno::error.
  bool flag(const char* key, bool otherwise) const;
  std::string text(const char* key, const std::string& otherwise) const;
  /// Of a list; empty where there is none.
  std::vector<std::string> strings(const char* key) const;
  std::vector<double> numbers(const char* key) const;
  /// To be called behind the last look-up: an unknown key that starts with `prefix` ("sv.") is an error, any other a
  /// note. `own` are the model's keys without effect.
  void check(std::string_view prefix, std::span<const unused_setting> own, std::vector<std::string>& notes) const;

 private:
  const gguf_file& file_;
  checkpoint_settings settings_;
};

}  // namespace funasr_files
}  // namespace STENO_ABI
}  // namespace steno
