// libsteno: who speaks, where somebody speaks, when words of a known text are spoken, and punctuation.
// SPDX-License-Identifier: Apache-2.0
#include <steno/steno.h>
#include <steno/streaming/voice_activity_detector.hpp>
#include <steno/tokenizers/unicode_classes.hpp>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <utility>

#include "handles.hpp"
#include "status.hpp"

using namespace steno;
using namespace steno::c;

namespace {

// f() makes the result.
template <class F>
steno_status made_result(steno_result** to, char** error, F&& f) {
  return guarded(error, [&] {
    auto made = std::make_unique<steno_result>();
    static_cast<result&>(*made) = f();
    *to = made.release();
  });
}

result detected(const steno_vad& v, std::span<const float> pcm, const vad_settings& s) {
  result r;
  r.model = v.name;
  r.duration = static_cast<double>(pcm.size()) / v.model.sample_rate();
  streaming::voice_segment_collector whole;
  const auto sink = [&](const segmentation::voice_change& change) {
    whole(change, [&](const streaming::voice_segment& found) {
      segment& one = r.segments.emplace_back();
      one.start = static_cast<double>(found.start_ms) / 1000;
      one.end = static_cast<double>(found.end_ms) / 1000;
    });
  };
  const context_store::lent scratch(v.contexts);
  vad_stream stream(v.model, s);
  stream.accept(pcm, *scratch, sink);
  stream.finish(*scratch, sink);
  return r;
}

result aligned(const steno_aligner& a, std::span<const float> pcm, const std::string& text,
               const std::string& language) {
  result r;
  r.model = std::string(a.model.model_name());
  r.duration = static_cast<double>(pcm.size()) / a.model.sample_rate();
  if (r.duration > a.model.reach_seconds())
    fail({.what = "recording to be aligned",
          .expected = "at most " + std::to_string(static_cast<int>(a.model.reach_seconds())) + " s",
          .found = std::to_string(static_cast<int>(r.duration)) + " s"});
  const context_store::lent scratch(a.contexts);
  segment s;
  s.words = a.model.align(pcm, text, language, 0, *scratch);
  s.text = std::string(tokenizers::unicode::strip(text));
  if (language != "auto") r.language = s.language = language;
  if (!s.words.empty()) {
    s.start = s.words.front().start;
    s.end = s.words.back().end;
  }
  r.text = s.text;
  r.segments.push_back(std::move(s));
  return r;
}

}  // namespace

extern "C" {

steno_status steno_diarize(const steno_diarizer* diarizer, const float* samples, size_t count,
                           const steno_options* options, steno_result** result, char** error) {
  if (diarizer == nullptr || (samples == nullptr && count > 0) || result == nullptr)
    return misuse(error, "steno_diarize: a diarizer, samples and a place for the result are needed");
  return made_result(result, error, [&] {
    const diarize_options o = options != nullptr ? options->of_diarizer(diarizer->model) : diarize_options();
    const context_store::lent scratch(diarizer->contexts);
    return diarizer->model.diarize({samples, count}, o, *scratch);
  });
}
steno_status steno_detect(const steno_vad* vad, const float* samples, size_t count, const steno_options* options,
                          steno_result** result, char** error) {
  if (vad == nullptr || (samples == nullptr && count > 0) || result == nullptr)
    return misuse(error, "steno_detect: a detector, samples and a place for the result are needed");
  return made_result(result, error, [&] {
    return detected(*vad, {samples, count}, options != nullptr ? options->of_vad() : vad_settings());
  });
}
steno_status steno_align(const steno_aligner* aligner, const float* samples, size_t count, const char* text,
                         const char* language, steno_result** result, char** error) {
  if (aligner == nullptr || (samples == nullptr && count > 0) || text == nullptr || result == nullptr)
    return misuse(error, "steno_align: an aligner, samples, a text and a place for the result are needed");
  return made_result(result, error, [&] {
    return aligned(*aligner, {samples, count}, text, language != nullptr ? language : "auto");
  });
}
steno_status steno_punctuate(const steno_punctuator* punctuator, const char* text, char** punctuated, char** error) {
  if (punctuator == nullptr || text == nullptr || punctuated == nullptr)
    return misuse(error, "steno_punctuate: a punctuator, a text and a place for the new text are needed");
  return guarded(error, [&] {
    const context_store::lent scratch(punctuator->contexts);
    segment s;
    s.text = text;
    punctuator->model.punctuate(s, *scratch);
    char* const made = static_cast<char*>(std::malloc(s.text.size() + 1));
    if (made == nullptr) throw std::bad_alloc();
    std::memcpy(made, s.text.c_str(), s.text.size() + 1);
    *punctuated = made;
  });
}

}  // extern "C"
