// libsteno: steno.h over the closed classes of the pipelines. No exception leaves it.
#include <steno/steno.h>
#include <steno/config.hpp>
#include <steno/core/thread_pool.hpp>
#include <steno/error.hpp>
#include <steno/pipelines/any_session.hpp>
#include <steno/pipelines/any_vad.hpp>
#include <steno/pipelines/transcriber.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "options.hpp"

namespace {
using namespace steno;

// Scratch memory of the calls of a model: as many contexts as there were calls at once.
class context_store {
 public:
  explicit context_store(executor run) : run_(run) {}
  // A context for one call or stream; it comes back when that is over.
  class lent {
   public:
    explicit lent(context_store& of) : of_(of), context_(of.take()) {}
    ~lent() { of_.give_back(std::move(context_)); }
    lent(const lent&) = delete;
    lent& operator=(const lent&) = delete;
    context& operator*() const { return *context_; }

   private:
    context_store& of_;
    std::unique_ptr<context> context_;
  };

 private:
  std::unique_ptr<context> take() {
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        std::unique_ptr<context> one = std::move(free_.back());
        free_.pop_back();
        return one;
      }
      free_.reserve(++made_);  // so that giving back does not allocate
    }
    return std::make_unique<context>(run_);
  }
  void give_back(std::unique_ptr<context> one) noexcept {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(one));
  }

  executor run_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<context>> free_;
  std::size_t made_ = 0;
};

steno_status tell(char** error, steno_status status, const char* text) noexcept {
  if (error != nullptr && (*error = static_cast<char*>(std::malloc(std::strlen(text) + 1))) != nullptr)
    std::strcpy(*error, text);
  return status;
}

// Runs `call` and makes a status of what it throws.
template <class F>
steno_status guarded(char** error, F&& call) noexcept {
  try {
    call();
    return STENO_OK;
  } catch (const core::cancelled&) {
    return tell(error, STENO_CANCELLED, "cancelled");
  } catch (const steno::error& e) {
    return tell(error, STENO_ERROR, e.what());
  } catch (const std::bad_alloc&) {
    return tell(error, STENO_NO_MEMORY, "out of memory");
  } catch (const std::exception& e) {
    return tell(error, STENO_ERROR, e.what());
  } catch (...) {
    return tell(error, STENO_ERROR, "an error of an unknown kind");
  }
}
steno_status misuse(char** error, const char* text) noexcept { return tell(error, STENO_MISUSE, text); }

const char* text_or_null(const std::string& text) { return text.empty() ? nullptr : text.c_str(); }
const char* text_or_null(const std::optional<std::string>& text) { return text ? text->c_str() : nullptr; }

// Fills in as many bytes as the caller's struct has.
template <class T>
bool fill_in(T* to, T value) {
  const std::size_t size = to->size;
  if (size < sizeof(std::size_t)) return false;
  value.size = std::min(size, sizeof value);
  std::memcpy(to, &value, value.size);
  return true;
}

steno_segment shown(const segment& s) {
  return {.size = sizeof(steno_segment),
          .start = s.start,
          .end = s.end,
          .text = s.text.c_str(),
          .language = text_or_null(s.language),
          .speaker = text_or_null(s.speaker),
          .word_count = s.words.size(),
          .has_score = s.score.has_value(),
          .score = s.score.value_or(0)};
}

steno_status show_word(const segment& s, std::size_t index, steno_word* word) {
  if (word == nullptr || index >= s.words.size()) return STENO_MISUSE;
  const steno::word& w = s.words[index];
  return fill_in(word, {.size = sizeof(steno_word),
                        .start = w.start,
                        .end = w.end,
                        .has_times = w.how != timing::none,
                        .text = w.text.c_str(),
                        .confidence = w.confidence,
                        .speaker = text_or_null(w.speaker)})
             ? STENO_OK
             : STENO_MISUSE;
}

}  // namespace

struct steno_model {
  steno_model(const char* path, int threads)
      : pool(threads > 1 ? std::make_unique<thread_pool>(threads) : nullptr),
        model(path, pool ? executor(*pool) : executor()),
        contexts(pool ? executor(*pool) : executor()),
        name(model.model_name()),
        languages(model.languages()) {}

