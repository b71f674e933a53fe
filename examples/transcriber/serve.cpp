// steno serve: a model over HTTP and WebSocket, until it is interrupted.
#include <steno/error.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "access.hpp"
#include "language_model_file.hpp"
#include "line_log.hpp"
#include "live_models.hpp"
#include "loading.hpp"
#include "server.hpp"
#include "speech_form.hpp"
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

// The same wishes for recordings, as far as the model has a use for them there.
transcribe_options recording_options(const session_options& asked, const transcriber& model, const note_function& say) {
  transcribe_options r;
  const auto take = [&](bool given, const char* name, auto&& set) {
    if (!given) return;
    if (model.supports(name)) return set();
    say(live_option_name(name) + " is for sessions alone: of recordings this model has no use for it");
  };
  take(asked.language != "auto", "language", [&] { r.language = language_of_model(model, asked.language); });
  take(asked.beam != 0, "beam", [&] { r.beam = asked.beam; });
  take(!asked.hotwords.empty(), "hotwords", [&] { r.hotwords = asked.hotwords; });
  take(asked.hotword_score.has_value(), "hotword_score", [&] { r.hotword_score = asked.hotword_score; });
  take(asked.language_model != nullptr, "language_model", [&] { r.language_model = asked.language_model; });
  take(asked.lm_weight.has_value(), "lm_weight", [&] { r.lm_weight = asked.lm_weight; });
  take(asked.look_ahead.has_value(), "look_ahead", [&] { r.look_ahead = asked.look_ahead; });
  if (!model.supports_language(r.language))
    wrong_usage("serve: --language " + asked.language + ": this model does not know it");
  return r;
}

// What requests call the model: the name that was given, or its file's without folder and ending.
std::string id_of(const options& o) {
  if (!o.live.model_id.empty()) return o.live.model_id;
  std::filesystem::path file(o.model);
  if (file.filename().empty()) file = file.parent_path();  // a folder
  std::string name = (file.extension() == ".gguf" ? file.stem() : file.filename()).string();
  return core::printable(name);
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
  const auto lm = open_language_model(o);
  session_options request = session_options_of(o, lm.get());
  request.limit_seconds = 200;  // seconds: bounds what a connection keeps, and is as far as WeNet's positions go
  // A descriptor of its own: number 2 is somebody else's for moments (sound_file.cpp).
  const descriptor_of_log to;
  line_log log(to.get());
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
            .keys = o.live.api_keys.empty() ? api_keys() : api_keys::read(o.live.api_keys),
            .live = request,
            .beside = beside.beside(),
            .model_id = id_of(o),
            .max_queue = o.live.max_queue,
            .body_bytes = o.live.body_bytes,
            .audio_seconds = o.live.audio_seconds,
            .reading = o.reading,
            .recording = recording_options(request, model, say)},
           say);
  s.drain_at_signals();
  say("listening on http and ws://" + s.addresses() + " with " + std::string(model.model_name()) + ", " +
      std::to_string(threads) + " threads, at most " + std::to_string(o.live.connections) + " connections");
  const int signal = s.run();
  say("stopped");
  return signal == 0 ? 0 : 128 + signal;
}

}  // namespace steno::app
