// steno/models/fsmn_vad.hpp - FSMN-VAD: where somebody speaks.
//
//   features = cmvn(lfr(fbank(pcm)))          [T, 400], one row per 10 ms
//   scores   = fsmn_encoder(features)         [T, 248]; the first column is silence
//   a frame is speech when (1 - silence) >= silence^ratio + speech_noise_thres, and loud enough
//
// and voice_segmenter makes segments of it. Follows `FsmnVADStreaming` (funasr/models/fsmn_vad_streaming/model.py); see
// docs/models/fsmn_vad.md. A clip and a stream are the same code. Tested in tests/parity/fsmn_vad_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/frontends/frame_levels.hpp>
#include <steno/frontends/wav_frontend.hpp>
#include <steno/models/load.hpp>
#include <steno/models/metadata.hpp>
#include <steno/networks/fsmn_encoder.hpp>
#include <steno/search/scores.hpp>
#include <steno/segmentation/voice_segments.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace funasr {

/// Wishes for one stream; what has no value is as the file or the original has it.
struct fsmn_vad_options {
  /// Milliseconds of silence that end a segment. Without a value the pause that is needed shrinks while the segment
  /// grows: 2 s at first, 0.1 s beyond a minute, as the original does by default.
  std::optional<int> max_end_silence = {};
  std::optional<int> max_single_segment = {};  ///< ms; otherwise the file's, 60 s
  /// How much more probable than silence speech has to be; otherwise 0.5, or the file's where max_end_silence is given.
  std::optional<double> speech_noise_thres = {};
  /// The silence schedule is looked at once per so many milliseconds of audio, as the original does with each piece it
  /// is given. Below 15000 it counts as live: a started segment sets the schedule back, too.
  int period = 60000;
};

/// FSMN-VAD: segments of speech in a recording or stream. A loaded model is const and may be shared by threads, each
/// with its own context and states.
template <nn::fsmn_sizes S, class Frontend = frontends::wav_frontend<80, 5, 1>>
class fsmn_vad {
  static constexpr extent Feat = S.features, Classes = S.classes;

 public:
  static constexpr nn::fsmn_sizes sizes = S;                    ///< `dynamic` where the file decides
  static constexpr std::string_view architecture = "fsmn_vad";  ///< `general.architecture` of its files
  using options = fsmn_vad_options;                             ///< of one stream
  using encoder_type = nn::fsmn_encoder<S>;                     ///< features to probabilities

  fsmn_vad() = default;
  /// Front end and settings from the file's metadata; the weights are bound by load().
  STENO_COLD explicit fsmn_vad(const gguf_file& file)
      : frontend(models::read_wav_frontend<Frontend>(file, architecture, 5, 1, models::any_rate)),
        sample_rate(models::sample_rate_of(frontend)),
        levels(frontend.head.head.frame_length(), frontend.head.head.frame_shift()) {
    const auto number = [&](const char* key, double low, double high, double otherwise) {
      return models::read_number(file, std::string("fsmn_vad.post.").append(key), low, high, otherwise);
    };
    const auto whole = [&](const char* key, extent low, int otherwise, extent high = 24 * 3600 * 1000) {
      return static_cast<int>(
          models::read_whole(file, std::string("fsmn_vad.post.").append(key), low, high, otherwise));
    };
    segmentation::voice_segment_options& o = segmentation;
    o.frame = static_cast<int>(frontend.head.head.options().frame_shift);
    o.window_size = whole("window_size_ms", o.frame, o.window_size, 60000);
    o.sil_to_speech = whole("sil_to_speech_time_thres", 0, o.sil_to_speech);
    o.speech_to_sil = whole("speech_to_sil_time_thres", 0, o.speech_to_sil);
    o.max_end_silence = whole("max_end_silence_time", 0, o.max_end_silence);
    o.max_start_silence = whole("max_start_silence_time", 0, o.max_start_silence);
    o.lookback_start = whole("lookback_time_start_point", 0, o.lookback_start);
    o.lookahead_end = whole("lookahead_time_end_point", 0, o.lookahead_end);
    o.max_single_segment = whole("max_single_segment_time", 0, o.max_single_segment);
    o.extend = whole("do_extend", 0, 1, 1) != 0;
    o.single_utterance = whole("detect_mode", 0, 1, 1) == 0;
    speech_noise_thres = number("speech_noise_thres", -1, 1, speech_noise_thres);
    speech_2_noise_ratio = number("speech_2_noise_ratio", 0, 1e6, speech_2_noise_ratio);
    snr_thres = number("snr_thres", -1e6, 1e6, snr_thres);
    decibel_thres = number("decibel_thres", -1e6, 1e6, decibel_thres);
    noise_frames = number("noise_frame_num_used_for_snr", 1, 1e9, noise_frames);
  }

