// libsteno: streams, whatever finds something in them.
// SPDX-License-Identifier: Apache-2.0
#include <steno/steno.h>
#include <steno/pipelines/any_session.hpp>
#include <steno/segmentation/speaker_turns.hpp>

#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "beside.hpp"
#include "shown.hpp"
#include "status.hpp"

using namespace steno;
using namespace steno::c;

namespace steno::c {

using event_sink = core::sink_ref<const steno_event&>;

struct stream_body {
  virtual ~stream_body() = default;
  virtual void push(std::span<const float> pcm, context& c, event_sink sink) = 0;
  virtual void finish(context& c, event_sink sink) = 0;
  virtual bool over() const { return false; }
};

}  // namespace steno::c

namespace {

steno_event event_of(const segment& s, bool final) {
  return {.size = sizeof(steno_event),
          .final = final,
          .utterance = shown(s),
          .stable = s.text.size(),
          .endpoint = nullptr,
          .has_eot_confidence = 0,
          .eot_confidence = 0,
          .words = &s};
}

// Recognition.
class session_body final : public stream_body {
 public:
  session_body(const steno_model& m, const steno_options* o, context& c) : beside_(o, m.model.sample_rate()) {
    if (beside_.marks != nullptr) marks_.emplace(*beside_.marks);
    named_options::stream_settings s;
    if (o != nullptr) s = o->of_stream(beside_.vad, beside_.speakers);
    const pipelines::session_models models{.vad = beside_.vad, .vad_settings = s.detecting};
    if (beside_.speakers != nullptr)
      session_.emplace(m.model, *beside_.speakers, s.session, s.speakers, c, models);
    else
      session_.emplace(m.model, s.session, c, models);
  }
  void push(std::span<const float> pcm, context& c, event_sink sink) override {
    session_->push(pcm, c, [&](session_event e) { hand_over(std::move(e), c, sink); });
  }
  void finish(context& c, event_sink sink) override {
    session_->finish(c, [&](session_event e) { hand_over(std::move(e), c, sink); });
  }
  bool over() const override { return session_->over(); }

 private:
  void hand_over(session_event e, context& c, event_sink& sink) {
    std::size_t stable = e.stable.size();
    if (marks_ && e.final()) {
      marks_->punctuate(e.utterance, c);
      stable = e.utterance.text.size();
    }
    const std::string endpoint(streaming::endpoint_name(e.endpoint));
    steno_event shown = event_of(e.utterance, e.final());
    shown.stable = stable;
    shown.endpoint = text_or_null(endpoint);
    shown.has_eot_confidence = e.eot_confidence.has_value();
    shown.eot_confidence = e.eot_confidence.value_or(0);
    sink(shown);
  }

  beside beside_;
  std::optional<punctuator::stream> marks_;
  std::optional<any_session> session_;
};

// Who speaks.
class turns_body final : public stream_body {
 public:
  turns_body(const steno_diarizer& d, const diarize_options& o)
      : diarization_(d.model, o),
        turns_(d.model.speakers(), static_cast<extent>(std::llround(d.model.frame_seconds() * 100)), o.segments) {}
  void push(std::span<const float> pcm, context& c, event_sink sink) override {
    diarization_.push(pcm, c, [&](const view<const float>& rows) { turns_.push(rows, handing_over(sink)); });
  }
  void finish(context& c, event_sink sink) override {
    diarization_.finish(c, [&](const view<const float>& rows) { turns_.push(rows, handing_over(sink)); });
    turns_.finish(handing_over(sink));
  }

 private:
  struct hand_over {
    void operator()(const segmentation::speaker_turn& t) const {
      segment s;
      s.start = t.span.start;
      s.end = t.span.end;
      s.speaker = "speaker_" + std::to_string(t.speaker);
      (*sink)(event_of(s, true));
    }
    event_sink* sink;
  };
  static hand_over handing_over(event_sink& sink) { return {&sink}; }

  diarization diarization_;
  segmentation::speaker_turns turns_;
};

// Where somebody speaks.
class voices_body final : public stream_body {
 public:
  voices_body(const steno_vad& v, const vad_settings& s) : stream_(v.model, s) {}
  void push(std::span<const float> pcm, context& c, event_sink sink) override {
    stream_.accept(pcm, c, [&](const segmentation::voice_change& v) { hand_over(v, sink); });
  }
  void finish(context& c, event_sink sink) override {
    stream_.finish(c, [&](const segmentation::voice_change& v) { hand_over(v, sink); });
  }

