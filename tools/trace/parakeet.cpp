// Parakeet: the stages of the encoder as they are, those of single steps put one under another.
#include <steno/models/parakeet_ctc.hpp>
#include <steno/models/parakeet_transducer.hpp>

#include <map>
#include <utility>

#include "families.hpp"

namespace steno::trace {

namespace {

// Rows of "step.NAME" by name; a state of several layers becomes [steps, layers, width].
class step_rows {
 public:
  void add(std::string_view name, const view<const float>& x) {
    std::vector<float>& all = rows_[std::string(name)];
    for (extent t = 0; t < x.rows(); ++t)
      all.insert(all.end(), x.data() + t * x.outerStride(), x.data() + t * x.outerStride() + x.cols());
    widths_[std::string(name)] = x.cols();
  }
  void write(const job& j, extent layers) const {
    for (const auto& [name, values] : rows_) {
      const std::int64_t width = widths_.at(name), count = static_cast<std::int64_t>(values.size()) / width;
      if (name.starts_with("lstm_"))
        j.write(name, values, {count, layers, width / layers});
      else
        j.write(name, values, {count, width});
    }
  }

 private:
  std::map<std::string, std::vector<float>> rows_;
  std::map<std::string, std::int64_t> widths_;
};

}  // namespace

void parakeet_ctc(job& j) {
  const auto model = load<parakeet_ctc_any>(std::move(j.file), {}, std::move(j.image));
  j.set.finish();
  const auto sink = j.sink(parakeet_ctc_any::trace_name);
  context c(j.run, tracer(sink));
  (void)model.recognise(read_audio(j.input, model.sample_rate), {}, c);
}

void parakeet_transducer(job& j) {
  const auto model = load<parakeet_transducer_any>(std::move(j.file), {}, std::move(j.image));
  const parakeet_transducer_options options{.max_symbols = j.set.take_number("max_symbols", 0)};
  j.set.finish();
  step_rows steps;
  const auto sink = [&](std::string_view path, const view<const float>& x) {
    if (path.starts_with("step."))
      steps.add(path.substr(5), x);
    else
      j.write(model.trace_name(path), x);
  };
  context c(j.run, tracer(sink));
  (void)model.recognise(read_audio(j.input, model.sample_rate), options, c);
  steps.write(j, model.predictor.depth.get());
}

}  // namespace steno::trace
