// What is behind the handles of steno.h.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/thread_pool.hpp>
#include <steno/pipelines/any_vad.hpp>
#include <steno/pipelines/diarizer.hpp>
#include <steno/pipelines/forced_aligner.hpp>
#include <steno/pipelines/punctuator.hpp>
#include <steno/pipelines/transcriber.hpp>

#include <memory>
#include <string>
#include <vector>

#include "context_store.hpp"
#include "options.hpp"

namespace steno::c {

// Threads and scratch memory of a model; `threads` 0: one for each processor it may use.
struct workers {
  explicit workers(int threads);

  std::unique_ptr<thread_pool> pool;
  executor run;
  mutable context_store contexts;  // handles are const where they are shared; this has a lock
};

}  // namespace steno::c

struct steno_model : steno::c::workers {
  steno_model(const char* path, int threads)
      : workers(threads), model(path, run), name(model.model_name()), languages(model.languages()) {}

  steno::transcriber model;
  std::string name;
  std::vector<std::string> languages;
};
struct steno_diarizer : steno::c::workers {
  steno_diarizer(const char* path, int threads) : workers(threads), model(path, run) {}

  steno::diarizer model;
};
struct steno_aligner : steno::c::workers {
  steno_aligner(const char* path, int threads) : workers(threads), model(path, run) {}

  steno::forced_aligner model;
};
struct steno_punctuator : steno::c::workers {
  steno_punctuator(const char* path, int threads) : workers(threads), model(path, run) {}

  steno::punctuator model;
};
struct steno_vad : steno::c::workers {
  steno_vad(const char* named, int sample_rate)
      : workers(1), model(steno::open_vad(named, run, sample_rate)), name(model.name()) {}

  steno::any_vad model;
  std::string name;
};
struct steno_options : steno::c::named_options {};
struct steno_result : steno::result {};
