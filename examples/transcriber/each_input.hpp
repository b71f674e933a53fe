// Going through a list of recordings: one that fails is reported, and the others go on; a place that cannot be written
// ends it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/error.hpp>

#include <chrono>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "audio.hpp"
#include "failures.hpp"
#include "inputs.hpp"
#include "output_place.hpp"
#include "progress.hpp"
#include "screen.hpp"
#include "signals.hpp"
#include "verbs.hpp"

namespace steno::app {

/// Where the text of the present input goes.
class input_output {
 public:
  /// `watch` may be null.
  input_output(output_place& out, interrupt_watch* watch) : out_(out), watch_(watch) {}

  struct cannot_write {
    error cause;
  };
  void put(const std::string& text) {
    std::unique_lock<std::timed_mutex> whole;
    if (watch_ != nullptr) whole = std::unique_lock(watch_->lock());
    try {
      out_.put(text);
    } catch (const error& e) {
      throw cannot_write{e};
    }
  }

 private:
  output_place& out_;
  interrupt_watch* watch_;
};

/// What was read of an input.
struct input_end {
  double seconds = 0;
  bool damaged = false;  ///< not all of its sound was there
  bool stopped = false;  ///< by an interruption
  std::vector<std::string> warnings = {};
};

/// Calls f(input, input_output&), which returns an input_end, for each until an interruption; `extension` is that of
/// the files in a directory. Throws steno::error only when a result cannot be written. `watch` may be null.
template <class F>
void each_input(const std::vector<input>& inputs, output_place& out, std::string_view extension, reporter& report,
                interrupt_watch* watch, tally& t, F&& f) {
  input_output to(out, watch);
  for (std::size_t i = 0; i < inputs.size() && !input_is_over(); ++i) {
    const input& in = inputs[i];
    report.begin(i + 1, inputs.size(), in.audio);
    std::string failure;
    out.begin(in, extension);
    try {
      const input_end heard = f(in, to);
      t.audio_seconds += heard.seconds;
      t.done += heard.stopped ? 0 : 1;
      t.damaged += heard.damaged ? 1 : 0;
      report.end();
      for (const std::string& w : heard.warnings) report.warning(in.audio + ": " + w, heard.damaged);
      continue;
    } catch (const input_output::cannot_write& e) {
      throw e.cause;
    } catch (const std::exception& e) {
      failure = failure_text(e, in.audio);
    }
    report.end();
    report.error(failure);
    ++t.failed;
  }
}

/// Blocks of an input until its end: f(samples). Its warnings are complete.
template <class F>
input_end each_block(audio_reader& reader, int rate, reporter& report, F&& f) {
  std::vector<float> portion(static_cast<std::size_t>(rate) / 10);  // what a microphone's driver hands over
  input_end heard;
  for (std::size_t n = 0; (n = reader.read(portion)) > 0;) {
    f(std::span<const float>(portion).first(n));
    heard.seconds += static_cast<double>(n) / rate;
    report.update(heard.seconds, reader.seconds());
  }
  heard.damaged = reader.damaged();
  heard.stopped = reader.stopped();
  heard.warnings = reader.warnings();
  return heard;
}

/// What verbs over a list of recordings share: the list, where results go, messages, an interruption (which says what
/// is `written` then), and the last lines. open(report) returns what does the work: (inputs, out, report, watch,
/// tally). Returns the program's exit code.
template <class Open>
int over_inputs(const options& o, const char* written, Open&& open) {
  screen all;
  reporter report(all, o.progress && !o.quiet, o.quiet ? reporter::detail::errors_only : reporter::detail::all);
  if (o.progress_json) report.show_json();
  const std::vector<input> inputs = listed_inputs(o, report);
  if (inputs.empty()) {
    report.note("this shard has no inputs");
    return 0;
  }
  output_place out(o.output, read_files(o, inputs), all);
  tally t;
  interrupt_watch watch([&] {  // at once
    report.end();
    out.finish();
  });
  const auto hear = open(report);
  const auto began = std::chrono::steady_clock::now();
  watch.listen(true);
  hear(inputs, out, report, &watch, t);
  {
    const std::unique_lock<std::timed_mutex> whole(watch.lock());
    out.finish();
  }
  report.summary(t.audio_seconds, std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
  if (input_is_over())
    report.error("interrupted: " + std::to_string(t.done) + " of " + std::to_string(inputs.size()) +
                 " files are done, and " + written + " written");
  else if (inputs.size() > 1 && t.failed != 0)
    report.error(std::to_string(t.failed) + " of " + std::to_string(inputs.size()) + " files failed");
  return interrupt_watch::exit_code(t.exit_code());
}

}  // namespace steno::app
