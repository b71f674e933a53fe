// The model side of the program: the only file that knows steno::transcriber.
#pragma once
#include <steno/pipelines/result.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace steno::app {

/// What `steno info` shows.
struct model_facts {
  std::string name, architecture;
  int sample_rate = 0;
  std::uint64_t tensors = 0, parameters = 0, vocabulary = 0;
  std::vector<std::string> languages;
  std::vector<std::pair<std::string, std::uint64_t>> bytes;  ///< by number format
  std::vector<std::pair<std::string, std::string>> settings;
};

struct request {
  std::string language = "auto";
  bool inverse_text_normalisation = false;
};

/// Called now and then with the seconds of audio done and in all.
using progress_function = std::function<void(double, double)>;

/// A loaded model. One call at a time.
class recogniser {
 public:
  virtual ~recogniser() = default;
  virtual int sample_rate() const = 0;
  virtual std::vector<std::string> languages() const = 0;
  virtual bool has_beam_search() const = 0;
  virtual model_facts facts() const = 0;
  /// `pcm`: one channel at sample_rate().
  virtual result transcribe(std::span<const float> pcm, const request& r, const progress_function& progress) = 0;
};

/// Told what the user should know about a checkpoint that was converted.
using note_function = std::function<void(const std::string&)>;

/// Loads a packaged GGUF or anything steno-convert reads; threads 0 means all. Throws steno::error.
std::unique_ptr<recogniser> open_model(const std::string& path, int threads, const note_function& note);

}  // namespace steno::app
