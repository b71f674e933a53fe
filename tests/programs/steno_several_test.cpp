// steno serve with several models, with speakers, and what is fair between its clients.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "programs/http_client.hpp"
#include "programs/realtime_client.hpp"
#include "programs/run_program.hpp"
#include "programs/served.hpp"
#include "support/wav.hpp"

namespace steno_several_test {
namespace {

using namespace steno::test;
using nlohmann::json;

const std::string source = STENO_SOURCE_DIR;
const std::string recording = source + "/examples/audio/train.wav";
const std::string said = "the train to paris leaves in seven minutes";

std::string bundled(const std::string& name) { return source + "/examples/models/" + name + ".gguf"; }
std::string code_of(const http_answer& a) {
  const json j = json::parse(a.body, nullptr, false);
  if (!j.is_object() || !j.contains("error")) return a.body;
  const auto text = [](const json& v) { return v.is_string() ? v.get<std::string>() : std::string("-"); };
  return std::to_string(a.status) + " " + text(j["error"]["param"]) + " " + text(j["error"]["code"]);
}

}  // namespace

TEST(steno_several, models_are_loaded_when_they_are_named) {
  const temporary_directory dir;
  const std::string wrong = (dir.path() / "wrong.gguf").string();
  std::ofstream(wrong) << "nothing";
  const served s({}, [] {},
                 {"-m", bundled("parakeet-tdt"), "-m", "whisper-1=" + bundled("whisper"), "-m", wrong, "-m",
                  "slow=" + bundled("paraformer"), "--own-stream"});  // of the first one: others have none
  const auto ids = [&] {
    const json list = json::parse(ask(s.port(), "GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").body);
    std::string all;
    for (const json& m : list["data"]) all += m["id"].get<std::string>() + " ";
    return all;
  };
  EXPECT_EQ(ids(), "parakeet-tdt whisper-1 wrong slow ");
  const auto with = [&](const std::string& model) {
    return ask(s.port(),
               form().file(contents_of(recording)).field("model", model).field("response_format", "text").post());
  };
  EXPECT_EQ(with("whisper-1").body.substr(0, 9), "the train");
  EXPECT_EQ(with("parakeet-tdt").body, said + "\n");
  EXPECT_EQ(code_of(with("gpt-4o-transcribe")), "404 model model_not_found");
  EXPECT_EQ(code_of(with("wrong")), "500 model model_not_loaded");
  EXPECT_EQ(code_of(with("wrong")), "500 model model_not_loaded");
  EXPECT_EQ(ask(s.port(), "GET /v1/models/slow HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").status, 200);

  realtime_client c(s.port(), "?model=slow");  // loaded for this session
  EXPECT_EQ(c.hear()["session"]["audio"]["input"]["transcription"]["model"], "slow");
  const auto input = [](json in) -> json {
    return {{"type", "session.update"}, {"session", {{"type", "transcription"}, {"audio", {{"input", in}}}}}};
  };
  for (const char* model : {"slow", "whisper-1", "parakeet-tdt"}) {
    c.say(input({{"format", {{"type", "audio/pcm"}, {"rate", 16000}}},
                 {"turn_detection", nullptr},
                 {"transcription", {{"model", model}}}}));
    EXPECT_EQ(c.hear()["type"], "session.updated");
    c.append(pcm_of(recording));
    c.say({{"type", "input_audio_buffer.commit"}});
    const json done = c.hear("conversation.item.input_audio_transcription.completed");
    EXPECT_EQ(done["transcript"], said) << model;
  }
  c.say(input({{"transcription", {{"model", "wrong"}}}}));
  EXPECT_EQ(c.hear()["error"]["code"], "model_not_loaded");
  c.append(pcm_of(recording));
  c.say({{"type", "input_audio_buffer.commit"}});
  EXPECT_EQ(c.hear("conversation.item.input_audio_transcription.completed")["transcript"], said);
  realtime_client broken(s.port(), "?model=wrong");
  EXPECT_EQ(broken.hear()["type"], "error");
  EXPECT_TRUE(broken.hear().is_null());
}

// A key that WeNet's clients do not send: without it they have the first model.
TEST(steno_several, wenets_clients_may_name_a_model) {
  const temporary_directory dir;
  const std::string wrong = (dir.path() / "wrong.gguf").string();
  std::ofstream(wrong) << "nothing";
  const served s({}, [] {}, {"-m", bundled("parakeet-tdt"), "-m", "other=" + bundled("u2"), "-m", wrong});
  const auto hear = [&](const std::string& start) {
    websocket c(s.port());
    EXPECT_EQ(c.shake_hands(), 101);
    c.text(start);
    const auto ready = c.read();
    if (!ready || ready->data.find("server_ready") == std::string::npos) return ready ? ready->data : std::string();
    c.binary(pcm_of(recording));
    c.text(R"({"signal": "end"})");
    std::string last;
    while (const auto m = c.read()) {
      if (m->data.find("final_result") != std::string::npos) last = m->data;
      if (m->data.find("speech_end") != std::string::npos) break;
    }
    return last;
  };
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(has(hear(R"({"signal": "start"})"), said));
  for (int i = 0; i < 2; ++i)  // loaded, and there
    EXPECT_TRUE(has(hear(R"({"signal": "start", "model": "other", "nbest": 1})"), said));
  EXPECT_TRUE(has(hear(R"({"signal": "start", "model": "parakeet-tdt"})"), said));
  EXPECT_TRUE(
      has(hear(R"({"signal": "start", "model": "gpt-4o"})"), "is not served here: there is parakeet-tdt, other"));
  EXPECT_TRUE(has(hear(R"({"signal": "start", "model": "wrong"})"), "the model cannot be loaded"));
  EXPECT_TRUE(has(hear(R"({"signal": "start", "model": ""})"), "expected the name of a model"));
}

// Another key that they do not send: each final result is one speaker's, and the text is what it is without.
TEST(steno_several, wenets_clients_may_wish_for_speakers) {
  const std::string who = (compact() / "sortformer" / "model.gguf").string();
  const auto hear = [&](const served& s, const std::string& start) {
    websocket c(s.port());
    EXPECT_EQ(c.shake_hands(), 101);
    c.text(start);
    const auto ready = c.read();
    if (!ready || ready->data.find("server_ready") == std::string::npos)
      return std::vector<json>{json::parse(ready.value().data)};
    const auto pcm = pcm_of(recording);
    for (int i = 0; i < 3; ++i) {
      c.binary(pcm);
      c.binary(std::vector<std::int16_t>(16000));
    }
    c.text(R"({"signal": "end"})");
    std::vector<json> finals;
    while (const auto m = c.read()) {
      const json j = json::parse(m->data);
      if (j["type"] == "final_result") finals.push_back(j);
      if (j["type"] == "speech_end") break;
    }
    return finals;
  };
  const auto text_of = [](const std::vector<json>& finals) {
    std::string text;
    for (const json& f : finals)
      text += json::parse(f["nbest"].get<std::string>())[0]["sentence"].get<std::string>() + " ";
    return text;
  };
  const std::string start = R"({"signal": "start", "continuous_decoding": true)";
  const served s({"--speakers", who}, [] {}, {"--demo", "parakeet-tdt"});
  const auto with = hear(s, start + R"(, "speakers": true})"), without = hear(s, start + "}");
  EXPECT_EQ(text_of(with), text_of(without));
  EXPECT_TRUE(std::any_of(with.begin(), with.end(), [](const json& f) { return f.value("speaker", "") == "A"; }));
  for (const json& f : without) EXPECT_FALSE(f.contains("speaker")) << f;
  for (const json& f : with) {
    const json best = json::parse(f["nbest"].get<std::string>())[0];
    EXPECT_EQ(best["sentence"].get<std::string>().empty(), best["word_pieces"].empty()) << f;
  }
  EXPECT_EQ(hear(s, start + R"(, "speakers": "A"})")[0]["status"], "failed");
  const served plain({}, [] {}, {"--demo", "parakeet-tdt"});
  const json refused = hear(plain, start + R"(, "speakers": true})")[0];
  EXPECT_EQ(refused["status"], "failed");
  EXPECT_NE(refused["message"].get<std::string>().find("--speakers"), std::string::npos) << refused;
}

TEST(steno_several, names_that_make_no_sense) {
  const temporary_directory dir;
  const auto run = [&](const std::string& words) {
    const outcome o = shell(dir, std::string("'") + STENO_PROGRAM + "' serve --port 0 " + words);
    EXPECT_EQ(o.code, 2) << o.err;
    return o.err;
  };
  const std::string tdt = "'" + bundled("parakeet-tdt") + "'";
  EXPECT_NE(run("-m " + tdt + " -m " + tdt).find("another one is called parakeet-tdt"), std::string::npos);
  EXPECT_NE(run("-m " + tdt + " -m '=x'").find("expected a name"), std::string::npos);
  EXPECT_NE(run("-m " + tdt + " -m b=" + tdt + " --final-model " + tdt).find("--final-model"), std::string::npos);
}

TEST(steno_several, speakers_are_told_where_a_request_asks) {
  const std::string who = (compact() / "sortformer" / "model.gguf").string();
  if (!std::filesystem::exists(who)) GTEST_SKIP() << who;
  const served s({"--speakers", who}, [] {}, {"--demo", "parakeet-tdt"});
  const auto talk = [&](bool stream) {
    form f;
    f.file(repeated_wav(recording, 3)).field("response_format", "diarized_json");
    if (stream) f.field("stream", "true");
    return ask(s.port(), f.post());
  };
  const http_answer a = talk(false);
  ASSERT_EQ(a.status, 200) << a.body;
  const json j = json::parse(a.body);
  EXPECT_EQ(j["task"], "transcribe");
  EXPECT_NEAR(j["duration"].get<double>(), 3 * 2.889, 0.01);
  EXPECT_EQ(j["usage"]["type"], "duration");
  ASSERT_FALSE(j["segments"].empty());
  std::string text;
  for (const json& segment : j["segments"]) {
    EXPECT_EQ(segment["type"], "transcript.text.segment");
    EXPECT_TRUE(segment["speaker"].is_string() && segment["id"].is_string());
    EXPECT_LE(segment["start"], segment["end"]);
    text += (text.empty() ? "" : " ") + segment["text"].get<std::string>();
  }
  EXPECT_EQ(text, j["text"]);
  const std::string events = talk(true).body;
  EXPECT_NE(events.find("transcript.text.segment"), std::string::npos);
  EXPECT_NE(events.find("segment_id"), std::string::npos);
  const served none({}, [] {}, {"--demo", "parakeet-tdt"});
  EXPECT_EQ(
      code_of(ask(none.port(), form().file(contents_of(recording)).field("response_format", "diarized_json").post())),
      "400 response_format unsupported_value");
}

TEST(steno_several, a_request_has_its_time_and_a_client_its_rate) {
  const served s({"--request-timeout", "1", "--threads", "1", "--requests-per-minute", "3"}, [] {},
                 {"--demo", "whisper"});
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(code_of(ask(s.port(), form().file(repeated_wav(recording, 400)).post())), "504 - deadline_exceeded");
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(60));
  for (int i = 0; i < 2; ++i) EXPECT_NE(ask(s.port(), form().file("x").post()).status, 429);
  const http_answer a = ask(s.port(), form().file(contents_of(recording)).post());
  EXPECT_EQ(code_of(a), "429 - rate_limit_exceeded");
  EXPECT_GT(std::stoi(a.fields.at("retry-after")), 0);
  EXPECT_EQ(realtime_client(s.port()).status, 429);
  EXPECT_EQ(ask(s.port(), "GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").status, 200);
}

