// steno/pipelines/transcribe.hpp - a recording in memory, of any length, to its text by any recogniser.
//
//   const auto model = load<sense_voice_small>("model.gguf");
//   result r = transcribe(model, pcm, {}, context);
//
// Tested in tests/pipelines/recogniser_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/pipelines/recording.hpp>
#include <steno/pipelines/result.hpp>

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {

/// Mono samples in [-1, 1] at the model's rate. Throws steno::error for options that the model does not support. The
/// model is const and may be shared by threads, each with its own context.
template <recogniser Model>
STENO_COLD result transcribe(const Model& m, std::span<const float> pcm, const transcribe_options& o, context& c) {
  recording<Model> r(m, o);
  std::vector<segment> segments;
  std::string text;
  const auto sink = [&](segment s) {
    pipelines::append_text(text, s.text);
    segments.push_back(std::move(s));
  };
  const double total = static_cast<double>(pcm.size()) / m.sample_rate;
  constexpr std::size_t portion = 16000;
  r.preview(pcm, c);
  for (std::size_t at = 0; at < pcm.size(); at += portion) {
    const double before = r.done();
    r.push(pcm.subspan(at, std::min(portion, pcm.size() - at)), c, sink);
    if (r.done() > before) o.progress(r.done(), total);
  }
  result whole = r.finish(c, sink);
  o.progress(total, total);
  whole.text = std::move(text);
  whole.segments = std::move(segments);
  return whole;
}

}  // namespace STENO_ABI
}  // namespace steno
