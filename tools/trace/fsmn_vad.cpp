// SPDX-License-Identifier: Apache-2.0
#include <steno/models/fsmn_vad.hpp>

#include <algorithm>

#include "families.hpp"
#include "stages/fsmn_vad.hpp"

namespace steno::trace {

void fsmn_vad(job& j) {
  auto model = load<funasr::fsmn_vad_any>(std::move(j.file));
  if (!j.set.take_flag("cmvn", true)) model.frontend.last.shift = {}, model.frontend.last.scale = {};
  j.set.finish();
  const auto write = [&](std::string_view path, const view<const float>& x) {
    const std::string name = stages::fsmn_vad(path);
    j.write(name, x);
    if (name == "feats") j.write("feats_first400", x.topRows(std::min<extent>(x.rows(), 400)));
  };
  context c(j.run, core::tracer(write));
  const std::vector<float> pcm = read_audio(j.input, model.sample_rate);
  core::workspace::frame scratch(c.scratch);
  auto scores = scratch.matrix(model.frontend.rows(static_cast<extent>(pcm.size())), model.encoder.output_size());
  model.score(pcm, scores, c);
}

const family of_fsmn_vad("fsmn_vad", "cmvn=false", fsmn_vad);

}  // namespace steno::trace
