// steno vad: where somebody speaks. Recordings are read in pieces, so their length does not matter, and each segment is
// written as soon as its end is known.
// SPDX-License-Identifier: Apache-2.0
#include <steno/error.hpp>
#include <steno/pipelines/any_vad.hpp>
#include <steno/streaming/voice_activity_detector.hpp>

#include <cmath>
#include <cstdint>
#include <memory>

#include "detector_settings.hpp"
#include "each_input.hpp"
#include "loading.hpp"
#include "speech_writer.hpp"

namespace steno::app {
namespace {

// Throws steno::error.
input_end detect(const options& o, const input& in, const any_vad& v, speech_writer& writer, input_output& out,
                 reporter& report) {
  audio_reader reader(in.audio, v.sample_rate(), reading_of(o, in));
  const std::int64_t before = std::llround(in.part.offset * 1000);
  context c;
  streaming::voice_segment_collector whole;
  const auto sink = [&](const segmentation::voice_change& change) {
    whole(change, [&](streaming::voice_segment s) {
      s.start_ms += before;
      s.end_ms += before;
      if (const std::string text = writer.add(in.audio, in.name, s); !text.empty()) out.put(text);
    });
  };
  vad_stream stream(v, o.detector);
  input_end heard = each_block(reader, v.sample_rate(), report, [&](auto pcm) { stream.accept(pcm, c, sink); });
  stream.finish(c, sink);
  if (const std::string text = writer.end(in.audio, heard.seconds + in.part.offset); !text.empty() || !heard.stopped)
    out.put(text);
  return heard;
}

}  // namespace

int run_vad(const options& o) {
  const char* const written = o.speech.output_format == speech_format::json ? "their results are" : "what was found is";
  return over_inputs(o, written, [&](reporter& report) {
    return
        [&o, detector = std::make_shared<const any_vad>(
                 load_detector(o.vad, {}, [&](const std::string& text) { report.note(text); }))](
            const std::vector<input>& inputs, output_place& out, reporter& messages, interrupt_watch* watch, tally& t) {
          check_detector_settings(*detector, o.detector, "--");
          const bool several = inputs.size() > 1 && !out.one_file_each();
          each_input(inputs, out, extension(o.speech.output_format), messages, watch, t,
                     [&](const input& in, input_output& to) {
                       speech_writer writer(o.speech.output_format, detector->name(), several);
                       return detect(o, in, *detector, writer, to, messages);
                     });
        };
  });
}

}  // namespace steno::app
