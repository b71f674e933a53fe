// steno/pipelines/loaded_model.hpp - one recogniser behind the closed classes: transcriber, any_recording, any_session.
//
// Instantiated for the models of each family where all are opened (open_model.hpp), or in steno::pipelines. Tested in
// tests/pipelines/transcriber_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/stop_token.hpp>
#include <steno/models/load.hpp>
#include <steno/pipelines/family.hpp>
#include <steno/pipelines/interfaces.hpp>
#include <steno/pipelines/segment_session.hpp>
#include <steno/pipelines/transcribe.hpp>
#include <steno/streaming/session.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace pipelines {
namespace detail {

template <recogniser Model>
struct recording_of final : recording_interface {
  recording_of(const Model& m, const transcribe_options& o) : body(m, o) {}
  bool needs_preview() const override { return body.needs_preview(); }
  void preview(std::span<const float> pcm, context& c) override { body.preview(pcm, c); }
  void push(std::span<const float> pcm, context& c, core::sink_ref<segment> sink) override { body.push(pcm, c, sink); }
  void close(context& c, core::sink_ref<segment> sink) override { body.close(c, sink); }
  double waiting_seconds() const override { return body.waiting_seconds(); }
  void recognise_waiting(std::span<recording_interface* const> closed, bool rest, context& c) override {
    std::vector<recording<Model>*> all;
    for (recording_interface* const r : closed) all.push_back(&static_cast<recording_of*>(r)->body);
    recording<Model>::recognise_waiting(all, rest, c);
  }
  result finish(context& c, core::sink_ref<segment> sink) override { return body.finish(c, sink); }
  double done() const override { return body.done(); }
  double needed_from() const override { return body.needed_from(); }

  recording<Model> body;
};

/// Of a session<Model> or a segment_session<Model>.
template <class Session>
struct session_of final : session_interface {
  template <class... Parts>
  explicit session_of(const typename Session::model_type& m, const session_options& o, context& c, const Parts&... p)
      : body(m, o, c, p...) {}
  void push(std::span<const float> pcm, context& c, core::sink_ref<session_event> sink) override {
    body.push(pcm, c, sink);
  }
  void finish(context& c, core::sink_ref<session_event> sink) override { body.finish(c, sink); }
  bool over() const override { return body.over(); }

  Session body;
};

template <recogniser Model>
struct loaded_as final : loaded_model {
  explicit loaded_as(Model m) : model(std::move(m)) {}
  std::string_view architecture() const override { return Model::architecture; }
  int sample_rate() const override { return model.sample_rate; }
  std::vector<std::string> languages() const override { return model.languages(); }
  bool supports_language(const std::string& language) const override {
    return family<Model>::supports_language(model, language);
  }
  bool supports(std::string_view option, bool vad) const override { return supports_option(model, option, vad); }
  bool supports_live(std::string_view option, bool by_segments) const override {
    if constexpr (streaming::streaming_recogniser<Model>)
      if (!by_segments) return session<Model>::honours(model, option);
    return segment_session<Model>::honours(model, option);
  }
  search::guides guides(const transcribe_options& o) const override { return guides_of(model, o); }
  bool needs_preview() const override { return recognises_whole<Model>; }
  bool streams() const override { return streaming::streaming_recogniser<Model>; }
  double stream_delay() const override {
    if constexpr (streaming::streaming_recogniser<Model>)
      return streaming::stream_delay(model);
    else
      return 0;
  }
  bool recognises_together() const override { return pipelines::recognises_together<Model>; }
  model_summary summary() const override {
    model_summary s;
    if (const gguf_file* const f = file()) s = summarise(*f);
    s.architecture = Model::architecture;
    s.sample_rate = model.sample_rate;
    s.languages = model.languages();
    return s;
  }
  result transcribe(std::span<const float> pcm, const transcribe_options& o, context& c) const override {
    return steno::transcribe(model, pcm, o, c);
  }
  std::unique_ptr<recording_interface> start_recording(const transcribe_options& o) const override {
    return std::make_unique<recording_of<Model>>(model, o);
  }
  std::unique_ptr<session_interface> start_session(const session_options& o, const session_parts& p,
                                                   context& c) const override {
    if constexpr (streaming::streaming_recogniser<Model>)
      if (!p.by_segments()) return std::make_unique<session_of<session<Model>>>(model, o, c);
    return std::make_unique<session_of<segment_session<Model>>>(model, o, c, p);
  }

  const gguf_file* file() const {
    if constexpr (requires { model.storage.file->where(); })
      return model.storage.file ? &*model.storage.file : nullptr;
    else
      return nullptr;
  }

  Model model;
};

/// A file and who packs its weights; `image` owns its bytes when they are in memory.
struct model_file {
  gguf_file file;
  executor run;
  std::vector<std::byte> image;
  core::stop_token stop = {};
};

template <class... Models>  // not inline, so that units that find it in steno::pipelines do not compile it again
opened_model family_of<Models...>::open(model_file& f) {
  const std::string found = f.file.text("general.architecture").value_or("");
  opened_model opened;
  const auto attempt = [&]<class Model>() {
    if (opened == nullptr && found == Model::architecture)
      opened =
          std::make_unique<const loaded_as<Model>>(load<Model>(std::move(f.file), f.run, std::move(f.image), f.stop));
  };
  (attempt.template operator()<Models>(), ...);
  return opened;
}

}  // namespace detail

}  // namespace pipelines
}  // namespace STENO_ABI
}  // namespace steno
