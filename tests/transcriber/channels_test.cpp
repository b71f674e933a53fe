// SPDX-License-Identifier: Apache-2.0
#include "channels.hpp"

#include <steno/error.hpp>

#include <limits>

#include "audio.hpp"
#include "channel_merge.hpp"
#include "sounds.hpp"
#include "support/golden.hpp"

namespace channels_test {

using steno::app::audio_options;
using steno::app::audio_reader;
using steno::app::channel_choice;
using steno::app::channel_merge;
using steno::app::find_channels;
using floats = std::vector<float>;

TEST(channels, names) {
  using how = channel_choice::how;
  EXPECT_EQ(find_channels("mix")->what, how::mix);
  EXPECT_EQ(find_channels("split")->what, how::split);
  EXPECT_EQ(find_channels("2")->what, how::one);
  EXPECT_EQ(find_channels("2")->number, 2);
  for (const char* bad : {"", "0", "-1", "1.5", "both", "2x", "99999", "99999999999999999999"})
    EXPECT_FALSE(find_channels(bad)) << bad;
}

// Frames 0 to 99 of three channels, whose samples say which they are.
class listening : public testing::Test {
 protected:
  listening() {
    for (int t = 0; t < 100; ++t)
      for (int c = 0; c < 3; ++c) frames.push_back(static_cast<float>(t * 3 + c) / 512);
    path = steno::test::write_sound(dir.path() / "a.wav", frames, 1000, 3, SF_FORMAT_WAV | SF_FORMAT_FLOAT);
  }
  static float of(int t, int c) { return static_cast<float>(t * 3 + c) / 512; }
  std::vector<floats> read(const audio_options& o, std::size_t block = 7) {
    audio_reader reader(path, 1000, o);
    std::vector<floats> all(static_cast<std::size_t>(reader.voices()));
    floats samples(block);
    for (bool more = true; more;) {
      more = false;
      for (int v = 0; v < reader.voices(); ++v)
        if (const std::size_t n = reader.read(samples, v)) {
          more = true;
          all[static_cast<std::size_t>(v)].insert(all[static_cast<std::size_t>(v)].end(), samples.begin(),
                                                  samples.begin() + static_cast<std::ptrdiff_t>(n));
        }
    }
    seconds = reader.seconds();
    warnings = reader.warnings();
    return all;
  }
  std::string refusal(const audio_options& o) {
    try {
      read(o);
    } catch (const steno::error& e) {
      return std::string(e.what()).substr(path.size());
    }
    return "accepted";
  }
  steno::test::temporary_directory dir;
  floats frames;
  std::string path;
  double seconds = 0;
  std::vector<std::string> warnings;
};

TEST_F(listening, to_all_together_one_or_each) {
  const auto mixed = read({});
  ASSERT_EQ(mixed.size(), 1u);
  ASSERT_EQ(mixed[0].size(), 100u);
  EXPECT_FLOAT_EQ(mixed[0][10], of(10, 1));  // the middle one is the mean
  for (int c = 0; c < 3; ++c) {
    const auto one = read({.channels = *find_channels(std::to_string(c + 1))});
    ASSERT_EQ(one.size(), 1u);
    ASSERT_EQ(one[0].size(), 100u);
    for (int t = 0; t < 100; ++t) EXPECT_EQ(one[0][static_cast<std::size_t>(t)], of(t, c));
  }
  for (const std::size_t block : {1u, 7u, 1000u}) {
    const auto split = read({.channels = *find_channels("split")}, block);
    ASSERT_EQ(split.size(), 3u);
    for (int c = 0; c < 3; ++c)
      EXPECT_EQ(split[static_cast<std::size_t>(c)], read({.channels = *find_channels(std::to_string(c + 1))})[0]);
  }
  EXPECT_EQ(refusal({.channels = *find_channels("4")}), ": has no channel 4: expected --channels mix, split or 1 to 3");
}

TEST_F(listening, to_a_part) {
  const floats all = read({})[0];
  const auto part = [&](double offset, std::optional<double> duration) {
    return read({.part = {offset, duration}})[0];
  };
  EXPECT_EQ(part(0.02, 0.03), floats(all.begin() + 20, all.begin() + 50));
  EXPECT_DOUBLE_EQ(seconds, 0.03);
  EXPECT_EQ(part(0.02, {}), floats(all.begin() + 20, all.end()));
  EXPECT_DOUBLE_EQ(seconds, 0.08);
  EXPECT_EQ(part(0, 0.01), floats(all.begin(), all.begin() + 10));
  EXPECT_EQ(part(0.09, 5), floats(all.begin() + 90, all.end()));
  EXPECT_NEAR(seconds, 0.01, 1e-9);
  EXPECT_EQ(refusal({.part = {2.5}}), ": --offset 2.500 s is behind its end: found 0.100 s");
}

TEST_F(listening, what_is_no_number_is_silence_and_told_for_its_channel) {
  floats bad = frames;
  bad[3 * 40 + 1] = std::numeric_limits<float>::quiet_NaN();
  bad[3 * 50 + 1] = 1e30f;
  steno::test::write_sound(path, bad, 1000, 3, SF_FORMAT_WAV | SF_FORMAT_FLOAT);
  const auto split = read({.channels = *find_channels("split")});
  EXPECT_EQ(split[1][40], 0.0f);
  EXPECT_EQ(split[0][40], of(40, 0));
  const std::string text = " samples are not numbers or far too large; taken as 0";
  EXPECT_EQ(warnings, std::vector<std::string>{"channel 2: 2" + text});
  read({.channels = *find_channels("1")});
  EXPECT_TRUE(warnings.empty());  // the others are not listened to
  read({.part = {0.045, {}}});
  EXPECT_EQ(warnings, std::vector<std::string>{"1" + text});
}

TEST_F(listening, opposite_phase_matters_to_the_mix_alone) {
  floats x;
  for (int t = 0; t < 100; ++t) x.insert(x.end(), {of(t, 0), -of(t, 0)});
  steno::test::write_sound(path, x, 1000, 2, SF_FORMAT_WAV | SF_FORMAT_FLOAT);
  read({});
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("--channels 1"), std::string::npos);
  for (const char* which : {"1", "2", "split"}) {
    read({.channels = *find_channels(which)});
    EXPECT_TRUE(warnings.empty()) << which;
  }
}

