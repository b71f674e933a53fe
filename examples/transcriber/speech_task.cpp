// SPDX-License-Identifier: Apache-2.0
#include "speech_task.hpp"

#include <steno/error.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <new>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "api_error.hpp"
#include "engine.hpp"
#include "speech_answer.hpp"

namespace steno::app {
namespace {

// Longer recordings are recognised alone: others would wait for them.
constexpr double short_seconds = 30;

double seconds_since(std::chrono::steady_clock::time_point t) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - t).count();
}

// What recordings that are recognised together have in common. Those that are told while they are recognised, have
// speakers or are drawn by chance are not.
std::string kind_of(const std::string& model, const speech_form& form, const speech_request& asked) {
  if (asked.stream || asked.format == answer_format::diarized_json || asked.options.decoding.temperature) return {};
  std::string kind = model;
  for (const std::optional<std::string>* field : {&form.language, &form.prompt, &form.hotwords})
    kind.append(1, '\0').append(field->value_or(""));
  return kind.append(1, '\0').append(asked.options.decoding.translate ? "t" : "").append(asked.words ? "w" : "");
}

// What is wrong with a recording is its sender's matter.
template <class F>
auto of_recording(F&& f) {
  try {
    return f();
  } catch (const error& e) {
    throw api_error(400, e.what(), "invalid_audio", "file");
  }
}

}  // namespace

api_answer answer_of(const std::exception& e) {
  api_answer a;
  if (const auto* refused = dynamic_cast<const api_error*>(&e)) {
    a.status = refused->status();
    a.body = refused->body();
  } else if (dynamic_cast<const std::bad_alloc*>(&e) != nullptr) {
    a.status = 503;
    a.body = api_error(503, "out of memory", "out_of_memory").body();
  } else if (dynamic_cast<const core::out_of_memory*>(&e) != nullptr) {
    a.status = 503;
    a.body = api_error(503, e.what(), "out_of_memory").body();
  } else {
    a.status = 500;
    a.body = api_error(500, e.what(), "internal_error").body();
  }
  return a;
}

// A request while it is recognised.
struct speech_task::hearing {
  hearing(model_shelf::place m, speech_request a, style usual)
      : of(std::move(m)), asked(std::move(a)), answer(asked, usual) {}

  const model_shelf::place of;
  speech_request asked;
  speech_answer answer;
  transcript_sink sink = {};
  std::optional<transcript> recording = {};
};

speech_task::speech_task(const place& at, std::string model, upload what, std::shared_ptr<asker> who)
    : at_(at),
      model_(std::move(model)),
      what_(std::move(what)),
      kind_(kind_of(model_, *what_.form, what_.asked)),
      who_(std::move(who)) {}
speech_task::~speech_task() = default;

// f(samples) for all of the recording, a portion at a time, until it returns false.
template <class F>
void speech_task::listen(int rate, F&& f) {
  const auto too_long = [&] {
    throw api_error(413, "file: the recording is longer than " + std::to_string(std::lround(at_.most_seconds)) + " s",
                    "audio_too_long", "file");
  };
  std::optional<audio_reader> reader;
  of_recording([&] { reader.emplace(what_.sound->descriptor(), "file", rate, at_.reading); });
  if (reader->seconds() > at_.most_seconds) too_long();
  std::vector<float> samples(transcript_portion);
  double count = 0;
  while (const std::size_t n = of_recording([&] { return reader->read(samples); })) {
    if (cancelled()) throw gone();
    count += static_cast<double>(n);
    if (count > at_.most_seconds * rate) too_long();
    if (!f(std::span<const float>(samples).first(n))) return;
  }
}

model_shelf::place speech_task::loaded() {
  try {
    return at_.models.get(model_);
  } catch (const error& e) {
    throw api_error(500, std::string("the model cannot be loaded: ") + e.what(), "model_not_loaded", "model");
  }
}

// Whether clips of it wait to be recognised together with those of others.
bool speech_task::waits() const { return hearing_ && hearing_->recording->waiting_seconds() > 0; }

