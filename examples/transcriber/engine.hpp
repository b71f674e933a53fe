// The model side of the program: what knows steno::transcriber, together with live.hpp.
#pragma once
#include <steno/pipelines/decoding_options.hpp>
#include <steno/pipelines/result.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "formats.hpp"

namespace steno::app {

/// An option that not every model honours, and what one model makes of it (abilities.hpp).
struct ability {
  enum class honour { never, with_vad, always };
  std::string option;  ///< as on the command line
  honour honoured = honour::never;
  std::string why = "this model has no such option";  ///< it is not, or not without --vad

  bool holds(bool vad) const { return honoured == honour::always || (vad && honoured == honour::with_vad); }
};

/// What `steno info` shows.
struct model_facts {
  std::string name, architecture;
  int sample_rate = 0;  ///< 0: it hears nothing
  std::uint64_t tensors = 0, parameters = 0, vocabulary = 0;
  std::vector<std::string> languages;
  std::vector<std::pair<std::string, std::uint64_t>> bytes;  ///< by number format
  std::vector<std::pair<std::string, std::string>> settings;
  std::vector<std::string> options, live_options;  ///< that it honours (abilities.hpp)
};

struct request {
  std::string language = "auto";
  bool inverse_text_normalisation = false;
  std::string vad = "none";  ///< "none", "energy" or a detector's file
  double merge = 0;          ///< seconds up to which its segments are joined
  double longest = 0;        ///< seconds of a clip; 0: the model's own
  int at_once = 1;           ///< clips at the same time
  int beam = 0;              ///< 0: the model's own
  std::vector<std::string> hotwords = {};
  std::optional<float> hotword_score = {};  ///< nothing: what suits the model's search
  decoding_options decoding = {};
};

/// Fills the front of a span with the next samples of one channel at sample_rate(); 0 at the end.
using sample_function = std::function<std::size_t(std::span<float>)>;
/// Told every segment, in order, as soon as it is known, and how many seconds of audio are done.
struct transcript_sink {
  std::function<void(segment)> heard;
  std::function<void(double)> progress;
};

/// A recording whose samples were read. Its last clips may wait to be heard together with those of others.
class transcript {
 public:
  virtual ~transcript() = default;
  virtual double waiting_seconds() const { return 0; }  ///< of audio
  /// Tells the segments that are left. Returns the result without text and segments.
  virtual result finish(const transcript_sink& to) = 0;
};

/// A loaded model. One call at a time.
class recogniser {
 public:
  virtual ~recogniser() = default;
  virtual int sample_rate() const = 0;
  virtual std::vector<std::string> languages() const = 0;
  virtual bool knows_language(const std::string& language) const = 0;
  /// Of all options that not every model honours.
  virtual std::vector<ability> abilities() const = 0;
  /// What it makes of one of them; what is not listed is not honoured.
  ability ability_for(const std::string& option) const {
    for (ability& a : abilities())
      if (a.option == option) return std::move(a);
    return {.option = option};
  }
  /// How results of this model are usually written.
  virtual style usual_style() const { return style::steno; }
  /// From now on texts have punctuation by this model. Throws steno::error.
  virtual void punctuate_with(const std::string& path, const std::function<void(const std::string&)>& note) = 0;
  /// From now on words that have no times get them from this forced aligner. Throws steno::error.
  virtual void align_with(const std::string& path, const std::function<void(const std::string&)>& note) = 0;
  /// Whether it should look() at all of a recording before transcribe() is given the same again. Without that it keeps
  /// the recording in memory.
  virtual bool looks_first(const request&) const { return false; }
  virtual void look(const sample_function&, const request&) {}
  /// A recording of any length, in constant memory.
  virtual std::unique_ptr<transcript> read(const sample_function& audio, const request& r,
                                           const transcript_sink& to) = 0;
  /// Hears clips that wait, as many at a time as the request says; with `rest` the last ones, too. What they are is not
  /// changed by it. All of them were made with equal requests.
  virtual void hear_waiting(std::span<transcript* const>, bool /*rest*/) {}
  /// Returns the result without text and segments.
  result transcribe(const sample_function& audio, const request& r, const transcript_sink& to) {
    return read(audio, r, to)->finish(to);
  }
};

/// Told what the user should know about a checkpoint that was converted.
using note_function = std::function<void(const std::string&)>;

/// Of any model, also of those that transcribe nothing. Throws steno::error.
model_facts facts_of(const std::string& path);

/// Loads a packaged GGUF or anything steno-convert reads; threads 0 means all. Throws steno::error.
std::unique_ptr<recogniser> open_model(const std::string& path, int threads, const note_function& note);

}  // namespace steno::app
