// steno/pipelines/interfaces.hpp - what is behind transcriber, any_recording and any_session: a model of any family.
//
// Implemented for every recogniser by loaded_model.hpp. A call of these is one for a clip or a portion of samples,
// never inside a forward pass. Tested in tests/pipelines/recogniser_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/context.hpp>
#include <steno/core/result.hpp>
#include <steno/core/sink_ref.hpp>
#include <steno/pipelines/any_vad.hpp>
#include <steno/pipelines/model_summary.hpp>
#include <steno/pipelines/transcribe_options.hpp>
#include <steno/search/guide.hpp>
#include <steno/streaming/session.hpp>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace pipelines {
namespace detail {

/// recording<Model> of any model.
struct recording_interface {
  virtual ~recording_interface() = default;
  virtual bool needs_preview() const = 0;
  virtual void preview(std::span<const float> pcm, context& c) = 0;
  virtual void push(std::span<const float> pcm, context& c, core::sink_ref<segment> sink) = 0;
  virtual void close(context& c, core::sink_ref<segment> sink) = 0;
  virtual double waiting_seconds() const = 0;
  /// All of them are of this one's model.
  virtual void recognise_waiting(std::span<recording_interface* const> closed, bool rest, context& c) = 0;
  virtual result finish(context& c, core::sink_ref<segment> sink) = 0;
  virtual double done() const = 0;
  virtual double needed_from() const = 0;
};

/// session<Model> of a model that streams, segment_session<Model> of any other.
struct session_interface {
  virtual ~session_interface() = default;
  virtual void push(std::span<const float> pcm, context& c, core::sink_ref<session_event> sink) = 0;
  virtual void finish(context& c, core::sink_ref<session_event> sink) = 0;
  virtual bool over() const = 0;
};

struct loaded_model;
/// What stands beside the model of a session; all of it must outlive the session.
struct session_parts {
  const any_vad* vad = nullptr;           ///< whose segments are recognised; null: the energy VAD, where one is needed
  steno::vad_settings vad_settings = {};  ///< of the detector
  /// Streams, and writes the partial results; null: the model itself.
  const loaded_model* partials = nullptr;
  session_options partial_options = {};  ///< of `partials`
  /// Whether a model that streams by itself recognises segments all the same.
  bool by_segments() const noexcept { return vad != nullptr || partials != nullptr; }
};

/// A model of any family.
struct loaded_model {
  virtual ~loaded_model() = default;
  virtual std::string_view architecture() const = 0;
  virtual int sample_rate() const = 0;
  virtual std::vector<std::string> languages() const = 0;
  virtual bool supports_language(const std::string& language) const = 0;
  virtual bool supports(std::string_view option, bool vad) const = 0;
  virtual bool supports_live(std::string_view option, bool by_segments) const = 0;
  virtual search::guides guides(const transcribe_options& o) const = 0;
  virtual bool needs_preview() const = 0;
  virtual bool streams() const = 0;
  virtual double stream_delay() const = 0;
  virtual bool recognises_together() const = 0;
  virtual model_summary summary() const = 0;
  virtual result transcribe(std::span<const float> pcm, const transcribe_options& o, context& c) const = 0;
  virtual std::unique_ptr<recording_interface> start_recording(const transcribe_options& o) const = 0;
  virtual std::unique_ptr<session_interface> start_session(const session_options& o, const session_parts& p,
                                                           context& c) const = 0;
};

using opened_model = std::unique_ptr<const loaded_model>;

}  // namespace detail
}  // namespace pipelines
}  // namespace STENO_ABI
}  // namespace steno
