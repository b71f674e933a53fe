// steno/models/silero_vad.hpp - Silero VAD: where somebody speaks.
//
//   probability = silero_network(the samples before a window, the window)        32 ms, 16 or 8 kHz
//
// and speech_timestamps makes segments of it. Follows `get_speech_timestamps` and the models of Silero VAD v5 and v6,
// one sample rate a file; see docs/models/silero_vad.md. A clip and a stream are the same code. Tested in
// tests/models/silero_vad_test.cpp and tests/parity/silero_vad_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/models/load.hpp>
#include <steno/models/metadata.hpp>
#include <steno/networks/silero_network.hpp>
#include <steno/search/scores.hpp>
#include <steno/segmentation/speech_timestamps.hpp>
#include <steno/segmentation/voice_segments.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace models {

/// Wishes for one stream, in milliseconds; what has no value is as the file or the original has it.
struct silero_vad_options {
  std::optional<double> threshold = {};      ///< from this probability on a window is speech; otherwise 0.5
  std::optional<double> neg_threshold = {};  ///< below it is silence; otherwise threshold - 0.15, at least 0.01
  std::optional<int> min_speech = {};        ///< a segment that is not longer goes; otherwise 250
  std::optional<int> min_silence = {};       ///< a pause that ends a segment; otherwise 100
  std::optional<int> pad = {};               ///< added before and after; otherwise 30
  std::optional<int> max_segment = {};       ///< a longer one is cut; otherwise none is
};

/// Silero VAD: segments of speech in a recording or stream. A loaded model is const and may be shared by threads, each
/// with its own context and states.
template <nn::silero_sizes S>
class silero_vad {
 public:
  static constexpr nn::silero_sizes sizes = S;                    ///< `dynamic` where the file decides
  static constexpr std::string_view architecture = "silero_vad";  ///< `general.architecture` of its files
  using options = silero_vad_options;                             ///< of one stream
  using network_type = nn::silero_network<S>;                     ///< samples to a probability

  silero_vad() = default;
  /// Settings from the file's metadata; the weights are bound by load().
  STENO_COLD explicit silero_vad(const gguf_file& file)
      : sample_rate(static_cast<int>(models::read_whole(file, "silero_vad.frontend.sample_rate", 8000, 16000, 16000))) {
    if (sample_rate != 8000 && sample_rate != 16000)
      fail({.where = file.where(),
            .what = "key \"silero_vad.frontend.sample_rate\"",
            .expected = "8000 or 16000",
            .found = std::to_string(sample_rate)});
    const auto number = [&](const char* key, double otherwise) {
      return models::read_number(file, std::string("silero_vad.post.").append(key), 0, 1, otherwise);
    };
    const auto ms = [&](const char* key, extent otherwise) {
      return models::read_whole(file, std::string("silero_vad.post.").append(key), 0, longest_ms, otherwise);
    };
    segmentation::speech_timestamp_options& o = segmentation;
    o.threshold = number("threshold", o.threshold);
    if (file.has("silero_vad.post.neg_threshold")) o.neg_threshold = number("neg_threshold", 0);
    o.min_speech = static_cast<int>(ms("min_speech_duration_ms", o.min_speech));
    o.min_silence = static_cast<int>(ms("min_silence_duration_ms", o.min_silence));
    o.pad = static_cast<int>(ms("speech_pad_ms", o.pad));
    if (const extent longest = ms("max_speech_duration_ms", 0); longest != 0) o.max_speech = longest;
    o.min_silence_at_max_speech = static_cast<int>(ms("min_silence_at_max_speech_ms", o.min_silence_at_max_speech));
    o.longest_silence = models::read_flag(file, "silero_vad.post.use_max_poss_sil_at_max_speech", o.longest_silence);
  }

  int sample_rate = 16000;                              ///< Hz of the mono samples that it takes
  network_type network;                                 ///< samples to a probability
  segmentation::speech_timestamp_options segmentation;  ///< what makes segments of probabilities
  models::model_storage storage;                        ///< what the weights point into

  void members(auto&& v) {
    v("_model", network);
    v.equal("samples of a frame of the transform and 16 ms", network.template get<"stft">().filter(),
            sample_rate * 16 / 1000);
    v.equal("probabilities of a window and 1", network.output_size(), 1);
  }

  /// Samples of a window: 32 ms.
  extent window() const noexcept { return sample_rate * 32 / 1000; }
  /// Samples before a window that the network sees with it; 0 where its beginning is mirrored instead.
  extent before() const noexcept { return window() / 8 - network.template get<"stft">().left.get(); }

  /// One stream.
  struct state {
    options chosen;                            ///< those given to start()
    std::vector<float> samples;                ///< those before the window, and the window
    extent filled = 0;                         ///< samples of the window so far
    std::int64_t received = 0;                 ///< samples in all
    nn::state_of<network_type> memory;         ///< of the network
    segmentation::speech_timestamps segments;  ///< makes segments of probabilities
  };

