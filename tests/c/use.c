/* Every function of steno.h, what it gives and what it refuses. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <steno/steno.h>

#include "check.h"

static const char sentence[] = "the train to paris leaves in seven minutes";

struct heard {
  int events, finals, stop_after;
  char text[4096], all[65536];
  size_t words;
};

static int hear(const steno_event* event, void* user) {
  struct heard* h = user;
  ++h->events;
  CHECK(event->size == sizeof *event && event->utterance.size == sizeof event->utterance);
  CHECK(event->stable <= strlen(event->utterance.text));
  strcat(strcat(h->all, event->utterance.text), event->final ? "!" : "|");
  if (event->final) {
    ++h->finals;
    strcpy(h->text, event->utterance.text);
    h->words = event->utterance.word_count;
    steno_word word = {.size = sizeof word};
    for (size_t i = 0; i < h->words; ++i) {
      CHECK(steno_event_word(event, i, &word) == STENO_OK);
      CHECK(word.has_times && word.start <= word.end);
    }
    CHECK(steno_event_word(event, h->words, &word) == STENO_MISUSE);
  }
  return h->stop_after > 0 && h->events >= h->stop_after;
}

static int count_calls(double done, double total, void* user) {
  CHECK(done <= total);
  ++*(int*)user;
  return 0;
}
static int say_stop(double done, double total, void* user) {
  (void)done, (void)total, (void)user;
  return 1;
}

static void recordings(const char* folder) {
  size_t count = 0;
  float* samples = read_samples(folder, "train.wav", &count);
  steno_model* model = NULL;
  char* error = NULL;
  CHECK(steno_model_load(model_path(folder, "demo"), TWO_THREADS, &model, &error) == STENO_OK && error == NULL);
  CHECK(strcmp(steno_model_name(model), "sense_voice") == 0);
  CHECK(steno_model_sample_rate(model) == 16000);
  CHECK(steno_model_streams(model) == 0);
  CHECK(steno_model_supports(model, "language", 0) && !steno_model_supports(model, "patience", 0));
  CHECK(steno_model_language_count(model) > 1 && steno_model_language(model, 0) != NULL);
  CHECK(steno_model_language(model, steno_model_language_count(model)) == NULL);

  steno_result* result = NULL;
  CHECK(steno_transcribe(model, samples, count, NULL, &result, &error) == STENO_OK);
  CHECK(strcmp(steno_result_text(result), sentence) == 0);
  CHECK(steno_result_duration(result) > 2.8 && steno_result_duration(result) < 3.0);
  CHECK(steno_result_segment_count(result) == 1);
  steno_segment segment = {.size = sizeof segment};
  CHECK(steno_result_segment(result, 0, &segment) == STENO_OK);
  CHECK(strcmp(segment.text, sentence) == 0 && segment.word_count == 8 && segment.speaker == NULL);
  CHECK(steno_result_segment(result, 1, &segment) == STENO_MISUSE);
  double last = 0;
  for (size_t i = 0; i < segment.word_count; ++i) {
    steno_word word = {.size = sizeof word};
    CHECK(steno_result_word(result, 0, i, &word) == STENO_OK);
    CHECK(word.has_times && word.start >= last && word.end >= word.start && word.confidence > 0);
    CHECK(strstr(sentence, word.text) != NULL);
    last = word.end;
  }
  steno_word older = {.size = offsetof(steno_word, confidence)}; /* of an older version of the header */
  older.confidence = -1;
  CHECK(steno_result_word(result, 0, 7, &older) == STENO_OK && strcmp(older.text, "minutes") == 0);
  CHECK(older.confidence == -1 && older.size == offsetof(steno_word, confidence));
  CHECK(steno_result_word(result, 0, 8, &older) == STENO_MISUSE);
  CHECK(steno_result_word(result, 1, 0, &older) == STENO_MISUSE);
  steno_result_free(result);

  result = NULL;
  CHECK(steno_transcribe(model, NULL, 0, NULL, &result, &error) == STENO_OK);
  CHECK(strcmp(steno_result_text(result), "") == 0);
  steno_result_free(result);

  int calls = 0;
  result = NULL;
  CHECK(steno_transcribe_with_progress(model, samples, count, NULL, count_calls, &calls, &result, NULL) == STENO_OK);
  CHECK(calls > 0);
  steno_result_free(result);
  result = NULL;
  CHECK(steno_transcribe_with_progress(model, samples, count, NULL, say_stop, NULL, &result, &error) ==
        STENO_CANCELLED);
  CHECK(result == NULL && error != NULL);
  steno_free(error);
  error = NULL;

  steno_options* options = steno_options_new();
  CHECK(steno_options_set(options, "language", "en", &error) == STENO_OK);
  CHECK(steno_options_set(options, "vad", "energy", &error) == STENO_OK);
  CHECK(steno_options_set(options, "itn", "false", &error) == STENO_OK);
  CHECK(steno_transcribe(model, samples, count, options, &result, &error) == STENO_OK);
  CHECK(strcmp(steno_result_text(result), sentence) == 0);
  CHECK(strcmp(steno_result_language(result), "en") == 0);
  steno_result_free(result);
  result = NULL;
  static const char* const wrong[][3] = {{"languages", "en", "languages"},   {"itn", "perhaps", "true or false"},
                                         {"beam", "many", "whole number"},   {"beam", "1.5", "whole number"},
                                         {"merge_seconds", "nan", "number"}, {"suppress_tokens", "1,x", "commas"}};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
    CHECK(steno_options_set(options, wrong[i][0], wrong[i][1], &error) == STENO_ERROR);
    CHECK(strstr(error, wrong[i][2]) != NULL);
    steno_free(error);
    error = NULL;
  }
  CHECK(steno_options_set(options, "patience", "1.5", &error) == STENO_OK); /* Whisper's */
  CHECK(steno_transcribe(model, samples, count, options, &result, &error) == STENO_ERROR);
  CHECK(result == NULL && strstr(error, "patience") != NULL);
  steno_free(error);
  steno_options_free(options);
  steno_model_free(model);
  free(samples);
}

