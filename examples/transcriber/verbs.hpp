// The verbs. Each returns the program's exit code; steno::error and stop pass through.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/pipelines/any_session.hpp>
#include <steno/pipelines/transcriber.hpp>
#include <steno/streaming/session.hpp>

#include <vector>

#include "engine.hpp"
#include "inputs.hpp"
#include "options.hpp"
#include "outputs.hpp"
#include "progress.hpp"

namespace steno::app {

class interrupt_watch;
class screen;
class done_list;

int run_transcribe(const options& o);
int run_info(const options& o);
int run_models(const options& o);
int run_bench(const options& o);
int run_stream(const options& o);
int run_serve(const options& o);
int run_vad(const options& o);
int run_diarize(const options& o);
int run_align(const options& o);

/// What stream and serve ask of a model; reads the file of phrases. Throws steno::error.
session_options session_options_of(const options& o, const models::language_model* lm);

/// Refuses options that the model has no use for, by throwing stop: what the library would refuse, under the names of
/// the command line.
void check_live(const session_options& asked, const transcriber& model, const pipelines::session_models& beside);

/// The input that is being transcribed.
struct progress {
  std::string name;
  double seconds = 0;  ///< of it that are done
};
/// How far a run has come.
struct tally {
  std::size_t done = 0, failed = 0;
  std::size_t damaged = 0;  ///< of those that are done: not all of their sound was there
  double audio_seconds = 0;
  progress now = {};

  /// The program's exit code, unless it was interrupted.
  int exit_code() const { return failed != 0 ? 1 : damaged != 0 ? 3 : 0; }
};
/// Transcribes the inputs one after the other until an interruption; one that fails is reported, and the others go on.
/// Throws steno::error only when a result cannot be written. `lm` and `watch` may be null, and so may `done`, which is
/// told of each input whose files are whole.
void transcribe_inputs(const options& o, const std::vector<input>& inputs, engine& model,
                       const models::language_model* lm, outputs& out, reporter& report, interrupt_watch* watch,
                       tally& t, done_list* done = nullptr);

/// Refuses what this model cannot do, by throwing stop.
void check_request(const options& o, const engine& model);

}  // namespace steno::app