TEST(steno_several, sessions_are_bounded) {
  const served s({"--max-sessions", "2"}, [] {}, {"--demo", "parakeet-tdt"});
  realtime_client a(s.port()), b(s.port());
  a.hear();
  b.hear();
  EXPECT_EQ(realtime_client(s.port()).status, 503);
}

TEST(steno_several, clients_take_turns) {
  const temporary_directory dir;
  const std::string keys = (dir.path() / "keys").string();
  std::ofstream(keys) << "first-key\nsecond-key\n";
  const served s({"--threads", "1", "--api-keys", keys}, [] {}, {"--demo", "parakeet-tdt"});
  const auto request = [&](const std::string& key, int repeats) {
    std::string text = form().file(repeated_wav(recording, repeats)).field("response_format", "text").post();
    return text.replace(text.find("sk-test"), 7, key);
  };
  const auto waiting = [&] {
    const std::string figures =
        ask(s.port(), "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer first-key\r\n\r\n").body;
    const std::size_t at = figures.find("\nsteno_queue_length ");
    return at == std::string::npos ? -1 : std::stoi(figures.substr(at + 20));
  };
  // Six long ones of the first, then a short one of the second: it does not wait for all of them. Those that wait still
  // take a second or more once it has its answer, so that the last question is not a race on a busy machine.
  const std::string long_one = request("first-key", 120), short_one = request("second-key", 1);
  std::vector<http_client> many;
  for (int i = 0; i < 6; ++i) {
    many.emplace_back(s.port());
    many.back().send(long_one);
  }
  for (int i = 0; i < 2000 && waiting() < 4; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  ASSERT_GE(waiting(), 3);
  EXPECT_EQ(ask(s.port(), short_one).status, 200);
  EXPECT_GT(waiting(), 0);
  for (http_client& c : many) EXPECT_EQ(c.read().status, 200);
}

}  // namespace steno_several_test