  std::unique_ptr<thread_pool> pool;
  transcriber model;
  context_store contexts;
  std::string name;
  std::vector<std::string> languages;
};
struct steno_options : c::named_options {};
struct steno_result : result {};

struct steno_stream {
  steno_stream(steno_model& m, const steno_options* o, steno_sink s, void* u) : scratch(m.contexts), sink(s), user(u) {
    if (o != nullptr && !o->vad().empty()) detector.emplace(open_vad(o->vad(), executor(), m.model.sample_rate()));
    session.emplace(m.model, o != nullptr ? o->of_stream() : session_options(), *scratch,
                    pipelines::session_models{.vad = detector ? &*detector : nullptr});
  }
  void hand_over(const session_event& e) const {
    const std::string endpoint(streaming::endpoint_name(e.endpoint));
    const steno_event event{.size = sizeof(steno_event),
                            .final = e.final(),
                            .utterance = shown(e.utterance),
                            .stable = e.stable.size(),
                            .endpoint = text_or_null(endpoint),
                            .has_eot_confidence = e.eot_confidence.has_value(),
                            .eot_confidence = e.eot_confidence.value_or(0),
                            .words = &e.utterance};
    if (sink(&event, user) != 0) throw core::cancelled();
  }

  context_store::lent scratch;
  std::optional<any_vad> detector;
  std::optional<any_session> session;
  steno_sink sink;
  void* user;
  bool ended = false;
};

