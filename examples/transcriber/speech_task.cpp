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

double seconds_since(std::chrono::steady_clock::time_point t) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - t).count();
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

// f(samples) for all of the recording, a portion at a time.
template <class F>
void speech_task::listen(int rate, F&& f) {
  const auto too_long = [&] {
    throw api_error(413, "file: the recording is longer than " + std::to_string(std::lround(most_seconds_)) + " s",
                    "audio_too_long", "file");
  };
  std::optional<audio_reader> reader;
  of_recording([&] { reader.emplace(what_.sound->descriptor(), "file", rate, reading_); });
  if (reader->seconds() > most_seconds_) too_long();
  std::vector<float> samples(transcript_portion);
  double count = 0;
  while (const std::size_t n = of_recording([&] { return reader->read(samples); })) {
    if (cancelled()) throw gone();
    count += static_cast<double>(n);
    if (count > most_seconds_ * rate) too_long();
    f(std::span<const float>(samples).first(n));
  }
}

model_shelf::place speech_task::loaded() {
  try {
    return models_.get(model_);
  } catch (const error& e) {
    throw api_error(500, std::string("the model cannot be loaded: ") + e.what(), "model_not_loaded", "model");
  }
}

void speech_task::recognise(api_answer& a) {
  if (cancelled()) throw gone();
  speech_request asked = what_.asked;
  const model_shelf::place of = loaded();
  const transcriber& model = of->model;
  const int rate = model.sample_rate();
  fit_to_model(asked, *what_.form, *of);
  const style usual = model.model_name() == "whisper" ? style::openai : style::steno;
  speech_answer answer(asked, usual);
  context scratch;
  std::optional<pipelines::speaker_labels> who;
  if (asked.format == answer_format::diarized_json)
    who.emplace(of->speakers->model, of->speakers->diarization, of->speakers->rule);
  transcript recording(any_recording(model, asked.options), {.figures = of->figures}, std::move(who), scratch);
  const transcript_sink sink{.segments =
                                 [&](const segment& s) {
                                   for (std::string& event : answer.add(s)) who_->heard(std::move(event));
                                 },
                             .progress = [](double) {}};
  if (model.needs_preview()) listen(rate, [&](std::span<const float> part) { recording.preview(part); });
  listen(rate, [&](std::span<const float> part) {
    recording.push(part, sink);
    if (cancelled()) throw gone();
  });
  recording.close(sink);
  const result head = recording.finish(sink);
  a.audio_seconds = head.duration;
  a.type = content_type(asked.format);
  a.body = asked.stream ? answer.text() : answer.end(head);
}

void speech_task::run() noexcept {
  api_answer a;
  const auto began = std::chrono::steady_clock::now();
  const double waited = seconds_since(since_);
  try {
    try {
      recognise(a);
    } catch (const gone&) {
      a.status = 499;  // nobody reads it
    } catch (const std::exception& e) {
      a = answer_of(e);
    }
  } catch (const std::exception&) {  // no memory for a reason
    a.status = 503;
    a.body.clear();
  }
  a.waited_seconds = waited;
  a.worked_seconds = seconds_since(began);
  const std::shared_ptr<asker> who = std::move(who_);
  who->answered(std::move(a));
}

}  // namespace steno::app
