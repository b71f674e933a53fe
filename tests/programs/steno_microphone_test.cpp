// steno stream --microphone: ALSA devices that play a recording, made by a configuration of their own.
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include <cstring>

#include "programs/run_program.hpp"
#include "support/running_program.hpp"

namespace steno_microphone_test {

namespace fs = std::filesystem;
using nlohmann::json;
using steno::test::outcome;

const std::string sentence = "the train to paris leaves in seven minutes\n";

class steno_microphone : public testing::Test {
 protected:
  void SetUp() override {
    if (run("--list-devices").err.find("STENO_MICROPHONE=OFF") != std::string::npos)
      GTEST_SKIP() << "built without microphones";
    std::ifstream wav(fs::path(STENO_SOURCE_DIR) / "examples" / "audio" / "train.wav", std::ios::binary);
    wav.seekg(44);
    std::ofstream wide(dir.path() / "wide.raw", std::ios::binary), narrow(dir.path() / "narrow.raw", std::ios::binary);
    for (std::int16_t x = 0; wav.read(reinterpret_cast<char*>(&x), sizeof x);) {
      const std::int32_t whole[] = {x * 65536, x * 65536};
      narrow.write(reinterpret_cast<const char*>(whole), sizeof whole);
      const float y = static_cast<float>(x) / 32768;
      // 48000 Hz, two channels; images of what is held for three samples lie above 8 kHz
      for (int i = 0; i < 6; ++i) wide.write(reinterpret_cast<const char*>(&y), sizeof y);
    }
    const std::string at = dir.path().string();
    std::ofstream(dir.path() / "asoundrc")
        << "pcm.desk { type file slave.pcm { type null } file /dev/null infile \"" << at
        << "/wide.raw\" format raw hint { show on description \"A microphone\non the desk\" } }\n"
        // 16000 Hz and whole numbers alone
        << "pcm.phone { type file slave.pcm { type linear slave { pcm { type plug slave { pcm { type null } rate 16000 "
        << "channels 1 format S16_LE } } format S16_LE } } file /dev/null infile \"" << at
        << "/narrow.raw\" format raw hint { show on description \"A headset\" } }\n"
        << "pcm.silence { type null hint { show on description \"Nobody on the desk\" } }\n";
  }
  std::string command(const std::string& arguments, const char* configuration = "asoundrc") const {
    return "env ALSA_CONFIG_PATH='" + (dir.path() / configuration).string() + "' '" STENO_PROGRAM "' stream " +
           arguments;
  }
  outcome run(const std::string& arguments, const char* configuration = "asoundrc") const {
    return steno::test::shell(dir, command(arguments, configuration));
  }
  steno::test::temporary_directory dir;
};

TEST_F(steno_microphone, devices_are_listed) {
  const outcome o = run("--list-devices");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.err, "");
  EXPECT_NE(o.out.find("desk\tA microphone, on the desk\n"), std::string::npos) << o.out;
  EXPECT_NE(o.out.find("phone\tA headset\n"), std::string::npos) << o.out;
  EXPECT_EQ(o.out.find("default"), std::string::npos);  // there is none
  const outcome lines = run("--list-devices --format jsonl");
  EXPECT_EQ(json::parse(lines.out.substr(0, lines.out.find('\n'))).at("name"), "desk") << lines.out;
}

TEST_F(steno_microphone, is_heard) {
  const outcome o = run("--demo u2 --microphone=desk --duration 2.87");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.out, sentence);
  EXPECT_NE(o.err.find("listening to the microphone desk (48000 Hz, channels: 2)"), std::string::npos) << o.err;
  EXPECT_EQ(run("-q --demo sense-voice --microphone desk --duration 2.87").out, sentence);
}

TEST_F(steno_microphone, has_a_rate_and_samples_of_its_own) {
  const outcome o = run("--demo u2 --microphone=phone --duration 2.87");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.out, sentence);
  EXPECT_NE(o.err.find("phone (16000 Hz"), std::string::npos) << o.err;
  EXPECT_EQ(run("-q --demo u2 --microphone=desk --channels 2 --duration 2.87").out, sentence);
}

TEST_F(steno_microphone, a_name_may_be_a_part_of_one) {
  const outcome o = run("--demo u2 --microphone=HEADSET --duration 2.87");
  EXPECT_EQ(o.out, sentence) << o.err;
  EXPECT_NE(o.err.find("the microphone phone"), std::string::npos) << o.err;
  const outcome several = run("--demo u2 --microphone='the desk' --duration 1");
  EXPECT_EQ(several.code, 2);
  EXPECT_NE(several.err.find("desk, silence"), std::string::npos) << several.err;
  const outcome none = run("-q --demo u2 --microphone=attic --duration 1");
  EXPECT_EQ(none.code, 1);
  EXPECT_NE(none.err.find("attic"), std::string::npos);
  EXPECT_NE(none.err.find("--list-devices"), std::string::npos) << none.err;
}

TEST_F(steno_microphone, without_one_there_is_one_line_of_advice) {
  std::ofstream(dir.path() / "empty") << "\n";
  for (const char* arguments : {"--list-devices", "-q --demo u2 --microphone"}) {
    const outcome o = run(arguments, "empty");
    EXPECT_EQ(o.code, 1);
    EXPECT_EQ(o.out, "");
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
    EXPECT_NE(o.err.find("plug one in"), std::string::npos) << o.err;
  }
}

TEST_F(steno_microphone, what_does_not_go_together_is_refused) {
  EXPECT_EQ(run("--demo u2 --microphone=desk other.wav").code, 2);
  EXPECT_EQ(run("--demo u2 --microphone=desk --real-time").code, 2);
  EXPECT_EQ(run("--demo u2 --microphone=").code, 2);
  EXPECT_EQ(run("--microphone=desk").code, 2);  // no model
  EXPECT_EQ(run("--list-devices --format srt").code, 2);
}

TEST_F(steno_microphone, listens_until_it_is_interrupted) {
  steno::test::running_program program(command("--demo u2 --format jsonl --microphone=silence"));
  ASSERT_TRUE(program.tells("listening to"));
  program.send(SIGINT);
  EXPECT_EQ(program.wait(), 130);
  EXPECT_NE(program.err.find("interrupted after"), std::string::npos) << program.err;
}

}  // namespace steno_microphone_test
