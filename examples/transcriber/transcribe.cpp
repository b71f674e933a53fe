// SPDX-License-Identifier: Apache-2.0
#include <steno/error.hpp>

#include <algorithm>
#include <chrono>
#include <deque>
#include <exception>
#include <filesystem>
#include <optional>

#include "audio.hpp"
#include "channel_merge.hpp"
#include "done_list.hpp"
#include "failures.hpp"
#include "language_model_file.hpp"
#include "model_path.hpp"
#include "resuming.hpp"
#include "signals.hpp"
#include "time_shift.hpp"
#include "utf8_path.hpp"
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
    return in.audio == "-" || (std::filesystem::exists(utf8_path(in.audio), none) &&
                               !std::filesystem::is_directory(utf8_path(in.audio), none));
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

// Of the channels of a recording: what each of them says about itself is in its segments.
result joined_heads(std::vector<result> heads) {
  result all = std::move(heads[0]);
  if (heads.size() == 1) return all;
  all.score.reset();
  all.alternatives.clear();
  all.stop_reason.clear();
  all.extra.clear();
  for (std::size_t i = 1; i < heads.size(); ++i) {
    all.duration = std::max(all.duration, heads[i].duration);
    if (all.language.empty()) all.language = heads[i].language;
    if (!heads[i].windows) continue;
    if (!all.windows) all.windows.emplace();
    all.windows->insert(all.windows->end(), heads[i].windows->begin(), heads[i].windows->end());
  }
  return all;
}

// "Channel 1", ..., where `given` has no name.
std::vector<std::string> channel_names(std::vector<std::string> given, const options& o, const std::string& audio,
                                       int channels) {
  const auto count = static_cast<std::size_t>(channels);
  if (given.size() > count)
    fail({.where = audio,
          .what = "has fewer channels than " + o.speakers.names + " names",
          .expected = std::to_string(given.size()),
          .found = std::to_string(count)});
  while (given.size() < count) given.push_back("Channel " + std::to_string(given.size() + 1));
  return given;
}

