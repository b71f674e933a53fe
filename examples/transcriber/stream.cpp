// steno stream: a file or standard input to a model, results while it listens.
// SPDX-License-Identifier: Apache-2.0
#include <steno/core/thread_pool.hpp>
#include <steno/error.hpp>
#include <steno/pipelines/any_vad.hpp>
#include <steno/pipelines/punctuator.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <thread>

#include "audio.hpp"
#include "itn.hpp"
#include "json_builder.hpp"
#include "json_result.hpp"
#include "language_model_file.hpp"
#include "live.hpp"
#include "live_models.hpp"
#include "loading.hpp"
#include "microphone.hpp"
#include "model_path.hpp"
#include "output_place.hpp"
#include "safe_result.hpp"
#include "screen.hpp"
#include "signals.hpp"
#include "speaker_model.hpp"
#include "text_width.hpp"
#include "time_shift.hpp"
#include "verbs.hpp"

namespace steno::app {

session_options session_options_of(const options& o, const models::language_model* lm) {
  session_options r;
  r.chunk_size = o.live.chunk_size;
  r.left_chunks = o.live.left_chunks;
  r.left_context = o.live.left_context;
  r.look_ahead = o.look_ahead;
  r.language = o.language;
  if (!o.live.rescore) r.rescore = false;
  if (!o.live.endpoints) r.endpoints = false;
  r.forget_turns = o.live.forget_turns;
  r.partial_seconds = o.live.partial_seconds;
  r.max_utterance_seconds = o.live.max_utterance_seconds;
  r.beam = o.beam;
  r.hotword_score = o.hotword_score;
  r.hotwords = read_phrases(o.hotwords);
  r.language_model = lm;
  r.lm_weight = o.lm_weight;
  return r;
}

void check_live(const session_options& asked, const transcriber& model, const pipelines::session_models& beside) {
  std::string names(model.model_name());
  if (beside.final_model != nullptr) names.append(" and ").append(beside.final_model->model_name());
  const bool streams = beside.vad == nullptr && beside.final_model == nullptr;
  const char* const when = beside.final_model != nullptr ? " have no use for it in two passes"
                           : streams                     ? " has no use for it while it streams"
                                                         : " has no use for it while it recognises segments";
  for (const std::string_view name : asked.names())
    if (!any_session::honours(model, name, beside)) wrong_usage(live_option_name(name) + ": " + names + when);
  if (!asked.look_ahead && !asked.left_context && asked.language == "auto") return;
  try {  // whether it is one of those that the model knows
    context scratch;
    (void)any_session(model, asked, scratch, beside);
  } catch (const error& e) {
    wrong_usage(e.what());
  }
}

namespace {

using clock = std::chrono::steady_clock;

std::string point_line(std::string_view type, double time) {
  return std::move(json_builder().open('{').key("type").text(type).key("time").number(time).close('}')).str() + "\n";
}

constexpr double not_computed = std::numeric_limits<double>::quiet_NaN();  // null in JSON

// One line per event. Latency: from the arrival of the last sample that the result heard to the result.
void write_event(output_place& out, const session_event& e, double latency_ms, bool speakers) {
  const segment said = safe(e.utterance);
  json_builder j;
  j.open('{').key("type").text(e.final() ? "final" : "partial").key("start").number(said.start);
  j.key(e.final() ? "end" : "heard").number(said.end).key("text").text(said.text);
  if (!e.final()) j.key("stable").text(result_text(e.stable));
  j.key("token_ids").wholes(said.token_ids).key("score").number(e.score.value_or(not_computed));
  if (!e.stop.empty()) j.key("stop").text(e.stop);
  if (e.eot_confidence) j.key("eot_confidence").number(*e.eot_confidence);
  if (speakers) add_speaker(j, said.speaker);
  if (e.final()) {
    j.key("words").open('[');
    for (const word& w : said.words) add_word(j, w, speakers);
    j.close(']').key("nbest").open('[');
    for (const auto& a : e.nbest) j.text(result_text(a.text));
    j.close(']');
  }
  std::string text = std::move(j.key("latency_ms").number(latency_ms).close('}')).str() + "\n";
  if (e.endpoint != endpoint_kind::none) text += point_line(streaming::endpoint_name(e.endpoint), said.end);
  out.put(text);
}

// On a terminal the end of a partial result stands below the text until the next one; a final one stays.
void show_text(screen& on, output_place& out, const session_event& e) {
  const std::string text = one_line(e.utterance.text);
  on.partial(e.final() ? "" : text);
  const std::string who = e.utterance.speaker ? one_line(*e.utterance.speaker) + ": " : "";
  if (e.final() && !text.empty()) out.put(who + text + "\n");
}

// Beginnings and ends of speech as lines of their own.
class voice_teller {
 public:
  voice_teller(const options& o, const any_vad* named, output_place& out) : out_(out), offset_(o.reading.part.offset) {
    if (named != nullptr && output_format(o) == format::jsonl) heard_ = std::make_unique<voices>(*named, o.detector);
  }
  void push(std::span<const float> pcm) const {
    if (heard_ != nullptr)
      heard_->stream.accept(pcm, heard_->scratch, [this](const segmentation::voice_change& v) { write(v); });
  }
  void finish() const {
    if (heard_ != nullptr)
      heard_->stream.finish(heard_->scratch, [this](const segmentation::voice_change& v) { write(v); });
  }

