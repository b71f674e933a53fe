// steno vad: where somebody speaks. Recordings are read in pieces, so their length does not matter, and each segment is
// written as soon as its end is known.
#include <steno/error.hpp>
#include <steno/pipelines/any_vad.hpp>

#include <unistd.h>

#include <chrono>

#include "audio.hpp"
#include "convert.hpp"
#include "output_place.hpp"
#include "signals.hpp"
#include "speech_writer.hpp"
#include "verbs.hpp"

namespace steno::app {
namespace {

any_vad open_detector(const std::string& name, reporter& report) {
  if (name == "energy") return energy_vad();
  opened_checkpoint opened = open_checkpoint(name);
  for (const std::string& text : opened.notes) report.note(text);
  return open_vad(std::move(opened.file), {}, std::move(opened.image));
}

void check_threshold(const any_vad& v, const std::optional<double>& threshold) {
  if (!threshold) return;
  const bool energy = std::holds_alternative<energy_vad>(v);
  const double low = energy ? 1 : -1, high = energy ? 100 : 1;
  if (!(*threshold >= low && *threshold <= high))
    wrong_usage(energy ? "--threshold: expected 1 to 100 dB above the background"
                       : "--threshold: expected -1 to 1, by which speech must be likelier than silence");
}

// An input that fails does not stop the others, an output does.
struct cannot_write {
  error cause;
};

// The seconds of audio in it. Throws steno::error.
template <voice_activity_detector V>
double detect(const options& o, const input& in, const V& v, speech_writer& writer, output_place& out, reporter& report,
              interrupt_watch* watch) {
  audio_reader reader(in.audio, V::sample_rate, o.pcm);
  const auto put = [&](const std::string& text) {
    std::unique_lock<std::timed_mutex> whole;
    if (watch != nullptr) whole = std::unique_lock(watch->lock());
    report.end();  // the bar gives way to the line; the next update draws it again
    try {
      out.put(text);
    } catch (const error& e) {
      throw cannot_write{e};
    }
  };
  const vad_settings settings{o.speech.min_silence, o.speech.max_segment, o.speech.threshold};
  context c;
  voice_segment_collector whole;
  const auto sink = [&](const voice_change& change) {
    whole(change, [&](const voice_segment& s) {
      if (const std::string text = writer.add(in.audio, in.name, s); !text.empty()) put(text);
    });
  };
  auto stream = v.start(settings.give(v));
  std::vector<float> portion(V::sample_rate / 10);  // a tenth of a second: what a microphone's driver hands over
  double heard = 0;
  for (std::size_t n = 0; (n = reader.read(portion)) > 0;) {
    v.accept(stream, std::span<const float>(portion).first(n), c, sink);
    heard += static_cast<double>(n) / V::sample_rate;
    report.update(heard, reader.seconds());
  }
  v.finish(stream, c, sink);
  for (const std::string& w : reader.warnings()) report.note("warning: " + in.audio + ": " + w);
  put(writer.end(in.audio, heard));
  return heard;
}

}  // namespace

void detect_inputs(const options& o, const std::vector<input>& inputs, const any_vad& detector, output_place& out,
                   reporter& report, interrupt_watch* watch, tally& t) {
  check_threshold(detector, o.speech.threshold);
  const bool several = inputs.size() > 1 && !out.one_file_each();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const input& in = inputs[i];
    report.begin(i + 1, inputs.size(), in.audio);
    out.begin(in, extension(o.speech.output_format));
    speech_writer writer(o.speech.output_format, vad_name(detector), several);
    try {
      t.audio_seconds +=
          std::visit([&](const auto& v) { return detect(o, in, v, writer, out, report, watch); }, detector);
      ++t.done;
    } catch (const cannot_write& e) {
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

int run_vad(const options& o) {
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
    report.error(
        "interrupted: " + std::to_string(t.done) + " of " + std::to_string(inputs.size()) + " files are done, and " +
        (o.speech.output_format == speech_format::json ? "their results are" : "what was found is") + " written");
  });
  const any_vad detector = open_detector(o.vad, report);
  const auto began = std::chrono::steady_clock::now();
  detect_inputs(o, inputs, detector, out, report, &watch, t);
  report.summary(t.audio_seconds, std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
  if (inputs.size() > 1 && t.failed != 0)
    report.error(std::to_string(t.failed) + " of " + std::to_string(inputs.size()) + " files failed");
  return t.failed == 0 ? 0 : 1;
}

}  // namespace steno::app