// Inputs in their order until an interruption: each is read when its turn comes, and told when those before it are. One
// whose last clips wait for those of others is kept until they are heard.
class input_queue {
 public:
  input_queue(const options& o, const request& asked, const std::vector<input>& inputs, engine& model,
              careful_output& put, reporter& report, done_list* done, tally& t)
      : options_(o), asked_(asked), inputs_(inputs), model_(model), put_(put), report_(report), done_(done), tally_(t) {
    split_ = o.reading.channels.what == channel_choice::how::split;
    if (split_) given_names_ = read_speaker_names(o.speakers.names);
  }

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
    std::vector<std::unique_ptr<transcript>> heard = {};  // one, or one of each channel
    std::vector<std::string> names = {};                  // of the channels; none where they are not split
    channel_merge merge{1};
    std::vector<std::string> warnings = {};
    std::exception_ptr failure = {};
    double announced = 0, read = 0;  // seconds
    bool begun = false, damaged = false, stopped = false;
  };
  static double waiting(const entry& e) {
    double seconds = 0;
    for (const auto& one : e.heard) seconds += one->waiting_seconds();
    return seconds;
  }

  // f(voice, samples) for all of them, a portion of each in turn. Returns how many samples a voice has.
  template <class F>
  static std::size_t each_portion(audio_reader& reader, F&& f) {
    std::vector<float> samples(transcript_portion);
    std::size_t count = 0;
    for (bool more = true; more;) {
      more = false;
      for (int v = 0; v < reader.voices(); ++v) {
        const std::size_t n = reader.read(samples, v);
        if (n == 0) continue;
        more = true;
        if (v == 0) count += n;
        f(v, std::span<const float>(samples).first(n));
      }
    }
    return count;
  }

  void read(entry& e) {
    std::error_code none;
    const int rate = model_.model().sample_rate();
    const bool look =
        model_.needs_preview(asked_) && e.audio != "-" && std::filesystem::is_regular_file(utf8_path(e.audio), none);
    std::optional<audio_reader> reader(std::in_place, e.audio, rate, reading_of(options_, inputs_[e.number]));
    if (split_) e.names = channel_names(given_names_, options_, e.audio, reader->voices());
    e.merge = channel_merge(reader->voices());
    for (int v = 0; v < reader->voices(); ++v) e.heard.push_back(model_.begin(asked_));
    const auto one = [&](int v) -> transcript& { return *e.heard[static_cast<std::size_t>(v)]; };
    if (look) {
      each_portion(*reader, [&](int v, std::span<const float> part) { one(v).preview(part); });
      reader.emplace(e.audio, rate, reading_of(options_, inputs_[e.number]));
    }
    e.announced = reader->seconds();
    report_.update(0, e.announced);
    const std::size_t samples = each_portion(*reader, [&](int v, std::span<const float> part) {
      one(v).push(part, sink(e, v));
      settle(e);
    });
    for (int v = 0; v < reader->voices(); ++v) one(v).close(sink(e, v));
    e.read = static_cast<double>(samples) / rate;
    e.warnings = reader->warnings();
    e.damaged = reader->damaged();
    e.stopped = reader->stopped();
  }
  // Hears together what waits in front of `end` (null: in all), and tells the inputs that nothing waits in any more.
  void hear(bool rest, const entry* end = nullptr) {
    std::vector<transcript*> some;
    for (const entry& e : entries_) {
      if (&e == end) break;
      for (const auto& one : e.heard) some.push_back(one.get());
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
  double offset(const entry& e) const { return inputs_[e.number].part.offset; }
  void write(entry& e, const segment& s, std::optional<int> channel) {
    if (!e.begun) hear(true, &e);  // those before it are told first
    begin(e);
    put_([&](outputs& out) { out.heard(shifted(s, offset(e)), channel); });
  }
  // Writes the segments of split channels whose turn it is.
  void settle(entry& e) {
    if (!split_) return;
    for (std::size_t v = 0; v < e.heard.size(); ++v)
      if (e.heard[v] != nullptr) e.merge.known(static_cast<int>(v), e.heard[v]->needed_from());
    e.merge.take([&](int v, segment s) {
      s.speaker = e.names[static_cast<std::size_t>(v)];
      for (word& w : s.words) w.speaker = s.speaker;
      write(e, s, v + 1);
    });
  }
  transcript_sink sink(entry& e, int voice) {
    return {.segments =
                [this, &e, voice](segment s) {
                  if (!split_)
                    write(e, s, std::nullopt);
                  else
                    e.merge.add(voice, std::move(s));
                },
            .progress =
                [this, &e, voice](double done) {
                  if (voice != 0) return;
                  if (e.begun) tally_.now.seconds = offset(e) + done;
                  report_.update(done, e.announced);
                }};
  }
  static std::string joined_warnings(const entry& e) {
    std::string all;
    for (const std::string& w : e.warnings) all += (all.empty() ? "" : "; ") + w;
    return all;
  }
  void conclude(entry& e) {
    if (e.stopped && e.read <= 0) return;  // interrupted before it began
    std::string failure;
    try {
      begin(e);
      if (e.failure) std::rethrow_exception(e.failure);
      std::vector<result> heads;
      for (std::size_t v = 0; v < e.heard.size(); ++v) {
        heads.push_back(e.heard[v]->finish(sink(e, static_cast<int>(v))));
        e.merge.end(static_cast<int>(v));
        e.heard[v].reset();
        settle(e);
      }
      result r = joined_heads(std::move(heads));
      tally_.audio_seconds += r.duration;
      r = shifted(std::move(r), offset(e));
      if (e.stopped) r.extra.emplace_back("interrupted_at", r.duration);
      put_([&](outputs& to) {
        tally_.now = {};
        if (done_ != nullptr && e.stopped) return to.drop();  // the next run does it
        to.end(r);
        if (done_ != nullptr && e.damaged) done_->add_damage(inputs_[e.number], joined_warnings(e));
        if (done_ != nullptr) done_->add(inputs_[e.number]);
        if (e.stopped)
          tally_.now = {.name = e.audio, .seconds = r.duration};
        else
          ++tally_.done;
        if (e.damaged) ++tally_.damaged;
      });
      report_.end();
      for (const std::string& w : e.warnings) report_.warning(e.audio + ": " + w, e.damaged);
      return;
    } catch (const std::exception& x) {
      if (put_.failed()) throw;
      failure = failure_text(x, e.audio);
    }
    e.heard.clear();  // what the other channels have is written, too
    for (std::size_t v = 0; v < e.names.size(); ++v) e.merge.end(static_cast<int>(v));
    settle(e);
    put_([&](outputs& to) {
      if (done_ != nullptr) {
        to.drop();
        done_->add_failure(inputs_[e.number], failure);
      } else {
        to.cut(tally_.now.seconds);
      }
      tally_.now = {};
      ++tally_.failed;
    });
    report_.end();
    report_.error(failure);
  }

  const options& options_;
  const request& asked_;
  const std::vector<input>& inputs_;
  engine& model_;
  careful_output& put_;
  reporter& report_;
  done_list* done_;  // null: nothing is listed
  tally& tally_;
  bool split_ = false;                    // the channels
  std::vector<std::string> given_names_;  // of them
  std::deque<entry> entries_;             // those that were read and not told
};

}  // namespace

void check_request(const options& o, const engine& model) {
  for (const auto& [option, shown] : given_options(o)) {
    if (option == "--itn" && !o.itn_rules.empty()) continue;  // the rules do it
    const ability a = model.ability_for(option);
    if (!a.holds(o.vad != "none")) wrong_usage(shown + ": " + a.why);
  }
  if (!model.model().supports_language(model.language_of(o.language)))
    wrong_usage("--language " + o.language + ": this model knows " + joined(model.model().languages()));
  if (!o.target_language.empty() && !model.model().supports_language(model.language_of(o.target_language)))
    wrong_usage("--target-language " + o.target_language + ": this model knows " + joined(model.model().languages()));
  const bool translates = o.decoding.translate.value_or(false) && !o.target_language.empty();
  if (translates && model.language_of(o.target_language) != "en")
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
  if (!o.lm.empty() && o.beam == 1) wrong_usage("--lm needs a search: leave out --beam 1");
}

