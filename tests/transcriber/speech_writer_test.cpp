// SPDX-License-Identifier: Apache-2.0
#include "speech_writer.hpp"

#include <gtest/gtest.h>

namespace speech_writer_test {

using steno::app::find_speech_format;
using steno::app::speech_format;
using steno::app::speech_writer;

std::string one_file(speech_format f, bool several = false) {
  speech_writer w(f, "energy_vad", several);
  std::string all = w.add("rec/a b.wav", "a b", {550, 4030});
  all += w.add("rec/a b.wav", "a b", {6640, 11720});
  all += w.end("rec/a b.wav", 11.7414);
  return all;
}

TEST(speech_writer, text) {
  EXPECT_EQ(one_file(speech_format::text), "0.550\t4.030\n6.640\t11.720\n");
  EXPECT_EQ(one_file(speech_format::text, true), "rec/a b.wav\t0.550\t4.030\nrec/a b.wav\t6.640\t11.720\n");
  EXPECT_EQ(speech_writer(speech_format::text, "", true).add("a\nb\tc", "", {0, 36000001}),
            "a b c\t0.000\t36000.001\n");
}

TEST(speech_writer, json_is_one_object_per_file) {
  EXPECT_EQ(one_file(speech_format::json),
            R"({"model":"energy_vad","audio":"rec/a b.wav","duration":11.741,"speech":8.56,)"
            R"("segments":[{"start":0.55,"end":4.03},{"start":6.64,"end":11.72}]})"
            "\n");
  speech_writer w(speech_format::json, "fsmn_vad", true);
  EXPECT_EQ(w.add("a", "a", {0, 10}), "");
  EXPECT_NE(w.end("a", 1).find("\"speech\":0.01,"), std::string::npos);
  EXPECT_NE(w.end("b", 1).find("\"speech\":0.0,\"segments\":[]"), std::string::npos);  // nothing is left of a
}

TEST(speech_writer, json_lines) {
  EXPECT_EQ(one_file(speech_format::jsonl),
            "{\"audio\":\"rec/a b.wav\",\"start\":0.55,\"end\":4.03}\n"
            "{\"audio\":\"rec/a b.wav\",\"start\":6.64,\"end\":11.72}\n");
}

TEST(speech_writer, rttm_has_ten_fields) {
  EXPECT_EQ(one_file(speech_format::rttm),
            "SPEAKER a_b 1 0.550 3.480 <NA> <NA> speech <NA> <NA>\n"
            "SPEAKER a_b 1 6.640 5.080 <NA> <NA> speech <NA> <NA>\n");
}

TEST(speech_writer, names_of_formats) {
  EXPECT_EQ(find_speech_format("rttm"), speech_format::rttm);
  EXPECT_EQ(extension(speech_format::rttm), ".rttm");
  EXPECT_EQ(extension(speech_format::text), ".txt");
  EXPECT_FALSE(find_speech_format("srt"));
}

}  // namespace speech_writer_test
