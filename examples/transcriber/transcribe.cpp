#include <steno/error.hpp>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>

#include "audio.hpp"
#include "model_path.hpp"
#include "signals.hpp"
#include "verbs.hpp"

namespace steno::app {
namespace {

class stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count(); }

 private:
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

std::string joined(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& w : words) all += (all.empty() ? "" : ", ") + w;
  return all;
}

// When nothing can be opened there is no reason to load a model.
bool any_there(const std::vector<input>& inputs) {
  return std::any_of(inputs.begin(), inputs.end(), [](const input& in) {
    std::error_code none;
    return in.audio == "-" ||
           (std::filesystem::exists(in.audio, none) && !std::filesystem::is_directory(in.audio, none));
  });
}

// Written under the watch's lock, so that an interruption finds whole results.
class careful_output {
 public:
  careful_output(outputs& out, interrupt_watch* watch) : out_(out), watch_(watch) {}
  template <class Write>
  void operator()(Write&& write) {
    std::unique_lock<std::timed_mutex> whole;
    if (watch_ != nullptr) whole = std::unique_lock(watch_->lock());
    failed_ = true;
    write(out_);
    failed_ = false;
  }
  /// The last call threw: no result can be written any more.
  bool failed() const { return failed_; }

 private:
  outputs& out_;
  interrupt_watch* watch_;
  bool failed_ = false;
};

result transcribe_one(const options& o, const request& asked, const input& in, recogniser& model, reporter& report,
                      careful_output& put, progress& p) {
  std::error_code none;
  if (model.looks_first(asked) && in.audio != "-" && std::filesystem::is_regular_file(in.audio, none)) {
    audio_reader first(in.audio, model.sample_rate(), o.pcm);
    model.look([&](std::span<float> out) { return first.read(out); }, asked);
  }
  audio_reader reader(in.audio, model.sample_rate(), o.pcm);
  const double announced = reader.seconds();
  const sample_function audio = [&](std::span<float> out) { return reader.read(out); };
  const transcript_sink to{.heard = [&](const segment& s) { put([&](outputs& out) { out.heard(s); }); },
                           .progress =
                               [&](double done) {
                                 p.seconds = done;
                                 report.update(done, announced);
                               }};
  report.update(0, announced);
  result r = model.transcribe(audio, asked, to);
  for (const std::string& w : reader.warnings()) report.note("warning: " + in.audio + ": " + w);
  return r;
}

}  // namespace

void check_request(const options& o, const recogniser& model) {
  if (!model.knows_language(o.language))
    wrong_usage("--language " + o.language + ": this model knows " + joined(model.languages()));
  const std::vector<std::string> refused = model.refused(o.decoding);
  if (!refused.empty()) wrong_usage(option_name(refused[0]) + ": this model has no such option");
  if (o.beam > 1 && !model.has_beam_search())
    wrong_usage("--beam " + std::to_string(o.beam) + ": this model decodes greedily; leave --beam out");
  if (!o.hotwords.empty() && !model.takes_hotwords()) wrong_usage("--hotwords: this model takes none");
  if (!o.hotwords.empty() && o.beam == 1 && model.has_beam_search())
    wrong_usage("--hotwords need a search: leave out --beam 1");
}

void transcribe_inputs(const options& o, const std::vector<input>& inputs, recogniser& model, outputs& out,
                       reporter& report, interrupt_watch* watch, tally& t) {
  careful_output put(out, watch);
  request asked{.language = o.language,
                .inverse_text_normalisation = o.inverse_text_normalisation,
                .vad = o.vad,
                .merge = o.merge,
                .at_once = o.at_once,
                .beam = o.beam,
                .hotwords = read_phrases(o.hotwords),
                .hotword_score = o.live.phrase_score,
                .decoding = o.decoding};
  // Subtitles that are cut by words need their times.
  if (o.output_layout.words && !o.decoding.word_timestamps && model.refused({.word_timestamps = true}).empty())
    asked.decoding.word_timestamps = true;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const input& in = inputs[i];
    report.begin(i + 1, inputs.size(), in.audio);
    put([&](outputs& to) { to.begin(in); });
    t.now = {.name = in.audio};
    std::string failure;
    try {
      const result r = transcribe_one(o, asked, in, model, report, put, t.now);
      report.end();
      put([&](outputs& to) {
        to.end(r);
        t.now = {};
        ++t.done;
      });
      t.audio_seconds += r.duration;
      continue;
    } catch (const error& e) {
      if (put.failed()) throw;
      failure = e.parts().where.empty() ? in.audio + ": " + e.what() : e.what();
    } catch (const std::exception& e) {  // out of memory
      failure = in.audio + ": " + e.what();
    }
    report.error(failure);
    report.end();
    put([&](outputs& to) {
      to.cut(t.now.seconds);
      t.now = {};
      ++t.failed;
    });
  }
}

int run_transcribe(const options& o) {
  reporter report(stderr, o.progress && !o.quiet && ::isatty(STDERR_FILENO) != 0,
                  o.quiet ? reporter::detail::errors_only : reporter::detail::all);
  const std::vector<input> inputs = gather_inputs(o);
  if (inputs.empty()) {
    report.note("this shard has no inputs");
    return 0;
  }
  outputs out(o, inputs);
  tally t;
  interrupt_watch watch([&] {
    report.end();
    out.cut(t.now.seconds);
    report.error(
        "interrupted: " + std::to_string(t.done) + " of " + std::to_string(inputs.size()) +
        " files are done, and their results are written" +
        (t.now.name.empty() ? "" : "; " + t.now.name + " is transcribed up to " + duration_text(t.now.seconds)));
  });
  if (!any_there(inputs)) {
    for (const input& in : inputs) try {
        audio_reader(in.audio, 16000);
      } catch (const error& e) {
        report.error(e.what());
      }
    return 1;
  }
  const std::unique_ptr<recogniser> model =
      open_model(find_model(o.model), o.threads, [&report](const std::string& text) { report.note(text); });
  check_request(o, *model);
  out.follow(model->usual_style());
  if (!o.punctuation.empty())
    model->punctuate_with(o.punctuation, [&report](const std::string& text) { report.note(text); });
  if (!o.aligner.empty()) model->align_with(o.aligner, [&report](const std::string& text) { report.note(text); });
  const stopwatch watch_time;
  transcribe_inputs(o, inputs, *model, out, report, &watch, t);
  report.summary(t.audio_seconds, watch_time.seconds());
  if (inputs.size() > 1 && t.failed != 0)
    report.error(std::to_string(t.failed) + " of " + std::to_string(inputs.size()) + " files failed");
  return t.failed == 0 ? 0 : 1;
}

}  // namespace steno::app
