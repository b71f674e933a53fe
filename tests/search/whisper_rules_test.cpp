// SPDX-License-Identifier: Apache-2.0
#include <steno/search/whisper_rules.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace whisper_rules_test {

using namespace steno;

// A small vocabulary: text 0 - 3, eot 4, notimestamps 5, times 6 - 11.
search::whisper_rules rules() {
  search::whisper_rules r;
  r.eot = 4;
  r.no_timestamps = 5;
  r.timestamp_begin = 6;
  r.max_initial = 2;
  r.first_suppressed = {0, 4};
  r.suppressed = {1};
  return r;
}

/// Tokens that may follow, when text is the most probable.
std::string allowed(const search::whisper_rules& r, const std::vector<int>& sampled, float times = -9) {
  std::vector<float> logits(12, 0);
  std::fill(logits.begin() + 6, logits.end(), times);
  r.apply(sampled, logits);
  std::string s;
  for (std::size_t i = 0; i < logits.size(); ++i)
    if (std::isfinite(logits[i])) s += static_cast<char>('a' + i);
  return s;
}

TEST(whisper_rules, times_stand_in_pairs_and_do_not_decrease) {
  const search::whisper_rules r = rules();
  EXPECT_EQ(allowed(r, {}), "ghi");             // a time first, at most max_initial
  EXPECT_EQ(allowed(r, {7}), "acde");           // then text: one time is a pair's second
  EXPECT_EQ(allowed(r, {7, 2}), "acdeijkl");    // text, the end, or a later time
  EXPECT_EQ(allowed(r, {7, 2, 8}), "eijkl");    // the end, or a second time, perhaps the same
  EXPECT_EQ(allowed(r, {7, 2, 8, 8}), "acde");  // a new segment
  EXPECT_EQ(allowed(r, {7, 2, 8, 8, 3}), "acdejkl");
}

TEST(whisper_rules, all_times_together_outweigh_one_token) {
  const search::whisper_rules r = rules();
  EXPECT_EQ(allowed(r, {7, 2}, -1.3f), "ijkl");      // 4 exp(-1.3) > 1
  EXPECT_EQ(allowed(r, {7, 2}, -1.5f), "acdeijkl");  // 4 exp(-1.5) < 1
}

TEST(whisper_rules, without_times_only_suppression) {
  search::whisper_rules r = rules();
  r.with_timestamps = false;
  EXPECT_EQ(allowed(r, {}, 5), "cdfghijkl");
  EXPECT_EQ(allowed(r, {2}, 5), "acdefghijkl");
  r = rules();
  r.max_initial = -1;
  EXPECT_EQ(allowed(r, {}), "ghijkl");
}

}  // namespace whisper_rules_test