steno::segment starting(double start) {
  steno::segment s;
  s.start = start;
  return s;
}

TEST(channel_merge, goes_by_time_as_soon_as_it_is_known) {
  channel_merge merge(2);
  std::vector<std::pair<int, double>> out;
  const auto take = [&] {
    merge.take([&](int c, const steno::segment& s) { out.emplace_back(c, s.start); });
    return std::exchange(out, {});
  };
  using list = std::vector<std::pair<int, double>>;
  merge.add(1, starting(1.0));
  EXPECT_EQ(take(), list{});  // the first may have an earlier one
  merge.known(0, 0.5);
  EXPECT_EQ(take(), list{});
  merge.known(0, 1.0);  // or one that begins with it and goes first
  EXPECT_EQ(take(), list{});
  merge.known(0, 1.5);
  EXPECT_EQ(take(), (list{{1, 1.0}}));
  merge.add(0, starting(2.0));
  merge.add(1, starting(2.0));
  merge.add(0, starting(3.0));
  EXPECT_EQ(take(), (list{{0, 2.0}, {1, 2.0}}));
  merge.known(1, 3.0);  // the first goes before it
  EXPECT_EQ(take(), (list{{0, 3.0}}));
  merge.add(1, starting(4.0));
  merge.end(0);
  EXPECT_EQ(take(), (list{{1, 4.0}}));
}

}  // namespace channels_test
