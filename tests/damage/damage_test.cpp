// What damage-run rests on: a file taken apart and put together is the same file, damages do what their names say, and
// verdicts tell good endings from bad ones.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <csignal>
#include <fstream>
#include <set>
#include <sstream>

#include "damage/damages.hpp"
#include "damage/verdict.hpp"

namespace steno::damage {
namespace {

const std::string demo = STENO_SOURCE_DIR "/examples/models/demo.gguf";

std::string content(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

TEST(DamagedModels, AFileTakenApartAndPutTogetherIsTheSame) {
  for (const char* name : {"demo", "whisper", "u2", "qwen3-asr", "parakeet-tdt", "fsmn-vad"}) {
    const std::string path = STENO_SOURCE_DIR "/examples/models/" + std::string(name) + ".gguf";
    EXPECT_TRUE(gguf_parts(path).bytes() == content(path)) << name;
  }
}

TEST(DamagedModels, EveryKeyAndEveryKindOfTensorIsDamagedOnceForEachValue) {
  const gguf_parts parts(demo);
  std::set<std::string> names, keys, tensors, kinds;
  for (const one_damage& d : damages_of("demo", parts, false)) {
    EXPECT_TRUE(names.insert(d.name).second) << d.name;
    if (d.is_key()) keys.insert(d.subject);
    if (d.is_tensor()) tensors.insert(without_numbers(d.subject));
  }
  for (const tensor_part& t : parts.tensors) kinds.insert(without_numbers(t.name));
  EXPECT_EQ(keys.size(), parts.keys.size());
  EXPECT_EQ(tensors, kinds);
}

TEST(DamagedModels, EveryDamageChangesTheFileAndIsAlwaysTheSame) {
  const gguf_parts parts(demo);
  const std::string whole = content(demo);
  std::size_t n = 0;
  for (const one_damage& d : damages_of("demo", parts, false)) {
    if (++n % 16 != 0) continue;
    const std::string bytes = d.file(parts);
    EXPECT_TRUE(bytes != whole) << d.name;  // not EXPECT_NE, which would print both
    EXPECT_TRUE(bytes == d.file(parts)) << d.name;
  }
}

TEST(DamagedModels, AKeyHoldsWhatTheDamageIsCalledAfter) {
  const gguf_parts parts(demo);
  for (const one_damage& d : key_damages("demo", parts)) {
    if (d.subject != "sense_voice.blank_id" || (d.value != "1e6" && d.value != "nan" && d.value != "text")) continue;
    const std::string bytes = d.file(parts);
    const gguf_file file(d.name, std::as_bytes(std::span(bytes.data(), bytes.size())));
    const weights::gguf_value* v = file.value("sense_voice.blank_id");
    ASSERT_NE(v, nullptr);
    if (d.value == "1e6") {
      EXPECT_EQ(v->number(), 1e6);
    } else if (d.value == "nan") {
      EXPECT_TRUE(std::isnan(v->number().value_or(0)));
    } else {
      EXPECT_EQ(v->text(), "text");
    }
  }
}

ending ended(int code, std::string err) {
  ending e;
  e.code = code;
  e.err = std::move(err);
  return e;
}

TEST(Verdict, GoodEndings) {
  expectation x;
  x.file = "m.gguf";
  x.places = {"some.key"};
  EXPECT_FALSE(judge(ended(0, ""), x));
  EXPECT_FALSE(judge(ended(1, "steno: m.gguf: key \"some.key\": expected 1, found 2\n"), x));
}

TEST(Verdict, BadEndings) {
  expectation x;
  x.file = "m.gguf";
  x.places = {"some.key"};
  const std::string line = "steno: m.gguf: key \"some.key\"";
  EXPECT_EQ(judge(ended(1, "steno: key some.key\n"), x), trouble::no_file);
  EXPECT_EQ(judge(ended(1, "steno: m.gguf: bad\n"), x), trouble::no_place);
  EXPECT_EQ(judge(ended(1, line + "\nmore\n"), x), trouble::not_one_line);
  EXPECT_EQ(judge(ended(1, line), x), trouble::not_one_line);
  EXPECT_EQ(judge(ended(1, line + "\x1b[2J\n"), x), trouble::control_bytes);
  EXPECT_EQ(judge(ended(4, line + "\n"), x), trouble::exit_status);
  EXPECT_EQ(judge(ended(1, "steno: m.gguf: std::bad_alloc\n"), x), trouble::too_large);
  EXPECT_EQ(judge(ended(1, "x.cpp:1:2: runtime error: inf is outside\n"), x), trouble::memory_error);
  ending e;
  e.signal = SIGSEGV;
  EXPECT_EQ(judge(e, x), trouble::memory_error);
  e.signal = SIGABRT;
  EXPECT_EQ(judge(e, x), trouble::aborted);
  e = ended(0, "");
  e.busy = 11;
  EXPECT_EQ(judge(e, x), trouble::too_long);
  e.busy = 1, e.peak_bytes = std::uint64_t{2} << 30;
  EXPECT_EQ(judge(e, x), trouble::too_large);
  e.peak_bytes = 0, e.out = "rubbish", x.only_with = "right";
  EXPECT_EQ(judge(e, x), trouble::taken_silently);
}

TEST(Verdict, ControlBytesAreThoseThatATerminalActsOn) {
  EXPECT_FALSE(has_control_bytes("plain\ttext \xc3\xa4 \xe4\xb8\xad \xf0\x9f\x98\x80\n"));
  EXPECT_TRUE(has_control_bytes("\x1b"));
  EXPECT_TRUE(has_control_bytes(std::string("\0", 1)));
  EXPECT_TRUE(has_control_bytes("\x7f"));
  EXPECT_TRUE(has_control_bytes("\xc2\x9b"));
  EXPECT_TRUE(has_control_bytes("\x9b"));
  EXPECT_TRUE(has_control_bytes("\xe4\xb8"));
}

}  // namespace
}  // namespace steno::damage
