// SPDX-License-Identifier: Apache-2.0
#include "served_models.hpp"

#include <steno/error.hpp>

#include <chrono>
#include <optional>
#include <utility>

#include "language_model_file.hpp"
#include "live_models.hpp"
#include "speech_form.hpp"
#include "verbs.hpp"

namespace steno::app {
namespace {

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
  return r;
}

// What stands beside all models; null where there is none.
struct shared_models {
  std::shared_ptr<const speaker_model> speakers;
  std::shared_ptr<const models::language_model> words;
  std::shared_ptr<const inverse_text_normaliser> figures;
};

// A model with what it refers to.
struct opened_model {
  opened_model(const options& o, const session_options& asked, const std::string& path, shared_models all,
               const note_function& note)
      : model(load_transcriber(path, {}, note)), beside(o, asked, model, {}, note), shared(std::move(all)) {}
  transcriber model;
  live_models beside;
  const shared_models shared;
  std::optional<served_model> served;
};

model_shelf::place placed(const std::shared_ptr<opened_model>& m, const session_options& live,
                          const transcribe_options& recording) {
  const speaker_model* tells =
      m->shared.speakers && m->model.sample_rate() == diarizer::sample_rate ? &*m->shared.speakers : nullptr;
  m->served.emplace(m->model, live, m->beside.beside(), recording, m->beside.named(), tells, m->shared.figures.get());
  return {m, &*m->served};
}

model_shelf::place first_model(const options& o, const session_options& asked, const shared_models& all,
                               const note_function& note) {
  const auto m = std::make_shared<opened_model>(o, asked, o.model, all, note);
  check_live(asked, m->model, m->beside.beside());
  const transcribe_options recording = recording_options(asked, m->model, note);
  if (!m->model.supports_language(recording.language))
    wrong_usage("serve: --language " + asked.language + ": this model does not know it");
  return placed(m, asked, recording);
}

// Options that are given for all of them hold where the model has a use for them.
model_shelf::place later_model(const options& o, const named_model& which, const session_options& asked,
                               const shared_models& all, const note_function& note) {
  const auto say = [&](const std::string& text) { note("model " + which.id + ": " + text); };
  const auto began = std::chrono::steady_clock::now();
  const auto m = std::make_shared<opened_model>(o, asked, which.path, all, say);
  const pipelines::session_models beside = m->beside.beside();
  const auto honoured = [&](std::string_view name) { return any_session::honours(m->model, name, beside); };
  for (const std::string_view name : asked.names())
    if (!honoured(name)) say(live_option_name(name) + " has no use there");
  session_options live = asked.only(honoured);
  const auto knows = [&](const std::string& language) {
    return m->model.supports_language(language_of_model(m->model, language));
  };
  if (!knows(live.language)) {
    say("--language " + live.language + " is not known there");
    live.language = "auto";
  }
  session_options of_recordings = asked;
  if (!knows(of_recordings.language)) of_recordings.language = "auto";
  const model_shelf::place p = placed(m, live, recording_options(of_recordings, m->model, say));
  const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  say("loaded in " + std::to_string(took).substr(0, 5) + " s, " + std::string(m->model.model_name()));
  return p;
}

}  // namespace

std::unique_ptr<model_shelf> open_served_models(const options& o, const note_function& note) {
  shared_models all{.speakers = nullptr, .words = open_language_model(o), .figures = nullptr};
  if (!o.itn_rules.empty()) all.figures = std::make_shared<const inverse_text_normaliser>(o.itn_rules);
  session_options asked = session_options_of(o, all.words.get());
  asked.limit_seconds = 200;  // seconds: bounds what a connection keeps, and is as far as WeNet's positions go
  if (!o.speakers.model.empty()) {
    auto told = std::make_shared<speaker_model>(open_speakers(o.speakers, diarizer::sample_rate, {}, note));
    // The API's names, where none were given.
    for (char c = 'A'; told->rule.names.size() < static_cast<std::size_t>(told->model.speakers()) && c <= 'Z'; ++c)
      told->rule.names.push_back(std::string(1, c));
    all.speakers = std::move(told);
  }
  auto shelf = std::make_unique<model_shelf>();
  for (const named_model& one : o.live.models)
    if (one.path == o.model && shelf->size() == 0)
      shelf->add(one.id, first_model(o, asked, all, note));
    else
      shelf->add(one.id, [o, one, asked, all, note] { return later_model(o, one, asked, all, note); });
  return shelf;
}

}  // namespace steno::app
