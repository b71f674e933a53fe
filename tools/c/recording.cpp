// libsteno: whole recordings, with what stands beside the model.
// SPDX-License-Identifier: Apache-2.0
#include <steno/steno.h>
#include <steno/pipelines/result.hpp>
#include <steno/pipelines/speaker_labels.hpp>
#include <steno/pipelines/word_aligner.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "beside.hpp"
#include "status.hpp"

using namespace steno;
using namespace steno::c;

namespace steno::c {

beside::beside(const steno_options* o, int rate) {
  if (o == nullptr) return;
  if (o->detector != nullptr) {
    vad = &o->detector->model;
  } else if (!o->vad().empty()) {
    own.emplace(open_vad(o->vad(), executor(), rate));
    vad = &*own;
  }
  const auto require_rate = [rate](const char* what, int found) {
    if (found != rate)
      fail({.what = std::string("sample rate of ") + what,
            .expected = std::to_string(rate) + ", the model's",
            .found = std::to_string(found)});
  };
  if (vad != nullptr) require_rate("the detector of speech", vad->sample_rate());
  if (o->diarizer != nullptr) {
    require_rate("the diarizer", diarizer::sample_rate);
    speakers = &o->diarizer->model;
  }
  if (o->aligner != nullptr) {
    require_rate("the aligner", o->aligner->model.sample_rate());
    aligner = &o->aligner->model;
  }
  if (o->punctuator != nullptr) marks = &o->punctuator->model;
}

}  // namespace steno::c

namespace {

// Segments of a recording on their way to its result: times, marks, speakers.
class collector {
 public:
  collector(const beside& b, const named_options::recording_settings& s, context& c) : context_(c) {
    if (b.aligner != nullptr) times_.emplace(*b.aligner);
    if (b.marks != nullptr) marks_.emplace(*b.marks);
    if (b.speakers != nullptr) who_.emplace(*b.speakers, s.diarizing, s.attributing);
  }
  void push(std::span<const float> pcm) {
    if (times_) times_->push(pcm);
    if (who_) who_->push(pcm, context_);
  }
  void add(segment s) {
    if (times_) times_->align(s, context_);
    if (marks_) marks_->punctuate(s, context_);
    if (who_)
      who_->add(std::move(s));
    else
      keep(std::move(s));
  }
  void forget(double seconds) {
    if (times_) times_->forget(seconds);
  }
  // `head`: what is known of the whole.
  result finish(result head) {
    if (who_) {
      who_->close(context_);
      who_->take([this](segment s) { keep(std::move(s)); });
    }
    head.text = std::move(text_);
    head.segments = std::move(segments_);
    return head;
  }

 private:
  void keep(segment s) {
    pipelines::append_text(text_, s.text);
    segments_.push_back(std::move(s));
  }

  context& context_;
  std::optional<word_aligner> times_;
  std::optional<punctuator::stream> marks_;
  std::optional<pipelines::speaker_labels> who_;
  std::string text_;
  std::vector<segment> segments_;
};

result transcribed(const steno_model& m, std::span<const float> pcm, const steno_options* options,
                   const pipelines::progress_ref& progress) {
  const beside b(options, m.model.sample_rate());
  named_options::recording_settings s;
  if (options != nullptr) s = options->of_recording(b.vad, b.speakers);
  if (double& limit = s.transcribing.limit_seconds; b.aligner != nullptr)
    limit = limit > 0 ? std::min(limit, b.aligner->max_seconds()) : b.aligner->max_seconds();
  const context_store::lent scratch(m.contexts);
  any_recording one(m.model, s.transcribing);
  collector all(b, s, *scratch);
  const auto sink = [&](segment found) { all.add(std::move(found)); };
  const double total = static_cast<double>(pcm.size()) / m.model.sample_rate();
  constexpr std::size_t portion = 16000;
  one.preview(pcm, *scratch);
  for (std::size_t at = 0; at < pcm.size(); at += portion) {
    const auto part = pcm.subspan(at, std::min(portion, pcm.size() - at));
    const double before = one.done();
    all.push(part);
    one.push(part, *scratch, sink);
    all.forget(one.needed_from());
    if (one.done() > before) progress(one.done(), total);
  }
  result whole = all.finish(one.finish(*scratch, sink));
  progress(total, total);
  return whole;
}

}  // namespace

extern "C" {

steno_status steno_transcribe_with_progress(const steno_model* model, const float* samples, size_t count,
                                            const steno_options* options, steno_progress progress, void* user,
                                            steno_result** result, char** error) {
  if (model == nullptr || (samples == nullptr && count > 0) || result == nullptr)
    return misuse(error, "steno_transcribe: a model, samples and a place for the result are needed");
  return guarded(error, [&] {
    const auto go_on = [&](double done, double total) { return progress(done, total, user) == 0; };
    auto made = std::make_unique<steno_result>();
    static_cast<steno::result&>(*made) =
        transcribed(*model, {samples, count}, options,
                    progress != nullptr ? pipelines::progress_ref(go_on) : pipelines::progress_ref());
    *result = made.release();
  });
}
steno_status steno_transcribe(const steno_model* model, const float* samples, size_t count,
                              const steno_options* options, steno_result** result, char** error) {
  return steno_transcribe_with_progress(model, samples, count, options, nullptr, nullptr, result, error);
}

}  // extern "C"
