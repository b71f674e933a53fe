// Live recognition for stream and serve: the library's sessions behind functions that are compiled once.
#pragma once
#include <steno/streaming/session.hpp>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace steno::app {

using live_sink = std::function<void(session_event)>;
using note_function = std::function<void(const std::string&)>;

/// One stream with scratch memory of its own. A call at a time; streams of one model may be used by different threads
/// at once.
class listener {
 public:
  struct body;
  explicit listener(std::unique_ptr<body> b);
  listener(listener&&) noexcept;
  ~listener();
  void push(std::span<const float> pcm, const live_sink& sink);
  void finish(const live_sink& sink);
  bool over() const;  ///< nothing more will come

 private:
  std::unique_ptr<body> body_;
};

/// A loaded model that hands out listeners; must outlive them. Const and safe for threads.
class live_model {
 public:
  /// Loads a packaged GGUF or anything steno-convert reads. A listener's work is done by `threads` threads, which its
  /// listeners share; with more than one they are one thread's. Throws steno::error.
  live_model(const std::string& path, const note_function& note, int threads = 1);
  ~live_model();
  std::string name() const;
  int sample_rate() const;
  /// Whether it is a model of WeNet's, whose runtime writes small letters.
  bool of_wenet() const;
  /// Whether listen() has a use for an option, by its name in session_options.
  bool honours(std::string_view option) const;
  /// Throws steno::error when the model does not stream, or for options that make no sense to it.
  listener listen(const session_options& o) const;

 private:
  struct body;
  std::unique_ptr<const body> body_;
};

}  // namespace steno::app
