#include <steno/error.hpp>

#include <algorithm>
#include <chrono>
#include <deque>
#include <exception>
#include <filesystem>
#include <optional>

#include "audio.hpp"
#include "failures.hpp"
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

// Inputs in their order until an interruption: each is read when its turn comes, and told when those before it are. One
// whose last clips wait for those of others is kept until they are heard.
class input_queue {
 public:
  input_queue(const options& o, const request& asked, const std::vector<input>& inputs, engine& model,
              careful_output& put, reporter& report, tally& t)
      : pcm_(o.pcm), asked_(asked), inputs_(inputs), model_(model), put_(put), report_(report), tally_(t) {}

  void take(std::size_t number) {
    entry& e = entries_.emplace_back(entry{.number = number, .audio = inputs_[number].audio});
    report_.begin(number + 1, inputs_.size(), e.audio);
    if (entries_.size() == 1) begin(e);
    try {
      read(e);
    } catch (...) {
      if (put_.failed()) throw;
      e.failure = std::current_exception();  // told in its turn
    }
    double seconds = 0;
    for (const entry& each : entries_) seconds += waiting(each);
    hear(seconds > most_waiting || entries_.size() >= 2 * static_cast<std::size_t>(asked_.options.parallel_clips));
  }
  void finish() { hear(true); }

 private:
  // Seconds of audio. A language model keeps keys and values for each, so this bounds memory.
  static constexpr double most_waiting = 300;

  struct entry {
    std::size_t number = 0;
    std::string audio;
    std::unique_ptr<transcript> heard = {};
    std::vector<std::string> warnings = {};
    std::exception_ptr failure = {};
    double announced = 0, read = 0;  // seconds
    bool begun = false, damaged = false, stopped = false;
  };
  static double waiting(const entry& e) { return e.heard == nullptr ? 0 : e.heard->waiting_seconds(); }

  void read(entry& e) {
    std::error_code none;
    if (model_.needs_preview(asked_) && e.audio != "-" && std::filesystem::is_regular_file(e.audio, none)) {
      audio_reader first(e.audio, model_.model().sample_rate(), pcm_);
      model_.preview([&](std::span<float> out) { return first.read(out); }, asked_);
    }
    audio_reader reader(e.audio, model_.model().sample_rate(), pcm_);
    e.announced = reader.seconds();
    report_.update(0, e.announced);
    std::size_t samples = 0;
    const auto next = [&](std::span<float> out) {
      const std::size_t n = reader.read(out);
      samples += n;
      return n;
    };
    e.heard = model_.read(next, asked_, sink(e));
    e.read = static_cast<double>(samples) / model_.model().sample_rate();
    e.warnings = reader.warnings();
    e.damaged = reader.damaged();
    e.stopped = reader.stopped();
  }
  // Hears together what waits in front of `end` (null: in all), and tells the inputs that nothing waits in any more.
  void hear(bool rest, const entry* end = nullptr) {
    std::vector<transcript*> some;
    for (const entry& e : entries_) {
      if (&e == end) break;
      if (e.heard != nullptr) some.push_back(e.heard.get());
    }
    if (some.size() > 1) model_.recognise_waiting(some, rest);
    while (!entries_.empty() && &entries_.front() != end && (rest || waiting(entries_.front()) <= 0)) {
      conclude(entries_.front());
      entries_.pop_front();
    }
  }
  void begin(entry& e) {
    if (e.begun) return;
    e.begun = true;
    put_([&](outputs& to) { to.begin(inputs_[e.number]); });
    tally_.now = {.name = e.audio};
  }
  transcript_sink sink(entry& e) {
    return {.segments =
                [this, &e](const segment& s) {
                  if (!e.begun) hear(true, &e);  // those before it are told first
                  begin(e);
                  put_([&](outputs& out) { out.heard(s); });
                },
            .progress =
                [this, &e](double done) {
                  if (e.begun) tally_.now.seconds = done;
                  report_.update(done, e.announced);
                }};
  }
  void conclude(entry& e) {
    if (e.stopped && e.read <= 0) return;  // interrupted before it began
    std::string failure;
    try {
      begin(e);
      if (e.failure) std::rethrow_exception(e.failure);
      result r = e.heard->finish(sink(e));
      if (e.stopped) r.extra.emplace_back("interrupted_at", r.duration);
      put_([&](outputs& to) {
        to.end(r);
        tally_.now = {};
        if (e.stopped)
          tally_.now = {.name = e.audio, .seconds = r.duration};
        else
          ++tally_.done;
        if (e.damaged) ++tally_.damaged;
      });
      report_.end();
      for (const std::string& w : e.warnings) report_.warning(e.audio + ": " + w, e.damaged);
      tally_.audio_seconds += r.duration;
      return;
    } catch (const std::exception& x) {
      if (put_.failed()) throw;
      failure = failure_text(x, e.audio);
    }
    put_([&](outputs& to) {
      to.cut(tally_.now.seconds);
      tally_.now = {};
      ++tally_.failed;
    });
    report_.end();
    report_.error(failure);
  }

