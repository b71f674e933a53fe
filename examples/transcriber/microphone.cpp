// SPDX-License-Identifier: Apache-2.0
#include "microphone.hpp"

#include <steno/error.hpp>

#include <alsa/asoundlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "options.hpp"

namespace steno::app {
namespace {

constexpr const char* usual_microphone = "default";
// A card's buffer: what waits there while the reading thread does not run, and how often that is woken.
constexpr unsigned buffer_us = 500000, period_us = 50000;

struct close_pcm {
  void operator()(snd_pcm_t* p) const { snd_pcm_close(p); }
};
using pcm_handle = std::unique_ptr<snd_pcm_t, close_pcm>;

// ALSA writes what it could not find to standard error, for every device that is looked at.
void say_nothing(const char*, int, const char*, int, const char*, ...) {}
void silence_alsa() { snd_lib_error_set_handler(say_nothing); }

// 0, or ALSA's negative error.
int open_pcm_device(const std::string& name, pcm_handle& to) {
  snd_pcm_t* opened = nullptr;
  const int failed = snd_pcm_open(&opened, name.c_str(), SND_PCM_STREAM_CAPTURE, SND_PCM_NONBLOCK);
  if (failed >= 0) to.reset(opened);
  return failed;
}

// In the list that ALSA makes for programs stand converters and other forms of the same card, too: those are left out,
// which a user would not choose. ("plughw:" is a card with its formats converted.)
bool is_for_users(std::string_view name) {
  constexpr std::string_view converters[] = {"null",  "lavrate",  "samplerate", "speexrate", "speex",
                                             "upmix", "vdownmix", "oss",        "jack"};
  if (std::find(std::begin(converters), std::end(converters), name) != std::end(converters)) return false;
  return name.find(':') == std::string_view::npos || name.starts_with("plughw:") || name.starts_with("bluealsa:");
}

std::string hint_text(const void* hint, const char* key) {
  const std::unique_ptr<char, decltype(&std::free)> text(snd_device_name_get_hint(hint, key), std::free);
  std::string line = text ? text.get() : "";
  for (std::size_t at = 0; (at = line.find('\n', at)) != std::string::npos;) line.replace(at, 1, ", ");
  return line;
}

std::string in_small_letters(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return text;
}

std::vector<microphone> found_microphones() {
  silence_alsa();
  std::vector<microphone> all = {{usual_microphone, "what the system is set to"}};
  void** hints = nullptr;
  if (snd_device_name_hint(-1, "pcm", &hints) >= 0) {
    for (void** h = hints; *h != nullptr; ++h) {
      microphone m{hint_text(*h, "NAME"), hint_text(*h, "DESC")};
      const std::string way = hint_text(*h, "IOID");  // empty: both
      if (m.name == usual_microphone || !is_for_users(m.name) || (!way.empty() && way != "Input")) continue;
      all.push_back(std::move(m));
    }
    snd_device_name_free_hint(hints);
  }
  std::erase_if(all, [](const microphone& m) {
    pcm_handle opened;
    const int failed = open_pcm_device(m.name, opened);
    return failed < 0 && failed != -EBUSY;  // who listens to it now may end
  });
  return all;
}

// What a name means: the name itself where it is none of those.
std::string device_named(const std::string& name) {
  if (name.empty()) return usual_microphone;
  std::vector<std::string> meant;
  for (const microphone& m : found_microphones()) {
    if (m.name == name) return name;
    const std::string all = in_small_letters(m.name + "\n" + m.about);
    if (all.find(in_small_letters(name)) != std::string::npos) meant.push_back(m.name);
  }
  if (meant.size() == 1) return meant.front();
  std::string list;
  for (const std::string& m : meant) list.append(list.empty() ? "" : ", ").append(m);
  if (meant.size() > 1) wrong_usage("--microphone " + name + " may be one of several: " + list);
  return name;
}

[[noreturn]] void no_microphone_there() {
  fail({.where = "microphone",
        .what = "none is there",
        .hint = "plug one in, or start PipeWire or PulseAudio; without these the user must be in the group audio"});
}

class alsa_microphone final : public capture_device {
 public:
  alsa_microphone(const std::string& name, int channels) {
    silence_alsa();
    if (const int failed = open_pcm_device(name, pcm_); failed < 0) {
      if (name == usual_microphone && failed != -EBUSY) no_microphone_there();
      refuse(name, failed,
             failed == -EBUSY ? "another program listens to it"
                              : "steno stream --list-devices shows those that are there");
    }
    snd_pcm_hw_params_t* p = nullptr;
    snd_pcm_hw_params_alloca(&p);
    const auto check = [&](int done) {
      if (done < 0) refuse(name, done, "its settings cannot be chosen; is it a microphone?");
    };
    check(snd_pcm_hw_params_any(pcm_.get(), p));
    check(snd_pcm_hw_params_set_rate_resample(pcm_.get(), p, 0));  // steno does that
    check(snd_pcm_hw_params_set_access(pcm_.get(), p, SND_PCM_ACCESS_RW_INTERLEAVED));
    const auto taken = std::find_if(formats.begin(), formats.end(), [&](snd_pcm_format_t f) {
      return snd_pcm_hw_params_set_format(pcm_.get(), p, f) >= 0;
    });
    if (taken == formats.end()) refuse(name, -EINVAL, "it has other samples; try plug" + name);
    format_ = *taken;
    channels_ = static_cast<unsigned>(std::max(1, channels));
    check(snd_pcm_hw_params_set_channels_near(pcm_.get(), p, &channels_));
    rate_ = 48000;
    check(snd_pcm_hw_params_set_rate_near(pcm_.get(), p, &rate_, nullptr));
    unsigned buffer = buffer_us, period = period_us;
    check(snd_pcm_hw_params_set_buffer_time_near(pcm_.get(), p, &buffer, nullptr));
    check(snd_pcm_hw_params_set_period_time_near(pcm_.get(), p, &period, nullptr));
    check(snd_pcm_hw_params(pcm_.get(), p));
    if (rate_ < 1000 || rate_ > 1000000 || channels_ > 256)
      fail({.where = name,
            .what = "has a rate or channels that cannot be",
            .found = std::to_string(rate_) + " Hz, " + std::to_string(channels_)});
    check(snd_pcm_start(pcm_.get()));
    last_ = clock::now();
  }

