// steno transcribe --speakers: who said it in every format, the same text as without, names, and what goes wrong. The
// Sortformer is small and random: whom it finds is not the point.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "programs/run_program.hpp"
#include "support/speech.hpp"

#include <gtest/gtest.h>

namespace steno_speakers_test {

using nlohmann::json;
using steno::test::outcome;

const std::string source = STENO_SOURCE_DIR;

class steno_speakers : public testing::Test {
 protected:
  outcome run(const std::string& arguments) const {
    return steno::test::shell(dir, "'" STENO_PROGRAM "' " + arguments);
  }
  std::string text_of(const std::string& arguments) const {
    const outcome o = run("-q " + arguments);
    EXPECT_EQ(o.code, 0) << arguments << '\n' << o.err;
    return o.out;
  }
  void expect_error(const std::string& arguments, int code, const std::string& part) const {
    const outcome o = run(arguments);
    EXPECT_EQ(o.code, code) << o.err;
    EXPECT_EQ(o.out, "");
    EXPECT_NE(o.err.find(part), std::string::npos) << o.err;
  }
  void write(const char* name, const std::string& text) const {
    std::ofstream(dir.path() / name, std::ios::binary) << text;
  }
  const std::string talk = "'" + source + "/examples/audio/shopping.wav' ";
  const std::string train = "'" + source + "/examples/audio/train.wav' ";
  const std::string whole_path =
      (steno::test::compact() / "other_sizes" / "sortformer" / "checkpoint" / "model.nemo").string();
  const std::string path = (steno::test::compact() / "sortformer" / "model.gguf").string();
  const std::string who = "--speakers '" + path + "' ";
  const std::string demo = "-m '" + source + "/examples/models/parakeet-tdt.gguf' ";
  steno::test::temporary_directory dir;
};

json without_speakers(json found) {
  std::vector<json> words;
  for (const json& s : found["segments"])
    for (json w : s["words"]) {
      w.erase("speaker");
      words.push_back(w);
    }
  return {{"text", found["text"]}, {"duration", found["duration"]}, {"words", words}};
}

// Models with word times, without any, and one that hears a recording as a whole.
TEST_F(steno_speakers, the_text_is_the_same) {
  for (const char* name : {"demo", "parakeet-tdt", "parakeet-ctc", "u2", "whisper", "paraformer", "paraformer-online",
                           "qwen3-asr", "fun-asr-nano"}) {
    const std::string model = "-m '" + source + "/examples/models/" + name + ".gguf' ";
    const json plain = json::parse(text_of("--style steno --format json " + model + talk));
    const json found = json::parse(text_of("--style steno --format json " + who + model + talk));
    EXPECT_EQ(without_speakers(found), without_speakers(plain)) << name;
    int known = 0;
    for (const json& s : found["segments"]) {
      for (const json& w : s["words"]) {
        ASSERT_TRUE(w.contains("speaker")) << name;
        known += w["speaker"].is_string() ? 1 : 0;
      }
      known += s["speaker"].is_string() ? 1 : 0;
    }
    EXPECT_GT(known, 0) << name;
    for (const json& s : plain["segments"]) {
      EXPECT_TRUE(s["speaker"].is_null());
      for (const json& w : s["words"]) EXPECT_FALSE(w.contains("speaker"));
    }
  }
}

TEST_F(steno_speakers, formats_tell_the_same) {
  const json found = json::parse(text_of("--format json " + who + demo + talk));
  ASSERT_GT(found["segments"].size(), 1u);
  std::string text, voices;
  std::set<std::string> names;
  json last;
  for (const json& s : found["segments"]) {
    const bool same = !last.is_null() && last["speaker"] == s["speaker"];
    const std::string name = s["speaker"].is_null() ? "" : s["speaker"].get<std::string>();
    if (!last.is_null()) text += same ? " " : "\n";
    if (!same && !name.empty()) text += name + ": ";
    text += s["text"].get<std::string>();
    names.insert(name);
    last = s;
  }
  EXPECT_EQ(text_of(who + demo + talk), text + "\n");
  EXPECT_EQ(found["segments"][0]["speaker"], "Speaker 1");
  const std::string vtt = text_of("--format vtt " + who + demo + talk),
                    srt = text_of("--format srt " + who + demo + talk);
  const std::string tsv = text_of("--format tsv " + who + demo + talk),
                    stm = text_of("--format stm " + who + demo + talk);
  const std::string ctm = text_of("--format ctm " + who + demo + talk),
                    rttm = text_of("--format rttm " + who + demo + talk);
  for (std::string name : names) {
    if (name.empty()) continue;
    EXPECT_NE(vtt.find("<v " + name + ">"), std::string::npos) << vtt;
    EXPECT_NE(srt.find("\n" + name + ": "), std::string::npos) << srt;
    EXPECT_NE(tsv.find("\t" + name + "\t"), std::string::npos) << tsv;
    std::replace(name.begin(), name.end(), ' ', '_');
    EXPECT_NE(stm.find("shopping 1 " + name + " "), std::string::npos) << stm;
    EXPECT_NE(ctm.find(" lex " + name + "\n"), std::string::npos) << ctm;
    EXPECT_NE(rttm.find(" <NA> <NA> " + name + " <NA> <NA>\n"), std::string::npos) << rttm;
  }
  const std::string lines = text_of("--format jsonl " + who + demo + talk);
  EXPECT_EQ(static_cast<std::size_t>(std::count(lines.begin(), lines.end(), '\n')), found["segments"].size());
  EXPECT_EQ(json::parse(lines.substr(0, lines.find('\n')))["words"], found["segments"][0]["words"]);
}

TEST_F(steno_speakers, threads_pipes_and_several_files) {
  const std::string want = text_of("--format jsonl " + who + demo + talk);
  EXPECT_EQ(text_of("--threads 1 --format jsonl " + who + demo + talk), want);
  EXPECT_EQ(text_of("--parallel-speakers --format jsonl " + who + demo + talk), want);
  EXPECT_EQ(text_of("--parallel-speakers --threads 1 --format jsonl " + who + demo + talk), want);
  const std::string piped = text_of("--format json " + who + demo + "- < " + talk);
  EXPECT_EQ(json::parse(piped)["segments"], json::parse(text_of("--format json " + who + demo + talk))["segments"]);
  const std::string both = text_of("--format jsonl " + who + demo + talk + train);
  EXPECT_EQ(both, want + text_of("--format jsonl " + who + demo + train));
  EXPECT_EQ(text_of("--format jsonl --parallel-clips 4 " + who + demo + talk + train), both);
  EXPECT_EQ(text_of("--format rttm " + who + demo + talk + train),
            text_of("--format rttm " + who + demo + talk) + text_of("--format rttm " + who + demo + train));
}

TEST_F(steno_speakers, a_model_that_hears_recordings_as_a_whole) {
  const outcome o = run("--format json --speakers '" + whole_path + "' " + demo + talk);
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.err.find("hears recordings as a whole"), std::string::npos) << o.err;
  EXPECT_EQ(json::parse(o.out)["text"], json::parse(text_of("--format json " + demo + talk))["text"]);
}

