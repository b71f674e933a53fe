// SPDX-License-Identifier: Apache-2.0
#include "realtime_session.hpp"

#include <steno/error.hpp>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <new>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "http_routes.hpp"
#include "model_loading.hpp"
#include "realtime_settings.hpp"
#include "realtime_speakers.hpp"
#include "realtime_turn.hpp"
#include "speech_form.hpp"

namespace steno::app {
namespace {

std::string random_name() {
  constexpr std::string_view digits = "0123456789abcdef";
  std::random_device source;
  std::string name;
  for (int i = 0; i < 4; ++i)
    for (auto bits = static_cast<std::uint32_t>(source()), n = 0u; n < 4; ++n, bits >>= 8) name += digits[bits & 15u];
  return name;
}

class realtime_session final : public live_protocol {
 public:
  realtime_session(server_hall& hall, live_host& host, const realtime_request& asked)
      : hall_(hall), host_(host), name_(random_name()), beta_(asked.beta) {
    settings_.model = hall.models->usual();
    try {
      read_query(asked.target);
    } catch (const realtime_error& e) {
      send_error("invalid_request_error", e.code(), e.what(), e.param(), "");
      over = true;
      return;
    }
    after_ = next::created;
    use_model();
  }

  void text(std::string_view message) override {
    std::string event_id;
    try {
      flat_json event = read_flat_json(message);
      const flat_value* const id = event.find("event_id");
      if (id != nullptr && id->what == flat_value::kind::text) event_id = id->text.substr(0, 512);
      if (!event.wrong.empty()) throw realtime_error("invalid_json", "this is no event: " + event.wrong);
      take(event);
    } catch (const std::bad_alloc&) {
      refuse("out of memory");
    } catch (const core::out_of_memory& e) {
      refuse(e.what());
    } catch (const realtime_error& e) {
      send_error("invalid_request_error", e.code(), e.what(), e.param(), event_id);
    } catch (const error& e) {
      send_error("invalid_request_error", "invalid_value", e.what(), "", event_id);
    }
  }
  void bytes(std::span<const unsigned char>) override {
    send_error("invalid_request_error", "invalid_value", "audio comes in input_audio_buffer.append, as base64", "", "");
  }

  // A turn's end, a slice of audio, or the session's end.
  bool proceed() override {
    try {
      if (after_ != next::nothing) {
        model_came();
      } else if (!ended_.empty()) {
        end_turn(*ended_.front());
        ended_.pop_front();
        tell_speakers();
      } else if (at_ < coded_.size()) {
        listen();
      } else if (ending_) {
        last_words();
      } else {
        return false;
      }
    } catch (const std::bad_alloc&) {
      refuse("out of memory");
    } catch (const error& e) {
      refuse(e.what());
    }
    return true;
  }

  void end() override { ending_ = true; }
  void refuse(const std::string& why) override {
    turn_.reset();
    ended_.clear();
    voices_.reset();
    who_.reset();
    decoder_.reset();
    coded_ = {};
    held_ = {};
    at_ = 0;
    over = true;
    send_error("server_error", "session_ended", why, "", "");
    failed = why;
  }
  double audio_seconds() const override { return rate_ > 0 ? static_cast<double>(total_) / rate_ : 0; }

 private:
  using position = std::int64_t;  // samples at the model's rate, from the start of the session

  // What a client may say in the address. Throws realtime_error.
  void read_query(const std::string& target) {
    const std::size_t mark = target.find('?');
    std::string_view rest = mark == std::string::npos ? std::string_view() : std::string_view(target).substr(mark + 1);
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('&'), rest.size());
      const std::string_view one = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      const std::size_t equal = std::min(one.find('='), one.size());
      const std::string_view key = one.substr(0, equal);
      const std::string value = query_value(one.substr(std::min(equal + 1, one.size())));
      if (key == "model") {
        settings_.model = value;
      } else if (key == "intent") {
        if (value != "transcription")
          throw realtime_error("unsupported_value", "intent: sessions here are of transcription alone", "intent");
      } else {
        const std::string shown = core::printable(key.substr(0, 64));
        throw realtime_error("unknown_parameter", shown + ": there are model and intent", shown);
      }
    }
    check_model("model");
  }
  void check_model(const std::string& param) const {
    if (!hall_.models->has(settings_.model))
      throw realtime_error("model_not_found", hall_.models->unknown(settings_.model), param);
  }

