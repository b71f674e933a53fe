#include "live.hpp"

#include <steno/core/thread_pool.hpp>
#include <steno/pipelines/any_session.hpp>

#include <optional>
#include <utility>
#include <variant>

#include "loading.hpp"

namespace steno::app {

namespace {

template <class Model>
concept writes_small_letters = requires(const Model& m) {
  m.tokenizer.sentence({});
};

}  // namespace

struct listener::body {
  context scratch;
  any_session session;
  body(const any_model& m, const session_options& o, const executor& run) : scratch(run), session(m, o, scratch) {}
};
listener::listener(std::unique_ptr<body> b) : body_(std::move(b)) {}
listener::listener(listener&&) noexcept = default;
listener::~listener() = default;
void listener::push(std::span<const float> pcm, const live_sink& sink) {
  body_->session.push(pcm, body_->scratch, sink);
}
void listener::finish(const live_sink& sink) { body_->session.finish(body_->scratch, sink); }
bool listener::over() const { return body_->session.over(); }

struct live_model::body {
  explicit body(int threads) {
    if (threads > 1) pool.emplace(threads);
  }
  executor run() const { return pool ? executor(*pool) : executor(); }
  mutable std::optional<thread_pool> pool;
  std::optional<transcriber> loaded;
};
live_model::live_model(const std::string& path, const note_function& note, int threads) {
  auto made = std::make_unique<body>(threads);
  made->loaded.emplace(load_transcriber(path, made->run(), note));
  body_ = std::move(made);
}
live_model::~live_model() = default;
std::string live_model::name() const { return std::string(body_->loaded->model_name()); }
int live_model::sample_rate() const { return body_->loaded->sample_rate(); }
bool live_model::of_wenet() const {
  return std::visit([]<class Model>(const Model&) { return writes_small_letters<Model>; }, body_->loaded->model());
}
bool live_model::honours(std::string_view option) const { return any_session::honours(body_->loaded->model(), option); }
listener live_model::listen(const session_options& o) const {
  return listener(std::make_unique<listener::body>(body_->loaded->model(), o, body_->run()));
}

}  // namespace steno::app
