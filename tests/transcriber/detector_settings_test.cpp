// Settings of detectors: their names with and without what stands before them, ranges, and detectors without them.
// SPDX-License-Identifier: Apache-2.0
#include "detector_settings.hpp"
#include "options.hpp"

#include <gtest/gtest.h>

namespace detector_settings_test {

using namespace steno;
using namespace steno::app;

TEST(detector_settings, names_of_vad_and_of_the_other_verbs) {
  const options o = parse_options({"vad", "a.wav", "--threshold", "0.4", "--neg-threshold", "0.2", "--min-speech",
                                   "100", "--min-silence", "200", "--pad", "10", "--max-segment", "1.5"});
  EXPECT_EQ(o.detector.threshold, 0.4);
  EXPECT_EQ(o.detector.neg_threshold, 0.2);
  EXPECT_EQ(o.detector.min_speech, 100);
  EXPECT_EQ(o.detector.min_silence, 200);
  EXPECT_EQ(o.detector.pad, 10);
  EXPECT_EQ(o.detector.max_segment, 1500);
  const options t =
      parse_options({"transcribe", "a.wav", "--vad", "energy", "--vad-threshold", "12", "--vad-pad", "0"});
  EXPECT_EQ(t.detector.threshold, 12);
  EXPECT_EQ(t.detector.pad, 0);
  EXPECT_EQ(first_setting(t.detector, "--vad-"), "--vad-threshold");
  EXPECT_EQ(first_setting(vad_settings{}, "--"), "");
  EXPECT_EQ(first_setting({.max_segment = 1}, "--"), "--max-segment");
}

TEST(detector_settings, are_about_a_detector) {
  EXPECT_ANY_THROW(parse_options({"transcribe", "a.wav", "--vad-threshold", "12"}));
  EXPECT_ANY_THROW(parse_options({"transcribe", "a.wav", "--vad", "energy", "--vad-threshold", "loud"}));
  const any_vad energy = open_vad("energy");
  EXPECT_NO_THROW(check_detector_settings(energy, {.threshold = 12, .neg_threshold = 3, .pad = 4}, "--"));
  EXPECT_ANY_THROW(check_detector_settings(energy, {.threshold = 0.5}, "--"));
  EXPECT_ANY_THROW(check_detector_settings(energy, {.neg_threshold = 0.5}, "--"));
}

}  // namespace detector_settings_test
