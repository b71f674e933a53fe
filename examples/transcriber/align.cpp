// steno align: when each word of a known text is spoken.
#include <steno/error.hpp>
#include <steno/models/qwen3_aligner.hpp>

#include <cstdio>
#include <fstream>
#include <sstream>

#include "audio.hpp"
#include "convert.hpp"
#include "output_place.hpp"
#include "verbs.hpp"
#include "writers.hpp"

namespace steno::app {
namespace {

std::string read_text_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
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
  reporter report(stderr, false, o.quiet ? reporter::detail::errors_only : reporter::detail::all);
  const std::string text = read_text_file(o.text_file);
  opened_checkpoint opened = open_checkpoint(o.model);
  for (const std::string& note : opened.notes) report.note(note);
  const auto model = load<qwen3_forced_aligner_any>(std::move(opened.file), {}, std::move(opened.image));
  audio_reader reader(o.audio[0], model.sample_rate, o.pcm);
  const std::vector<float> pcm = read_all(reader);
  for (const std::string& w : reader.warnings()) report.note("warning: " + o.audio[0] + ": " + w);
  const double seconds = static_cast<double>(pcm.size()) / model.sample_rate;
  const double reach = static_cast<double>(model.text.outputs()) * model.segment_time / 1000;
  if (seconds > reach)
    fail({.where = o.audio[0],
          .what = "is longer than the aligner's times reach",
          .expected = "at most " + std::to_string(static_cast<int>(reach)) + " s",
          .found = std::to_string(static_cast<int>(seconds)) + " s"});
  context c;
  segment s;
  s.words = model.words_of(model.align(pcm, text, c, o.language));
  s.text = std::string(unicode::strip(text));
  if (o.language != "auto") s.language = o.language;
  if (!s.words.empty()) {
    s.start = s.words.front().start;
    s.end = s.words.back().end;
  }
  result r;
  r.model = std::string(qwen3_forced_aligner_any::architecture);
  r.duration = seconds;
  r.language = s.language;
  r.text = s.text;
  const std::string plain = o.output_format == format::text ? lines_of(s.words) : "";
  r.segments.push_back(std::move(s));
  output_place out(o.output, {});
  out.put(o.output_format == format::text ? plain : writer(o.output_format).add(o.audio[0], r));
  return 0;
}

}  // namespace steno::app