  // What is done when the model is there.
  enum class next { nothing, created, updated };
  // Asks for it where it is not loaded; then proceed() is called when it is, or cannot be had.
  void use_model() { waiting = wait_for_model(hall_, host_, settings_.model); }
  void model_came() {
    const next what = std::exchange(after_, next::nothing);
    if (model_shelf::place m = hall_.models->ready(settings_.model); m == nullptr) {
      const std::string told = not_loaded(hall_, settings_.model);
      if (what == next::created) return refuse(told);
      settings_ = before_;
      return send_error("server_error", "model_not_loaded", told, "", update_id_);
    } else if (m != of_) {
      of_ = std::move(m);
      beside_ = of_->beside_turns();
      const double before = audio_seconds();
      rate_ = of_->model.sample_rate();
      total_ = first_ = heard_ = static_cast<position>(before * rate_ + 0.5);
      held_.clear();
      voices_.reset();
      decoder_.reset();
    }
    if (what == next::created) return send_session(beta_ ? "transcription_session.created" : "session.created");
    try {
      check_settings();
      if (settings_.audio != before_.audio) decoder_.reset();
      if (settings_.silence != before_.silence || settings_.server_vad != before_.server_vad) voices_.reset();
      if (!settings_.speakers) end_speakers();
      return send_session(beta_ ? "transcription_session.updated" : "session.updated");
    } catch (const realtime_error& e) {
      send_error("invalid_request_error", e.code(), e.what(), e.param(), update_id_);
    } catch (const error& e) {
      send_error("invalid_request_error", "invalid_value", e.what(), "", update_id_);
    }
    const bool other = settings_.model != before_.model;
    settings_ = before_;
    if (!other) return;
    of_ = hall_.models->ready(settings_.model);  // which was there before
    beside_ = of_->beside_turns();
    rate_ = of_->model.sample_rate();
  }

  void take(flat_json& event) {
    const flat_value* const type = event.find("type");
    if (type == nullptr || type->what != flat_value::kind::text)
      throw realtime_error("missing_required_parameter", "type: is missing", "type");
    const std::string& name = type->text;
    if (name == "session.update" || name == "transcription_session.update") {
      beta_ = name != "session.update";
      const flat_value* const id = event.find("event_id");
      update_id_ = id != nullptr && id->what == flat_value::kind::text ? id->text.substr(0, 512) : "";
      update(event);
    } else if (name == "input_audio_buffer.append") {
      append(event);
    } else if (name == "input_audio_buffer.commit") {
      only(event, {"type", "event_id"});
      commit();
    } else if (name == "input_audio_buffer.clear") {
      only(event, {"type", "event_id"});
      clear();
    } else {
      throw realtime_error("invalid_value",
                           "type: a session of transcription knows session.update, transcription_session.update, "
                           "input_audio_buffer.append, input_audio_buffer.commit and input_audio_buffer.clear",
                           "type");
    }
  }
  static void only(const flat_json& event, std::initializer_list<std::string_view> known) {
    for (const flat_value& v : event.values)
      if (std::find(known.begin(), known.end(), v.path) == known.end()) {
        const std::string shown = core::printable(std::string_view(v.path).substr(0, 100));
        throw realtime_error("unknown_parameter", shown + ": no such field here", shown);
      }
  }

