// What transcribe and bench work with: a model with its threads, and a detector, punctuation and an aligner beside it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/thread_pool.hpp>
#include <steno/pipelines/forced_aligner.hpp>
#include <steno/pipelines/punctuator.hpp>
#include <steno/pipelines/speaker_labels.hpp>
#include <steno/pipelines/transcriber.hpp>
#include <steno/pipelines/word_aligner.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "abilities.hpp"
#include "formats.hpp"
#include "itn.hpp"
#include "loading.hpp"
#include "options.hpp"
#include "resampler.hpp"
#include "speaker_model.hpp"
#include "stage_clock.hpp"

namespace steno::app {

/// What `steno info` shows.
struct model_facts : pipelines::model_summary {
  std::vector<std::string> options, live_options;  ///< that it supports (abilities.hpp)
  std::optional<double> stream_delay = {};         ///< seconds after which words of its own stream come, if it has one
};

struct request {
  transcribe_options options = {};  ///< but for the detector, which is opened once for all files
  std::string vad = "none";         ///< "none", "energy" or a detector's file
};

/// Samples that are handed over at once.
inline constexpr std::size_t transcript_portion = 16000;

/// Takes every segment, in order, as soon as it is known, and how many seconds of audio are done.
struct transcript_sink {
  std::function<void(segment)> segments;
  std::function<void(double)> progress;
};

/// What gives words times, texts marks and figures, behind the recognition; null where nothing does.
struct transcript_helpers {
  const forced_aligner* aligner = nullptr;
  const punctuator* marks = nullptr;
  const inverse_text_normaliser* figures = nullptr;
  stage_clock* clock = nullptr;  ///< is told what is neither a stage of the model nor search
};

/// A recording that is read: its samples in portions, then close() and finish(). Its last clips may wait to be
/// recognised together with those of others. What made it must outlive it.
class transcript {
 public:
  transcript(any_recording r, const transcript_helpers& beside, std::optional<pipelines::speaker_labels> who,
             context& c);
  /// All of the recording once, before it is pushed, where engine::needs_preview().
  void preview(std::span<const float> part) { recording_.preview(part, context_); }
  void push(std::span<const float> part, const transcript_sink& to);
  /// No samples follow.
  void close(const transcript_sink& to);
  double needed_from() const { return recording_.needed_from(); }  ///< seconds before which no segment is to come
  double waiting_seconds() const { return recording_.waiting_seconds(); }  ///< of audio
  /// Recognises clips that wait in closed recordings of one model with equal options, as many at a time as these say;
  /// with `rest` the last ones, too. What they are is not changed by it.
  static void recognise_waiting(std::span<transcript* const> closed, bool rest, context& c);
  /// Emits the segments that are left. Returns the result without text and segments.
  result finish(const transcript_sink& to);

 private:
  struct turn {
    explicit turn(stage_clock* c);
    ~turn();
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;
    stage_clock* clock;
  };
  void emit(segment s, const transcript_sink& to);
  void attribute(const transcript_sink& to);

  any_recording recording_;
  std::optional<word_aligner> times_;
  std::optional<punctuator::stream> punctuation_;
  const inverse_text_normaliser* figures_;
  std::optional<pipelines::speaker_labels> who_;
  context& context_;
  stage_clock* clock_;
};

/// A loaded model. One call at a time.
class engine {
 public:
  /// Loads a packaged GGUF or anything steno-convert reads; threads 0 means all. Throws steno::error.
  engine(const std::string& path, int threads, const note_function& note);
  /// The same with a model that is there already.
  engine(transcriber model, int threads);

  const transcriber& model() const { return model_; }
  /// What the model makes of an option that not every model supports.
  ability ability_for(const std::string& option) const;
  /// A language as this model calls it: people say "German", "EN" or "de". What it does not know stays as it is.
  std::string language_of(const std::string& said) const;
  /// How results of this model are written unless another style is wanted.
  style default_style() const { return model_.model_name() == "whisper" ? style::openai : style::steno; }
  /// From now on texts have punctuation by this model. Throws steno::error.
  void punctuate_with(const std::string& path, const note_function& note);
  /// From now on numbers and the like are written as these rules write them. Throws steno::error.
  void write_figures_by(const std::string& rules);
  /// From now on words that have no times get them from this forced aligner. Throws steno::error.
  void align_with(const std::string& path, const note_function& note);
  /// From now on segments and words have speakers, told by this model. Throws steno::error.
  void tell_speakers(const speaker_options& asked, const note_function& note);

  /// From now on the time of stages is taken. `clock` must outlive the engine.
  void profile(stage_clock& clock) {
    clock_ = &clock;
    context_.trace_to(clock.tracer());
  }

  /// Whether a transcript should preview() all of a recording before it gets the same again. Without that it keeps the
  /// recording in memory.
  bool needs_preview(const request& r) const { return r.vad == "none" && model_.needs_preview(); }
  /// A recording of any length, in constant memory.
  std::unique_ptr<transcript> begin(const request& r);
  /// transcript::recognise_waiting() with this engine's threads; all were made with equal requests.
  void recognise_waiting(std::span<transcript* const> waiting, bool rest) {
    transcript::recognise_waiting(waiting, rest, context_);
  }
  /// Returns the result without text and segments.
  result transcribe(const sample_function& audio, const request& r, const transcript_sink& to);

 private:
  transcribe_options options_of(const request& r);
  const any_vad* detector(const std::string& name, const vad_settings& settings);

  thread_pool pool_;
  context context_;
  transcriber model_;
  std::string detector_name_;
  std::optional<any_vad> detector_;  // of the last request
  std::optional<punctuator> punctuation_;
  std::optional<inverse_text_normaliser> figures_;
  std::optional<forced_aligner> aligner_;
  std::optional<speaker_model> speakers_;
  bool speakers_beside_ = false;
  stage_clock* clock_ = nullptr;
};

/// Of any model, also of those that transcribe nothing. Throws steno::error.
model_facts facts_of(const std::string& path);

}  // namespace steno::app
