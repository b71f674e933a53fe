/* What the programs of this folder have in common: a check that says where it failed, and a recording. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STENO_TESTS_C_CHECK_H
#define STENO_TESTS_C_CHECK_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(holds)                                                            \
  do {                                                                          \
    if (!(holds)) {                                                             \
      fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #holds); \
      exit(1);                                                                  \
    }                                                                           \
  } while (0)

/* In WebAssembly a program has one. */
#if defined(__EMSCRIPTEN__)
#define TWO_THREADS 1
#else
#define TWO_THREADS 2
#endif

/* The samples of a WAV file of 16 bits whose header has 44 bytes; free() them. */
static float* read_samples(const char* folder, const char* name, size_t* count) {
  char path[4096];
  snprintf(path, sizeof path, "%s/audio/%s", folder, name);
  FILE* file = fopen(path, "rb");
  CHECK(file != NULL);
  CHECK(fseek(file, 0, SEEK_END) == 0);
  *count = (size_t)(ftell(file) - 44) / 2;
  CHECK(fseek(file, 44, SEEK_SET) == 0);
  short* whole = malloc(*count * sizeof *whole);
  float* samples = malloc(*count * sizeof *samples);
  CHECK(whole != NULL && samples != NULL);
  CHECK(fread(whole, sizeof *whole, *count, file) == *count);
  for (size_t i = 0; i < *count; ++i) samples[i] = (float)whole[i] / 32768.0f;
  free(whole);
  fclose(file);
  return samples;
}

static const char* model_path(const char* folder, const char* name) {
  static char path[4096];
  snprintf(path, sizeof path, "%s/models/%s.gguf", folder, name);
  return path;
}

#endif
