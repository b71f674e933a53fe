// steno/streaming/paraformer_session.hpp - an online Paraformer behind the options and events of all families.
//
// Tested in tests/pipelines/any_session_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/streaming/paraformer_stream.hpp>
#include <steno/streaming/session.hpp>
#include <steno/streaming/session_guides.hpp>

#include <algorithm>
#include <memory>
#include <span>
#include <string_view>

namespace steno {
inline namespace STENO_ABI {
namespace streaming {

/// The session of an online Paraformer.
template <funasr::paraformer_sizes S, class Frontend>
class session_body<funasr::paraformer_online<S, Frontend>> {
 public:
  using model_type = funasr::paraformer_online<S, Frontend>;  ///< the model's type

  /// The model must outlive it. Throws steno::error for chunks that make no sense, and for hotwords with characters
  /// that are no units of the model.
  session_body(const model_type& m, const session_options& o, context&)
      : guides_(session_guides(m, o)), stream_(m, options(m, o, *guides_)) {}

  /// Takes mono samples in [-1, 1] at the model's rate; calls sink(session_event&&) for every result.
  template <class Sink>
  void push(std::span<const float> pcm, context& c, Sink&& sink) {
    stream_.push(pcm, c, [&](const funasr::paraformer_event& e) { sink(describe(e)); });
  }
  /// The audio ends: decodes the rest and emits the last final result, unless it is over.
  template <class Sink>
  void finish(context& c, Sink&& sink) {
    stream_.finish(c, [&](const funasr::paraformer_event& e) { sink(describe(e)); });
  }
  bool over() const noexcept { return stream_.over(); }  ///< after finish(), or an endpoint without `continuous`
  /// Whether the model has a use for an option, by its name in session_options.
  static bool honours(const model_type&, std::string_view option) noexcept {
    return option == "chunk_size" || option == "left_chunks" || option == "endpoints" ||
           option == "max_utterance_seconds" || option == "beam" || option == "hotwords" || option == "hotword_score";
  }
  /// As stream_delay() has it.
  static double delay(const model_type& m) noexcept {
    return static_cast<double>((m.default_sizes.size + m.default_sizes.after) * model_type::frame_samples) /
           model_type::sample_rate;
  }

 private:
  static funasr::paraformer_stream_options options(const model_type& m, const session_options& o,
                                                   const steno::search::guides& guides) {
    funasr::paraformer_stream_options own{.sizes = m.default_sizes};
    own.search = {.beam = o.beam, .hotwords = &guides.hotwords};
    if (o.chunk_size) {  // the published sizes look half a chunk ahead: [0, 10, 5], [0, 8, 4]
      own.sizes.size = *o.chunk_size;
      own.sizes.after = (*o.chunk_size + 1) / 2;
    }
    if (o.left_chunks) own.sizes.encoder_look_back = *o.left_chunks;
    if (!o.endpoints.value_or(true)) own.endpoint_pieces = 0;
    own.continuous = o.continuous;
    if (const double limit = utterance_limit(o, 0); limit > 0)
      own.max_utterance_frames =
          std::max<extent>(1, static_cast<extent>(limit * model_type::sample_rate) / model_type::frame_samples);
    return own;
  }
  STENO_COLD session_event describe(const funasr::paraformer_event& e) const {
    const model_type& m = stream_.model();
    session_event out;
    out.kind = e.kind;
    if (e.endpoint) out.endpoint = endpoint_kind::endpoint;
    out.score = e.score;
    segment& s = out.utterance;
    s.start = static_cast<double>(e.offset_ms) / 1000;
    s.end = static_cast<double>(e.decoded_ms) / 1000;
    const auto settled = static_cast<std::size_t>(e.stable);
    m.write_text(e.ids.first(settled), e.log_probabilities, s);
    out.stable = s.text;
    if (settled < e.ids.size()) m.write_text(e.ids, e.log_probabilities, s);
    if (!out.final()) s.words.clear();
    out.nbest.push_back({s.text, e.score, {}});
    return out;
  }

  std::unique_ptr<const steno::search::guides> guides_;  // stay where they are when the session moves
  funasr::paraformer_stream<model_type> stream_;
};

}  // namespace streaming
}  // namespace STENO_ABI
}  // namespace steno
