// steno align: when each word of a known text is spoken.
// SPDX-License-Identifier: Apache-2.0
#include <steno/core/processors.hpp>
#include <steno/core/thread_pool.hpp>
#include <steno/error.hpp>
#include <steno/pipelines/forced_aligner.hpp>
#include <steno/tokenizers/unicode_classes.hpp>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "audio.hpp"
#include "model_files.hpp"
#include "output_place.hpp"
#include "signals.hpp"
#include "time_shift.hpp"
#include "utf8_path.hpp"
#include "verbs.hpp"
#include "writers.hpp"

namespace steno::app {
namespace {

std::string read_text_file(const std::string& path) {
  std::ifstream in(utf8_path(path), std::ios::binary);
  std::ostringstream all;
  all << in.rdbuf();
  if (!in || in.bad()) fail({.where = path, .what = "cannot be read"});
  return all.str();
}

// "start end word", a line for each.
std::string lines_of(const std::vector<word>& words) {
  std::string all;
  for (const word& w : words) {
    char times[64];
    std::snprintf(times, sizeof times, "%.3f\t%.3f\t", w.start, w.end);
    all.append(times).append(w.text).append("\n");
  }
  return all;
}

}  // namespace

int run_align(const options& o) {
  screen all;
  reporter report(all, false, o.quiet ? reporter::detail::errors_only : reporter::detail::all);
  const std::vector<input> inputs = {{o.audio[0], "align"}};
  output_place out(o.output, read_files(o, inputs), all);
  if (out.one_file_each()) wrong_usage("align: -o " + o.output + " is a directory; name a file");
  interrupt_watch watch;
  const std::string text = read_text_file(o.text_file);
  opened_checkpoint opened = open_model_file(o.model);
  for (const std::string& note : opened.notes) report.note(note);
  thread_pool pool(o.threads > 0 ? o.threads : core::processors());
  const forced_aligner model(std::move(opened.file), executor(pool));
  watch.listen(true);
  audio_reader reader(o.audio[0], model.sample_rate(), o.reading);
  const std::vector<float> pcm = read_all(reader);
  const double seconds = static_cast<double>(pcm.size()) / model.sample_rate();
  const double reach = model.reach_seconds();
  if (seconds > reach)
    fail({.where = o.audio[0],
          .what = "is longer than the aligner's times reach",
          .expected = "at most " + std::to_string(static_cast<int>(reach)) + " s",
          .found = std::to_string(static_cast<int>(seconds)) + " s"});
  if (pcm.empty()) {
    report.error("interrupted before there was any audio");
    return interrupt_watch::exit_code(1);
  }
  context c{executor(pool)};
  segment s;
  s.words = model.align(pcm, text, o.language, 0, c);
  s.text = std::string(tokenizers::unicode::strip(text));
  if (o.language != "auto") s.language = o.language;
  if (!s.words.empty()) {
    s.start = s.words.front().start;
    s.end = s.words.back().end;
  }
  result r;
  r.model = std::string(model.model_name());
  r.duration = seconds;
  r.language = s.language;
  r.text = s.text;
  if (reader.stopped()) r.extra.emplace_back("interrupted_at", seconds + o.reading.part.offset);
  r.segments.push_back(std::move(s));
  r = shifted(std::move(r), o.reading.part.offset);
  const std::string plain = output_format(o) == format::text ? lines_of(r.segments[0].words) : "";
  out.put(output_format(o) == format::text ? plain : writer(output_format(o)).add(o.audio[0], r));
  out.finish();
  for (const std::string& w : reader.warnings()) report.warning(o.audio[0] + ": " + w, reader.damaged());
  if (reader.stopped()) report.error("interrupted: aligned with the first " + duration_text(seconds));
  return interrupt_watch::exit_code(reader.damaged() ? 3 : 0);
}

}  // namespace steno::app
