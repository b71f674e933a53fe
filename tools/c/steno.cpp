// libsteno: models, options and results of steno.h.
// SPDX-License-Identifier: Apache-2.0
#include <steno/steno.h>
#include <steno/config.hpp>
#include <steno/core/processors.hpp>

#include <cstdlib>
#include <new>

#include "handles.hpp"
#include "shown.hpp"
#include "status.hpp"

using namespace steno;
using namespace steno::c;

namespace steno::c {

workers::workers(int threads)
    : pool([threads]() -> std::unique_ptr<thread_pool> {
        const int wanted = threads == 0 ? core::processors() : threads;
        return wanted > 1 ? std::make_unique<thread_pool>(wanted) : nullptr;
      }()),
      run(pool ? executor(*pool) : executor()),
      contexts(run) {}

}  // namespace steno::c

namespace {

template <class Handle>
steno_status load_handle(const char* path, int threads, Handle** to, char** error, const char* wrong) {
  if (path == nullptr || to == nullptr || threads < 0) return misuse(error, wrong);
  return guarded(error, [&] { *to = new Handle(path, threads); });
}

}  // namespace

extern "C" {

const char* steno_version(void) {
#define STENO_TEXT_OF(x) #x
#define STENO_TEXT(x) STENO_TEXT_OF(x)
  return STENO_TEXT(STENO_VERSION_MAJOR) "." STENO_TEXT(STENO_VERSION_MINOR) "." STENO_TEXT(STENO_VERSION_PATCH);
#undef STENO_TEXT
#undef STENO_TEXT_OF
}
void steno_free(char* text) { std::free(text); }

steno_status steno_model_load(const char* path, int threads, steno_model** model, char** error) {
  return load_handle(path, threads, model, error,
                     "steno_model_load: a path and a place for the model are needed, and threads from 0");
}
void steno_model_free(steno_model* model) { delete model; }
const char* steno_model_name(const steno_model* model) { return model != nullptr ? model->name.c_str() : nullptr; }
int steno_model_sample_rate(const steno_model* model) { return model != nullptr ? model->model.sample_rate() : 0; }
int steno_model_streams(const steno_model* model) { return model != nullptr && model->model.streams(); }
int steno_model_supports(const steno_model* model, const char* option, int live) {
  bool supported = false;
  if (model != nullptr && option != nullptr)
    guarded(nullptr,
            [&] { supported = live != 0 ? model->model.supports_live(option) : model->model.supports(option); });
  return supported;
}
size_t steno_model_language_count(const steno_model* model) { return model != nullptr ? model->languages.size() : 0; }
const char* steno_model_language(const steno_model* model, size_t index) {
  return index < steno_model_language_count(model) ? model->languages[index].c_str() : nullptr;
}

steno_status steno_diarizer_load(const char* path, int threads, steno_diarizer** diarizer, char** error) {
  return load_handle(path, threads, diarizer, error,
                     "steno_diarizer_load: a path and a place for the diarizer are needed, and threads from 0");
}
void steno_diarizer_free(steno_diarizer* diarizer) { delete diarizer; }
int steno_diarizer_sample_rate(const steno_diarizer* d) { return d != nullptr ? diarizer::sample_rate : 0; }
size_t steno_diarizer_speakers(const steno_diarizer* d) {
  return d != nullptr ? static_cast<size_t>(d->model.speakers()) : 0;
}
int steno_diarizer_streams(const steno_diarizer* d) { return d != nullptr && d->model.streams(); }

steno_status steno_aligner_load(const char* path, int threads, steno_aligner** aligner, char** error) {
  return load_handle(path, threads, aligner, error,
                     "steno_aligner_load: a path and a place for the aligner are needed, and threads from 0");
}
void steno_aligner_free(steno_aligner* aligner) { delete aligner; }
int steno_aligner_sample_rate(const steno_aligner* a) { return a != nullptr ? a->model.sample_rate() : 0; }
double steno_aligner_max_seconds(const steno_aligner* a) { return a != nullptr ? a->model.reach_seconds() : 0; }

steno_status steno_punctuator_load(const char* path, int threads, steno_punctuator** punctuator, char** error) {
  return load_handle(path, threads, punctuator, error,
                     "steno_punctuator_load: a path and a place for the punctuator are needed, and threads from 0");
}
void steno_punctuator_free(steno_punctuator* punctuator) { delete punctuator; }

steno_status steno_vad_load(const char* name, int sample_rate, steno_vad** vad, char** error) {
  if (name == nullptr || vad == nullptr || sample_rate < 1)
    return misuse(error, "steno_vad_load: a name, a sample rate and a place for the detector are needed");
  return guarded(error, [&] { *vad = new steno_vad(name, sample_rate); });
}
void steno_vad_free(steno_vad* vad) { delete vad; }
const char* steno_vad_name(const steno_vad* vad) { return vad != nullptr ? vad->name.c_str() : nullptr; }
int steno_vad_sample_rate(const steno_vad* vad) { return vad != nullptr ? vad->model.sample_rate() : 0; }

steno_options* steno_options_new(void) { return new (std::nothrow) steno_options; }
void steno_options_free(steno_options* options) { delete options; }
steno_status steno_options_set(steno_options* options, const char* name, const char* value, char** error) {
  if (options == nullptr || name == nullptr || value == nullptr)
    return misuse(error, "steno_options_set: options, a name and a value are needed");
  return guarded(error, [&] { options->set(name, value); });
}
steno_status steno_options_use_diarizer(steno_options* options, const steno_diarizer* diarizer) {
  return options != nullptr ? (options->diarizer = diarizer, STENO_OK) : STENO_MISUSE;
}
steno_status steno_options_use_aligner(steno_options* options, const steno_aligner* aligner) {
  return options != nullptr ? (options->aligner = aligner, STENO_OK) : STENO_MISUSE;
}
steno_status steno_options_use_punctuator(steno_options* options, const steno_punctuator* punctuator) {
  return options != nullptr ? (options->punctuator = punctuator, STENO_OK) : STENO_MISUSE;
}
steno_status steno_options_use_vad(steno_options* options, const steno_vad* vad) {
  return options != nullptr ? (options->detector = vad, STENO_OK) : STENO_MISUSE;
}

void steno_result_free(steno_result* result) { delete result; }
const char* steno_result_text(const steno_result* result) { return result != nullptr ? result->text.c_str() : nullptr; }
const char* steno_result_language(const steno_result* result) {
  return result != nullptr ? text_or_null(result->language) : nullptr;
}
double steno_result_duration(const steno_result* result) { return result != nullptr ? result->duration : 0; }
size_t steno_result_segment_count(const steno_result* result) {
  return result != nullptr ? result->segments.size() : 0;
}
steno_status steno_result_segment(const steno_result* result, size_t index, steno_segment* segment) {
  if (segment == nullptr || index >= steno_result_segment_count(result)) return STENO_MISUSE;
  return fill_in(segment, shown(result->segments[index])) ? STENO_OK : STENO_MISUSE;
}
steno_status steno_result_word(const steno_result* result, size_t segment, size_t index, steno_word* word) {
  if (segment >= steno_result_segment_count(result)) return STENO_MISUSE;
  return show_word(result->segments[segment], index, word);
}

}  // extern "C"