  // The rest when the model is there.
  void update(const flat_json& event) {
    before_ = settings_;
    update_settings(settings_, event);
    try {
      check_model(parameter("model"));
      const bool used = turn_ != nullptr || appended_ > 0;
      if (used && settings_.audio != before_.audio)
        throw realtime_error("invalid_value", "the format of audio changes between turns: commit or clear the buffer");
      if (used && settings_.model != before_.model)
        throw realtime_error("invalid_value", "the model changes between turns: commit or clear the buffer");
      if ((used || !ended_.empty()) && settings_.speakers != before_.speakers)
        throw realtime_error("invalid_value", "speakers are told of whole turns: commit or clear the buffer");
    } catch (const realtime_error&) {
      settings_ = before_;
      throw;
    }
    after_ = next::updated;
    use_model();
  }
  std::string parameter(const char* of_transcription) const {
    return std::string(beta_ ? "session.input_audio_transcription." : "session.audio.input.transcription.") +
           of_transcription;
  }
  void check_settings() {
    const auto need = [&](const char* option, const std::string& param, const char* why) {
      if (!any_session::honours(of_->model, option, beside_))
        throw realtime_error("unsupported_value", param + ": " + why, param);
    };
    if (settings_.language != "auto")
      need("language", parameter("language"), "this model hears the languages it was trained for; leave it out");
    if (!settings_.keywords.empty()) need("hotwords", parameter("keywords"), "this model favours none");
    if (settings_.speakers && (of_->speakers == nullptr || !of_->speakers->model.streams()))
      throw realtime_error("unsupported_value",
                           parameter("speakers") +
                               ": wants a server with a model of speakers that streams (--speakers)"
                               ", and one of words for 16 kHz",
                           parameter("speakers"));
    if (settings_.language == before_.language && settings_.keywords == before_.keywords &&
        settings_.model == before_.model)
      return;
    if (!of_->model.supports_language(language_of_model(of_->model, settings_.language)))
      throw realtime_error("invalid_value", parameter("language") + ": this model does not know it",
                           parameter("language"));
    (void)live_stream(of_->model, options_of_turn(), beside_);  // what the model refuses is refused now
  }
  session_options options_of_turn() const {
    session_options o = of_->live;
    o.continuous = true;
    if (settings_.language != "auto") o.language = language_of_model(of_->model, settings_.language);
    if (!settings_.keywords.empty()) o.hotwords.assign(settings_.keywords.begin(), settings_.keywords.end());
    return o;
  }

  void append(flat_json& event) {
    only(event, {"type", "event_id", "audio"});
    const flat_value* const audio = event.find("audio");
    if (audio == nullptr) throw realtime_error("missing_required_parameter", "audio: is missing", "audio");
    coded_.clear();
    at_ = 0;
    if (audio->what != flat_value::kind::text || !decode_base64(audio->text, coded_)) {
      coded_.clear();
      throw realtime_error("invalid_value", "audio: expected base64", "audio");
    }
    fresh_ += coded_.size();
    if (fresh_ * 10 < bytes_of_second()) return;
    progressed = true;
    fresh_ = 0;
  }
  std::size_t bytes_of_second() const {
    return static_cast<std::size_t>(settings_.audio.rate) * (settings_.audio.how == audio_kind::coding::pcm ? 2 : 1);
  }

  void commit() {
    if (settings_.server_vad ? turn_ == nullptr : appended_ * 10 < bytes_of_second())
      throw realtime_error("input_audio_buffer_commit_empty",
                           settings_.server_vad
                               ? "no speech is in the buffer"
                               : "the buffer holds " + std::to_string(appended_ * 1000 / bytes_of_second()) +
                                     " ms of audio; a turn has 100 at least");
    flush();
    voices_.reset();
    commit_turn();
  }
  // The last samples of what was appended.
  void flush() {
    if (settings_.server_vad || !decoder_) return;
    samples_.clear();
    decoder_->finish(samples_);
    hear(samples_);
  }
  void clear() {
    turn_.reset();
    voices_.reset();
    decoder_.reset();
    held_.clear();
    first_ = total_;
    appended_ = 0;
    send(begin("input_audio_buffer.cleared"));
  }

  void listen() {
    if (!decoder_) decoder_.emplace(settings_.audio, rate_);
    const std::size_t n = std::min(coded_.size() - at_, std::max<std::size_t>(bytes_of_second() / 2, 1));
    samples_.clear();
    decoder_->push(std::span<const unsigned char>(coded_).subspan(at_, n), samples_);
    at_ += n;
    appended_ += n;
    hear(samples_);
    if (at_ == coded_.size() && coded_.capacity() > 65536) coded_ = {};  // the longest message is not the usual one
  }

  void hear(std::span<const float> pcm) {
    if (!settings_.server_vad) {
      if (pcm.empty()) return;
      if (turn_ == nullptr) open_turn(total_);
      find_speakers(pcm);
      total_ += static_cast<position>(pcm.size());
      first_ = total_;
      tell(*turn_, turn_->push(pcm));
      tell_speakers();
      return;
    }
    // To the next multiple of a block, so that turns do not depend on the portions.
    const position block = rate_ / 100;
    while (!pcm.empty()) {
      const auto part = pcm.first(std::min(pcm.size(), static_cast<std::size_t>(block - total_ % block)));
      pcm = pcm.subspan(part.size());
      find_turns(part);
    }
  }

