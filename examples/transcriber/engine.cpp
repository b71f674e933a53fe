// SPDX-License-Identifier: Apache-2.0
#include "engine.hpp"

#include <steno/core/processors.hpp>
#include <steno/error.hpp>

#include <algorithm>
#include <utility>

#include "detector_settings.hpp"
#include "speech_form.hpp"

namespace steno::app {

namespace {
int thread_count(int wanted) { return wanted > 0 ? wanted : core::processors(); }

void require_rate(const std::string& where, const char* what, int expected, int found) {
  if (expected != found)
    fail({.where = where, .what = what, .expected = std::to_string(expected), .found = std::to_string(found)});
}

}  // namespace

transcript::transcript(any_recording r, const transcript_helpers& beside, std::optional<pipelines::speaker_labels> who,
                       context& c)
    : recording_(std::move(r)), figures_(beside.figures), who_(std::move(who)), context_(c), clock_(beside.clock) {
  if (beside.aligner != nullptr) times_.emplace(*beside.aligner);
  if (beside.marks != nullptr) punctuation_.emplace(*beside.marks);
}

// What is spent between two calls is none of the model's.
transcript::turn::turn(stage_clock* c) : clock(c) {
  if (clock != nullptr) clock->mark("reading and writing");
}
transcript::turn::~turn() {
  if (clock != nullptr) clock->mark("search and text");
}

void transcript::push(std::span<const float> part, const transcript_sink& to) {
  const turn mine(clock_);
  if (times_) times_->push(part);
  if (who_) who_->push(part, context_);
  recording_.push(part, context_, [&](segment s) { emit(std::move(s), to); });
  if (times_) times_->forget(recording_.needed_from());
  attribute(to);
  to.progress(recording_.done());
}

void transcript::close(const transcript_sink& to) {
  const turn mine(clock_);
  recording_.close(context_, [&](segment s) { emit(std::move(s), to); });
  if (who_) who_->close(context_);
  attribute(to);
}

// Hands over the segments whose speakers are known.
void transcript::attribute(const transcript_sink& to) {
  if (!who_) return;
  who_->forget(recording_.needed_from());
  who_->take([&](segment s) { to.segments(std::move(s)); });
}

result transcript::finish(const transcript_sink& to) {
  const turn mine(clock_);
  result head = recording_.finish(context_, [&](segment s) { emit(std::move(s), to); });
  if (who_) who_->take([&](segment s) { to.segments(std::move(s)); });
  return head;
}

void transcript::recognise_waiting(std::span<transcript* const> closed, bool rest, context& c) {
  std::vector<any_recording*> all;
  for (transcript* const t : closed) all.push_back(&t->recording_);
  any_recording::recognise_waiting(all, rest, c);
}

void transcript::emit(segment s, const transcript_sink& to) {
  if (times_) times_->align(s, context_);
  if (punctuation_) punctuation_->punctuate(s, context_);
  if (figures_ != nullptr) figures_->rewrite(s);
  if (who_)
    who_->add(std::move(s));
  else
    to.segments(std::move(s));
  to.progress(recording_.done());
}

engine::engine(const std::string& path, int threads, const note_function& note)
    : pool_(thread_count(threads)), context_(executor(pool_)), model_(load_transcriber(path, executor(pool_), note)) {}

engine::engine(transcriber model, int threads)
    : pool_(thread_count(threads)), context_(executor(pool_)), model_(std::move(model)) {}

ability engine::ability_for(const std::string& option) const {
  for (ability& a : abilities_of(model_))
    if (a.option == option) return std::move(a);
  return {.option = option};
}

void engine::punctuate_with(const std::string& path, const note_function& note) {
  punctuation_.emplace(load_as<punctuator>(path, executor(pool_), note));
}

void engine::write_figures_by(const std::string& rules) { figures_.emplace(rules); }

void engine::align_with(const std::string& path, const note_function& note) {
  aligner_.emplace(load_as<forced_aligner>(path, executor(pool_), note));
  require_rate(path, "sample rate of the aligner", model_.sample_rate(), aligner_->sample_rate());
}

void engine::tell_speakers(const speaker_options& asked, const note_function& note) {
  speakers_.emplace(open_speakers(asked, model_.sample_rate(), executor(pool_), note));
  if (!speakers_->model.streams())
    note(asked.model + ": this model of speakers hears recordings as a whole; memory grows with their length");
  speakers_beside_ = asked.beside;
}

std::string engine::language_of(const std::string& said) const { return language_of_model(model_, said); }

std::unique_ptr<transcript> engine::begin(const request& r) {
  std::optional<pipelines::speaker_labels> who;
  if (speakers_)
    who.emplace(speakers_->model, speakers_->diarization, speakers_->rule,
                speakers_beside_ ? std::optional(executor()) : std::nullopt);
  const transcript_helpers beside{.aligner = aligner_ ? &*aligner_ : nullptr,
                                  .marks = punctuation_ ? &*punctuation_ : nullptr,
                                  .figures = figures_ ? &*figures_ : nullptr,
                                  .clock = clock_};
  return std::make_unique<transcript>(any_recording(model_, options_of(r)), beside, std::move(who), context_);
}

result engine::transcribe(const sample_function& audio, const request& r, const transcript_sink& to) {
  const std::unique_ptr<transcript> one = begin(r);
  std::vector<float> samples(transcript_portion);
  while (const std::size_t n = audio(samples)) one->push({samples.data(), n}, to);
  one->close(to);
  return one->finish(to);
}

transcribe_options engine::options_of(const request& r) {
  transcribe_options o = r.options;
  o.vad = detector(r.vad, o.vad_settings);
  if (aligner_) o.limit_seconds = aligner_->max_seconds();
  return o;
}

const any_vad* engine::detector(const std::string& name, const vad_settings& settings) {
  if (name == "none") return nullptr;
  if (!detector_ || name != detector_name_) {
    detector_.emplace(load_detector(
        name, executor(pool_), [](const std::string&) {}, model_.sample_rate()));
    detector_name_ = name;
  }
  require_rate(name, "sample rate of the detector", model_.sample_rate(), detector_->sample_rate());
  check_detector_settings(*detector_, settings, "--vad-");
  return &*detector_;
}

model_facts facts_of(const std::string& path) {
  opened_checkpoint opened = open_model_file(path);
  model_facts f{pipelines::summarise(opened.file), {}, {}};
  if (!pipelines::transcribes(f.architecture)) return f;
  const transcriber t(std::move(opened.file));
  model_facts all{t.summary(), supported_options(t), supported_live_options(t)};
  if (t.streams()) all.stream_delay = t.stream_delay();
  return all;
}

}  // namespace steno::app
