// SPDX-License-Identifier: Apache-2.0
#include "model_shelf.hpp"

#include <steno/error.hpp>

#include <algorithm>
#include <utility>

#include "live.hpp"
#include "whole_turn.hpp"

namespace steno::app {

served_model::served_model(const transcriber& m, session_options of_sessions, pipelines::session_models next_to,
                           transcribe_options of_recordings, const any_vad* finds_turns, const speaker_model* tells,
                           const inverse_text_normaliser* writes)
    : model(m),
      live(std::move(of_sessions)),
      beside(next_to),
      recording(std::move(of_recordings)),
      speakers(tells),
      figures(writes),
      turns_(finds_turns),
      usual_turns_(open_vad("energy", {}, m.sample_rate())),
      whole_turns_(whole_turn_detector(m.sample_rate())) {
  (void)live_stream(model, live, beside);  // a request that the model refuses is refused now
}

pipelines::session_models served_model::beside_turns() const {
  const bool streams = model.streams() && beside.vad == nullptr && beside.final_model == nullptr;
  return {.vad = streams ? nullptr : &whole_turns_, .final_model = beside.final_model};
}

std::size_t model_shelf::find(std::string_view id) const {
  const auto at = std::find_if(all_.begin(), all_.end(), [&](const entry& e) { return e.id == id; });
  return static_cast<std::size_t>(at - all_.begin());
}

std::vector<std::string> model_shelf::ids() const {
  std::vector<std::string> names;
  for (const entry& e : all_) names.push_back(e.id);
  return names;
}

std::size_t model_shelf::loaded() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return static_cast<std::size_t>(
      std::count_if(all_.begin(), all_.end(), [](const entry& e) { return e.model != nullptr; }));
}

model_shelf::place model_shelf::ready(std::string_view id) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const std::size_t at = find(id);
  return at == all_.size() ? nullptr : all_[at].model;
}

std::string model_shelf::failure(std::string_view id) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const std::size_t at = find(id);
  return at == all_.size() ? std::string() : all_[at].failure;
}

model_shelf::place model_shelf::get(std::string_view id) {
  if (place m = ready(id)) return m;
  const std::lock_guard<std::mutex> one_at_a_time(loading_);
  if (place m = ready(id)) return m;
  const std::size_t at = find(id);
  if (at == all_.size()) fail({.what = unknown(id)});
  entry& e = all_[at];
  try {
    place m = e.how();
    const std::lock_guard<std::mutex> lock(mutex_);
    e.failure.clear();
    return e.model = std::move(m);
  } catch (const std::exception& why) {
    const std::lock_guard<std::mutex> lock(mutex_);
    e.failure = why.what();
    throw;
  }
}

std::string model_shelf::unknown(std::string_view id) const {
  std::string known;
  for (const entry& e : all_) known += (known.empty() ? "" : ", ") + e.id;
  return "the model \"" + core::printable(id.substr(0, 64)) + "\" is not served here: there is " + known;
}

}  // namespace steno::app