  /// A new stream.
  state start(const options& o = {}) const {
    return {.chosen = o,
            .samples = std::vector<float>(static_cast<std::size_t>(before() + window())),
            .memory = network.start(),
            .segments = timestamps(o)};
  }

  /// The next samples (mono, in [-1, 1]), any number of them. sink(voice_change) is called in order of time.
  template <class Sink>
  void accept(state& s, std::span<const float> pcm, context& c, Sink&& sink) const {
    fill(s, pcm, [&] { s.segments.window(probability(s, c), in_ms(sink)); });
  }
  /// The end of the audio: what is open ends. The state is as start() made it.
  template <class Sink>
  void finish(state& s, context& c, Sink&& sink) const {
    if (fill_up(s)) s.segments.last_window(probability(s, c), in_ms(sink));
    s.segments.finish(s.received, in_ms(sink));
    std::fill(s.samples.begin(), s.samples.end(), 0.0f);
    nn::restart(network, s.memory);
    s.segments = timestamps(s.chosen);
    s.received = 0;
  }

  /// Milliseconds; audio before it belongs to segments that were emitted whole, or to none.
  std::int64_t settled_ms(const state& s) const { return s.segments.settled() * 1000 / sample_rate; }

  /// The probability of speech in each window of a whole recording, the last one filled up with zeros.
  STENO_COLD std::vector<float> probabilities(std::span<const float> pcm, context& c) const {
    std::vector<float> found;
    state s = start();
    fill(s, pcm, [&] { found.push_back(probability(s, c)); });
    if (fill_up(s)) found.push_back(probability(s, c));
    return found;
  }

 private:
  static constexpr extent longest_ms = 24 * 3600 * 1000;

  segmentation::speech_timestamps timestamps(const options& o) const {
    segmentation::speech_timestamp_options s = segmentation;
    s.threshold = o.threshold.value_or(s.threshold);
    s.neg_threshold = o.neg_threshold.value_or(o.threshold ? -1 : s.neg_threshold);
    s.min_speech = o.min_speech.value_or(s.min_speech);
    s.min_silence = o.min_silence.value_or(s.min_silence);
    s.pad = o.pad.value_or(s.pad);
    if (o.max_segment) s.max_speech = *o.max_segment;
    return segmentation::speech_timestamps(s, sample_rate, static_cast<int>(window()));
  }

  /// Puts samples into the window; full() whenever it is.
  template <class Full>
  void fill(state& s, std::span<const float> pcm, Full&& full) const {
    while (!pcm.empty()) {
      const extent n = std::min(static_cast<extent>(pcm.size()), window() - s.filled);
      std::copy_n(pcm.data(), n, s.samples.data() + before() + s.filled);
      s.filled += n;
      s.received += n;
      pcm = pcm.subspan(static_cast<std::size_t>(n));
      if (s.filled == window()) full();
    }
  }
  /// Zeros into what is missing of a window; false where it is empty.
  bool fill_up(state& s) const {
    if (s.filled == 0) return false;
    std::fill(s.samples.begin() + before() + s.filled, s.samples.end(), 0.0f);
    return true;
  }
  /// Of the window in s.samples, which makes room for the next one.
  float probability(state& s, context& c) const {
    float found = 0;
    const auto out = core::make_view(&found, 1, 1);
    network(core::make_view(static_cast<const float*>(s.samples.data()), before() + window(), 1), out, &s.memory,
            nn::no_env{}, c);
    search::require_numbers(core::read(out), c.run);
    std::copy_n(s.samples.end() - before(), before(), s.samples.begin());
    s.filled = 0;
    return found;
  }
  template <class Sink>
  auto in_ms(Sink& sink) const {
    return [this, &sink](const segmentation::speech_edge& e) {
      const std::int64_t at = e.sample * 1000 / sample_rate;
      sink(e.begins ? segmentation::voice_change{.start_ms = at, .end_ms = -1}
                    : segmentation::voice_change{.start_ms = -1, .end_ms = at});
    };
  }
};

/// The published model for 16 kHz: every extent static.
using silero_vad_16k =
    silero_vad<nn::silero_sizes{.filter = 256, .first = 128, .second = 64, .third = 64, .hidden = 128}>;
/// The published model for 8 kHz.
using silero_vad_8k =
    silero_vad<nn::silero_sizes{.filter = 128, .first = 128, .second = 64, .third = 64, .hidden = 128}>;
/// Any sizes: extents are adopted from the file.
using silero_vad_any = silero_vad<nn::silero_sizes{}>;

}  // namespace models
}  // namespace STENO_ABI
}  // namespace steno
