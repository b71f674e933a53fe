// --itn-rules of steno transcribe, stream and serve: figures in the text of models that write words.
// SPDX-License-Identifier: Apache-2.0
#include "programs/http_client.hpp"
#include "programs/realtime_client.hpp"
#include "programs/run_program.hpp"
#include "programs/served.hpp"
#include "support/small_fst.hpp"
#include "support/wav.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace steno_itn_test {

using nlohmann::json;
using steno::test::outcome;

class steno_itn : public testing::Test {
 protected:
  steno_itn() { steno::test::write_wetext_rules(dir.path()); }
  outcome run(const std::string& arguments, const std::string& verb = "transcribe") {
    return steno::test::shell(
        dir, "'" STENO_PROGRAM "' " + verb + " -q " + arguments + " '" STENO_SOURCE_DIR "/examples/audio/train.wav'");
  }
  const steno::test::temporary_directory dir;
};

TEST_F(steno_itn, every_family_writes_figures) {
  for (const char* model :
       {"demo", "whisper", "parakeet-tdt", "qwen3-asr", "fun-asr-nano", "paraformer", "paraformer-online", "u2"}) {
    const std::string of = std::string("-m '" STENO_SOURCE_DIR "/examples/models/") + model + ".gguf' ";
    const outcome plain = run(of), written = run(of + "--itn-rules .");
    ASSERT_EQ(plain.code, 0) << model << plain.err;
    ASSERT_EQ(written.code, 0) << model << written.err;
    ASSERT_NE(plain.out.find(" seven "), std::string::npos) << model << plain.out;
    std::string wanted = plain.out;
    wanted.replace(wanted.find("seven"), 5, "7");
    EXPECT_EQ(written.out, wanted) << model;
  }
}

TEST_F(steno_itn, words_keep_their_times) {
  const outcome plain = run("--format json"), written = run("--format json --itn-rules en_itn_tagger.fst");
  ASSERT_EQ(written.code, 0) << written.err;
  json want = json::parse(plain.out), got = json::parse(written.out);
  int figures = 0;
  for (json& s : want["segments"])
    for (json& w : s["words"])
      if (w["word"] == "seven") {
        w["word"] = "7";
        ++figures;
      }
  EXPECT_EQ(figures, 1);
  EXPECT_EQ(got["segments"][0]["words"], want["segments"][0]["words"]);
  const outcome cues = run("--format srt --itn-rules .");
  EXPECT_NE(cues.out.find("in 7 minutes"), std::string::npos) << cues.out;
}

TEST_F(steno_itn, streams_write_figures_when_they_are_final) {
  const std::string u2 = "-m '" STENO_SOURCE_DIR "/examples/models/u2.gguf' ";
  const outcome o = run(u2 + "--format jsonl --itn-rules .", "stream");
  ASSERT_EQ(o.code, 0) << o.err;
  std::istringstream lines(o.out);
  std::string last;
  for (std::string line; std::getline(lines, line);)
    if (json::parse(line)["type"] == "final") last = line;
  ASSERT_FALSE(last.empty()) << o.out;
  EXPECT_NE(last.find("in 7 minutes"), std::string::npos) << last;
}

TEST_F(steno_itn, the_rules_do_what_the_model_cannot) {
  const std::string u2 = "-m '" STENO_SOURCE_DIR "/examples/models/u2.gguf' ";
  const outcome refused = run(u2 + "--itn"), done = run(u2 + "--itn --itn-rules .");
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("--itn-rules"), std::string::npos) << refused.err;
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_NE(done.out.find("in 7 minutes"), std::string::npos) << done.out;
}

TEST_F(steno_itn, what_is_no_grammar_is_told_before_anything_is_heard) {
  for (const char* verb : {"transcribe", "stream"}) {
    const outcome o = run("-m '" STENO_SOURCE_DIR "/examples/models/u2.gguf' --itn-rules nowhere_tagger.fst", verb);
    EXPECT_EQ(o.code, 1) << verb;
    EXPECT_EQ(o.out, "");
    EXPECT_NE(o.err.find("nowhere_tagger.fst: there is no such file"), std::string::npos) << o.err;
  }
}

TEST_F(steno_itn, the_server_writes_figures_to_all_its_clients) {
  using namespace steno::test;
  const std::string recording = STENO_SOURCE_DIR "/examples/audio/train.wav",
                    wanted = "the train to paris leaves in 7 minutes";
  const served s = served_demo("parakeet-tdt", {"--itn-rules", dir.path().string()});

  const http_answer a =
      ask(s.port(), form().file(contents_of(recording)).field("response_format", "verbose_json").post());
  EXPECT_EQ(json::parse(a.body)["text"], wanted);

  realtime_client c(s.port());
  c.say({{"type", "session.update"},
         {"session",
          {{"type", "transcription"},
           {"audio",
            {{"input", {{"format", {{"type", "audio/pcm"}, {"rate", 16000}}}, {"turn_detection", nullptr}}}}}}}});
  c.append_all(pcm_of(recording), 1600);
  c.say({{"type", "input_audio_buffer.commit"}});
  std::vector<json> all;
  EXPECT_EQ(c.hear("conversation.item.input_audio_transcription.completed", &all)["transcript"], wanted);
  std::string deltas;
  for (const json& e : all)
    if (e["type"] == "conversation.item.input_audio_transcription.delta") deltas += e["delta"].get<std::string>();
  EXPECT_EQ(deltas, wanted);  // what was told is not taken back

  websocket w(s.port());
  ASSERT_EQ(w.shake_hands(), 101);
  w.text(R"({"signal":"start","nbest":1})");
  w.binary(pcm_of(recording));
  w.text(R"({"signal":"end"})");
  std::string last;
  for (auto m = w.read(); m && m->opcode != 8; m = w.read())
    if (m->data.find("final_result") != std::string::npos) last = m->data;
  EXPECT_NE(last.find("in 7 minutes"), std::string::npos) << last;
}

}  // namespace steno_itn_test
