// SPDX-License-Identifier: Apache-2.0
#include "paraformer.hpp"

#include <steno/models/bicif_paraformer.hpp>
#include <steno/models/paraformer.hpp>
#include <steno/pipelines/paraformer.hpp>
#include <steno/pipelines/seaco_paraformer.hpp>

namespace steno::trace {

template <class Model>
void trace_paraformer(job& j) {
  const auto model = load_paraformer<Model>(j);
  j.set.finish();
  const auto sink = [&](std::string_view path, const view<const float>& x) {
    write_stage(j, stages::paraformer(path), x);
  };
  context c(j.run, core::tracer(sink));
  (void)model.recognise(read_audio(j.input, model.sample_rate), {}, c);
}

const family of_paraformer("paraformer", "cmvn=false", trace_paraformer<funasr::paraformer_any>);
const family of_bicif("bicif_paraformer", "cmvn=false", trace_paraformer<funasr::bicif_paraformer_any>);

}  // namespace steno::trace
