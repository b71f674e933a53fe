// Canary: the stages of the encoder, and of the decoder over prompt and text at once. Without --set of a prompt these
// are the golden cases' en_asr and, where the model writes times, en_timestamps; of the first one stages of the decoder
// are written, too.
// SPDX-License-Identifier: Apache-2.0
#include <steno/models/canary.hpp>
#include <steno/pipelines/canary.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "families.hpp"
#include "stages/nemo.hpp"

namespace steno::trace {

namespace {

// Stages of the decoder over a text and its prompt, and the scores of every token of the text and of its end.
void trace_text(const nemo::canary_any& m, const job& j, nemo::canary_window& w, const nemo::canary_options& o,
                const std::string& name, bool stages_too) {
  context quiet(j.run);
  std::vector<int> ids = m.tokens.prompt(m.tokenizer, o);
  const auto given = static_cast<extent>(ids.size());
  const search::nemo_beam_result found = m.decode_window(ids, w, o, quiet);
  const std::vector<int>& text = found.beams[found.best].ids;
  ids.insert(ids.end(), text.begin(), text.end());
  ids.resize(std::min(ids.size(), static_cast<std::size_t>(m.decoder.context_size())));
  const auto sink = [&](std::string_view path, const view<const float>& x) {
    if (path == "log_probs")
      j.write(name, x.bottomRows(x.rows() - given + 1));
    else if (stages_too)
      j.write(stages::nemo(path), x);
  };
  context c(j.run, core::tracer(sink));
  matrix<float, dynamic, dynamic> scores(static_cast<extent>(ids.size()), m.decoder.vocabulary());
  m.score(ids, w, scores, c);
}

}  // namespace

void canary(job& j) {
  auto model = load<nemo::canary_any>(std::move(j.file));
  nemo::canary_options o;
  const nemo::canary_options usual;
  o.language = j.set.take("source_lang", j.set.take("language", usual.language));
  o.target_language = j.set.take("target_lang", j.set.take("target_language", usual.target_language));
  o.punctuation = j.set.take_flag("pnc", usual.punctuation);
  o.itn = j.set.take_flag("itn", usual.itn);
  o.timestamps = j.set.take_flag("timestamp", usual.timestamps);
  o.diarize = j.set.take_flag("diarize", usual.diarize);
  o.emotion = j.set.take("emotion", usual.emotion);
  o.context = j.set.take("context", usual.context);
  o.beam = j.set.take_number("beam_size", 0);
  const double penalty = j.set.take_real("length_penalty", -1);
  if (penalty >= 0) o.length_penalty = penalty;
  j.set.finish();
  const bool as_recorded = static_cast<const nemo::canary_prompt&>(o) == static_cast<const nemo::canary_prompt&>(usual);
  const std::vector<float> pcm = read_audio(j.input, model.sample_rate);
  if (pcm.empty()) fail({.where = j.input, .what = "it holds no samples"});

  nemo::canary_window w;
  const auto sink = j.sink(stages::nemo);
  context c(j.run, core::tracer(sink));
  model.encode_window(pcm, static_cast<extent>(pcm.size()), w, c);
  std::vector<float> mask(static_cast<std::size_t>(w.rows));
  std::fill_n(mask.begin(), model.frames(static_cast<extent>(pcm.size())), 1.0f);
  j.write("encoder_mask", mask, {w.rows});
  trace_text(model, j, w, o, as_recorded ? "log_probs_en_asr" : "log_probs", true);
  if (!as_recorded || !model.tokens.has_times()) return;
  o.timestamps = true;
  trace_text(model, j, w, o, "log_probs_en_timestamps", false);
}

const family of_canary(
    "canary",
    "source_lang=en, target_lang=en, pnc=true, itn=false, timestamp=false, diarize=false, emotion=undefined, context=, "
    "beam_size=1, length_penalty=0",
    canary);

}  // namespace steno::trace