// The style is the model's unless it was given.
void check_layout(const options& o, style usual) {
  const style written = o.output_layout.style == style::usual ? usual : o.output_layout.style;
  const line_options& l = o.output_layout.lines;
  if (written != style::openai && (l.highlight_words || l.max_words_per_line > 0))
    wrong_usage(std::string(l.highlight_words ? "--highlight-words" : "--max-words-per-line") +
                ": this model's results are not written in openai's style; give --style openai, too");
}

void transcribe_inputs(const options& o, const std::vector<input>& inputs, engine& model,
                       const models::language_model* lm, outputs& out, reporter& report, interrupt_watch* watch,
                       tally& t, done_list* done) {
  careful_output put(out, watch);
  request asked{.options = {.language = model.language_of(o.language),
                            .target_language = model.language_of(o.target_language),
                            .punctuation = o.write_punctuation,
                            .itn = o.inverse_text_normalisation,
                            .max_clip_seconds = o.max_clip_seconds,
                            .vad_settings = o.detector,
                            .merge_seconds = o.merge_seconds,
                            .parallel_clips = o.parallel_clips,
                            .look_ahead = o.look_ahead,
                            .beam = o.beam,
                            .hotwords = read_phrases(o.hotwords),
                            .hotword_score = o.hotword_score,
                            .language_model = lm,
                            .lm_weight = o.lm_weight,
                            .decoding = o.decoding},
                .vad = o.vad};
  if (!model.ability_for("--itn").holds(o.vad != "none")) asked.options.itn.reset();  // rules do what the model can't
  // Subtitles that are cut by words need their times.
  if (o.output_layout.words && !o.decoding.word_timestamps && model.ability_for("--word-timestamps").holds(false))
    asked.options.decoding.word_timestamps = true;
  const search::guides guides = model.model().guides(asked.options);  // once for all inputs
  asked.options.guides = &guides;
  input_queue queue(o, asked, inputs, model, put, report, done, t);
  for (std::size_t i = 0; i < inputs.size() && !input_is_over(); ++i) queue.take(i);
  queue.finish();
}

int run_transcribe(const options& o) {
  screen all;
  reporter report(all, o.progress && !o.quiet, o.quiet ? reporter::detail::errors_only : reporter::detail::all);
  if (o.progress_json) report.show_json();
  const auto note = [&report](const std::string& text) { report.note(text); };
  std::vector<input> inputs = listed_inputs(o, report);
  if (inputs.empty()) {
    report.note("this shard has no inputs");
    return 0;
  }
  if (o.list_left) return list_left(o, inputs, all, report);
  outputs out(o, inputs, all);
  std::optional<done_list> done;
  if (o.resume) {
    if (!out.one_file_each())
      wrong_usage("--resume goes on with the files in a directory: -o " + o.output + " is none");
    done.emplace(o.output, o);
    leave_out_done(*done, inputs, report);
    if (inputs.empty()) return 0;
  }
  tally t;
  interrupt_watch watch([&] {  // at once
    report.end();
    if (done)
      out.drop();
    else
      out.cut(t.now.seconds);
    out.finish();
  });
  if (!any_there(inputs)) {
    for (const input& in : inputs) try {
        audio_reader(in.audio, 16000, reading_of(o, in));
      } catch (const error& e) {
        report.error(e.what());
        if (done) done->add_failure(in, e.what());
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
  if (!o.itn_rules.empty()) model.write_figures_by(o.itn_rules);
  if (!o.aligner.empty()) model.align_with(o.aligner, note);
  if (!o.speakers.model.empty()) model.tell_speakers(o.speakers, note);
  stage_clock clock;
  if (o.profile) model.profile(clock);
  const auto lm = open_language_model(o);
  const stopwatch watch_time;
  watch.listen(true);
  try {
    transcribe_inputs(o, inputs, model, lm.get(), out, report, &watch, t, done ? &*done : nullptr);
  } catch (...) {
    if (done) out.drop();  // of several formats, those that are not whole
    throw;
  }
  {
    const std::unique_lock<std::timed_mutex> whole(watch.lock());
    out.finish();
  }
  report.summary(t.audio_seconds, watch_time.seconds());
  if (o.profile)
    for (const std::string_view line : clock.lines()) report.note(line);
  if (input_is_over())
    report.error(
        "interrupted: " + std::to_string(t.done) + " of " + std::to_string(inputs.size()) +
        " files are done, and their results are written" +
        (t.now.name.empty() ? "" : "; " + t.now.name + " is transcribed up to " + duration_text(t.now.seconds)));
  else if (inputs.size() > 1 && t.failed != 0)
    report.error(std::to_string(t.failed) + " of " + std::to_string(inputs.size()) + " files failed" +
                 (done ? "; " + done->failures() + " says why" : ""));
  return interrupt_watch::exit_code(t.exit_code());
}

}  // namespace steno::app
