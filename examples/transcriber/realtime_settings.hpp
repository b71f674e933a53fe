// What a client of /v1/realtime may set: the session object of OpenAI's API, in its present form and in that of its
// beta, and what of it this server honours.
//
// Every field is honoured, or the event is refused by the field's path (docs/server.md has the table). Tested in
// tests/programs/steno_realtime_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "flat_json.hpp"
#include "json_builder.hpp"
#include "realtime_audio.hpp"

namespace steno::app {

/// Why an event of a client is refused; the session goes on.
class realtime_error : public std::exception {
 public:
  realtime_error(std::string code, std::string message, std::string param = "")
      : code_(std::move(code)), message_(std::move(message)), param_(std::move(param)) {}
  const char* what() const noexcept override { return message_.c_str(); }
  const std::string& code() const { return code_; }
  const std::string& param() const { return param_; }

 private:
  std::string code_, message_, param_;
};

struct realtime_settings {
  std::string model;                       ///< its ID
  std::string language = "auto";           ///< as the client says it
  std::vector<std::string> keywords = {};  ///< that are favoured
  bool speakers = false;                   ///< events tell who said it
  audio_kind audio = {};
  bool server_vad = true;                   ///< turns are found; else the client commits them
  int prefix_padding = 300, silence = 500;  ///< ms
};

/// Adds what a session.update or transcription_session.update says. Throws realtime_error, and then `to` is as it was.
void update_settings(realtime_settings& to, const flat_json& event);

/// The session object; `beta`: as the API's beta has it.
void put_settings(json_builder& j, const realtime_settings& s, const std::string& id, bool beta);

}  // namespace steno::app
