// What the server has done, as Prometheus reads it.
// SPDX-License-Identifier: Apache-2.0
#include "metrics.hpp"

#include <gtest/gtest.h>

namespace metrics_test {

TEST(metrics, are_prometheus_text) {
  steno::app::metrics m;
  m.answered("/health", 200, 0.01);
  m.answered("/health", 200, 0.05);
  m.answered("/v1/audio/transcriptions", 429, 400);
  m.recognised(10, 0.2, 0.5);
  m.session_began();
  m.session_began();
  m.session_ended(3);
  const std::string text = m.text({.connections = 4, .waiting = 2, .running = 1});
  for (const char* want :
       {"# TYPE steno_requests_total counter\n", "steno_requests_total{path=\"/health\",status=\"200\"} 2\n",
        "steno_requests_total{path=\"/v1/audio/transcriptions\",status=\"429\"} 1\n",
        "# TYPE steno_request_seconds histogram\n", "steno_request_seconds_bucket{le=\"0.05\"} 2\n",
        "steno_request_seconds_bucket{le=\"300\"} 2\n", "steno_request_seconds_bucket{le=\"+Inf\"} 3\n",
        "steno_request_seconds_count 3\n", "steno_queue_wait_seconds_bucket{le=\"0.25\"} 1\n",
        "steno_audio_seconds_total 10\n", "steno_real_time_factor 0.05\n", "steno_queue_length 2\n",
        "steno_recordings_running 1\n", "steno_connections 4\n", "steno_sessions 1\n", "steno_sessions_total 2\n",
        "steno_session_audio_seconds_total 3\n"})
    EXPECT_NE(text.find(want), std::string::npos) << want << "\n" << text;
}

}  // namespace metrics_test
