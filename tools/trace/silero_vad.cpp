// SPDX-License-Identifier: Apache-2.0
#include <steno/models/silero_vad.hpp>

#include "families.hpp"
#include "stages/silero_vad.hpp"

#include <map>

namespace steno::trace {

// The network runs window by window: what a stage made of all of them is written below one another.
void silero_vad(job& j) {
  const auto model = load<models::silero_vad_any>(std::move(j.file));
  j.set.finish();
  struct rows {
    std::vector<float> values;
    extent width = 0;
  };
  std::map<std::string, rows> all;
  const auto keep = [&](std::string_view path, const view<const float>& x) {
    rows& r = all[stages::silero_vad(path)];
    r.width = x.cols();
    for (extent t = 0; t < x.rows(); ++t)
      r.values.insert(r.values.end(), x.data() + t * x.outerStride(), x.data() + t * x.outerStride() + x.cols());
  };
  context c(j.run, core::tracer(keep));
  (void)model.probabilities(read_audio(j.input, model.sample_rate), c);
  all.erase("");
  for (const auto& [name, r] : all)
    j.write(name, core::make_view(r.values.data(), static_cast<extent>(r.values.size()) / r.width, r.width));
}

const family of_silero_vad("silero_vad", "", silero_vad);

}  // namespace steno::trace
