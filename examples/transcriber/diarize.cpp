// steno diarize: who speaks when. A model for streams reads a recording of any length in pieces; what it found is
// written when the recording has ended, because spans are joined and short ones go.
#include <steno/core/thread_pool.hpp>
#include <steno/pipelines/diarizer.hpp>

#include <cmath>
#include <memory>
#include <new>
#include <thread>

#include "each_input.hpp"
#include "model_files.hpp"
#include "speech_writer.hpp"
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
  if (o.speakers.memory.empty()) return asked;
  asked.cache = d.default_cache();
  nn::speaker_cache_options::each(*asked.cache, [&]<class T>(const std::string& name, T& value) {
    if constexpr (std::is_same_v<T, extent>)
      if (const auto given = o.speakers.memory.find(name); given != o.speakers.memory.end()) value = given->second;
  });
  return asked;
}

std::string text_of(const options& o, const input& in, const result& r, bool several) {
  const speech_format f = o.speech.output_format;
  if (f == speech_format::json || f == speech_format::jsonl)
    return writer(f == speech_format::json ? format::json : format::jsonl, several).add(in.audio, r);
  std::string all;
  for (const segment& s : r.segments)
    all += speech_line(f, in.audio, in.name, several, {std::llround(s.start * 1000), std::llround(s.end * 1000)},
                       s.speaker.value_or(""));
  return all;
}

input_end diarize(const options& o, const diarizer& d, const diarize_options& asked, context& c, const input& in,
                  input_output& out, bool several, reporter& report) {
  audio_reader reader(in.audio, diarizer::sample_rate, o.pcm);
  diarization one(d, asked);
  input_end heard = each_block(reader, diarizer::sample_rate, report, [&](auto pcm) { one.push(pcm, c); });
  if (heard.stopped && heard.seconds <= 0) return heard;
  result r = one.finish(c);
  if (heard.stopped) r.extra.emplace_back("interrupted_at", r.duration);
  out.put(text_of(o, in, r, several));
  return heard;
}

}  // namespace

int run_diarize(const options& o) {
  return over_inputs(o, "their results are", [&](reporter& report) {
    const auto pool = std::make_shared<thread_pool>(
        o.threads > 0 ? o.threads : static_cast<int>(std::max(1u, std::thread::hardware_concurrency())));
    opened_checkpoint opened = open_model_file(o.model);
    for (const std::string& note : opened.notes) report.note(note);
    const auto model =
        std::make_shared<const diarizer>(std::move(opened.file), executor(*pool), std::move(opened.image));
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