TEST_F(steno_speakers, names) {
  write("names",
        "\xef\xbb\xbf"
        "Ann Lee\r\nBob\n");
  const json found = json::parse(text_of("--format json --speaker-names names " + who + demo + talk));
  const json plain = json::parse(text_of("--format json " + who + demo + talk));
  ASSERT_EQ(found["segments"].size(), plain["segments"].size());
  for (std::size_t i = 0; i < found["segments"].size(); ++i) {
    json want = plain["segments"][i]["speaker"];
    if (want == "Speaker 1") want = "Ann Lee";
    if (want == "Speaker 2") want = "Bob";
    EXPECT_EQ(found["segments"][i]["speaker"], want);
  }
}

TEST_F(steno_speakers, what_goes_wrong_is_said) {
  write("empty", "");
  write("gap", "Ann\n\nBob\n");
  write("twice", "Ann\nBob\nAnn\n");
  write("bytes", "Ann\nB\xff\n");
  write("many", "a\nb\nc\nd\ne\n");
  write("long", std::string(300, 'x'));
  expect_error("--speaker-names empty " + who + demo + talk, 1, "empty: no names");
  expect_error("--speaker-names gap " + who + demo + talk, 1, "gap, line 2: no name");
  expect_error("--speaker-names twice " + who + demo + talk, 1, "twice, line 3: a speaker has this name already");
  expect_error("--speaker-names bytes " + who + demo + talk, 1, "bytes, line 2");
  expect_error("--speaker-names many " + who + demo + talk, 1, "many, line 5: more names than speakers");
  expect_error("--speaker-names long " + who + demo + talk, 1, "long, line 1");
  expect_error("--speaker-names none " + who + demo + talk, 1, "none: not readable");
  expect_error("--speaker-names empty " + demo + talk, 2, "--speaker-names is about --speakers");
  expect_error("--parallel-speakers " + demo + talk, 2, "--parallel-speakers is about --speakers");
  expect_error("--format rttm " + demo + talk, 2, "--format rttm tells who speaks: give --speakers");
  expect_error("--format srtt " + demo + talk, 2, "unknown format srtt");
  expect_error("--speakers none.gguf " + demo + talk, 1, "none.gguf");
  expect_error("--speakers '" + source + "/examples/models/fsmn-vad.gguf' " + demo + talk, 1, "sortformer");
  expect_error("--speaker-fifo-len 4 " + demo + talk, 2, "--speaker-fifo-len is about --speakers");
  expect_error("--speaker-spkcache-len 3 " + who + demo + talk, 1, "spkcache_len: expected 16");
  expect_error("--speaker-chunk-len 6 --speakers '" + whole_path + "' " + demo + talk, 1, "takes whole recordings");
  expect_error("bench " + who + demo + talk, 2, "unknown option --speakers");
  expect_error(who + demo + talk + "-o '" + path + "'", 2, "model of speakers");
}

