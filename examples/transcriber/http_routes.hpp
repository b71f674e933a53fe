// Which path of the server is which endpoint: OpenAI's names, and those of health checks and of Prometheus.
//
// Tested in tests/programs/steno_service_test.cpp.
#pragma once
#include <string>
#include <string_view>

namespace steno::app {

/// What the server answers over HTTP.
enum class endpoint { transcriptions, translations, models, model, health, ready, metrics, none };

struct route {
  endpoint to = endpoint::none;
  std::string_view name = "other";  ///< for the log: what a client calls it is not repeated there
  std::string model = {};           ///< of /v1/models/ID
};

/// Of a request's target, whose parameters are not looked at.
inline route route_of(std::string_view target) {
  const std::string_view path = target.substr(0, target.find('?'));
  if (path == "/v1/audio/transcriptions") return {endpoint::transcriptions, "/v1/audio/transcriptions"};
  if (path == "/v1/audio/translations") return {endpoint::translations, "/v1/audio/translations"};
  if (path == "/v1/models") return {endpoint::models, "/v1/models"};
  if (path.starts_with("/v1/models/")) return {endpoint::model, "/v1/models/ID", std::string(path.substr(11))};
  if (path == "/health") return {endpoint::health, "/health"};
  if (path == "/ready") return {endpoint::ready, "/ready"};
  if (path == "/metrics") return {endpoint::metrics, "/metrics"};
  return {};
}

}  // namespace steno::app
