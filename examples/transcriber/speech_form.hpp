// The form of POST /v1/audio/transcriptions and /v1/audio/translations: its fields as they come, and what they ask of a
// model.
//
// Every field is honoured, or the request is refused by the field's name (docs/server.md has the table). Tested in
// tests/programs/steno_service_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/pipelines/transcriber.hpp>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model_shelf.hpp"
#include "multipart.hpp"

namespace steno::app {

/// What the form holds. Throws api_error for fields that are unknown, come twice or are too long.
class speech_form final : public multipart_sink {
 public:
  /// Takes the bytes of the field `file`.
  using file_sink = std::function<void(std::string_view)>;
  explicit speech_form(file_sink to) : to_(std::move(to)) {}

  void begin(const multipart_part& part) override;
  void bytes(std::string_view piece) override;
  void end() override;

  std::optional<std::string> model, language, prompt, response_format, temperature, stream, hotwords, chunking_strategy;
  std::vector<std::string> granularities;
  bool file = false;

 private:
  file_sink to_;
  std::string name_, value_;
  bool in_file_ = false;
};

enum class answer_format { json, text, srt, vtt, verbose_json, diarized_json };

/// What is asked of a model.
struct speech_request {
  transcribe_options options = {};
  answer_format format = answer_format::json;
  bool segments = true, words = false;  ///< of verbose_json
  bool stream = false;                  ///< events while it is recognised
};

/// Without a look at the model: whether the form is whole and its values are of their kind. Throws api_error.
speech_request read_form(const speech_form& form, bool translate);
/// Refuses what the model cannot do, by throwing api_error; completes the rest with what is usual for it.
void fit_to_model(speech_request& asked, const speech_form& form, const served_model& of);

/// A language as this model calls it: people say "German", "EN" or "de". What it does not know stays as it is.
std::string language_of_model(const transcriber& model, const std::string& named);

}  // namespace steno::app