static void streams(const char* folder, const char* name) {
  size_t count = 0;
  float* samples = read_samples(folder, "train.wav", &count);
  steno_model* model = NULL;
  char* error = NULL;
  CHECK(steno_model_load(model_path(folder, name), 1, &model, &error) == STENO_OK);
  char once[65536] = "";
  const size_t portions[] = {count, 16000, 1600, 7001};
  for (size_t p = 0; p < sizeof portions / sizeof portions[0]; ++p) {
    static struct heard h;
    memset(&h, 0, sizeof h);
    steno_stream* stream = NULL;
    CHECK(steno_stream_open(model, NULL, hear, &h, &stream, &error) == STENO_OK);
    for (size_t at = 0; at < count; at += portions[p]) {
      const size_t n = count - at < portions[p] ? count - at : portions[p];
      CHECK(steno_stream_push(stream, samples + at, n, &error) == STENO_OK);
    }
    CHECK(!steno_stream_over(stream));
    CHECK(steno_stream_finish(stream, &error) == STENO_OK);
    CHECK(steno_stream_over(stream));
    CHECK(steno_stream_push(stream, samples, 1, &error) == STENO_MISUSE);
    steno_free(error);
    error = NULL;
    steno_stream_free(stream);
    CHECK(h.finals >= 1 && h.events > 1 && h.words > 0);
    CHECK(strcmp(h.text, sentence) == 0 || h.finals > 1);
    if (p == 0) strcpy(once, h.all);
    CHECK(strcmp(once, h.all) == 0); /* the same events for any portions */
  }
  static struct heard h;
  memset(&h, 0, sizeof h);
  h.stop_after = 1;
  steno_stream* stream = NULL;
  CHECK(steno_stream_open(model, NULL, hear, &h, &stream, &error) == STENO_OK);
  CHECK(steno_stream_push(stream, samples, count, &error) == STENO_CANCELLED);
  CHECK(h.events == 1 && steno_stream_over(stream));
  steno_free(error);
  error = NULL;
  steno_stream_free(stream);

  steno_options* options = steno_options_new();
  CHECK(steno_options_set(options, "parallel_clips", "2", NULL) == STENO_OK); /* of recordings */
  stream = NULL;
  CHECK(steno_stream_open(model, options, hear, &h, &stream, &error) == STENO_ERROR && stream == NULL);
  CHECK(strstr(error, "parallel_clips") != NULL);
  steno_free(error);
  steno_options_free(options);
  steno_model_free(model);
  free(samples);
}

static void misuse(const char* folder) {
  char* error = NULL;
  steno_model* model = NULL;
  steno_result* result = NULL;
  steno_stream* stream = NULL;
  const float nothing[1] = {0};
  CHECK(strcmp(steno_version(), "0.2.0") == 0);
  CHECK(steno_model_load("no such file.gguf", 0, &model, &error) == STENO_ERROR && model == NULL);
  CHECK(strstr(error, "no such file.gguf") != NULL);
  steno_free(error);
  error = NULL;
  CHECK(steno_model_load(NULL, 0, &model, &error) == STENO_MISUSE && error != NULL);
  steno_free(error);
  CHECK(steno_model_load("x", -1, &model, NULL) == STENO_MISUSE);
  char wrong[4096];
  snprintf(wrong, sizeof wrong, "%s/audio/train.wav", folder);
  CHECK(steno_model_load(wrong, 0, &model, NULL) == STENO_ERROR);
  CHECK(steno_transcribe(NULL, nothing, 1, NULL, &result, NULL) == STENO_MISUSE);
  CHECK(steno_stream_open(NULL, NULL, hear, NULL, &stream, NULL) == STENO_MISUSE);
  CHECK(steno_stream_push(NULL, nothing, 1, NULL) == STENO_MISUSE);
  CHECK(steno_stream_finish(NULL, NULL) == STENO_MISUSE);
  CHECK(steno_stream_over(NULL) == 1);
  CHECK(steno_options_set(NULL, "beam", "1", NULL) == STENO_MISUSE);
  CHECK(steno_model_name(NULL) == NULL && steno_model_sample_rate(NULL) == 0);
  CHECK(steno_result_text(NULL) == NULL && steno_result_segment_count(NULL) == 0);
  CHECK(steno_event_word(NULL, 0, NULL) == STENO_MISUSE);
  steno_free(NULL);
  steno_model_free(NULL);
  steno_options_free(NULL);
  steno_result_free(NULL);
  steno_stream_free(NULL);
}

int main(int argc, char** argv) {
  CHECK(argc == 3);
  misuse(argv[1]);
  recordings(argv[1]);
  streams(argv[1], "u2");
  streams(argv[1], "demo");
  return 0;
}