// Reads the recording and recognises it, but for clips that wait. False, and nothing has happened, where company is
// wanted and it is too long for that.
bool speech_task::begin(context& scratch, company with) {
  if (cancelled()) throw gone();
  model_shelf::place of = loaded();
  const transcriber& model = of->model;
  const int rate = model.sample_rate();
  speech_request asked = what_.asked;
  fit_to_model(asked, *what_.form, *of);
  const bool alone = kind_.empty() || at_.most_together < 2 || !model.recognises_together();
  auto h = std::make_unique<hearing>(std::move(of), std::move(asked),
                                     model.model_name() == "whisper" ? style::openai : style::steno);
  h->sink = {.segments =
                 [this, h = h.get()](const segment& s) {
                   for (std::string& event : h->answer.add(s)) who_->heard(std::move(event));
                 },
             .progress = [](double) {}};
  const auto start = [&](int parallel_clips) {
    std::optional<pipelines::speaker_labels> who;
    if (h->asked.format == answer_format::diarized_json)
      who.emplace(h->of->speakers->model, h->of->speakers->diarization, h->of->speakers->rule);
    h->asked.options.parallel_clips = parallel_clips;
    h->recording.emplace(any_recording(model, h->asked.options), transcript_helpers{.figures = h->of->figures},
                         std::move(who), scratch);
  };
  if (alone) start(1);
  if (model.needs_preview()) {
    if (!h->recording) start(1);
    listen(rate, [&](std::span<const float> part) {
      h->recording->preview(part);
      return true;
    });
  }
  std::vector<float> early;  // until it is known to be short
  bool short_enough = true;
  listen(rate, [&](std::span<const float> part) {
    if (!h->recording) {
      early.insert(early.end(), part.begin(), part.end());
      short_enough = static_cast<double>(early.size()) <= short_seconds * rate;
      if (short_enough || with == company::wanted) return short_enough;
      start(1);
      part = early;
    }
    h->recording->push(part, h->sink);
    early = {};
    if (cancelled()) throw gone();
    return true;
  });
  if (!h->recording) {
    if (!short_enough) return false;
    start(at_.most_together);
    h->recording->push(early, h->sink);
  }
  h->recording->close(h->sink);
  hearing_ = std::move(h);
  return true;
}

void speech_task::finish() noexcept {
  api_answer a;
  const bool done = carefully([&] {
    const result head = hearing_->recording->finish(hearing_->sink);
    a.audio_seconds = head.duration;
    a.type = content_type(hearing_->asked.format);
    if (at_.log_texts) a.text = hearing_->answer.text();
    a.body = hearing_->asked.stream ? hearing_->answer.text() : hearing_->answer.end(head);
  });
  if (done) give(std::move(a));
}

// Its clips, and those of others that wait for a thread and ask for the same.
void speech_task::run_with_others(context& scratch) noexcept {
  std::vector<std::shared_ptr<work_queue::task>> others;
  std::vector<speech_task*> all, longer;
  std::vector<transcript*> waiting;
  const auto most = static_cast<std::size_t>(at_.most_together - 1);
  const bool room = carefully([&] {
    all.reserve(most + 1);
    longer.reserve(most);
    waiting.reserve(most + 1);
    others = at_.desk.take_along(
        [this](const work_queue::task& t) {
          const auto* const other = dynamic_cast<const speech_task*>(&t);
          return other != nullptr && other->kind_ == kind_;
        },
        most);
    all.push_back(this);
  });
  if (!room) return;
  for (const auto& t : others) {
    auto* const other = static_cast<speech_task*>(t.get());
    other->waited_ = seconds_since(other->since_);
    bool fits = true;
    if (!other->carefully([&] { fits = other->begin(scratch, company::wanted); })) continue;
    (fits ? all : longer).push_back(other);
  }
  for (speech_task* const t : all)
    if (t->waits()) waiting.push_back(&*t->hearing_->recording);
  if (waiting.size() > 1) {
    for (speech_task* const t : all) t->together_ = t->waits();
    const clock::time_point before = clock::now();
    try {
      transcript::recognise_waiting(waiting, true, scratch);
    } catch (const std::exception&) {  // each by itself in finish()
    }
    const double share = seconds_since(before) / static_cast<double>(waiting.size());
    for (speech_task* const t : all)
      if (t->together_) t->worked_ += share;
  }
  for (speech_task* const t : all) t->finish();
  for (speech_task* const t : longer)
    if (t->carefully([&] { t->begin(scratch, company::perhaps); })) t->finish();
}

void speech_task::run() noexcept {
  waited_ = seconds_since(since_);
  std::optional<context> scratch;
  const bool begun = carefully([&] {
    scratch.emplace();
    begin(*scratch, company::perhaps);
  });
  if (begun && waits())
    run_with_others(*scratch);
  else if (begun)
    finish();
}

// False: it failed, and was answered.
template <class F>
bool speech_task::carefully(F&& f) noexcept {
  const clock::time_point before = clock::now();
  api_answer a;
  try {
    try {
      f();
      worked_ += seconds_since(before);
      return true;
    } catch (const gone&) {
      a.status = 499;  // nobody reads it
    } catch (const std::exception& e) {
      a = answer_of(e);
    }
  } catch (const std::exception&) {  // no memory for a reason
    a.status = 503;
    a.body.clear();
  }
  worked_ += seconds_since(before);
  give(std::move(a));
  return false;
}

void speech_task::give(api_answer a) noexcept {
  hearing_.reset();
  a.waited_seconds = waited_;
  a.worked_seconds = worked_;
  a.together = together_;
  const std::shared_ptr<asker> who = std::move(who_);
  who->answered(std::move(a));
}

}  // namespace steno::app