TEST_F(steno_speakers, words_and_their_times_without_speakers) {
  const std::string ctm = text_of("--format ctm " + demo + train);
  EXPECT_EQ(ctm.find(" lex "), std::string::npos);
  EXPECT_EQ(ctm.substr(0, 8), "train 1 ");
  EXPECT_EQ(std::count(ctm.begin(), ctm.end(), '\n'), 8);
  EXPECT_EQ(text_of("--format stm " + demo + train).substr(0, 16), "train 1 unknown ");
}

TEST_F(steno_speakers, live) {
  const std::string eou = "stream -m '" + source + "/examples/models/parakeet-eou.gguf' ";
  const auto events = [&](const std::string& arguments) {
    std::vector<json> all;
    std::istringstream lines(text_of(eou + "--format jsonl " + arguments + talk));
    for (std::string line; std::getline(lines, line);) {
      all.push_back(json::parse(line));
      all.back().erase("latency_ms");
    }
    return all;
  };
  const auto text = [](const std::vector<json>& all) {
    std::string out;
    for (const json& e : all)
      if (e["type"] == "final" && e["text"] != "") out += (out.empty() ? "" : " ") + e["text"].get<std::string>();
    return out;
  };
  const std::vector<json> plain = events(""), whole = events(who), split = events("--split-on-speaker " + who);
  EXPECT_NE(text(plain), "");
  EXPECT_EQ(text(whole), text(plain));
  EXPECT_EQ(text(split), text(plain));
  EXPECT_EQ(events("--speaker-chunk-len 4 " + who).size(), events("--threads 2 --speaker-chunk-len 4 " + who).size());
  int known = 0, ends = 0;
  for (const json& e : whole) {
    EXPECT_TRUE(e["type"] != "partial" || e["speaker"].is_null());
    if (e["type"] != "final") continue;
    ends += e.contains("eot_confidence") ? 1 : 0;
    for (const json& w : e["words"]) known += w["speaker"].is_string() ? 1 : 0;
  }
  EXPECT_GT(known, 0);
  EXPECT_GT(ends, 0);
  for (const json& e : plain) EXPECT_FALSE(e.contains("speaker"));
  std::string lines;
  for (const json& e : split)
    if (e["type"] == "final" && e["text"] != "") {
      for (const json& w : e["words"]) EXPECT_TRUE(w["speaker"].is_null() || w["speaker"] == e["speaker"]) << e;
      if (!e["speaker"].is_null()) lines += e["speaker"].get<std::string>() + ": ";
      lines += e["text"].get<std::string>() + "\n";
    }
  EXPECT_EQ(text_of(eou + "--split-on-speaker " + who + talk), lines);
  expect_error(eou + "--split-on-speaker " + talk, 2, "--split-on-speaker is about --speakers");
  expect_error(eou + "--speaker-chunk-len 4 " + talk, 2, "--speaker-chunk-len is about --speakers");
  expect_error(eou + "--parallel-speakers " + who + talk, 2, "unknown option --parallel-speakers");
  expect_error(eou + "--speakers '" + whole_path + "' " + talk, 1, "takes whole recordings");
}

}  // namespace steno_speakers_test
