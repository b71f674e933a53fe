// steno diarize: who speaks when. A model for streams reads a recording of any length in pieces; what it found is
// written as soon as it is settled, but for JSON, which is one object.
// SPDX-License-Identifier: Apache-2.0
#include <steno/core/processors.hpp>
#include <steno/core/thread_pool.hpp>
#include <steno/pipelines/diarizer.hpp>
#include <steno/segmentation/speaker_turns.hpp>

#include <cmath>
#include <memory>
#include <new>
#include <utility>

#include "each_input.hpp"
#include "json_result.hpp"
#include "model_files.hpp"
#include "speaker_model.hpp"
#include "speech_writer.hpp"
#include "text_width.hpp"
#include "time_shift.hpp"
#include "writers.hpp"
#include "yaml_settings.hpp"

namespace steno::app {
namespace {

// The published files of settings for a model and a kind of recordings: a map `parameters`.
void read_postprocessing(const std::string& path, segmentation::speaker_segment_options& s) {
  try {
    const weights::mapped_file file(path);
    const auto bytes = file.bytes();
    const checkpoint_settings y =
        read_yaml(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}, "settings of a diarization");
    segmentation::speaker_segment_options::each(
        s, [&](const std::string& name, double& value) { value = y.real("parameters." + name, value, 0, 3600); });
  } catch (const std::bad_alloc&) {
    fail({.where = path, .what = "out of memory", .hint = "settings of a diarization are a few lines"});
  }
}

diarize_options options_of(const options& o, const diarizer& d) {
  diarize_options asked;
  if (!o.speakers.postprocessing.empty()) read_postprocessing(o.speakers.postprocessing, asked.segments);
  segmentation::speaker_segment_options::each(asked.segments, [&](const std::string& name, double& value) {
    if (const auto given = o.speakers.segments.find(name); given != o.speakers.segments.end()) value = given->second;
  });
  asked.cache = asked_cache(o.speakers, d);
  return asked;
}

// A line of what is written as it comes.
std::string line_of(speech_format f, const input& in, const segmentation::speaker_turn& t, bool several) {
  segment s;
  s.start = t.span.start;
  s.end = t.span.end;
  s.speaker = "speaker_" + std::to_string(t.speaker);
  if (f == speech_format::jsonl) return json_line(result_text(in.audio), "", s);
  return speech_line(f, in.audio, in.name, several, {std::llround(s.start * 1000), std::llround(s.end * 1000)},
                     *s.speaker);
}

// A segment per line: jsonl as soon as it is settled, the others in the order of their starts.
input_end tell_turns(const options& o, const diarizer& d, const diarize_options& asked, context& c, const input& in,
                     input_output& out, bool several, reporter& report) {
  using order = segmentation::speaker_turns::order;
  const speech_format f = o.speech.output_format;
  audio_reader reader(in.audio, diarizer::sample_rate, reading_of(o, in));
  diarization one(d, asked);
  const auto steps = static_cast<extent>(std::llround(d.frame_seconds() * 100));
  segmentation::speaker_turns turns(d.speakers(), steps, asked.segments,
                                    f == speech_format::jsonl ? order::settled : order::starts);
  std::string text;
  const auto tell = [&](segmentation::speaker_turn t) {
    t.span.start += in.part.offset;
    t.span.end += in.part.offset;
    text += line_of(f, in, t, several);
  };
  const auto rows = [&](const view<const float>& x) { turns.push(x, tell); };
  input_end heard = each_block(reader, diarizer::sample_rate, report, [&](auto pcm) {
    one.push(pcm, c, rows);
    if (!text.empty()) out.put(std::exchange(text, {}));
  });
  if (heard.stopped && heard.seconds <= 0) return heard;
  one.finish(c, rows);
  turns.finish(tell);
  out.put(text);
  return heard;
}

// One object.
input_end diarize(const options& o, const diarizer& d, const diarize_options& asked, context& c, const input& in,
                  input_output& out, bool several, reporter& report) {
  if (o.speech.output_format != speech_format::json) return tell_turns(o, d, asked, c, in, out, several, report);
  audio_reader reader(in.audio, diarizer::sample_rate, reading_of(o, in));
  diarization one(d, asked);
  input_end heard = each_block(reader, diarizer::sample_rate, report, [&](auto pcm) { one.push(pcm, c); });
  if (heard.stopped && heard.seconds <= 0) return heard;
  result r = shifted(one.finish(c), in.part.offset);
  if (heard.stopped) r.extra.emplace_back("interrupted_at", r.duration);
  out.put(writer(format::json, several).add(in.audio, r));
  return heard;
}

}  // namespace

int run_diarize(const options& o) {
  return over_inputs(o, "their results are", [&](reporter& report) {
    const auto pool = std::make_shared<thread_pool>(o.threads > 0 ? o.threads : core::processors());
    opened_checkpoint opened = open_model_file(o.model);
    for (const std::string& note : opened.notes) report.note(note);
    const auto model =
        std::make_shared<const diarizer>(std::move(opened.file), executor(*pool));
    return [&o, pool, model, asked = options_of(o, *model)](const std::vector<input>& inputs, output_place& out,
                                                            reporter& messages, interrupt_watch* watch, tally& t) {
      (void)diarization(*model, asked);  // bad settings are told once, before any recording
      const bool several = inputs.size() > 1 && !out.one_file_each();
      context c{executor(*pool)};
      each_input(
          inputs, out, extension(o.speech.output_format), messages, watch, t,
          [&](const input& in, input_output& to) { return diarize(o, *model, asked, c, in, to, several, messages); });
    };
  });
}

}  // namespace steno::app
