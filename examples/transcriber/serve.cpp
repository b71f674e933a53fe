// steno serve: a streaming model over WebSocket, until it is interrupted.
#include <algorithm>
#include <thread>

#include "live.hpp"
#include "server.hpp"
#include "verbs.hpp"

namespace steno::app {

int run_serve(const options& o) {
  reporter report(stderr, false, o.quiet ? reporter::detail::errors_only : reporter::detail::all);
  if (o.live.chunk_size.value_or(1) < 1)
    wrong_usage("serve: --chunk-size is at least 1, or a client could send without an end");
  session_options request = session_options_of(o);
  request.at_most = 200;  // seconds: bounds what a connection keeps, and is as far as WeNet's positions go
  const live_model model(o.model, [&](const std::string& text) { report.note(text); });
  const int threads = o.threads > 0 ? o.threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  server s(model,
           {.host = o.live.host,
            .port = o.live.port,
            .threads = threads,
            .connections = o.live.connections,
            .message_bytes = o.live.message_bytes,
            .idle_seconds = o.live.idle_seconds,
            .live = request},
           [&](const std::string& text) { report.note(text); });
  s.stop_at_signals();
  report.note("listening on ws://" + o.live.host + ":" + std::to_string(s.port()) + " with " + model.name() + ", " +
              std::to_string(threads) + " threads, at most " + std::to_string(o.live.connections) + " connections");
  s.run();
  report.note("stopped");
  return 0;
}

}  // namespace steno::app
