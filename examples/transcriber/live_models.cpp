// SPDX-License-Identifier: Apache-2.0
#include "live_models.hpp"

#include <steno/error.hpp>

#include "detector_settings.hpp"

namespace steno::app {

namespace {

// People wait for words that come later.
bool comes_late(const transcriber& model) { return model.stream_delay() > 1.5; }

bool recognises_segments(const options& o, const session_options& asked, const transcriber& model) {
  if (!model.streams() || !o.live.final_model.empty()) return true;
  if (o.live.by_segments) return *o.live.by_segments;
  if (!comes_late(model)) return false;
  for (const std::string_view name : asked.names())
    if (model.supports_live(name) && !model.supports_live(name, true)) return false;
  return true;
}

}  // namespace

bool takes_live(const transcriber& model, std::string_view option) {
  return model.supports_live(option) || (comes_late(model) && model.supports_live(option, true));
}

live_models::live_models(const options& o, const session_options& asked, const transcriber& model, const executor& run,
                         const note_function& note)
    : settings_(o.detector), named_(o.vad != "none"), by_segments_(recognises_segments(o, asked, model)) {
  if (o.live.by_segments == false && !o.live.final_model.empty())
    wrong_usage(
        "--own-stream: with --final-model the partial results are the stream's, the final ones those of segments");
  if (o.live.by_segments == false && by_segments_) {
    const std::string why = "--own-stream: " + std::string(model.model_name()) + " does not stream by itself";
    if (o.verb != "serve") wrong_usage(why);
    note(why);  // it is about all of the server's models
  }
  if (named_ && !by_segments_ && o.verb != "serve" && output_format(o) != format::jsonl)
    wrong_usage(o.verb + ": " + std::string(model.model_name()) +
                " streams by itself: --vad finds what is recognised with --by-segments, and tells of speech in "
                "stream --format jsonl alone");
  if (!o.live.final_model.empty() && !model.streams())
    wrong_usage("--final-model: the partial results are those of a model that streams by itself, and " +
                std::string(model.model_name()) + " does not");
  if (named_ || by_segments_)
    detector_.emplace(load_detector(named_ ? o.vad : "energy", run, note, model.sample_rate()));
  if (detector_ && detector_->sample_rate() != model.sample_rate())
    fail({.where = o.vad,
          .what = "this detector has another sample rate",
          .expected = std::to_string(model.sample_rate()),
          .found = std::to_string(detector_->sample_rate())});
  if (detector_)
    check_detector_settings(*detector_, settings_, "--vad-");
  else if (const std::string set = first_setting(settings_, "--vad-"); !set.empty())
    wrong_usage(set + " is about what finds segments of speech, and " + std::string(model.model_name()) +
                " streams by itself: give --by-segments, too");
  if (!o.live.final_model.empty()) final_.emplace(load_transcriber(o.live.final_model, run, note));
}

pipelines::session_models live_models::beside() const {
  pipelines::session_models m;
  if (by_segments_) m.vad = &*detector_;
  if (by_segments_) m.vad_settings = settings_;
  if (final_) m.final_model = &*final_;
  return m;
}

}  // namespace steno::app
