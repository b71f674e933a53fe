#include "live_models.hpp"

#include <steno/error.hpp>

#include "detector_settings.hpp"

namespace steno::app {

live_models::live_models(const options& o, const transcriber& model, const executor& run, const note_function& note)
    : settings_(o.detector),
      named_(o.vad != "none"),
      by_segments_(o.live.by_segments || !o.live.final_model.empty() || !model.streams()) {
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
