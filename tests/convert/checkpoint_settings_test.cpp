// Settings of checkpoints: what was asked for, what was not, and that no key is overlooked in silence.
// SPDX-License-Identifier: Apache-2.0
#include "gguf_settings.hpp"
#include "glob.hpp"
#include "json_settings.hpp"
#include "support/refusal.hpp"
#include "yaml_settings.hpp"

#include <steno/error.hpp>
#include <steno/weights/gguf_writer.hpp>

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <sstream>

#include "convert/nemo_notes.hpp"
#include "support/golden.hpp"

namespace checkpoint_settings_test {

namespace fs = std::filesystem;
using namespace steno;
using test::notes_of_nemo;

checkpoint_settings read(const std::string& text) { return read_yaml("file", text, "a config"); }

std::string whole(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

const std::string nemo_config =
    "target: nemo.collections.asr.models.EncDecCTCModelBPE\n"
    "preprocessor:\n  features: 16\n  window_size: 0.025\n  normalize: per_feature\n"
    "encoder:\n  feat_in: 16\n  d_model: 16\n  n_layers: 1\n"
    "decoder:\n  feat_in: 16\n"
    "tokenizer:\n  type: bpe\n"
    "decoding:\n  strategy: greedy\n"
    "optim:\n  name: adamw\n";

TEST(checkpoint_settings, what_was_not_asked_for_is_an_error_or_a_note) {
  const checkpoint_settings f =
      read("net:\n  width: 4\n  depth: 2\n  sizes: [1, 2]\n  dropout: 0.1\nother: {}\nlr: 1\n");
  const std::string_view sections[] = {"net"};
  const unused_setting unused[] = {{"*.dropout", "training"}};
  std::vector<std::string> notes;
  const auto check = [&] { f.check_all_read(sections, unused, notes); };
  EXPECT_EQ(f.number("net.width", 0, 0, 9), 4u);
  EXPECT_NE(test::refusal(check).find("file: \"net.depth\" is a setting that steno does not know: found \"2\""),
            std::string::npos);
  EXPECT_EQ(f.number("net.depth", 0, 0, 9), 2u);
  EXPECT_NE(test::refusal(check).find("\"net.sizes\" is a setting that steno does not know: found a list or a map"),
            std::string::npos);
  EXPECT_EQ(f.numbers("net.sizes", {}, 0, 9), (std::vector<int>{1, 2}));
  EXPECT_TRUE(notes.empty());
  EXPECT_EQ(test::refusal(check), "");
  EXPECT_EQ(notes, std::vector<std::string>{"file: not read, and not known: \"lr\", \"other\""});
}

TEST(checkpoint_settings, null_is_a_value_of_its_own) {
  const checkpoint_settings f = read("a: null\nb: ~\nc: x\nd:\n");
  EXPECT_FALSE(f.has("a") || f.has("b") || f.has("d"));
  EXPECT_TRUE(f.is_null("a") && f.is_null("b") && f.is_null("d"));
  EXPECT_FALSE(f.is_null("c") || f.is_null("absent"));
  EXPECT_EQ(f.text("a", "otherwise"), "otherwise");
  EXPECT_NE(test::refusal([&] { f.require("a", "true"); }).find("a is not supported: expected true, found \"null\""),
            std::string::npos);
  EXPECT_EQ(test::refusal([&] { f.require("absent", "true"); }), "");
  EXPECT_EQ(test::refusal([&] { f.require("a", "null"); }), "");
}

TEST(checkpoint_settings, a_number_may_be_written_in_any_way) {
  const checkpoint_settings f = read("a: 1e-5\nb: 0.00001\nc: 1.0e-05\nd: 1e-6\ne: eps\n");
  for (const char* key : {"a", "b", "c", "absent"}) EXPECT_EQ(test::refusal([&] { f.require(key, 1e-5); }), "") << key;
  for (const char* key : {"d", "e"}) EXPECT_NE(test::refusal([&] { f.require(key, 1e-5); }), "") << key;
}

// A list where one value is expected would otherwise count as read, and not be.
TEST(checkpoint_settings, a_value_of_another_kind_is_named) {
  const checkpoint_settings f = read("list: [1, 2]\nempty: []\nmap: {}\none: 1\nnull: null\n");
  for (const char* key : {"list", "empty", "map"}) {
    const std::string expected = "file: " + std::string(key) + ": expected one value, found a list or a map";
    EXPECT_EQ(test::refusal([&] { f.number(key, 0, 0, 9); }), expected);
    EXPECT_EQ(test::refusal([&] { f.real(key, 0, 0, 9); }), expected);
    EXPECT_EQ(test::refusal([&] { f.text(key, ""); }), expected);
    EXPECT_EQ(test::refusal([&] { f.flag(key, true); }), expected);
    EXPECT_EQ(test::refusal([&] { f.require(key, "1"); }), expected);
    EXPECT_EQ(test::refusal([&] { f.require(key, 1.0); }), expected);
  }
  EXPECT_EQ(f.numbers("null", {3}, 0, 9), std::vector<int>{3});
  EXPECT_EQ(f.numbers("one", {3}, 0, 9), std::vector<int>{3});
  std::vector<std::string> notes;
  f.check_all_read({}, {}, notes);
  EXPECT_EQ(notes, std::vector<std::string>{"file: not read, and not known: \"one\""});
}

TEST(checkpoint_settings, json_and_gguf_are_held_to_the_same) {
  const checkpoint_settings j = json_settings(
      "config.json", nlohmann::json::parse(R"({"net": {"width": 4, "rope": null, "sizes": [1, 2], "deep": {"a": [{}]}},
                                               "eps": 1e-05, "tie": true, "none": []})"));
  EXPECT_EQ(j.number("net.width", 0, 0, 9), 4u);
  EXPECT_EQ(j.numbers("net.sizes", {}, 0, 9), (std::vector<int>{1, 2}));
  EXPECT_TRUE(j.is_null("net.rope") && j.flag("tie", false));
  EXPECT_EQ(test::refusal([&] { j.require("eps", 1e-5); }), "");
  std::vector<std::string> notes;
  const std::string_view sections[] = {"net."};
  EXPECT_NE(test::refusal([&] { j.check_all_read(sections, {}, notes); }).find("\"net.deep.a\""), std::string::npos);
  j.mark_read("net.deep.a");
  j.check_all_read(sections, {}, notes);
  EXPECT_EQ(notes, std::vector<std::string>{"config.json: not read, and not known: \"none\""});

  weights::gguf_writer w;
  w.set("x.width", std::uint32_t{4});
  w.set("x.eps", 1e-5f);
  w.set("x.tie", true);
  w.set("x.name", std::string("a"));
  w.set("x.tokens", std::vector<std::string>{"a", "b"});
  const std::vector<std::byte> bytes = w.bytes();
  const checkpoint_settings g = gguf_settings(gguf_file("file", bytes));
  EXPECT_EQ(g.number("x.width", 0, 0, 9), 4u);
  EXPECT_EQ(test::refusal([&] { g.require("x.eps", 1e-5); }), "");
  EXPECT_TRUE(g.flag("x.tie", false));
  EXPECT_EQ(g.text("x.name", ""), "a");
  const std::string_view all[] = {"x."};
  EXPECT_NE(test::refusal([&] { g.check_all_read(all, {}, notes); }).find("\"x.tokens\""), std::string::npos);
  g.mark_read("x.tokens");
  EXPECT_EQ(test::refusal([&] { g.check_all_read(all, {}, notes); }), "");
}

TEST(checkpoint_settings, a_pattern_describes_a_whole_key) {
  for (const auto& [pattern, key] : std::vector<std::pair<std::string, std::string>>{{"a.b", "a.b"},
                                                                                     {"a.*", "a."},
                                                                                     {"a.*", "a.b.c"},
                                                                                     {"*", ""},
                                                                                     {"*.c", "a.b.c"},
                                                                                     {"a*b*c", "abxbc"},
                                                                                     {"**a", "aa"},
                                                                                     {"a.?", "a.b"},
                                                                                     {"*.?", "a.b.c"},
                                                                                     {"[a-c].b", "b.b"},
                                                                                     {"*[0-9]", "layers.12"},
                                                                                     {"[!a-c]", "d"},
                                                                                     {"[^a]*", "b"},
                                                                                     {"[]a]", "]"},
                                                                                     {"[a-]", "-"},
                                                                                     {"[a", "[a"},
                                                                                     {"a[]", "a[]"},
                                                                                     {"*[ab]*c", "xaxbyc"},
                                                                                     {"[\x80-\xff]", "\xe9"}})
    EXPECT_TRUE(matches_glob(pattern, key)) << pattern << " " << key;
  for (const auto& [pattern, key] : std::vector<std::pair<std::string, std::string>>{{"a.b", "a.bc"},
                                                                                     {"a.*", "a"},
                                                                                     {"*.c", "a.c.b"},
                                                                                     {"a*b*c", "acb"},
                                                                                     {"", "a"},
                                                                                     {"a*a", "a"},
                                                                                     {"a.?", "a."},
                                                                                     {"?", "ab"},
                                                                                     {"[a-c]", "d"},
                                                                                     {"[a-c]", ""},
                                                                                     {"[!a-c]", "b"},
                                                                                     {"[]a]", "["},
                                                                                     {"[ab", "a"}})
    EXPECT_FALSE(matches_glob(pattern, key)) << pattern << " " << key;
}

// A whole map is known by the words below it, not whatever stands there.
TEST(checkpoint_settings, what_is_below_a_known_map_is_known_by_its_words) {
  const unused_setting known = {"optim", "training", "name sched warmup_steps"};
  for (const char* key : {"optim", "optim.name", "optim.sched.warmup_steps", "optim.sched.0.name", "optim.12"})
    EXPECT_TRUE(known.knows(key)) << key;
  for (const char* key : {"opti", "optima", "optim_name", "optim.", "optim.nam", "optim.name sched", "optim.sched.k",
                          "optim.k.name", "optim..name", "a.optim.name"})
    EXPECT_FALSE(known.knows(key)) << key;
  const unused_setting one = {"*.dropout", "training"};
  EXPECT_TRUE(one.knows("a.dropout"));
  EXPECT_FALSE(one.knows("a.dropout.k"));
}

TEST(checkpoint_settings, what_is_deep_or_empty_is_seen) {
  const checkpoint_settings f =
      read("a: {b: {c: {d: {e: {f: 1}}}}}\nempty: []\nlist: [{k: 1}, 2, {m: {n: 1}}]\n? [x]\n: 1\n");
  std::vector<std::string> notes;
  f.check_all_read({}, {}, notes);
  ASSERT_EQ(notes.size(), 1u);
  for (const char* key : {"a.b.c.d.e.f", "empty", "list", "list.0.k", "list.2.m.n", "a list or a map as a key"})
    EXPECT_NE(notes[0].find("\"" + std::string(key) + "\""), std::string::npos) << notes[0];
}

// A key that nobody knows, in any section: an error where it may change the text, else a note.
TEST(checkpoint_settings, an_unknown_key_of_a_nemo_config_is_never_silent) {
  ASSERT_EQ(notes_of_nemo(nemo_config), std::vector<std::string>());
  std::mt19937 random(1);
  for (const std::string section : {"preprocessor", "encoder", "decoder", "tokenizer", "new_section", ""}) {
    std::string key = "k";
    for (int i = 0; i < 8; ++i) key += static_cast<char>('a' + random() % 26);
    const std::size_t at = section.empty() ? std::string::npos : nemo_config.find(section + ":\n");
    std::string text = nemo_config;
    if (section.empty())
      text += key + ": 1\n";
    else if (at == std::string::npos)
      text += section + ":\n  " + key + ": 1\n";
    else
      text.insert(at + section.size() + 2, "  " + key + ": 1\n");
    const bool matters = at != std::string::npos;
    std::vector<std::string> notes;
    const std::string refusal = test::refusal([&] { notes = notes_of_nemo(text); });
    EXPECT_EQ(refusal.find(key) != std::string::npos, matters) << section << ": " << refusal;
    EXPECT_EQ(notes.size() == 1 && notes[0].find(key) != std::string::npos, !matters) << section;
  }
}

// Front-end settings that steno does not compute, or that are no settings, are refused by name; what the others
// compute is tested in nemo_frontend_test.cpp.
TEST(checkpoint_settings, a_nemo_front_end_of_another_kind_is_named) {
  for (const char* line : {"use_torchaudio: true", "n_window_size: 400", "window_stride: null", "frame_splicing: 2",
                           "preemph: loud", "log_zero_guard_value: small", "mel_norm: htk", "lowfreq: 9000",
                           "highfreq: -1", "window: kaiser", "log: maybe", "mag_power: 0"}) {
    std::string text = nemo_config;
    text.insert(text.find("preprocessor:\n") + 14, "  " + std::string(line) + "\n");
    const std::string key = std::string(line).substr(0, std::string_view(line).find(':'));
    EXPECT_NE(test::refusal([&] { notes_of_nemo(text); }).find("preprocessor." + key), std::string::npos) << line;
  }
}

TEST(checkpoint_settings, published_nemo_configs_hold_no_unknown_key) {
  STENO_REQUIRE_SHARED(shared);
  int files = 0;
  for (const auto& e : fs::directory_iterator(shared / "manifests/nemo-configs")) {
    const std::string name = e.path().filename().string();
    ++files;
    std::vector<std::string> notes{"refused"};
    EXPECT_EQ(test::refusal([&] { notes = notes_of_nemo(whole(e.path())); }), "") << name;
    EXPECT_EQ(notes, std::vector<std::string>()) << name;
  }
  EXPECT_GE(files, 9);
}

}  // namespace checkpoint_settings_test
