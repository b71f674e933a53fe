// Which path of the server is which endpoint: OpenAI's names, and those of health checks and of Prometheus.
//
// Tested in tests/programs/steno_service_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace steno::app {

/// What the server answers over HTTP.
enum class endpoint { transcriptions, translations, models, model, page, realtime, health, ready, metrics, none };

struct route {
  endpoint to = endpoint::none;
  std::string_view name = "other";  ///< for the log: what a client calls it is not repeated there
  std::string model = {};           ///< of /v1/models/ID
};

/// A value behind the question mark of a target: "+" is a space, "%41" an A; what is none of these stays.
inline std::string query_value(std::string_view text) {
  const auto digit = [](char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
  };
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool coded = text[i] == '%' && i + 2 < text.size() && digit(text[i + 1]) >= 0 && digit(text[i + 2]) >= 0;
    out += coded ? static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2])) : text[i] == '+' ? ' ' : text[i];
    if (coded) i += 2;
  }
  return out;
}

/// Of a request's target, whose parameters are not looked at.
inline route route_of(std::string_view target) {
  const std::string_view path = target.substr(0, target.find('?'));
  if (path == "/v1/audio/transcriptions") return {endpoint::transcriptions, "/v1/audio/transcriptions"};
  if (path == "/v1/audio/translations") return {endpoint::translations, "/v1/audio/translations"};
  if (path == "/v1/models") return {endpoint::models, "/v1/models"};
  if (path.starts_with("/v1/models/")) return {endpoint::model, "/v1/models/ID", std::string(path.substr(11))};
  if (path == "/v1/realtime") return {endpoint::realtime, "/v1/realtime"};
  if (path == "/") return {endpoint::page, "/"};
  if (path == "/health") return {endpoint::health, "/health"};
  if (path == "/ready") return {endpoint::ready, "/ready"};
  if (path == "/metrics") return {endpoint::metrics, "/metrics"};
  return {};
}

}  // namespace steno::app
