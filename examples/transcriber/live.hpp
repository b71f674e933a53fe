// Live recognition: any streaming model, one listener per stream, results as they come.
#pragma once
#include <steno/core/result.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace steno::app {

/// How a stream shall listen. Sizes are in the model's own frames.
struct live_request {
  std::optional<int> chunk_size;   ///< nothing: the model's own
  std::optional<int> left_chunks;  ///< chunks looked back at; negative: all of the utterance
  bool rescore = true;             ///< final results by the model's second pass
  bool endpoints = true;
  bool continuous = true;     ///< go on after an endpoint
  bool forget_turns = false;  ///< the model's memory of what was said ends with a turn
  int longest = 0;            ///< frames after which an utterance ends in any case; 0: never
  int beam = 10;
  std::vector<std::string> phrases;   ///< to favour
  std::optional<float> phrase_score;  ///< nothing: what suits the model's search
};

/// A result; partial ones have no words.
struct live_event {
  bool final = false, endpoint = false;
  std::string_view mark = "endpoint";  ///< what kind of an endpoint
  double start = 0, heard = 0;         ///< seconds of audio: where the utterance began, how far was listened
  std::string text;
  std::string stable;  ///< the beginning of the text that will not change
  std::vector<int> token_ids;
  std::vector<word> words;
  double score = 0;
  std::string_view stop = {};  ///< why a model that writes token by token stopped; empty: not such a model

  struct piece {
    std::string text;
    long start_ms = 0, end_ms = 0;
  };
  struct alternative {
    std::string sentence;  ///< as WeNet's runtime writes it
    std::vector<piece> pieces;
  };
  std::vector<alternative> nbest;  ///< the best alone in partial results
};
using live_sink = std::function<void(const live_event&)>;

/// One stream. A call at a time; streams of one model may be used by different threads at once.
class listener {
 public:
  virtual ~listener() = default;
  virtual void push(std::span<const float> pcm, const live_sink& sink) = 0;
  virtual void finish(const live_sink& sink) = 0;
  virtual bool over() const = 0;  ///< nothing more will come
};

/// A loaded model that hands out listeners; must outlive them. Const and safe for threads.
class live_model {
 public:
  virtual ~live_model() = default;
  virtual std::string name() const = 0;
  virtual int sample_rate() const = 0;
  /// Throws steno::error for phrases that are not in the model's units.
  virtual std::unique_ptr<listener> listen(const live_request& r) const = 0;
};

using note_function = std::function<void(const std::string&)>;

/// Loads a packaged GGUF or anything steno-convert reads. Throws steno::error when the model cannot stream.
std::unique_ptr<live_model> open_live_model(const std::string& path, const note_function& note);

}  // namespace steno::app
