/* Diarizers, detectors, aligners and punctuators: by themselves, in streams, and beside a model. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <steno/steno.h>

#include "check.h"

static const char sentence[] = "the train to paris leaves in seven minutes";

struct found {
  size_t finals, partials;
  double starts[64], ends[64], begun;
  char speakers[64][32];
};

static int keep(const steno_event* event, void* user) {
  struct found* f = user;
  if (!event->final) {
    f->begun = event->utterance.start;
    ++f->partials;
    return 0;
  }
  CHECK(f->finals < 64 && event->utterance.start <= event->utterance.end && event->utterance.text[0] == 0);
  f->starts[f->finals] = event->utterance.start;
  f->ends[f->finals] = event->utterance.end;
  strcpy(f->speakers[f->finals], event->utterance.speaker != NULL ? event->utterance.speaker : "");
  ++f->finals;
  return 0;
}

/* What the stream found is what there is in the result. */
static void same(const struct found* f, const steno_result* result) {
  CHECK(f->finals == steno_result_segment_count(result) && f->finals > 0);
  for (size_t i = 0; i < f->finals; ++i) {
    steno_segment s = {.size = sizeof s};
    CHECK(steno_result_segment(result, i, &s) == STENO_OK);
    CHECK(s.start == f->starts[i] && s.end == f->ends[i] && s.text[0] == 0);
    CHECK(strcmp(s.speaker != NULL ? s.speaker : "", f->speakers[i]) == 0);
  }
}

static void push_all(steno_stream* stream, const float* samples, size_t count, size_t portion) {
  for (size_t at = 0; at < count; at += portion)
    CHECK(steno_stream_push(stream, samples + at, count - at < portion ? count - at : portion, NULL) == STENO_OK);
  CHECK(steno_stream_finish(stream, NULL) == STENO_OK && steno_stream_over(stream));
  steno_stream_free(stream);
}

static steno_options* options_of(const char* name, const char* value) {
  steno_options* options = steno_options_new();
  CHECK(steno_options_set(options, name, value, NULL) == STENO_OK);
  return options;
}

/* The call, which takes &error, is refused with a message that names something. */
#define CHECK_REFUSED(call, named)                                                               \
  do {                                                                                           \
    char* error = NULL;                                                                          \
    CHECK((call) == STENO_ERROR && error != NULL);                                               \
    if (strstr(error, named) == NULL) fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, error); \
    CHECK(strstr(error, named) != NULL);                                                         \
    steno_free(error);                                                                           \
  } while (0)

static void speakers(const char* golden, const float* samples, size_t count) {
  char path[4096];
  snprintf(path, sizeof path, "%s/sortformer/model.gguf", golden);
  steno_diarizer* d = NULL;
  steno_result* result = NULL;
  CHECK(steno_diarizer_load(path, 1, &d, NULL) == STENO_OK);
  CHECK(steno_diarizer_sample_rate(d) == 16000 && steno_diarizer_speakers(d) == 4 && steno_diarizer_streams(d));
  /* The model knows nothing: with this threshold it finds something. */
  steno_options* options = options_of("onset", "0.45");
  CHECK(steno_options_set(options, "offset", "0.45", NULL) == STENO_OK);
  CHECK(steno_diarize(d, samples, count, options, &result, NULL) == STENO_OK);
  CHECK(steno_result_duration(result) > 2.8);
  const size_t portions[] = {count, 1600, 7001};
  for (size_t p = 0; p < 3; ++p) {
    struct found f = {0};
    steno_stream* stream = NULL;
    CHECK(steno_diarizer_stream_open(d, options, keep, &f, &stream, NULL) == STENO_OK);
    push_all(stream, samples, count, portions[p]);
    same(&f, result);
  }
  steno_result_free(result);
  result = NULL;
  steno_options_free(options);
  options = options_of("chunk_len", "0");
  CHECK_REFUSED(steno_diarize(d, samples, count, options, &result, &error), "chunk_len");
  steno_options_free(options);
  options = options_of("beam", "2");
  CHECK_REFUSED(steno_diarize(d, samples, count, options, &result, &error), "option beam");
  CHECK(steno_diarize(NULL, samples, count, NULL, &result, NULL) == STENO_MISUSE && result == NULL);
  steno_options_free(options);
  steno_diarizer_free(d);
}