  Frontend frontend;               ///< samples to features, a row for each 10 ms
  int sample_rate = 16000;         ///< Hz of the mono samples that it takes
  frontends::frame_levels levels;  ///< how loud each frame is
  encoder_type encoder;            ///< features to probabilities of classes, of which the first is silence
  segmentation::voice_segment_options segmentation;  ///< what makes segments of frames
  double speech_noise_thres = 0.6;                   ///< how much more probable than silence speech has to be
  double speech_2_noise_ratio = 1;                   ///< exponent of the probability of silence in that comparison
  double snr_thres = -100;                           ///< dB that speech has to be above the noise
  double decibel_thres = -100;                       ///< dB; a softer frame is no speech
  double noise_frames = 100;                         ///< frames over which the noise is averaged
  models::model_storage storage;                     ///< what the weights point into

  void members(auto&& v) {
    v("encoder", encoder);
    v.optional("", frontend);
    v.equal("widths of features and encoder", frontend.width(), encoder.input_size());
  }

  /// One stream.
  struct state {
    options chosen;                          ///< those given to start()
    typename Frontend::state front;          ///< of the front end
    frontends::frame_levels::state level;    ///< of the levels
    std::vector<float> loudness;             ///< dB of frames without scores so far
    typename encoder_type::state encoder;    ///< of the encoder
    segmentation::voice_segmenter segments;  ///< makes segments of frames
    double threshold = 0;                    ///< the speech_noise_thres that holds now
    double noise = -100;                     ///< dB of frames that were no speech, averaged
    extent left = 0;                         ///< samples to the end of the period; 0: the next sample begins one
    std::int64_t spoken_ms = 0;              ///< what the silence schedule goes by
    bool speaking = false;                   ///< the schedule counts: a period began within a segment
    bool emitted = false;                    ///< the schedule is set back when this period ends
  };

  /// A new stream.
  state start(const options& o = {}) const {
    segmentation::voice_segment_options s = segmentation;
    s.max_end_silence = o.max_end_silence.value_or(s.max_end_silence);
    s.max_single_segment = o.max_single_segment.value_or(s.max_single_segment);
    return {.chosen = o,
            .front = frontend.start(),
            .level = levels.start(),
            .loudness = {},
            .encoder = encoder.start(),
            .segments = segmentation::voice_segmenter(s),
            .threshold = o.speech_noise_thres.value_or(speech_noise_thres)};
  }

  /// The next samples (mono, in [-1, 1]), any number of them. sink(voice_change) is called in order of time.
  template <class Sink>
  void accept(state& s, std::span<const float> pcm, context& c, Sink&& sink) const {
    const auto period = static_cast<extent>(std::max(s.chosen.period, 1)) * sample_rate / 1000;
    while (!pcm.empty()) {
      if (s.left == 0) {
        begin_period(s);
        s.left = period;
      }
      const extent n = std::min({static_cast<extent>(pcm.size()), s.left, block});
      process(s, pcm.first(static_cast<std::size_t>(n)), false, c, sink);
      pcm = pcm.subspan(static_cast<std::size_t>(n));
      if ((s.left -= n) == 0) end_period(s);
    }
  }
  /// The end of the audio: what is open ends. The state is as start() made it.
  template <class Sink>
  void finish(state& s, context& c, Sink&& sink) const {
    if (s.left == 0) begin_period(s);
    process(s, {}, true, c, sink);
    s = start(s.chosen);
  }

  /// Milliseconds; audio before it belongs to segments that were emitted whole, or to none.
  std::int64_t settled_ms(const state& s) const { return s.segments.settled_frames() * segmentation.frame; }

  /// Frames that `count` more samples complete; they come two behind the audio.
  extent ready(const state& s, extent count) const { return frontend.ready(s.front, count); }
  /// Probabilities of the next frames: samples in, scores [ready(s, number of samples), classes] out.
  void score(state& s, std::span<const float> pcm, view<float, dynamic, Classes> scores, context& c) const {
    core::workspace::frame scratch(c.scratch);
    auto x = scratch.template matrix<dynamic, Feat>(scores.rows(), encoder.input_size());
    frontend.accept(s.front, pcm, x, c);
    encode(s, core::as<const float, dynamic, Feat>(x), scores, c);
  }

  /// Probabilities of all frames of a recording: scores [frontend.rows(samples), classes].
  STENO_COLD void score(std::span<const float> pcm, view<float, dynamic, Classes> scores, context& c) const {
    core::workspace::frame scratch(c.scratch);
    auto x = scratch.template matrix<dynamic, Feat>(scores.rows(), encoder.input_size());
    frontend(pcm, x, c);
    auto memories = encoder.start();
    if (x.rows() != 0) run(x, scores, memories, c);
  }

  /// Start and end of every segment of a whole recording, in milliseconds.
  STENO_COLD std::vector<std::pair<std::int64_t, std::int64_t>> segments(std::span<const float> pcm, const options& o,
                                                                         context& c) const {
    std::vector<std::pair<std::int64_t, std::int64_t>> found;
    state s = start(o);
    const auto sink = [&](const segmentation::voice_change& v) {
      if (v.start_ms >= 0) found.emplace_back(v.start_ms, v.start_ms);
      if (v.end_ms >= 0) found.back().second = v.end_ms;
    };
    accept(s, pcm, c, sink);
    finish(s, c, sink);
    return found;
  }

