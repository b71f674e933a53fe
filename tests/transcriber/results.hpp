// Small hand-made results for the tests of writers.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/pipelines/result.hpp>

#include <string>
#include <vector>

namespace steno::test {

inline word timed_word(std::string text, double start, double end) {
  return {std::move(text), start, end, 0.5f, timing::native};
}

inline result small_result() {
  segment s;
  s.start = 0.25;
  s.end = 1.5;
  s.text = "Please stop & go.";
  s.token_ids = {4, 12, 7};
  s.words = {{"Please", 0.25, 0.6, 0.98f, timing::native},
             {"stop", 0.70001, 0.9999, 0.5f, timing::aligned},
             {"go", 0, 0, 0.25f, timing::none}};
  s.language = "en";
  result r;
  r.model = "sense_voice";
  r.duration = 4.76;
  r.language = "en";
  r.text = s.text;
  r.segments = {s};
  r.extra = {{"emotion", "NEUTRAL"}, {"score", -0.123456}};
  return r;
}

}  // namespace steno::test
