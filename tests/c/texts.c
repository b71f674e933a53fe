/* What every demo model recognises in every bundled recording: the same texts on every processor (texts.txt). */
/* SPDX-License-Identifier: Apache-2.0 */
#include <steno/steno.h>

#include "check.h"

int main(int argc, char** argv) {
  CHECK(argc == 3);
  static const char* const models[] = {"demo",         "fun-asr-nano", "paraformer",   "paraformer-online",
                                       "parakeet-ctc", "parakeet-eou", "parakeet-tdt", "qwen3-asr",
                                       "u2",           "whisper"};
  static const char* const recordings[] = {"train", "question", "shopping"};
  for (size_t m = 0; m < sizeof models / sizeof models[0]; ++m) {
    steno_model* model = NULL;
    CHECK(steno_model_load(model_path(argv[1], models[m]), 0, &model, NULL) == STENO_OK);
    for (size_t r = 0; r < sizeof recordings / sizeof recordings[0]; ++r) {
      char name[64];
      snprintf(name, sizeof name, "%s.wav", recordings[r]);
      size_t count = 0;
      float* samples = read_samples(argv[1], name, &count);
      steno_result* result = NULL;
      CHECK(steno_transcribe(model, samples, count, NULL, &result, NULL) == STENO_OK);
      printf("%s %s: %s\n", models[m], recordings[r], steno_result_text(result));
      steno_result_free(result);
      free(samples);
    }
    steno_model_free(model);
  }
  return 0;
}
