// SPDX-License-Identifier: Apache-2.0
#include <steno/models/sense_voice.hpp>
#include <steno/pipelines/sense_voice.hpp>

#include "families.hpp"
#include "stages/sense_voice.hpp"

namespace steno::trace {

void sense_voice(job& j) {
  auto model = load<funasr::sense_voice_any>(std::move(j.file));
  const std::string language = j.set.take("language", "auto");
  const bool itn = j.set.take_flag("itn", model.itn);
  if (!j.set.take_flag("cmvn", true)) model.frontend.last.shift = {}, model.frontend.last.scale = {};
  j.set.finish();
  const auto sink = j.sink(stages::sense_voice);
  context c(j.run, core::tracer(sink));
  (void)model.recognise(read_audio(j.input, model.sample_rate), {.language = language, .itn = itn}, c);
}

const family of_sense_voice("sense_voice", "language=auto|zh|en|..., itn=true, cmvn=false", sense_voice);

}  // namespace steno::trace
