// Going through a list of recordings: one that fails is reported, and the others go on; a place that cannot be written
// ends it.
#pragma once
#include <steno/error.hpp>

#include <unistd.h>

#include <chrono>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "audio.hpp"
#include "inputs.hpp"
#include "output_place.hpp"
#include "progress.hpp"
#include "signals.hpp"
#include "verbs.hpp"

namespace steno::app {

/// Where the text of the present input goes.
class input_output {
 public:
  /// `watch` may be null.
  input_output(output_place& out, reporter& report, interrupt_watch* watch)
      : out_(out), report_(report), watch_(watch) {}

  struct cannot_write {
    error cause;
  };
  void put(const std::string& text) {
    std::unique_lock<std::timed_mutex> whole;
    if (watch_ != nullptr) whole = std::unique_lock(watch_->lock());
    report_.end();  // the bar gives way to the line; the next update draws it again
    try {
      out_.put(text);
    } catch (const error& e) {
      throw cannot_write{e};
    }
  }

 private:
  output_place& out_;
  reporter& report_;
  interrupt_watch* watch_;
};

/// Calls f(input, input_output&), which returns the seconds of audio in it, for each; `extension` is that of the files
/// in a directory. Throws steno::error only when a result cannot be written. `watch` may be null.
template <class F>
void each_input(const std::vector<input>& inputs, output_place& out, std::string_view extension, reporter& report,
                interrupt_watch* watch, tally& t, F&& f) {
  input_output to(out, report, watch);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const input& in = inputs[i];
    report.begin(i + 1, inputs.size(), in.audio);
    out.begin(in, extension);
    try {
      t.audio_seconds += f(in, to);
      ++t.done;
    } catch (const input_output::cannot_write& e) {
      throw e.cause;
    } catch (const error& e) {
      report.error(e.parts().where.empty() ? in.audio + ": " + e.what() : e.what());
      ++t.failed;
    } catch (const std::exception& e) {  // out of memory
      report.error(in.audio + ": " + e.what());
      ++t.failed;
    }
    report.end();
  }
}

/// Blocks of an input until its end: f(samples). Returns the seconds that were read.
template <class F>
double each_block(audio_reader& reader, int rate, reporter& report, F&& f) {
  std::vector<float> portion(static_cast<std::size_t>(rate) / 10);  // what a microphone's driver hands over
  double heard = 0;
  for (std::size_t n = 0; (n = reader.read(portion)) > 0;) {
    f(std::span<const float>(portion).first(n));
    heard += static_cast<double>(n) / rate;
    report.update(heard, reader.seconds());
  }
  return heard;
}

/// What verbs over a list of recordings share: the list, where results go, messages, an interruption (which says what
/// is `written` then), and the last lines. open(report) returns what does the work: (inputs, out, report, watch,
/// tally). Returns the program's exit code.
template <class Open>
int over_inputs(const options& o, const char* written, Open&& open) {
  reporter report(stderr, o.progress && !o.quiet && ::isatty(STDERR_FILENO) != 0,
                  o.quiet ? reporter::detail::errors_only : reporter::detail::all);
  const std::vector<input> inputs = gather_inputs(o);
  if (inputs.empty()) {
    report.note("this shard has no inputs");
    return 0;
  }
  output_place out(o.output, inputs);
  tally t;
  interrupt_watch watch([&] {
    report.end();
    report.error("interrupted: " + std::to_string(t.done) + " of " + std::to_string(inputs.size()) +
                 " files are done, and " + written + " written");
  });
  const auto hear = open(report);
  const auto began = std::chrono::steady_clock::now();
  hear(inputs, out, report, &watch, t);
  report.summary(t.audio_seconds, std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
  if (inputs.size() > 1 && t.failed != 0)
    report.error(std::to_string(t.failed) + " of " + std::to_string(inputs.size()) + " files failed");
  return t.failed == 0 ? 0 : 1;
}

}  // namespace steno::app
