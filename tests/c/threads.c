/* One model, several threads: recordings and streams at once, all with the same text. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <steno/steno.h>

#include "check.h"

struct job {
  const steno_model* model;
  const float* samples;
  size_t count;
  char text[4096];
};

static int keep_final(const steno_event* event, void* user) {
  if (event->final) strcpy(((struct job*)user)->text, event->utterance.text);
  return 0;
}

static void* recording(void* user) {
  struct job* j = user;
  for (int i = 0; i < 5; ++i) {
    steno_result* result = NULL;
    CHECK(steno_transcribe(j->model, j->samples, j->count, NULL, &result, NULL) == STENO_OK);
    CHECK(i == 0 || strcmp(j->text, steno_result_text(result)) == 0);
    strcpy(j->text, steno_result_text(result));
    steno_result_free(result);
  }
  return NULL;
}

static void* stream(void* user) {
  struct job* j = user;
  steno_stream* s = NULL;
  CHECK(steno_stream_open(j->model, NULL, keep_final, j, &s, NULL) == STENO_OK);
  CHECK(steno_stream_push(s, j->samples, j->count, NULL) == STENO_OK);
  CHECK(steno_stream_finish(s, NULL) == STENO_OK);
  steno_stream_free(s);
  return NULL;
}

int main(int argc, char** argv) {
  CHECK(argc == 3);
  size_t count = 0;
  float* samples = read_samples(argv[1], "train.wav", &count);
  for (int threads = 1; threads <= 2; ++threads) {
    steno_model* model = NULL;
    CHECK(steno_model_load(model_path(argv[1], "u2"), threads, &model, NULL) == STENO_OK);
    static struct job jobs[6];
    pthread_t ids[6];
    for (int i = 0; i < 6; ++i) {
      jobs[i] = (struct job){.model = model, .samples = samples, .count = count};
      CHECK(pthread_create(&ids[i], NULL, i % 2 ? stream : recording, &jobs[i]) == 0);
    }
    for (int i = 0; i < 6; ++i) CHECK(pthread_join(ids[i], NULL) == 0);
    for (int i = 0; i < 6; ++i) CHECK(strcmp(jobs[i].text, jobs[i % 2].text) == 0 && jobs[i].text[0] != 0);
    steno_model_free(model);
  }
  free(samples);
  return 0;
}
