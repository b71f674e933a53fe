// SPDX-License-Identifier: Apache-2.0
#include "wenet_session.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "live.hpp"
#include "model_loading.hpp"
#include "wenet_protocol.hpp"

namespace steno::app {
namespace {

class wenet_session final : public live_protocol {
 public:
  wenet_session(server_hall& hall, live_host& host)
      : hall_(hall), host_(host), of_(hall.models->get(hall.models->usual())) {}

  void text(std::string_view message) override {
    client_signal signal = read(std::string(message));
    if (!signal.start || signal.model.empty() || stream_) return begin(signal);
    if (!hall_.models->has(signal.model)) return refuse(hall_.models->unknown(signal.model));
    const bool kept = guarded([&] {
      message_ = message;
      model_ = std::move(signal.model);
      waiting = wait_for_model(hall_, host_, model_);
    });
    if (kept && !waiting) model_came();
  }

  void bytes(std::span<const unsigned char> message) override {
    if (!stream_) return refuse("Start signal is expected before binary data");
    const std::size_t n = message.size() / 2;  // an odd byte at the end is no sample
    if (!guarded([&] { pcm_.resize(n); })) return;
    at_ = 0;
    samples_ += n;
    fresh_ += n;
    if (fresh_ >= static_cast<std::size_t>(of_->model.sample_rate()) / 10) {
      progressed = true;
      fresh_ = 0;
    }
    for (std::size_t i = 0; i < n; ++i) {
      const auto bits = static_cast<std::uint16_t>(message[2 * i] | message[2 * i + 1] << 8);
      std::int16_t value;
      std::memcpy(&value, &bits, sizeof value);
      pcm_[i] = static_cast<float>(value) / 32768.0f;
    }
  }

  // A slice of audio, then the end.
  bool proceed() override {
    if (!model_.empty()) {
      model_came();
      return true;
    }
    const auto tell = [this](const session_event& e) {
      endpoint_ = e.endpoint;
      if (e.final() && hall_.options.log_texts) said.push_back(e.utterance.text);
      if (e.final() || !e.utterance.text.empty())
        out.push_back(result_message(e, nbest_, of_->model.model_name().starts_with("u2_")));
    };
    const auto sink = [&](const session_event& e) {
      if (of_->figures == nullptr || !e.final()) return tell(e);
      session_event written = e;
      of_->figures->rewrite(written);
      tell(written);
    };
    constexpr std::size_t slice = 8000;
    if (at_ < pcm_.size()) {
      const auto piece = std::span(pcm_).subspan(at_, std::min(slice, pcm_.size() - at_));
      at_ += piece.size();
      guarded([&] { stream_->push(piece, sink); });
    } else if (ending_) {
      endpoint_ = endpoint_kind::none;
      if (stream_)
        guarded([&] { stream_->finish(sink); });
      else
        over = true;  // nothing was said
    } else {
      return false;
    }
    if (!over && stream_->over()) {
      out.push_back(speech_end_message(endpoint_));
      over = true;
    }
    return true;
  }

  void end() override { ending_ = true; }
  void refuse(const std::string& why) override {
    stream_.reset();
    pcm_ = {};
    at_ = 0;
    over = true;
    out.push_back(failed_message(why));
    failed = why;
  }
  double audio_seconds() const override { return static_cast<double>(samples_) / of_->model.sample_rate(); }

 private:
  // A message, as the present model takes it.
  client_signal read(const std::string& message) const {
    return read_signal(message, of_->live, of_->model.sample_rate());
  }
  // The one that the start message names is there, or cannot be had.
  void model_came() {
    const std::string name = std::exchange(model_, {});
    const model_shelf::place named = hall_.models->ready(name);
    if (named == nullptr) return refuse(not_loaded(hall_, name));
    of_ = named;
    begin(read(std::exchange(message_, {})));
  }
  void begin(const client_signal& signal) {
    if (!signal.refused.empty()) return refuse(signal.refused);
    progressed = true;  // there is one beginning and one end
    if (!signal.start) {
      ending_ = true;
      if (!stream_) refuse("Start signal is expected before the end");
      return;
    }
    if (stream_) return refuse("Speech has started already");
    nbest_ = signal.nbest;
    if (signal.speakers && of_->speakers == nullptr)
      return refuse("speakers: wants a server with a model of speakers (--speakers), and one of words for 16 kHz");
    const bool begun = guarded([&] {
      if (!signal.speakers) {
        stream_.emplace(of_->model, signal.live, of_->beside);
        return;
      }
      const speaker_model& who = *of_->speakers;
      stream_.emplace(of_->model, who.model, signal.live,
                      pipelines::speaker_session_options{who.diarization, who.rule, true}, of_->beside, executor());
    });
    if (begun) out.push_back(ready_message());
  }

  // Out of memory, or a thread that cannot be had, ends this session and no other.
  template <class F>
  bool guarded(F&& f) {
    try {
      f();
      return true;
    } catch (const std::bad_alloc&) {
      refuse("out of memory");
    } catch (const std::exception& e) {
      refuse(e.what());
    }
    return false;
  }

  server_hall& hall_;
  live_host& host_;
  model_shelf::place of_;
  std::string message_, model_;  // a start message that waits for this model
  std::optional<live_stream> stream_;
  std::vector<float> pcm_;
  std::size_t at_ = 0, nbest_ = 1, samples_ = 0, fresh_ = 0;
  endpoint_kind endpoint_ = endpoint_kind::none;  // of the last event
  bool ending_ = false;
};

}  // namespace

std::unique_ptr<live_protocol> start_wenet_session(server_hall& hall, live_host& host) {
  return std::make_unique<wenet_session>(hall, host);
}

}  // namespace steno::app