  std::string name() const override { return snd_pcm_name(pcm_.get()); }
  int rate() const override { return static_cast<int>(rate_); }
  int channels() const override { return static_cast<int>(channels_); }

  piece read(std::span<float> frames) override {
    piece p;
    int failed = snd_pcm_wait(pcm_.get(), 100);
    if (failed > 0) {
      const snd_pcm_sframes_t n = take(frames);
      if (n > 0) {
        last_ = clock::now();
        p.frames = static_cast<std::size_t>(n);
        return p;
      }
      failed = static_cast<int>(n);
    }
    if (failed == -EPIPE || failed == -ESTRPIPE) {
      p.overrun = true;
      failed = recovered(failed);
    }
    if (failed < 0 && failed != -EAGAIN && failed != -EINTR) p.gone = snd_strerror(failed);
    // Some devices that were pulled out say nothing at all.
    if (clock::now() - last_ > std::chrono::seconds(10)) p.gone = "it has given no sound for 10 s";
    return p;
  }

 private:
  using clock = std::chrono::steady_clock;
  static constexpr std::array<snd_pcm_format_t, 3> formats = {SND_PCM_FORMAT_FLOAT, SND_PCM_FORMAT_S32,
                                                              SND_PCM_FORMAT_S16};

  [[noreturn]] static void refuse(const std::string& name, int failed, const std::string& hint) {
    fail({.where = "microphone " + name, .what = snd_strerror(failed), .hint = hint});
  }

  snd_pcm_sframes_t take(std::span<float> frames) {
    const std::size_t count = frames.size() / channels_;
    if (format_ == SND_PCM_FORMAT_FLOAT) return snd_pcm_readi(pcm_.get(), frames.data(), count);
    const auto whole = [&](auto& samples, float scale) {
      samples.resize(count * channels_);
      const snd_pcm_sframes_t n = snd_pcm_readi(pcm_.get(), samples.data(), count);
      for (std::size_t i = 0; n > 0 && i < static_cast<std::size_t>(n) * channels_; ++i)
        frames[i] = static_cast<float>(samples[i]) * scale;
      return n;
    };
    return format_ == SND_PCM_FORMAT_S32 ? whole(wide_, 1.0f / 2147483648.0f) : whole(narrow_, 1.0f / 32768.0f);
  }

  // Listens again behind an overrun, or when the machine has slept.
  int recovered(int failed) const {
    for (int tries = 0; failed == -ESTRPIPE && tries < 50; ++tries) {
      const int resumed = snd_pcm_resume(pcm_.get());
      if (resumed != -EAGAIN) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    const int prepared = snd_pcm_prepare(pcm_.get());
    return prepared < 0 ? prepared : snd_pcm_start(pcm_.get());
  }

  pcm_handle pcm_;
  snd_pcm_format_t format_ = SND_PCM_FORMAT_FLOAT;
  unsigned channels_ = 1, rate_ = 48000;
  std::vector<std::int32_t> wide_;
  std::vector<std::int16_t> narrow_;
  clock::time_point last_;
};

}  // namespace

std::vector<microphone> microphones() {
  std::vector<microphone> all = found_microphones();
  if (all.empty()) no_microphone_there();
  return all;
}

std::unique_ptr<capture_device> open_microphone(const std::string& name, int channels) {
  return std::make_unique<alsa_microphone>(device_named(name), channels);
}

}  // namespace steno::app