 private:
  static constexpr extent block = 16000;  // samples at once: bounds the memory of long recordings

  void run(view<const float, dynamic, Feat> x, view<float, dynamic, Classes> scores,
           typename encoder_type::state& memories, context& c) const {
    encoder(x, scores, &memories, nn::no_env{}, c);
    search::require_numbers(core::read(scores), c.run);
  }
  // Few rows at once, so that products sum them in the same order however the audio is cut: equal bits.
  static constexpr extent few = 16;
  void encode(state& s, const view<const float, dynamic, Feat>& x, view<float, dynamic, Classes> scores,
              context& c) const {
    for (extent t = 0; t < x.rows(); t += few) {
      const extent n = std::min(few, x.rows() - t);
      run(core::as<const float, dynamic, Feat>(x.middleRows(t, n)),
          core::as<float, dynamic, Classes>(scores.middleRows(t, n)), s.encoder, c);
    }
  }

  // (milliseconds spoken, silence that ends a segment): `DEFAULT_SILENCE_SCHEDULE`.
  static constexpr std::pair<std::int64_t, int> schedule[] = {{10000, 2000}, {20000, 1000}, {30000, 800},
                                                              {40000, 600},  {50000, 400},  {60000, 200}};

  static bool scheduled(const state& s) { return !s.chosen.max_end_silence; }

  void begin_period(state& s) const {
    if (!scheduled(s)) return;
    if (s.segments.in_speech() || s.speaking) {
      s.spoken_ms += s.chosen.period;
      s.speaking = true;
    }
    int silence = 100;
    for (const auto& [limit, ms] : schedule)
      if (s.spoken_ms <= limit) {
        silence = ms;
        break;
      }
    s.segments.set_max_end_silence(silence);
    s.threshold = s.chosen.speech_noise_thres.value_or(0.5);  // the schedule's own, not the file's
  }
  void end_period(state& s) const {
    if (s.emitted) s.spoken_ms = 0, s.speaking = false;
    s.emitted = false;
  }

  template <class Sink>
  void process(state& s, std::span<const float> pcm, bool last, context& c, Sink& sink) const {
    const auto n = static_cast<extent>(pcm.size());
    const extent rows = last ? frontend.at_end(s.front, n) : frontend.ready(s.front, n);
    core::workspace::frame scratch(c.scratch);
    listen(s, pcm, c);
    auto x = scratch.template matrix<dynamic, Feat>(rows, encoder.input_size());
    if (last)
      frontend.finish(s.front, pcm, x, c);
    else
      frontend.accept(s.front, pcm, x, c);
    if (rows != 0) {
      auto scores = scratch.template matrix<dynamic, Classes>(rows, encoder.output_size());
      encode(s, core::as<const float, dynamic, Feat>(x), scores, c);
      for (extent t = 0; t < rows; ++t)
        emit(s,
             s.segments.frame(is_speech(s, scores(t, 0), s.loudness[static_cast<std::size_t>(t)]),
                              last && t == rows - 1),
             sink);
      s.loudness.erase(s.loudness.begin(), s.loudness.begin() + rows);
    } else if (last) {
      emit(s, s.segments.finish(), sink);
    }
  }

  void listen(state& s, std::span<const float> pcm, context& c) const {
    const extent rows = levels.ready(s.level, static_cast<extent>(pcm.size()));
    const std::size_t old = s.loudness.size();
    s.loudness.resize(old + static_cast<std::size_t>(rows));
    levels.accept(s.level, pcm, core::make_view(s.loudness.data() + old, rows, 1), c);
  }

  template <class Sink>
  static void emit(state& s, const segmentation::voice_change& v, Sink& sink) {
    if (!v.any()) return;
    s.emitted |= v.end_ms >= 0 || s.chosen.period < 15000;
    sink(v);
  }

  bool is_speech(state& s, float silence, float level) const {
    const double decibel = static_cast<double>(level);
    if (decibel < decibel_thres) return false;
    const double quiet = static_cast<double>(silence), above = decibel - s.noise;
    if (1 - quiet >= std::pow(quiet, speech_2_noise_ratio) + s.threshold) return above >= snr_thres;
    s.noise = s.noise < -99.9 ? decibel : (decibel + s.noise * (noise_frames - 1)) / noise_frames;
    return false;
  }
};

/// The published model (16 kHz, Mandarin and English): every extent static.
using fsmn_vad_small = fsmn_vad<nn::fsmn_sizes{.features = 400,
                                               .input_affine = 140,
                                               .width = 250,
                                               .projection = 128,
                                               .taps = 20,
                                               .layers = 4,
                                               .output_affine = 140,
                                               .classes = 248}>;
/// Any sizes: extents are adopted from the file.
using fsmn_vad_any = fsmn_vad<nn::fsmn_sizes{}, frontends::wav_frontend_any>;

}  // namespace funasr
}  // namespace STENO_ABI
}  // namespace steno
