// steno bench: load time, time of each run, real-time factor, most memory in use; with --profile the time of stages.
// SPDX-License-Identifier: Apache-2.0
#include <steno/error.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>

#include "audio.hpp"
#include "model_path.hpp"
#include "system.hpp"
#include "text_width.hpp"
#include "verbs.hpp"

namespace steno::app {
namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

int run_bench(const options& o) {
  const std::vector<input> inputs = gather_inputs(o);
  if (inputs.size() != 1) wrong_usage("bench takes one sound file");
  const std::string path = find_model(o.model);
  const double begin = now();
  std::optional<stage_clock> clock;
  engine model(path, o.threads, [](const std::string&) {});
  const double load = now() - begin;
  check_request(o, model);

  audio_reader reader(inputs[0].audio, model.model().sample_rate(), o.reading);
  const std::vector<float> pcm = read_all(reader);
  const double seconds = static_cast<double>(pcm.size()) / model.model().sample_rate();
  std::printf("model  %s\naudio  %s, %.2f s\nload   %.3f s\n", printable(path).c_str(),
              printable(inputs[0].audio).c_str(), seconds, load);
  std::printf("%6s %12s %10s\n", "run", "seconds", "RTF");
  const auto once = [&] {
    std::size_t at = 0;
    const sample_function audio = [&](std::span<float> out) {
      const std::size_t n = std::min(out.size(), pcm.size() - at);
      std::copy_n(pcm.begin() + static_cast<std::ptrdiff_t>(at), n, out.begin());
      at += n;
      return n;
    };
    model.transcribe(audio,
                     {.options = {.language = model.language_of(o.language), .itn = o.inverse_text_normalisation}},
                     {.segments = [](const segment&) {}, .progress = [](double) {}});
  };
  std::vector<double> times;
  for (int run = 1; run <= o.runs; ++run) {
    const double from = now();
    once();
    times.push_back(now() - from);
    std::printf("%6d %12.4f %10.5f\n", run, times.back(), times.back() / seconds);
    std::fflush(stdout);
  }
  std::sort(times.begin(), times.end());
  const double median = times[times.size() / 2];
  std::printf("%6s %12.4f %10.5f\n%6s %12.4f %10.5f\n", "best", times[0], times[0] / seconds, "median", median,
              median / seconds);
  std::printf("peak   %.1f MiB\n", system::peak_megabytes());
  if (o.profile) {
    model.profile(clock.emplace());
    once();
    std::printf("one more run, stage by stage\n");
    for (const std::string& line : clock->lines()) std::printf("%s\n", printable(line).c_str());
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    system::end_without_reader();
    fail({.where = "standard output", .what = "cannot be written"});
  }
  return 0;
}

}  // namespace steno::app