static void who_said_what(const char* examples, const char* golden, const float* samples, size_t count) {
  char path[4096];
  snprintf(path, sizeof path, "%s/sortformer/model.gguf", golden);
  steno_model* model = NULL;
  steno_diarizer* d = NULL;
  CHECK(steno_model_load(model_path(examples, "parakeet-tdt"), 1, &model, NULL) == STENO_OK);
  CHECK(steno_diarizer_load(path, 1, &d, NULL) == STENO_OK);
  steno_options* options = options_of("speaker_onset", "0.45");
  CHECK(steno_options_set(options, "speaker_offset", "0.45", NULL) == STENO_OK);
  CHECK(steno_options_set(options, "speaker_reach", "5", NULL) == STENO_OK);
  CHECK(steno_options_set(options, "speaker_names", "Ada\nBea\nCid\nDee", NULL) == STENO_OK);
  steno_result* result = NULL;
  CHECK_REFUSED(steno_transcribe(model, samples, count, options, &result, &error), "speaker_names");
  CHECK(steno_options_use_diarizer(options, d) == STENO_OK);
  CHECK(steno_options_use_diarizer(NULL, d) == STENO_MISUSE);
  CHECK(steno_transcribe(model, samples, count, options, &result, NULL) == STENO_OK);
  CHECK(strcmp(steno_result_text(result), sentence) == 0 && steno_result_segment_count(result) > 0);
  for (size_t i = 0; i < steno_result_segment_count(result); ++i) {
    steno_segment s = {.size = sizeof s};
    CHECK(steno_result_segment(result, i, &s) == STENO_OK);
    CHECK(s.speaker != NULL && strstr("Ada Bea Cid Dee", s.speaker) != NULL);
    steno_word w = {.size = sizeof w};
    CHECK(steno_result_word(result, i, 0, &w) == STENO_OK && strcmp(w.speaker, s.speaker) == 0);
  }
  steno_result_free(result);
  steno_options_free(options);
  steno_diarizer_free(d);
  steno_model_free(model);
}

static void speech(const char* folder, const char* name, const float* samples, size_t count) {
  steno_vad* vad = NULL;
  steno_result* result = NULL;
  CHECK(steno_vad_load(name, 16000, &vad, NULL) == STENO_OK);
  CHECK(strstr(steno_vad_name(vad), "_vad") != NULL && steno_vad_sample_rate(vad) == 16000);
  steno_options* options = options_of("vad_min_silence", "300");
  CHECK(steno_detect(vad, samples, count, options, &result, NULL) == STENO_OK);
  const size_t portions[] = {count, 1600, 7001};
  for (size_t p = 0; p < 3; ++p) {
    struct found f = {0};
    steno_stream* stream = NULL;
    CHECK(steno_vad_stream_open(vad, options, keep, &f, &stream, NULL) == STENO_OK);
    push_all(stream, samples, count, portions[p]);
    same(&f, result);
    CHECK(f.partials == f.finals && f.begun == f.starts[f.finals - 1]);
  }
  steno_result_free(result);
  result = NULL;

  /* Beside a model. */
  steno_model* model = NULL;
  CHECK(steno_model_load(model_path(folder, "demo"), 1, &model, NULL) == STENO_OK);
  CHECK_REFUSED(steno_transcribe(model, samples, count, options, &result, &error), "vad_min_silence");
  CHECK(steno_options_use_vad(options, vad) == STENO_OK);
  CHECK(steno_transcribe(model, samples, count, options, &result, NULL) == STENO_OK);
  CHECK(strcmp(steno_result_text(result), sentence) == 0);
  steno_result_free(result);
  result = NULL;
  CHECK_REFUSED(steno_detect(vad, samples, count, options, &result, &error), "detector");
  steno_options_free(options);
  steno_model_free(model);
  steno_vad_free(vad);
}

static void words(const char* folder, const float* samples, size_t count) {
  steno_aligner* aligner = NULL;
  steno_result* result = NULL;
  CHECK(steno_aligner_load(model_path(folder, "qwen3-aligner"), 1, &aligner, NULL) == STENO_OK);
  CHECK(steno_aligner_sample_rate(aligner) == 16000 && steno_aligner_max_seconds(aligner) > 3);
  CHECK(steno_align(aligner, samples, count, sentence, NULL, &result, NULL) == STENO_OK);
  steno_segment s = {.size = sizeof s};
  CHECK(steno_result_segment_count(result) == 1 && steno_result_segment(result, 0, &s) == STENO_OK);
  CHECK(s.word_count == 8 && strcmp(s.text, sentence) == 0);
  double last = 0;
  for (size_t i = 0; i < s.word_count; ++i) {
    steno_word w = {.size = sizeof w};
    CHECK(steno_result_word(result, 0, i, &w) == STENO_OK && w.has_times && w.start >= last && w.end >= w.start);
    last = w.start;
  }
  CHECK(last > 1); /* the last word */
  steno_result_free(result);
  result = NULL;
  const size_t many = (size_t)((steno_aligner_max_seconds(aligner) + 1) * 16000);
  float* silence = calloc(many, sizeof *silence);
  CHECK(silence != NULL);
  CHECK_REFUSED(steno_align(aligner, silence, many, sentence, NULL, &result, &error), "to be aligned");
  free(silence);

  /* Beside a model without times of its own. */
  steno_model* model = NULL;
  steno_options* options = steno_options_new();
  CHECK(steno_model_load(model_path(folder, "qwen3-asr"), 1, &model, NULL) == STENO_OK);
  for (int with = 0; with <= 1; ++with) {
    if (with) CHECK(steno_options_use_aligner(options, aligner) == STENO_OK);
    CHECK(steno_transcribe(model, samples, count, options, &result, NULL) == STENO_OK);
    CHECK(steno_result_segment(result, 0, &s) == STENO_OK);
    steno_word w = {.size = sizeof w};
    CHECK((steno_result_word(result, 0, 0, &w) == STENO_OK && w.has_times) == with);
    steno_result_free(result);
    result = NULL;
  }
  steno_stream* stream = NULL;
  struct found f = {0};
  CHECK_REFUSED(steno_stream_open(model, options, keep, &f, &stream, &error), "aligner");
  steno_options_free(options);
  steno_model_free(model);
  steno_aligner_free(aligner);
}