  const pcm_format& pcm_;
  const request& asked_;
  const std::vector<input>& inputs_;
  engine& model_;
  careful_output& put_;
  reporter& report_;
  tally& tally_;
  std::deque<entry> entries_;  // those that were read and not told
};

}  // namespace

void check_request(const options& o, const engine& model) {
  for (const auto& [option, shown] : given_options(o)) {
    const ability a = model.ability_for(option);
    if (!a.holds(o.vad != "none")) wrong_usage(shown + ": " + a.why);
  }
  if (!model.model().supports_language(o.language))
    wrong_usage("--language " + o.language + ": this model knows " + joined(model.model().languages()));
  if (!o.target_language.empty() && !model.model().supports_language(o.target_language))
    wrong_usage("--target-language " + o.target_language + ": this model knows " + joined(model.model().languages()));
  if (o.decoding.translate.value_or(false) && !o.target_language.empty() && o.target_language != "en")
    wrong_usage("--target-language " + o.target_language + ": --translate writes en");
  if (o.look_ahead) {
    try {  // whether it is one of those that the model knows: nothing is recognised of nothing
      context scratch;
      const float nothing[1] = {};
      (void)model.model().transcribe(nothing, {.look_ahead = o.look_ahead}, scratch);
    } catch (const error& e) {
      wrong_usage(e.what());
    }
  }
  if (!o.hotwords.empty() && o.beam == 1 && model.ability_for("--beam").holds(false))
    wrong_usage("--hotwords need a search: leave out --beam 1");
}

// The style is the model's unless it was given.
void check_layout(const options& o, style usual) {
  const style written = o.output_layout.style == style::usual ? usual : o.output_layout.style;
  const line_options& l = o.output_layout.lines;
  if (written != style::openai && (l.highlight_words || l.max_words_per_line > 0))
    wrong_usage(std::string(l.highlight_words ? "--highlight-words" : "--max-words-per-line") +
                ": this model's results are not written in openai's style; give --style openai, too");
}

void transcribe_inputs(const options& o, const std::vector<input>& inputs, engine& model, outputs& out,
                       reporter& report, interrupt_watch* watch, tally& t) {
  careful_output put(out, watch);
  request asked{.options = {.language = o.language,
                            .target_language = o.target_language,
                            .punctuation = o.write_punctuation,
                            .itn = o.inverse_text_normalisation,
                            .max_clip_seconds = o.max_clip_seconds,
                            .merge_seconds = o.merge_seconds,
                            .parallel_clips = o.parallel_clips,
                            .look_ahead = o.look_ahead,
                            .beam = o.beam,
                            .hotwords = read_phrases(o.hotwords),
                            .hotword_score = o.hotword_score,
                            .decoding = o.decoding},
                .vad = o.vad};
  // Subtitles that are cut by words need their times.
  if (o.output_layout.words && !o.decoding.word_timestamps && model.ability_for("--word-timestamps").holds(false))
    asked.options.decoding.word_timestamps = true;
  input_queue queue(o, asked, inputs, model, put, report, t);
  for (std::size_t i = 0; i < inputs.size() && !input_is_over(); ++i) queue.take(i);
  queue.finish();
}

int run_transcribe(const options& o) {
  screen all;
  reporter report(all, o.progress && !o.quiet, o.quiet ? reporter::detail::errors_only : reporter::detail::all);
  const auto note = [&report](const std::string& text) { report.note(text); };
  const std::vector<input> inputs = listed_inputs(o, report);
  if (inputs.empty()) {
    report.note("this shard has no inputs");
    return 0;
  }
  outputs out(o, inputs, all);
  tally t;
  interrupt_watch watch([&] {  // at once
    report.end();
    out.cut(t.now.seconds);
    out.finish();
  });
  if (!any_there(inputs)) {
    for (const input& in : inputs) try {
        audio_reader(in.audio, 16000);
      } catch (const error& e) {
        report.error(e.what());
      }
    return 1;
  }
  const std::string path = find_model(o.model);
  tell_toy(path, inputs, report);
  engine model(path, o.threads, note);
  check_request(o, model);
  check_layout(o, model.default_style());
  out.follow(model.default_style());
  if (!o.punctuation.empty()) model.punctuate_with(o.punctuation, note);
  if (!o.aligner.empty()) model.align_with(o.aligner, note);
  if (!o.speakers.model.empty()) model.tell_speakers(o.speakers, note);
  const stopwatch watch_time;
  watch.listen(true);
  transcribe_inputs(o, inputs, model, out, report, &watch, t);
  {
    const std::unique_lock<std::timed_mutex> whole(watch.lock());
    out.finish();
  }
  report.summary(t.audio_seconds, watch_time.seconds());
  if (input_is_over())
    report.error(
        "interrupted: " + std::to_string(t.done) + " of " + std::to_string(inputs.size()) +
        " files are done, and their results are written" +
        (t.now.name.empty() ? "" : "; " + t.now.name + " is transcribed up to " + duration_text(t.now.seconds)));
  else if (inputs.size() > 1 && t.failed != 0)
    report.error(std::to_string(t.failed) + " of " + std::to_string(inputs.size()) + " files failed");
  return interrupt_watch::exit_code(t.exit_code());
}

}  // namespace steno::app
