// steno serve: a model over WebSocket, until it is interrupted.
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "access.hpp"
#include "line_log.hpp"
#include "live_models.hpp"
#include "loading.hpp"
#include "server.hpp"
#include "verbs.hpp"

namespace steno::app {
namespace {

// More threads than processors only wait for each other.
int threads_of(const options& o) {
  const int processors = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const int most = std::max(16, 4 * processors);
  if (o.threads > most)
    wrong_usage("serve: --threads " + std::to_string(o.threads) + ": at most " + std::to_string(most) + " on " +
                std::to_string(processors) + " processors");
  return o.threads > 0 ? o.threads : processors;
}

std::string host_of(const options& o) {
  const std::string& host = o.live.host;
  return host.size() > 2 && host.front() == '[' && host.back() == ']' ? host.substr(1, host.size() - 2) : host;
}

void check_origins(const options& o) {
  access_rules rules;
  for (const std::string& text : o.live.allow_origins)
    if (!allow_origin(rules, text))
      wrong_usage("serve: --allow-origin " + text + ": expected SCHEME://HOST or SCHEME://HOST:PORT, or *");
}

}  // namespace

int run_serve(const options& o) {
  if (o.live.chunk_size.value_or(1) < 1)
    wrong_usage("serve: --chunk-size is at least 1, or a client could send without an end");
  const int threads = threads_of(o);
  check_origins(o);
  session_options request = session_options_of(o);
  request.limit_seconds = 200;  // seconds: bounds what a connection keeps, and is as far as WeNet's positions go
  line_log log(STDERR_FILENO);
  const auto say = [&](const std::string& text) {
    if (!o.quiet) log.say(text);
  };
  const transcriber model = load_transcriber(o.model, {}, say);
  const live_models beside(o, model, {}, say);
  check_live(request, model, beside.beside());
  server s(model,
           {.host = host_of(o),
            .port = o.live.port,
            .threads = threads,
            .connections = o.live.connections,
            .per_peer = o.live.per_peer,
            .message_bytes = o.live.message_bytes,
            .idle_seconds = o.live.idle_seconds,
            .drain_seconds = o.live.drain_seconds,
            .allow_origins = o.live.allow_origins,
            .live = request,
            .beside = beside.beside()},
           say);
  s.drain_at_signals();
  say("listening on ws://" + s.addresses() + " with " + std::string(model.model_name()) + ", " +
      std::to_string(threads) + " threads, at most " + std::to_string(o.live.connections) + " connections");
  const int signal = s.run();
  say("stopped");
  return signal == 0 ? 0 : 128 + signal;
}

}  // namespace steno::app
