// steno/streaming/u2_session.hpp - a U2 model behind the options and events of all families.
//
// Tested in tests/pipelines/any_session_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/search/piece_times.hpp>
#include <steno/streaming/session.hpp>
#include <steno/streaming/session_guides.hpp>
#include <steno/streaming/u2_stream.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace streaming {

/// The session of a U2 or U2++.
template <wenet::u2_sizes S, class Kind, class Frontend>
class session_body<wenet::u2<S, Kind, Frontend>> {
 public:
  using model_type = wenet::u2<S, Kind, Frontend>;  ///< the model's type

  /// The model must outlive it. Throws steno::error for hotwords with characters that are no units of the model.
  session_body(const model_type& m, const session_options& o, context&)
      : guides_(session_guides(m, o)), stream_(m, options(m, o, *guides_)) {}

  /// Takes mono samples in [-1, 1] at the model's rate; calls sink(session_event&&) for every result.
  template <class Sink>
  void push(std::span<const float> pcm, context& c, Sink&& sink) {
    stream_.push(pcm, c, [&](const wenet::u2_event& e) { sink(describe(e)); });
  }
  /// The audio ends: decodes the rest and emits the last final result, unless it is over.
  template <class Sink>
  void finish(context& c, Sink&& sink) {
    stream_.finish(c, [&](const wenet::u2_event& e) { sink(describe(e)); });
  }
  bool over() const noexcept { return stream_.over(); }  ///< after finish(), or an endpoint without `continuous`
  /// Whether the model has a use for an option, by its name in session_options.
  static bool honours(const model_type&, std::string_view option) noexcept {
    for (const std::string_view known : {"chunk_size", "left_chunks", "rescore", "endpoints", "max_utterance_seconds"})
      if (option == known) return true;
    return is_of_searches(option);
  }
  /// As stream_delay() has it.
  static double delay(const model_type& m) noexcept {
    const auto& embed = m.encoder.template get<"embed">();
    const extent frames = wenet::u2_stream_options().chunk_size * embed.rate.get() + embed.right_context();
    return 0.001 * static_cast<double>(m.frame_ms()) * static_cast<double>(frames) /
           static_cast<double>(embed.rate.get());
  }

 private:
  static wenet::u2_stream_options options(const model_type& m, const session_options& o,
                                          const steno::search::guides& guides) {
    wenet::u2_stream_options own;
    if (o.chunk_size) own.chunk_size = *o.chunk_size;
    if (o.left_chunks) own.left_chunks = *o.left_chunks;
    own.beam.search = {.beam = o.beam, .hotwords = &guides.hotwords, .words = guides.lm()};
    own.rescore = o.rescore.value_or(true);
    own.endpoints = o.endpoints.value_or(true);
    own.continuous = o.continuous;
    if (const double limit = utterance_limit(o, 0); limit > 0)
      own.max_utterance_frames = std::max<extent>(1, static_cast<extent>(limit * 1000) / m.frame_ms());
    return own;
  }

  STENO_COLD session_event describe(const wenet::u2_event& e) const {
    const model_type& m = stream_.model();
    session_event out;
    out.kind = e.kind;
    if (e.endpoint) out.endpoint = endpoint_kind::endpoint;
    out.score = e.score;
    segment& s = out.utterance;
    s.start = static_cast<double>(e.offset_ms) / 1000;
    s.end = static_cast<double>(e.decoded_ms) / 1000;
    // Without the second pass each token has the mean confidence of the whole.
    const double mean = std::exp(e.score / static_cast<double>(e.ids.size() + 1));
    std::vector<float> confidences(e.ids.size(), static_cast<float>(std::min(mean, 1.0)));
    if (!e.rescoring.empty())
      confidences.assign(e.rescoring[0].token_confidence.begin(), e.rescoring[0].token_confidence.end());
    m.write_result(e.ids, out.final() ? e.times : std::span<const extent>{}, confidences, s, e.offset_ms);
    out.stable = m.tokenizer.text(e.ids.first(static_cast<std::size_t>(e.stable)));
    if (!out.final()) {
      out.nbest.push_back({m.tokenizer.text(e.ids), e.score, {}});
      return out;
    }
    for (std::size_t k = 0; k < e.nbest.size(); ++k) {
      const steno::search::ctc_hypothesis& h = e.nbest[k];
      session_alternative& a = out.nbest.emplace_back();
      a.text = m.tokenizer.text(h.ids);
      a.score = e.rescoring.empty() ? h.score : e.rescoring[k].score;
      const auto times = steno::search::piece_times(h.times, m.frame_ms(), e.offset_ms);
      for (std::size_t i = 0; i < h.ids.size(); ++i)
        a.pieces.push_back({std::string(m.tokenizer.piece(h.ids[i])), times[i].start_ms, times[i].end_ms});
    }
    return out;
  }

  std::unique_ptr<const steno::search::guides> guides_;  // stay where they are when the session moves
  wenet::u2_stream<model_type> stream_;
};

}  // namespace streaming
}  // namespace STENO_ABI
}  // namespace steno
