/* Short memory: whatever is short, the status is STENO_NO_MEMORY, and the handles serve the next call. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <malloc.h>
#include <steno/steno.h>
#include <sys/resource.h>
#include <unistd.h>

#include "check.h"

static const char* folder;
static float* samples;
static size_t count;
static steno_model* model;
static char golden[4096];

static int go_on(const steno_event* event, void* user) {
  (void)event, (void)user;
  return 0;
}

/* Each gives back what it made. */
static steno_status load(char** error) {
  steno_model* m = NULL;
  const steno_status status = steno_model_load(model_path(folder, "demo"), 1, &m, error);
  steno_model_free(m);
  return status;
}
static steno_status transcribe(char** error) {
  steno_result* result = NULL;
  const steno_status status = steno_transcribe(model, samples, count, NULL, &result, error);
  CHECK((status == STENO_OK) == (result != NULL));
  steno_result_free(result);
  return status;
}
static steno_status stream(char** error) {
  steno_stream* s = NULL;
  steno_status status = steno_stream_open(model, NULL, go_on, NULL, &s, error);
  if (status == STENO_OK) status = steno_stream_push(s, samples, count, error);
  if (status == STENO_OK) status = steno_stream_finish(s, error);
  steno_stream_free(s);
  return status;
}
static steno_status diarize(char** error) {
  steno_diarizer* diarizer = NULL;
  steno_result* result = NULL;
  steno_status status = steno_diarizer_load(golden, 1, &diarizer, error);
  if (status == STENO_OK) status = steno_diarize(diarizer, samples, count, NULL, &result, error);
  steno_result_free(result);
  steno_diarizer_free(diarizer);
  return status;
}

static void limit(rlim_t bytes) {
  struct rlimit l;
  CHECK(getrlimit(RLIMIT_AS, &l) == 0);
  l.rlim_cur = bytes;
  CHECK(setrlimit(RLIMIT_AS, &l) == 0);
}
static rlim_t address_space(void) {
  long pages = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  CHECK(file != NULL && fscanf(file, "%ld", &pages) == 1);
  fclose(file);
  return (rlim_t)(pages * sysconf(_SC_PAGESIZE));
}

/* With more and more memory until there is enough. */
static void try_all(const char* name, steno_status (*call)(char**)) {
  int short_of = 0;
  for (rlim_t more = 0;; more += 128 << 10) {
    char* error = NULL;
    malloc_trim(0);
    limit(address_space() + more);
    const steno_status status = call(&error);
    limit(RLIM_INFINITY);
    if (status == STENO_OK) break;
    if (status != STENO_NO_MEMORY) fprintf(stderr, "%s: status %d, %s\n", name, (int)status, error ? error : "");
    CHECK(status == STENO_NO_MEMORY && more < 1 << 30);
    steno_free(error);
    ++short_of;
  }
  printf("%s: %d times\n", name, short_of);
  CHECK(short_of > 0);
}

int main(int argc, char** argv) {
  CHECK(argc == 3);
  mallopt(M_MMAP_THRESHOLD, 64 << 10); /* what is large is not taken out of what was freed before */
  folder = argv[1];
  samples = read_samples(argv[1], "train.wav", &count);
  try_all("load", load);
  snprintf(golden, sizeof golden, "%s/sortformer/model.gguf", argv[2]);
  CHECK(steno_model_load(model_path(folder, "demo"), 1, &model, NULL) == STENO_OK);
  try_all("stream", stream);
  try_all("diarize", diarize);
  steno_model_free(model); /* the next one has no scratch memory yet */
  CHECK(steno_model_load(model_path(folder, "demo"), 1, &model, NULL) == STENO_OK);
  try_all("transcribe", transcribe);
  steno_model_free(model);
  free(samples);
  return 0;
}