  void find_turns(std::span<const float> part) {
    if (!voices_) {
      voices_.emplace(of_->turns(), vad_settings{.min_silence = settings_.silence});
      voices_from_ = total_;
    }
    held_.insert(held_.end(), part.begin(), part.end());
    find_speakers(part);
    total_ += static_cast<position>(part.size());
    if (turn_ != nullptr) tell(*turn_, turn_->push(part));
    changes_.clear();
    voices_->accept(part, scratch_, [this](const segmentation::voice_change& v) { changes_.push_back(v); });
    for (const segmentation::voice_change& v : changes_) {
      if (v.start_ms >= 0) speech_started(voices_from_ + place(v.start_ms));
      if (v.end_ms >= 0 && turn_ != nullptr) speech_stopped(voices_from_ + place(v.end_ms));
    }
    tell_speakers();
    const position needed =
        turn_ != nullptr ? total_ : voices_from_ + place(voices_->settled_ms()) - place(settings_.prefix_padding);
    if (needed - first_ < rate_) return;
    held_.erase(held_.begin(), held_.begin() + (std::min(needed, total_) - first_));
    first_ = std::min(needed, total_);
  }
  position place(std::int64_t ms) const { return ms * rate_ / 1000; }
  std::int64_t ms_of(position at) const { return at * 1000 / rate_; }

  void speech_started(position at) {
    at = std::clamp(at - place(settings_.prefix_padding), std::max(first_, heard_), total_);
    const bool going_on = turn_ != nullptr;
    if (!going_on) open_turn(at);
    json_builder j = begin("input_audio_buffer.speech_started");
    send(j.key("audio_start_ms").whole(ms_of(at)).key("item_id").text(turn_->id()));
    if (!going_on)
      tell(*turn_, turn_->push(std::span<const float>(held_).subspan(static_cast<std::size_t>(at - first_))));
  }
  void speech_stopped(position at) {
    json_builder j = begin("input_audio_buffer.speech_stopped");
    send(j.key("audio_end_ms").whole(ms_of(std::min(at, total_))).key("item_id").text(turn_->id()));
    commit_turn();
  }

  void open_turn(position at) {
    turn_ = std::make_unique<realtime_turn>("item_" + name_ + std::to_string(++items_), static_cast<double>(at) / rate_,
                                            of_->model, options_of_turn(), beside_, of_->figures);
  }
  // Its text comes when the answers so far are on their way.
  void commit_turn() {
    const std::string id = turn_->id();
    heard_ = total_;
    appended_ = 0;
    ended_.push_back(std::move(turn_));
    const auto before = [&](json_builder& j) {
      j.key("previous_item_id");
      if (last_item_.empty())
        j.none();
      else
        j.text(last_item_);
    };
    json_builder committed = begin("input_audio_buffer.committed");
    before(committed);
    send(committed.key("item_id").text(id));
    const auto item = [&](const char* type) {
      json_builder j = begin(type);
      before(j);
      j.key("item").open('{').key("id").text(id).key("object").text("realtime.item").key("type").text("message");
      j.key("status").text("completed").key("role").text("user").key("content").open('[').open('{');
      j.key("type").text("input_audio").key("transcript").none().close('}').close(']').close('}');
      send(j);
    };
    if (beta_) {
      item("conversation.item.created");
    } else {
      item("conversation.item.added");
      item("conversation.item.done");
    }
    last_item_ = id;
  }