 private:
  void hand_over(const segmentation::voice_change& v, event_sink& sink) {
    segment s;
    if (v.start_ms >= 0) {
      s.start = s.end = start_ = static_cast<double>(v.start_ms) / 1000;
      sink(event_of(s, false));
    }
    if (v.end_ms >= 0) {
      s.start = start_;
      s.end = static_cast<double>(v.end_ms) / 1000;
      sink(event_of(s, true));
    }
  }

  vad_stream stream_;
  double start_ = 0;
};

}  // namespace

struct steno_stream {
  steno_stream(context_store& contexts, steno_sink s, void* u) : scratch(contexts), sink(s), user(u) {}
  // f(sink) with one that calls back; afterwards the stream is over unless all went well.
  template <class F>
  steno_status run(char** error, F&& f) {
    const steno_status done = guarded(error, [&] {
      const auto call_back = [this](const steno_event& e) {
        if (sink(&e, user) != 0) throw core::cancelled();
      };
      f(event_sink(call_back));
    });
    if (done != STENO_OK) ended = true;
    return done;
  }

  context_store::lent scratch;
  std::unique_ptr<stream_body> body;
  steno_sink sink;
  void* user;
  bool ended = false;
};

namespace {

// body(scratch) makes it.
template <class Handle, class F>
steno_status open_stream(const Handle* of, steno_sink sink, void* user, steno_stream** to, char** error,
                         const char* wrong, F&& body) {
  if (of == nullptr || sink == nullptr || to == nullptr) return misuse(error, wrong);
  return guarded(error, [&] {
    auto made = std::make_unique<steno_stream>(of->contexts, sink, user);
    made->body = body(*made->scratch);
    *to = made.release();
  });
}

}  // namespace

extern "C" {

steno_status steno_stream_open(const steno_model* model, const steno_options* options, steno_sink sink, void* user,
                               steno_stream** stream, char** error) {
  return open_stream(model, sink, user, stream, error,
                     "steno_stream_open: a model, a sink and a place for the stream are needed",
                     [&](context& c) { return std::make_unique<session_body>(*model, options, c); });
}
steno_status steno_diarizer_stream_open(const steno_diarizer* diarizer, const steno_options* options, steno_sink sink,
                                        void* user, steno_stream** stream, char** error) {
  return open_stream(diarizer, sink, user, stream, error,
                     "steno_diarizer_stream_open: a diarizer, a sink and a place for the stream are needed",
                     [&](context&) {
                       return std::make_unique<turns_body>(
                           *diarizer, options != nullptr ? options->of_diarizer(diarizer->model) : diarize_options());
                     });
}
steno_status steno_vad_stream_open(const steno_vad* vad, const steno_options* options, steno_sink sink, void* user,
                                   steno_stream** stream, char** error) {
  return open_stream(vad, sink, user, stream, error,
                     "steno_vad_stream_open: a detector, a sink and a place for the stream are needed", [&](context&) {
                       return std::make_unique<voices_body>(*vad,
                                                            options != nullptr ? options->of_vad() : vad_settings());
                     });
}
steno_status steno_stream_push(steno_stream* stream, const float* samples, size_t count, char** error) {
  if (stream == nullptr || (samples == nullptr && count > 0))
    return misuse(error, "steno_stream_push: a stream and samples are needed");
  if (steno_stream_over(stream)) return misuse(error, "steno_stream_push: the stream is over");
  return stream->run(error, [&](event_sink sink) { stream->body->push({samples, count}, *stream->scratch, sink); });
}
steno_status steno_stream_finish(steno_stream* stream, char** error) {
  if (stream == nullptr) return misuse(error, "steno_stream_finish: a stream is needed");
  if (steno_stream_over(stream)) return misuse(error, "steno_stream_finish: the stream is over");
  const steno_status done = stream->run(error, [&](event_sink sink) { stream->body->finish(*stream->scratch, sink); });
  stream->ended = true;
  return done;
}
int steno_stream_over(const steno_stream* stream) { return stream == nullptr || stream->ended || stream->body->over(); }
steno_status steno_event_word(const steno_event* event, size_t index, steno_word* word) {
  if (event == nullptr || event->words == nullptr) return STENO_MISUSE;
  return show_word(*static_cast<const segment*>(event->words), index, word);
}
void steno_stream_free(steno_stream* stream) { delete stream; }

}  // extern "C"