extern "C" {

const char* steno_version(void) {
#define STENO_TEXT_OF(x) #x
#define STENO_TEXT(x) STENO_TEXT_OF(x)
  return STENO_TEXT(STENO_VERSION_MAJOR) "." STENO_TEXT(STENO_VERSION_MINOR) "." STENO_TEXT(STENO_VERSION_PATCH);
#undef STENO_TEXT
#undef STENO_TEXT_OF
}
void steno_free(char* text) { std::free(text); }

steno_status steno_model_load(const char* path, int threads, steno_model** model, char** error) {
  if (path == nullptr || model == nullptr || threads < 0)
    return misuse(error, "steno_model_load: a path and a place for the model are needed, and threads from 0");
  return guarded(error, [&] {
    const int all = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    *model = new steno_model(path, threads == 0 ? all : threads);
  });
}
void steno_model_free(steno_model* model) { delete model; }
const char* steno_model_name(const steno_model* model) { return model != nullptr ? model->name.c_str() : nullptr; }
int steno_model_sample_rate(const steno_model* model) { return model != nullptr ? model->model.sample_rate() : 0; }
int steno_model_streams(const steno_model* model) { return model != nullptr && model->model.streams(); }
int steno_model_supports(const steno_model* model, const char* option, int live) {
  bool supported = false;
  if (model != nullptr && option != nullptr)
    guarded(nullptr,
            [&] { supported = live != 0 ? model->model.supports_live(option) : model->model.supports(option); });
  return supported;
}
size_t steno_model_language_count(const steno_model* model) { return model != nullptr ? model->languages.size() : 0; }
const char* steno_model_language(const steno_model* model, size_t index) {
  return index < steno_model_language_count(model) ? model->languages[index].c_str() : nullptr;
}

steno_options* steno_options_new(void) { return new (std::nothrow) steno_options; }
void steno_options_free(steno_options* options) { delete options; }
steno_status steno_options_set(steno_options* options, const char* name, const char* value, char** error) {
  if (options == nullptr || name == nullptr || value == nullptr)
    return misuse(error, "steno_options_set: options, a name and a value are needed");
  return guarded(error, [&] { options->set(name, value); });
}

steno_status steno_transcribe_with_progress(const steno_model* model, const float* samples, size_t count,
                                            const steno_options* options, steno_progress progress, void* user,
                                            steno_result** result, char** error) {
  if (model == nullptr || (samples == nullptr && count > 0) || result == nullptr)
    return misuse(error, "steno_transcribe: a model, samples and a place for the result are needed");
  return guarded(error, [&] {
    auto& m = *const_cast<steno_model*>(model);  // its contexts are behind a lock
    std::optional<any_vad> detector;
    if (options != nullptr && !options->vad().empty())
      detector.emplace(open_vad(options->vad(), executor(), m.model.sample_rate()));
    const any_vad* const vad = detector ? &*detector : nullptr;
    transcribe_options o = options != nullptr ? options->of_recording(vad) : transcribe_options();
    const auto go_on = [&](double done, double total) { return progress(done, total, user) == 0; };
    if (progress != nullptr) o.progress = go_on;
    const context_store::lent scratch(m.contexts);
    auto made = std::make_unique<steno_result>();
    static_cast<steno::result&>(*made) = m.model.transcribe({samples, count}, o, *scratch);
    *result = made.release();
  });
}
steno_status steno_transcribe(const steno_model* model, const float* samples, size_t count,
                              const steno_options* options, steno_result** result, char** error) {
  return steno_transcribe_with_progress(model, samples, count, options, nullptr, nullptr, result, error);
}

void steno_result_free(steno_result* result) { delete result; }
const char* steno_result_text(const steno_result* result) { return result != nullptr ? result->text.c_str() : nullptr; }
const char* steno_result_language(const steno_result* result) {
  return result != nullptr ? text_or_null(result->language) : nullptr;
}
double steno_result_duration(const steno_result* result) { return result != nullptr ? result->duration : 0; }
size_t steno_result_segment_count(const steno_result* result) {
  return result != nullptr ? result->segments.size() : 0;
}
steno_status steno_result_segment(const steno_result* result, size_t index, steno_segment* segment) {
  if (segment == nullptr || index >= steno_result_segment_count(result)) return STENO_MISUSE;
  return fill_in(segment, shown(result->segments[index])) ? STENO_OK : STENO_MISUSE;
}
steno_status steno_result_word(const steno_result* result, size_t segment, size_t index, steno_word* word) {
  if (segment >= steno_result_segment_count(result)) return STENO_MISUSE;
  return show_word(result->segments[segment], index, word);
}

steno_status steno_stream_open(const steno_model* model, const steno_options* options, steno_sink sink, void* user,
                               steno_stream** stream, char** error) {
  if (model == nullptr || sink == nullptr || stream == nullptr)
    return misuse(error, "steno_stream_open: a model, a sink and a place for the stream are needed");
  return guarded(error, [&] { *stream = new steno_stream(*const_cast<steno_model*>(model), options, sink, user); });
}
steno_status steno_stream_push(steno_stream* stream, const float* samples, size_t count, char** error) {
  if (stream == nullptr || (samples == nullptr && count > 0))
    return misuse(error, "steno_stream_push: a stream and samples are needed");
  if (steno_stream_over(stream)) return misuse(error, "steno_stream_push: the stream is over");
  const steno_status done = guarded(error, [&] {
    stream->session->push({samples, count}, *stream->scratch, [&](const session_event& e) { stream->hand_over(e); });
  });
  if (done != STENO_OK) stream->ended = true;
  return done;
}
steno_status steno_stream_finish(steno_stream* stream, char** error) {
  if (stream == nullptr) return misuse(error, "steno_stream_finish: a stream is needed");
  if (steno_stream_over(stream)) return misuse(error, "steno_stream_finish: the stream is over");
  const steno_status done = guarded(
      error, [&] { stream->session->finish(*stream->scratch, [&](const session_event& e) { stream->hand_over(e); }); });
  stream->ended = true;
  return done;
}
int steno_stream_over(const steno_stream* stream) {
  return stream == nullptr || stream->ended || stream->session->over();
}
steno_status steno_event_word(const steno_event* event, size_t index, steno_word* word) {
  if (event == nullptr || event->words == nullptr) return STENO_MISUSE;
  return show_word(*static_cast<const segment*>(event->words), index, word);
}
void steno_stream_free(steno_stream* stream) { delete stream; }

}  // extern "C"