  void end_turn(realtime_turn& t) {
    tell(t, t.finish());
    if (!t.failure().empty()) {
      json_builder j = begin("conversation.item.input_audio_transcription.failed");
      j.key("item_id").text(t.id()).key("content_index").whole(0).key("error").open('{');
      j.key("type")
          .text("server_error")
          .key("code")
          .text(t.short_of_memory() ? "out_of_memory" : "transcription_failed");
      send(j.key("message").text(t.failure()).key("param").none().close('}'));
      return;
    }
    if (hall_.options.log_texts) said.push_back(t.text());
    json_builder j = begin("conversation.item.input_audio_transcription.completed");
    j.key("item_id").text(t.id()).key("content_index").whole(0).key("transcript").text(t.text());
    bool times = false;  // of words, which the API does not have
    for (const segment& s : t.segments())
      for (const word& w : s.words) {
        if (w.how == timing::none) continue;
        if (!std::exchange(times, true)) j.key("words").open('[');
        j.open('{').key("word").text(w.text).key("start").number(w.start).key("end").number(w.end).close('}');
      }
    if (times) j.close(']');
    j.key("usage").open('{').key("type").text("duration");
    send(j.key("seconds").number(static_cast<double>(t.samples()) / rate_).close('}'));
    if (who_) who_->add(t.id(), t.segments());
  }
  // Of the samples that begin at total_.
  void find_speakers(std::span<const float> pcm) {
    if (!settings_.speakers) return;
    if (!who_) who_.emplace(*of_->speakers, static_cast<double>(total_) / rate_);
    who_->push(pcm);
  }
  // What is not settled yet is told as it stands.
  void end_speakers() {
    if (!who_) return;
    who_->end();
    tell_speakers();
    who_.reset();
  }
  void tell_speakers() {
    if (!who_) return;
    for (const realtime_speakers::part& p : who_->take()) {
      json_builder j = begin("conversation.item.input_audio_transcription.segment");
      j.key("item_id").text(p.item).key("content_index").whole(0);
      j.key("id").text("seg_" + name_ + std::to_string(++segments_)).key("speaker");
      if (p.said.speaker)
        j.text(*p.said.speaker);
      else
        j.none();
      j.key("start").number(p.said.start).key("end").number(p.said.end);
      send(j.key("text").text(p.said.text));
    }
    who_->forget(!ended_.empty()    ? ended_.front()->begin()
                 : turn_ != nullptr ? turn_->begin()
                                    : static_cast<double>(first_) / rate_);
  }
  void tell(const realtime_turn& t, const std::string& more) {
    if (more.empty()) return;
    json_builder j = begin("conversation.item.input_audio_transcription.delta");
    send(j.key("item_id").text(t.id()).key("content_index").whole(0).key("delta").text(more));
  }

  void last_words() {
    if (turn_ != nullptr) {
      flush();
      if (settings_.server_vad) return speech_stopped(total_);
      return commit_turn();
    }
    end_speakers();
    send_error("server_error", "shutting_down", "the server ends", "", "");
    over = true;
  }

  json_builder begin(const char* type) {
    json_builder j;
    j.open('{').key("type").text(type).key("event_id").text("event_" + name_ + std::to_string(++events_));
    return j;
  }
  void send(json_builder& j) { out.push_back(std::move(j.close('}')).str()); }
  void send(json_builder&& j) { send(j); }
  void send_session(const char* type) {
    json_builder j = begin(type);
    put_settings(j.key("session"), settings_, "sess_" + name_, beta_);
    send(j);
  }
  void send_error(const char* type, const std::string& code, const std::string& message, const std::string& param,
                  const std::string& event_id) {
    json_builder j = begin("error");
    const auto or_null = [&](const char* key, const std::string& value) {
      j.key(key);
      if (value.empty())
        j.none();
      else
        j.text(value);
    };
    j.key("error").open('{').key("type").text(type);
    or_null("code", code);
    j.key("message").text(message);
    or_null("param", param);
    or_null("event_id", event_id);
    send(j.close('}'));
  }

  server_hall& hall_;
  live_host& host_;
  const std::string name_;
  model_shelf::place of_;  // null until it is loaded
  pipelines::session_models beside_ = {};
  int rate_ = 0;  // of the model
  bool beta_;
  realtime_settings settings_, before_;  // before_: what held before the update that waits for its model
  next after_ = next::nothing;
  std::string update_id_;
  std::vector<unsigned char> coded_;  // of the last append
  std::size_t at_ = 0;                // so much of it was listened to
  std::size_t appended_ = 0;          // bytes since the last turn
  std::size_t fresh_ = 0;             // bytes since the client made progress
  std::optional<coded_audio> decoder_;
  std::vector<float> samples_;
  context scratch_;
  std::optional<vad_stream> voices_;
  position voices_from_ = 0;
  std::vector<segmentation::voice_change> changes_;
  std::vector<float> held_;  // samples first_ to total_, where turns are found
  position first_ = 0, total_ = 0;
  position heard_ = 0;  // what is before it was in a turn
  std::unique_ptr<realtime_turn> turn_;
  std::deque<std::unique_ptr<realtime_turn>> ended_;
  std::optional<realtime_speakers> who_;
  std::string last_item_;
  long long events_ = 0, items_ = 0, segments_ = 0;
  bool ending_ = false;
};

}  // namespace

std::unique_ptr<live_protocol> start_realtime_session(server_hall& hall, live_host& host,
                                                      const realtime_request& asked) {
  return std::make_unique<realtime_session>(hall, host, asked);
}

}  // namespace steno::app
