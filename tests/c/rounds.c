/* A thousand times a model is loaded, used and freed: memory comes back. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <steno/steno.h>
#include <unistd.h>

#include "check.h"

static long resident(void) {
  long size = 0, pages = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  CHECK(file != NULL && fscanf(file, "%ld %ld", &size, &pages) == 2);
  fclose(file);
  return pages * sysconf(_SC_PAGESIZE);
}

int main(int argc, char** argv) {
  CHECK(argc == 3);
  size_t count = 0;
  float* samples = read_samples(argv[1], "train.wav", &count);
  long first = 0;
  for (int round = 0; round < 1000; ++round) {
    steno_model* model = NULL;
    char* error = NULL;
    CHECK(steno_model_load(model_path(argv[1], "demo"), 1, &model, &error) == STENO_OK);
    if (round % 50 == 0) {
      steno_result* result = NULL;
      CHECK(steno_transcribe(model, samples, count, NULL, &result, &error) == STENO_OK);
      steno_result_free(result);
    }
    steno_model_free(model);
    CHECK(steno_model_load("nowhere.gguf", 1, &model, &error) == STENO_ERROR);
    steno_free(error);
    if (round == 100) first = resident();
  }
  printf("%ld kB more after 900 rounds\n", (resident() - first) / 1024);
  CHECK(resident() - first < 1024 * 1024); /* a leak of 1.2 kB a round would show */
  free(samples);
  return 0;
}