static int keep_text(const steno_event* event, void* user) {
  if (event->final) {
    CHECK(event->stable == strlen(event->utterance.text));
    strcpy(user, event->utterance.text);
  }
  return 0;
}

static void punctuation(const char* folder, const float* samples, size_t count) {
  steno_punctuator* marks = NULL;
  CHECK(steno_punctuator_load(model_path(folder, "ct-punc"), 1, &marks, NULL) == STENO_OK);
  char* text = NULL;
  CHECK(steno_punctuate(marks, sentence, &text, NULL) == STENO_OK);
  CHECK(strcmp(text, "The train to paris leaves in seven minutes.") == 0);
  CHECK(steno_punctuate(marks, NULL, &text, NULL) == STENO_MISUSE);
  steno_options* options = steno_options_new();
  CHECK(steno_options_use_punctuator(options, marks) == STENO_OK);
  const char* const models[] = {"demo", "u2"};
  for (int i = 0; i < 2; ++i) {
    steno_model* model = NULL;
    CHECK(steno_model_load(model_path(folder, models[i]), 1, &model, NULL) == STENO_OK);
    steno_result* result = NULL;
    CHECK(steno_transcribe(model, samples, count, options, &result, NULL) == STENO_OK);
    CHECK(strcmp(steno_result_text(result), text) == 0);
    steno_result_free(result);
    steno_stream* stream = NULL;
    static char last[4096];
    CHECK(steno_stream_open(model, options, keep_text, last, &stream, NULL) == STENO_OK);
    push_all(stream, samples, count, 1600);
    CHECK(strcmp(last, text) == 0);
    steno_model_free(model);
  }
  steno_free(text);
  steno_options_free(options);
  steno_punctuator_free(marks);
}

static void misuse(const char* folder) {
  steno_diarizer* diarizer = NULL;
  steno_aligner* aligner = NULL;
  steno_punctuator* punctuator = NULL;
  steno_vad* vad = NULL;
  steno_result* result = NULL;
  const float nothing[1] = {0};
  const char* const other = model_path(folder, "demo"); /* does none of this */
  CHECK_REFUSED(steno_diarizer_load(other, 1, &diarizer, &error), "demo.gguf");
  CHECK_REFUSED(steno_aligner_load(other, 1, &aligner, &error), "demo.gguf");
  CHECK_REFUSED(steno_punctuator_load(other, 1, &punctuator, &error), "demo.gguf");
  CHECK_REFUSED(steno_vad_load(other, 16000, &vad, &error), "demo.gguf");
  CHECK(steno_diarizer_load(NULL, 1, &diarizer, NULL) == STENO_MISUSE);
  CHECK(steno_vad_load("energy", 0, &vad, NULL) == STENO_MISUSE);
  CHECK(steno_detect(NULL, nothing, 1, NULL, &result, NULL) == STENO_MISUSE);
  CHECK(steno_align(NULL, nothing, 1, "", NULL, &result, NULL) == STENO_MISUSE);
  CHECK(steno_diarizer_sample_rate(NULL) == 0 && steno_diarizer_speakers(NULL) == 0);
  CHECK(steno_vad_name(NULL) == NULL && steno_aligner_max_seconds(NULL) == 0);
  steno_diarizer_free(NULL);
  steno_aligner_free(NULL);
  steno_punctuator_free(NULL);
  steno_vad_free(NULL);
}

int main(int argc, char** argv) {
  CHECK(argc == 3);
  size_t count = 0;
  float* samples = read_samples(argv[1], "train.wav", &count);
  misuse(argv[1]);
  speakers(argv[2], samples, count);
  who_said_what(argv[1], argv[2], samples, count);
  speech(argv[1], "energy", samples, count);
  speech(argv[1], model_path(argv[1], "fsmn-vad"), samples, count);
  words(argv[1], samples, count);
  punctuation(argv[1], samples, count);
  free(samples);
  return 0;
}
