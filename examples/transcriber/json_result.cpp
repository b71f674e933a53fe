// SPDX-License-Identifier: Apache-2.0
#include "json_result.hpp"

#include <type_traits>
#include <utility>
#include <variant>

#include "format_writer.hpp"
#include "json_builder.hpp"

namespace steno::app {
namespace {

std::string_view name(timing how) {
  return how == timing::native ? "native" : how == timing::aligned ? "aligned" : "none";
}

void add_windows(json_builder& j, const std::vector<core::window_report>& windows) {
  j.key("windows").open('[');
  for (const core::window_report& w : windows)
    j.open('{')
        .key("start")
        .number(w.start)
        .key("end")
        .number(w.end)
        .key("outcome")
        .text(w.outcome)
        .key("stop")
        .text(w.stop_reason)
        .key("fallbacks")
        .number(w.fallbacks)
        .key("temperature")
        .number(w.temperature)
        .key("avg_logprob")
        .number(w.avg_logprob)
        .key("compression_ratio")
        .number(w.compression_ratio)
        .key("no_speech_prob")
        .number(w.no_speech_prob)
        .close('}');
  j.close(']');
}

// What stands in "extra" beside the family's own fields, each in the place that it has had there since 0.1.
template <class Result>
void add_extras(json_builder& j, const Result& r) {
  j.open('{');
  bool alternatives = r.alternatives.empty(), stop = r.stop_reason.empty();  // done
  const auto add_alternatives = [&] {
    if (std::exchange(alternatives, true)) return;
    j.key("nbest").open('[');
    for (const alternative& a : r.alternatives)
      j.open('{').key("text").text(a.text).key("score").number(a.score).close('}');
    j.close(']');
  };
  const auto add_stop = [&] {
    if (!std::exchange(stop, true)) j.key("stop").text(r.stop_reason);
  };
  if constexpr (std::is_same_v<Result, result>)
    if (r.windows) add_windows(j, *r.windows);
  if (r.score) j.key("score").number(*r.score);
  for (const auto& [key, value] : r.extra) {
    if (key == "raw_text") add_alternatives();
    if (key == "fallbacks") add_stop();
    j.key(key);
    if (const auto* text = std::get_if<std::string>(&value))
      j.text(*text);
    else
      j.number(std::get<double>(value));
  }
  add_alternatives();
  add_stop();
  j.close('}');
}

class object_writer final : public format_writer {
 public:
  explicit object_writer(bool speakers) : speakers_(speakers) {}
  std::string begin(const recording_place& at) override {
    audio_ = at.audio;
    object_ = json_document(speakers_);
    return {};
  }
  std::string add(const segment& s, std::optional<int> channel) override {
    object_.add(s, channel);
    return {};
  }
  std::string end(const result& head) override { return object_.end(audio_, head) + "\n"; }

 private:
  bool speakers_;
  std::string audio_;
  json_document object_;
};

class lines_writer final : public format_writer {
 public:
  explicit lines_writer(bool speakers) : speakers_(speakers) {}
  std::string begin(const recording_place& at) override {
    audio_ = at.audio;
    language_.clear();
    return {};
  }
  std::string add(const segment& s, std::optional<int> channel) override {
    if (language_.empty()) language_ = s.language;
    return json_line(audio_, language_, s, speakers_, channel);
  }
  std::string end(const result&) override { return {}; }

 private:
  bool speakers_;
  std::string audio_, language_;
};

bool has_extras(const segment& s) {
  return s.score || !s.alternatives.empty() || !s.stop_reason.empty() || !s.extra.empty();
}

// All but the brackets.
void add_segment(json_builder& j, const segment& s, bool speakers, std::optional<int> channel) {
  j.key("start").number(s.start).key("end").number(s.end).key("text").text(s.text);
  j.key("token_ids").wholes(s.token_ids);
  add_speaker(j, s.speaker);
  if (channel) j.key("channel").whole(*channel);
  j.key("words").open('[');
  for (const word& w : s.words) add_word(j, w, speakers);
  j.close(']');
  if (!has_extras(s)) return;
  j.key("extra");
  add_extras(j, s);
}

}  // namespace

std::unique_ptr<format_writer> make_json_writer(format f, const layout& l) {
  if (f == format::jsonl) return std::make_unique<lines_writer>(l.speakers);
  return std::make_unique<object_writer>(l.speakers);
}

void add_speaker(json_builder& j, const std::optional<std::string>& speaker) {
  j.key("speaker");
  if (speaker)
    j.text(*speaker);
  else
    j.none();
}

void add_word(json_builder& j, const word& w, bool speakers) {
  j.open('{').key("word").text(w.text);
  if (w.how != timing::none) j.key("start").number(w.start).key("end").number(w.end);
  j.key("confidence");
  if (w.how == timing::aligned)
    j.none();  // an aligner finds times, and no probability
  else
    j.number(static_cast<double>(w.confidence));
  j.key("timing").text(name(w.how));
  if (speakers) add_speaker(j, w.speaker);
  j.close('}');
}

void json_document::add(const segment& s, std::optional<int> channel) {
  json_builder j;
  add_segment(j.open('{'), s, speakers_, channel);
  pipelines::append_text(text_, s.text);
  if (!segments_.empty()) segments_ += ',';
  segments_ += j.str();
  if (!s.language.empty()) {
    const bool extra = has_extras(s);
    languages_.push_back({segments_.size() - (extra ? 1 : 0), extra, s.language});
  }
  segments_ += '}';
}

std::string json_document::end(std::string_view audio, const result& head) {
  json_builder j;
  j.open('{').key("model").text(head.model).key("audio").text(audio).key("duration").number(head.duration);
  j.key("language").text(head.language).key("text").text(text_).key("segments");
  std::string list = "[";
  std::size_t done = 0;
  for (const place& p : languages_) {
    if (p.language == head.language) continue;
    list.append(segments_, done, p.at - done);
    done = p.at;
    json_builder language;
    language.open('{').key("language").text(p.language);
    const std::string_view entry = std::string_view(language.str()).substr(1);
    list.append(p.has_extra ? "," : ",\"extra\":{").append(entry).append(p.has_extra ? "" : "}");
  }
  list.append(segments_, done).append("]");
  segments_ = {};
  j.raw(list).key("extra");
  add_extras(j, head);
  return std::move(j.close('}')).str();
}

std::string json_line(std::string_view audio, std::string_view language, const segment& s, bool speakers,
                      std::optional<int> channel) {
  json_builder j;
  j.open('{').key("audio").text(audio).key("language").text(s.language.empty() ? language : s.language);
  add_segment(j, s, speakers, channel);
  return std::move(j.close('}')).str() + "\n";
}

}  // namespace steno::app
