// steno serve: a model over HTTP and WebSocket, until it is interrupted.
// SPDX-License-Identifier: Apache-2.0
#include <steno/core/processors.hpp>
#include <steno/error.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <thread>

#include "access.hpp"
#include "line_log.hpp"
#include "served_models.hpp"
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
  return o.threads > 0 ? o.threads : core::processors();
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

class descriptor_of_log {
 public:
  descriptor_of_log() : fd_(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)) {}
  ~descriptor_of_log() {
    if (fd_ >= 0) ::close(fd_);
  }
  descriptor_of_log(const descriptor_of_log&) = delete;
  descriptor_of_log& operator=(const descriptor_of_log&) = delete;
  int get() const { return fd_ >= 0 ? fd_ : STDERR_FILENO; }

 private:
  int fd_;
};

}  // namespace

int run_serve(const options& o) {
  if (o.live.chunk_size.value_or(1) < 1)
    wrong_usage("serve: --chunk-size is at least 1, or a client could send without an end");
  const int threads = threads_of(o);
  check_origins(o);
  // A descriptor of its own: number 2 is somebody else's for moments (sound_file.cpp).
  const descriptor_of_log to;
  line_log log(to.get());
  const auto say = [&](const std::string& text) {
    if (!o.quiet) log.say(text);
  };
  std::unique_ptr<model_shelf> models = open_served_models(o, say);
  const std::string name(models->get(models->usual())->model.model_name());
  const std::size_t count = models->size();
  server s(std::move(models),
           {.host = host_of(o),
            .port = o.live.port,
            .threads = threads,
            .connections = o.live.connections,
            .per_peer = o.live.per_peer,
            .message_bytes = o.live.message_bytes,
            .idle_seconds = o.live.idle_seconds,
            .drain_seconds = o.live.drain_seconds,
            .allow_origins = o.live.allow_origins,
            .keys = o.live.api_keys.empty() ? api_keys() : api_keys::read(o.live.api_keys),
            .max_queue = o.live.max_queue,
            .max_batch = o.live.max_batch,
            .body_bytes = o.live.body_bytes,
            .request_seconds = o.live.request_seconds,
            .per_minute = o.live.per_minute,
            .sessions = o.live.sessions > 0 ? o.live.sessions : o.live.connections,
            .audio_seconds = o.live.audio_seconds,
            .reading = o.reading,
            .log_texts = o.live.log_texts},
           say);
  s.drain_at_signals();
  say("listening on http and ws://" + s.addresses() + " with " + name +
      (count > 1 ? " and " + std::to_string(count - 1) + " more" : "") + ", " + std::to_string(threads) +
      " threads, at most " + std::to_string(o.live.connections) + " connections");
  const int signal = s.run();
  say("stopped");
  return signal == 0 ? 0 : 128 + signal;
}

}  // namespace steno::app