 private:
  struct voices {
    voices(const any_vad& v, const vad_settings& s) : stream(v, s) {}
    vad_stream stream;
    context scratch;
  };
  void write(const segmentation::voice_change& v) const {
    const auto line = [this](const char* type, std::int64_t ms) {
      out_.put(point_line(type, static_cast<double>(ms) / 1000 + offset_));
    };
    if (v.start_ms >= 0) line("speech_start", v.start_ms);
    if (v.end_ms >= 0) line("speech_end", v.end_ms);
  }
  output_place& out_;
  double offset_;  // seconds
  std::unique_ptr<voices> heard_;
};

// The model of speakers, and what was asked of it.
struct live_speakers {
  live_speakers(const options& o, int rate, const executor& run, const note_function& note)
      : told(open_speakers(o.speakers, rate, run, note)) {
    asked.attribution = told.rule;
    asked.split_on_speaker = o.speakers.split;
    asked.diarization = told.diarization;
  }
  speaker_model told;
  pipelines::speaker_session_options asked;
};

struct figures {
  std::vector<double> latencies;
  double audio = 0, work = 0;

  std::string text() {
    if (latencies.empty()) return "no results";
    std::sort(latencies.begin(), latencies.end());
    double sum = 0;
    for (const double l : latencies) sum += l;
    const auto n = latencies.size();
    char line[200];
    std::snprintf(
        line, sizeof line,
        "%zu results of %.1f s of audio; latency %.1f ms in the mean, %.1f ms for 95 of 100, %.1f ms at most; "
        "real-time factor %.3f",
        n, audio, sum / static_cast<double>(n), latencies[std::min(n - 1, n * 95 / 100)], latencies.back(),
        audio > 0 ? work / audio : 0);
    return line;
  }
};

}  // namespace

namespace {

// "NAME  about it", a line for each.
int list_devices(const options& o) {
  screen all;
  output_place out("", {}, all);
  for (const microphone& m : microphones())
    out.put(
        output_format(o) == format::jsonl
            ? std::move(json_builder().open('{').key("name").text(m.name).key("about").text(m.about).close('}')).str() +
                  "\n"
            : printable(m.name) + (m.about.empty() ? "" : "\t" + printable(m.about)) + "\n");
  return 0;
}

audio_reader open_live(const options& o, int rate, const std::string& name, reporter& report) {
  if (!o.live.microphone) return {o.audio[0], rate, o.reading};
  const channel_choice& which = o.reading.channels;
  auto device = open_microphone(*o.live.microphone, which.what == channel_choice::how::one ? which.number : 2);
  report.note("listening to the microphone " + device->name() + " (" + std::to_string(device->rate()) +
              " Hz, channels: " + std::to_string(device->channels()) + "); Ctrl-C ends it");
  const auto tell = [&](const std::string& text) { report.note(text); };
  return {std::make_unique<live_source>(std::move(device), tell), name, rate, o.reading};
}

}  // namespace

int run_stream(const options& o) {
  if (o.live.list_devices) return list_devices(o);
  const std::string name = !o.live.microphone           ? o.audio[0]
                           : o.live.microphone->empty() ? "the microphone"
                                                        : "the microphone " + *o.live.microphone;
  screen all;
  reporter report(all, o.progress && !o.quiet, o.quiet ? reporter::detail::errors_only : reporter::detail::all);
  output_place out("", {}, all);
  interrupt_watch watch([&] { report.end(); });  // at once
  const auto lm = open_language_model(o);
  const session_options asked = session_options_of(o, lm.get());
  tell_toy(o.model, {{name, ""}}, report);
  std::optional<thread_pool> pool;
  if (o.threads > 1) pool.emplace(o.threads);
  const executor run = pool ? executor(*pool) : executor();
  const auto note = [&](const std::string& text) { report.note(text); };
  const transcriber model = load_transcriber(o.model, run, note);
  const live_models beside(o, asked, model, run, note);
  check_live(asked, model, beside.beside());
  std::optional<live_speakers> who;
  if (!o.speakers.model.empty()) who.emplace(o, model.sample_rate(), run, note);
  watch.listen(true);
  audio_reader reader = open_live(o, model.sample_rate(), name, report);
  live_stream stream = who ? live_stream(model, who->told.model, asked, who->asked, beside.beside(), run)
                           : live_stream(model, asked, beside.beside(), run);
  const double rate = model.sample_rate();
  figures f;
  clock::time_point arrived;
  // What is final gets punctuation; a mark behind the last word of an utterance may come with the next one.
  std::optional<punctuator> punctuation;
  std::optional<punctuator::stream> marks;
  context scratch(run);
  if (!o.punctuation.empty()) {
    punctuation.emplace(load_as<punctuator>(o.punctuation, run, note));
    marks.emplace(*punctuation);
  }
  std::optional<inverse_text_normaliser> figures;
  if (!o.itn_rules.empty()) figures.emplace(o.itn_rules);
  const auto sink = [&](const session_event& heard) {
    session_event e = heard;
    if (marks && e.final()) marks->punctuate(e.utterance, scratch);
    if (figures) figures->rewrite(e);
    e.utterance = shifted(std::move(e.utterance), o.reading.part.offset);
    const double latency = std::chrono::duration<double, std::milli>(clock::now() - arrived).count();
    f.latencies.push_back(latency);
    if (output_format(o) == format::jsonl)
      write_event(out, e, latency, who.has_value());
    else
      show_text(all, out, e);
  };
  const voice_teller voices(o, beside.named(), out);
  // A tenth of a second at a time: what a microphone's driver hands over.
  std::vector<float> portion(static_cast<std::size_t>(rate / 10));
  report.begin(1, 1, name);
  const auto begin = clock::now();
  for (std::size_t n = 0; (n = reader.read(portion)) > 0;) {
    f.audio += static_cast<double>(n) / rate;
    arrived = clock::now();
    if (o.live.real_time) {
      arrived = begin + std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(f.audio));
      std::this_thread::sleep_until(arrived);
    }
    const auto from = clock::now();
    voices.push(std::span<const float>(portion).first(n));
    stream.push(std::span(portion).first(n), sink);
    f.work += std::chrono::duration<double>(clock::now() - from).count();
    report.update(f.audio, reader.seconds());
  }
  const auto from = clock::now();
  if (!o.live.real_time) arrived = from;
  voices.finish();
  stream.finish(sink);
  f.work += std::chrono::duration<double>(clock::now() - from).count();
  report.end();
  for (const std::string& w : reader.warnings()) report.warning(name + ": " + w, reader.damaged());
  report.note(f.text());
  if (reader.stopped())
    report.error("interrupted after " + duration_text(f.audio) + "; what was said until then is written");
  return interrupt_watch::exit_code(reader.damaged() ? 3 : 0);
}

}  // namespace steno::app
