// Probabilities to segments: those of the original's get_speech_timestamps and VADIterator, on the same probabilities.
// SPDX-License-Identifier: Apache-2.0
#include <steno/segmentation/speech_timestamps.hpp>

#include "support/golden.hpp"
#include "support/silero_case.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>

namespace speech_timestamps_test {

using namespace steno;
using nlohmann::json;
using segmentation::speech_edge;

json recorded() {
  std::ifstream in(test::compact() / "silero_vad/timestamps.json");
  return json::parse(in);
}

segmentation::speech_timestamp_options options_of(const json& settings) {
  segmentation::speech_timestamp_options o;
  for (const auto& [name, value] : settings.items())
    if (name == "threshold")
      o.threshold = value.get<double>();
    else if (name == "neg_threshold")
      o.neg_threshold = value.get<double>();
    else if (name == "min_speech_duration_ms")
      o.min_speech = value.get<int>();
    else if (name == "min_silence_duration_ms")
      o.min_silence = value.get<int>();
    else if (name == "speech_pad_ms")
      o.pad = value.get<int>();
    else if (name == "max_speech_duration_s")
      o.max_speech = std::llround(value.get<double>() * 1000);
    else if (name == "min_silence_at_max_speech")
      o.min_silence_at_max_speech = value.get<int>();
    else if (name == "use_max_poss_sil_at_max_speech")
      o.longest_silence = value.get<bool>();
    else
      ADD_FAILURE() << name;
  return o;
}

std::vector<float> probabilities_of(const json& run) {
  return test::silero_probabilities(run["seed"].get<std::uint64_t>(), run["windows"].get<std::size_t>(),
                                    run["hold"].get<int>());
}

TEST(speech_timestamps, segments_are_the_originals) {
  std::size_t count = 0, segments = 0;
  const json all = recorded();
  for (const json& run : all["segments"]) {
    SCOPED_TRACE(run["settings"].dump() + " " + run["seed"].dump());
    const int rate = run["rate"].get<int>(), window = rate * 32 / 1000;
    const auto length = run["length"].get<std::int64_t>();
    segmentation::speech_timestamps s(options_of(run["settings"]), rate, window);
    json found = json::array();
    std::int64_t settled = 0;
    bool open = false;
    const auto sink = [&](const speech_edge& e) {
      EXPECT_NE(e.begins, open);
      EXPECT_GE(e.sample, settled);
      open = e.begins;
      if (e.begins)
        found.push_back({e.sample, -1});
      else
        found.back()[1] = e.sample;
    };
    std::int64_t heard = 0;
    for (const float p : probabilities_of(run)) {
      heard += window;
      if (heard > length)
        s.last_window(p, sink);
      else
        s.window(p, sink);
      EXPECT_GE(s.settled(), settled);
      settled = s.settled();
      if (open) {
        EXPECT_EQ(found.back()[0], settled);
      }
    }
    s.finish(length, sink);
    EXPECT_FALSE(open);
    EXPECT_EQ(found, run["segments"]);
    ++count;
    segments += found.size();
  }
  EXPECT_GE(count, 70u);
  EXPECT_GE(segments, 450u);
}

// What the original calls a stream: no segment is too short, and none is cut. Its pauses are longer than two pads here,
// so that segments do not reach into each other.
TEST(speech_timestamps, edges_are_those_of_the_originals_iterator) {
  std::size_t count = 0;
  const json all = recorded();
  for (const json& run : all["iterator"]) {
    SCOPED_TRACE(run["settings"].dump());
    const int rate = run["rate"].get<int>(), window = rate * 32 / 1000;
    segmentation::speech_timestamp_options o = options_of(run["settings"]);
    o.min_speech = 0;
    segmentation::speech_timestamps s(o, rate, window);
    json found = json::array();
    const auto sink = [&](const speech_edge& e) { found.push_back({e.begins ? "start" : "end", e.sample}); };
    for (const float p : probabilities_of(run)) s.window(p, sink);
    EXPECT_EQ(found, run["events"]);
    count += found.size();
  }
  EXPECT_GE(count, 100u);
}

TEST(speech_timestamps, nothing_and_all) {
  std::vector<speech_edge> found;
  const auto sink = [&](const speech_edge& e) { found.push_back(e); };
  segmentation::speech_timestamps none;
  none.finish(0, sink);
  EXPECT_TRUE(found.empty());
  segmentation::speech_timestamps all;
  for (int i = 0; i < 100; ++i) all.window(1, sink);
  all.finish(51200, sink);
  EXPECT_EQ(found, (std::vector<speech_edge>{{true, 0}, {false, 51200}}));
  found.clear();
  segmentation::speech_timestamps brief;  // 250 ms and not more: too short
  for (int i = 0; i < 7; ++i) brief.window(1, sink);
  brief.last_window(1, sink);
  brief.finish(4000, sink);
  EXPECT_TRUE(found.empty());
}

}  // namespace speech_timestamps_test
