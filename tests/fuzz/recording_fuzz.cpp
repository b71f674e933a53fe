// The beginning of a recording, then an empty line and what ffmpeg says about it: any bytes are refused with
// steno::error, or give samples of a WAV file, as many as there are bytes for; what kind of file it is, and what the
// messages say, is found without reading behind them.
//
// Of the transcriber: byte_source.cpp channels.cpp ffmpeg_log.cpp media_kinds.cpp mpeg_frames.cpp
// Of the transcriber: raw_pcm.cpp signals.cpp wav_stream.cpp
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>

#include "channels.hpp"
#include "ffmpeg_log.hpp"
#include "fuzz.hpp"
#include "media_kinds.hpp"
#include "wav_stream.hpp"

using namespace steno_fuzz;

namespace {

// A few bytes at a time, as a pipe may have them.
class pieces final : public steno::app::byte_source {
 public:
  explicit pieces(std::string_view bytes) : byte_source("a pipe"), bytes_(bytes) {}
  std::size_t read(std::uint8_t* to, std::size_t most) override {
    const std::size_t n = std::min({most, bytes_.size(), std::size_t{100}});
    std::copy_n(bytes_.begin(), n, to);
    bytes_.remove_prefix(n);
    return n;
  }

 private:
  std::string_view bytes_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace app = steno::app;
  const std::string_view all = text_of(data, size);
  const std::size_t end = std::min(all.find("\n\n"), all.size());
  const std::string_view sound = all.substr(0, end), messages = all.substr(end);

  (void)app::media_kind({data, sound.size()});
  (void)app::begins_as_sound({data, sound.size()});
  read_or_refuse([&] {
    std::unique_ptr<app::byte_source> bytes = std::make_unique<pieces>(sound);
    std::vector<std::uint8_t> head;
    bytes->fill(head, 12);
    if (!app::begins_as_wav(head)) return;
    auto wav = app::open_wav(bytes, head);
    if (wav == nullptr) {
      require(bytes != nullptr && head.size() <= sound.size());
      return;
    }
    const int channels = wav->channels();
    require(channels > 0 && wav->rate() >= 1000);
    app::channel_reader reader(
        std::move(wav), "a pipe",
        {channels <= app::channel_reader::most_split ? app::channel_choice::how::split : app::channel_choice::how::mix},
        {});
    std::vector<float> samples(64);
    std::size_t count = 0;
    for (bool more = true; more;) {
      more = false;
      for (int v = 0; v < reader.voices(); ++v)
        if (const std::size_t n = reader.read(v, samples)) {
          more = true;
          count += n;
          for (const float x : samples) require(x >= -65536.0f && x <= 65536.0f);
        }
    }
    require(count <= sound.size());
  });

  app::ffmpeg_log log, at_once;
  for (std::size_t at = 0; at < messages.size(); at += 7) log.add(messages.substr(at, 7));
  log.end();
  at_once.add(messages);
  at_once.end();
  require(log.text() == at_once.text() && log.errors() == at_once.errors() && log.duration() == at_once.duration());
  require(log.text().size() <= 2002 && log.duration() < 1e7);
  return 0;
}
