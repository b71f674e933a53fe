// steno stream: a file or standard input to a streaming model, results while it listens.
#include <steno/error.hpp>
#include <steno/pipelines/any_vad.hpp>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "audio.hpp"
#include "live.hpp"
#include "text_width.hpp"
#include "verbs.hpp"

namespace steno::app {

session_options session_options_of(const options& o) {
  session_options r;
  r.chunk_size = o.live.chunk_size;
  r.left_chunks = o.live.left_chunks;
  r.rescore = o.live.rescore;
  r.endpoints = o.live.endpoints;
  r.forget_turns = o.live.forget_turns;
  r.longest_utterance = o.longest;
  r.beam = o.live.beam;
  r.hotword_score = o.live.phrase_score;
  r.hotwords = read_phrases(o.hotwords);
  return r;
}

namespace {

using clock = std::chrono::steady_clock;
using json = nlohmann::ordered_json;

json rounded(double x) { return std::isfinite(x) ? json(std::round(x * 1000) / 1000) : json(nullptr); }

json word_object(const word& w) {
  json object{{"word", w.text}};
  if (w.how != timing::none) {
    object["start"] = rounded(w.start);
    object["end"] = rounded(w.end);
  }
  object["confidence"] = rounded(static_cast<double>(w.confidence));
  object["timing"] = w.how == timing::none ? "none" : "native";
  return object;
}

// One line per event. Latency: from the arrival of the last sample that the result heard to the result.
void write_event(const session_event& e, double latency_ms) {
  json line;
  const segment& said = e.utterance;
  line["type"] = e.final() ? "final" : "partial";
  line["start"] = rounded(said.start);
  line[e.final() ? "end" : "heard"] = rounded(said.end);
  line["text"] = said.text;
  if (!e.final()) line["stable"] = e.stable;
  line["token_ids"] = said.token_ids;
  line["score"] = rounded(e.score);
  if (!e.stop.empty()) line["stop"] = e.stop;
  if (e.final()) {
    line["words"] = json::array();
    for (const word& w : said.words) line["words"].push_back(word_object(w));
    line["nbest"] = json::array();
    for (const auto& a : e.nbest) line["nbest"].push_back(a.text);
  }
  line["latency_ms"] = rounded(latency_ms);
  std::string text = line.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  if (e.endpoint != endpoint_kind::none)
    text += json{{"type", endpoint_name(e.endpoint)}, {"time", rounded(said.end)}}.dump() + "\n";
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

// A partial result overwrites the one before it and shows the end of what does not fit; a final one stays.
class line_writer {
 public:
  explicit line_writer(bool terminal) : terminal_(terminal) {}
  void show(const session_event& e) {
    if (!e.final() && !terminal_) return;
    std::string text = terminal_ ? printable(e.utterance.text) : e.utterance.text;
    if (terminal_) {
      if (!e.final()) text = last_columns(text, 78);
      std::fputs("\r\x1b[K", stdout);
    } else if (text.empty()) {
      return;
    }
    std::fputs(text.c_str(), stdout);
    if (e.final() && !text.empty()) std::fputs("\n", stdout);
    std::fflush(stdout);
  }

 private:
  // Whole characters from the back.
  static std::string last_columns(const std::string& text, int most) {
    std::size_t from = text.size();
    int used = 0;
    while (from > 0) {
      std::size_t begin = from - 1;
      while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xc0u) == 0x80u) --begin;
      used += columns(std::string_view(text).substr(begin, from - begin));
      if (used > most) break;
      from = begin;
    }
    return text.substr(from);
  }
  bool terminal_;
};

// Beginnings and ends of speech as lines of their own.
class voice_teller {
 public:
  voice_teller(const options& o, int rate) {
    if (o.vad == "none" || o.output_format != format::jsonl) return;
    heard_ = std::make_unique<voices>(open_vad(o.vad));
    if (vad_sample_rate(heard_->detector) != rate)
      fail({.where = o.vad, .what = "this detector has another sample rate", .expected = std::to_string(rate)});
  }
  void push(std::span<const float> pcm) const {
    if (heard_ != nullptr) heard_->stream.accept(pcm, heard_->scratch, write);
  }
  void finish() const {
    if (heard_ != nullptr) heard_->stream.finish(heard_->scratch, write);
  }

 private:
  struct voices {
    explicit voices(any_vad v) : detector(std::move(v)), stream(detector) {}
    any_vad detector;
    vad_stream stream;
    context scratch;
  };
  static void write(const voice_change& v) {
    const auto line = [](const char* type, std::int64_t ms) {
      const std::string text = json{{"type", type}, {"time", rounded(static_cast<double>(ms) / 1000)}}.dump() + "\n";
      std::fputs(text.c_str(), stdout);
    };
    if (v.start_ms >= 0) line("speech_start", v.start_ms);
    if (v.end_ms >= 0) line("speech_end", v.end_ms);
    std::fflush(stdout);
  }
  std::unique_ptr<voices> heard_;
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

int run_stream(const options& o) {
  reporter report(stderr, false, o.quiet ? reporter::detail::errors_only : reporter::detail::all);
  const session_options asked = session_options_of(o);
  const live_model model(o.model, [&](const std::string& text) { report.note(text); });
  audio_reader reader(o.audio[0], model.sample_rate(), o.pcm);
  listener stream = model.listen(asked);
  const double rate = model.sample_rate();
  line_writer lines(::isatty(STDOUT_FILENO) != 0);
  figures f;
  clock::time_point arrived;
  const auto sink = [&](const session_event& e) {
    const double latency = std::chrono::duration<double, std::milli>(clock::now() - arrived).count();
    f.latencies.push_back(latency);
    if (o.output_format == format::jsonl)
      write_event(e, latency);
    else
      lines.show(e);
  };
  const voice_teller voices(o, model.sample_rate());
  // A tenth of a second at a time: what a microphone's driver hands over.
  std::vector<float> portion(static_cast<std::size_t>(rate / 10));
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
  }
  const auto from = clock::now();
  if (!o.live.real_time) arrived = from;
  voices.finish();
  stream.finish(sink);
  f.work += std::chrono::duration<double>(clock::now() - from).count();
  for (const std::string& w : reader.warnings()) report.note("warning: " + o.audio[0] + ": " + w);
  report.note(f.text());
  return std::ferror(stdout) == 0 ? 0 : 1;
}

}  // namespace steno::app
