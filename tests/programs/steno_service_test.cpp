// Recordings over HTTP, as OpenAI's API has it: answers equal the program's, clients that misbehave harm no other.
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <thread>

#include "programs/http_client.hpp"
#include "programs/run_program.hpp"
#include "programs/served.hpp"
#include "support/wav.hpp"

namespace steno_service_test {

using namespace steno::test;
using nlohmann::json;

const std::string recording = std::string(STENO_SOURCE_DIR) + "/examples/audio/train.wav";
const std::string said = "the train to paris leaves in seven minutes";

std::string text_request() { return form().file(contents_of(recording)).field("response_format", "text").post(); }

std::string error_code(const http_answer& a) {
  const json j = json::parse(a.body, nullptr, false);
  if (!j.is_object() || !j.contains("error")) return "no error: " + a.body;
  const json& e = j["error"];
  EXPECT_TRUE(e.contains("message") && e.contains("type") && e.contains("param") && e.contains("code")) << a.body;
  return std::to_string(a.status) + " " + (e["param"].is_string() ? e["param"].get<std::string>() : "-") + " " +
         (e["code"].is_string() ? e["code"].get<std::string>() : "-");
}

std::string metrics_of(const served& s) {
  return ask(s.port(), "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n").body;
}

/// Until the server's figures have all of these lines: what it does then does not depend on how fast it is.
void wait_for_figures(const served& s, std::initializer_list<std::string_view> lines) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  std::string figures;
  while (std::chrono::steady_clock::now() < end) {
    figures = metrics_of(s);
    if (std::all_of(lines.begin(), lines.end(), [&](std::string_view line) {
          return figures.find("\n" + std::string(line) + "\n") != figures.npos;
        }))
      return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ADD_FAILURE() << "the server's figures are other ones:\n" << figures;
}

TEST(steno_service, answers_as_the_program_writes) {
  const temporary_directory dir;
  const std::string program = std::string("'") + STENO_PROGRAM + "' -q --demo ";
  for (const std::string family : {"whisper", "parakeet-tdt", "paraformer"}) {
    const served s = served_demo(family);
    for (const std::string format : {"text", "srt", "vtt"}) {
      const auto a = ask(s.port(), form().file(contents_of(recording)).field("response_format", format).post());
      EXPECT_EQ(a.status, 200) << a.body;
      EXPECT_EQ(a.body, shell(dir, program + family + " --format " + format + " '" + recording + "'").out);
    }
    const auto plain = ask(
        s.port(), form().field("model", family).field("chunking_strategy", "auto").file(contents_of(recording)).post());
    EXPECT_EQ(plain.fields.at("content-type"), "application/json");
    EXPECT_EQ(json::parse(plain.body), json({{"text", said}}));
    const auto a = ask(s.port(), form()
                                     .file(contents_of(recording))
                                     .field("response_format", "verbose_json")
                                     .field("timestamp_granularities[]", "word")
                                     .field("timestamp_granularities[]", "segment")
                                     .field("temperature", "0")
                                     .post());
    ASSERT_EQ(a.status, 200) << a.body;
    const json v = json::parse(a.body);
    EXPECT_EQ(v["task"], "transcribe");
    EXPECT_EQ(v["text"], said);
    EXPECT_NEAR(v["duration"].get<double>(), 2.889, 0.01);
    EXPECT_EQ(v["language"], family == "whisper" ? "english" : v["language"]);
    ASSERT_GE(v["segments"].size(), 1u);
    for (const char* key : {"id", "seek", "start", "end", "text", "tokens", "temperature", "avg_logprob",
                            "compression_ratio", "no_speech_prob"})
      EXPECT_TRUE(v["segments"][0].contains(key)) << key;
    ASSERT_EQ(v["words"].size(), 8u);
    EXPECT_EQ(v["words"][1]["word"], "train");
    EXPECT_LE(v["words"][1]["start"], v["words"][1]["end"]);
    const auto words = ask(s.port(), form()
                                         .file(contents_of(recording))
                                         .field("response_format", "verbose_json")
                                         .field("timestamp_granularities[]", "word")
                                         .post());
    EXPECT_FALSE(json::parse(words.body).contains("segments"));
  }
}

TEST(steno_service, events_while_it_is_recognised) {
  const served s = served_demo("parakeet-tdt");
  http_client c(s.port());
  for (int i = 0; i < 2; ++i) {  // the connection serves again
    c.send(form().file(repeated_wav(recording, 30)).field("stream", "true").post());
    const http_answer a = c.read();
    EXPECT_EQ(a.fields.at("content-type"), "text/event-stream");
    std::string text, last;
    int deltas = 0;
    for (std::size_t at = 0; at < a.body.size();) {
      const std::size_t end = a.body.find("\n\n", at);
      ASSERT_EQ(a.body.substr(at, 6), "data: ");
      const json e = json::parse(a.body.substr(at + 6, end - at - 6));
      last = e["type"].get<std::string>();
      if (last == "transcript.text.delta") {
        text += e["delta"].get<std::string>();
        ++deltas;
      } else {
        EXPECT_EQ(e["text"], text);
      }
      at = end + 2;
    }
    EXPECT_EQ(last, "transcript.text.done");
    EXPECT_GE(deltas, 2);
  }
}

TEST(steno_service, what_cannot_be_honoured_is_refused_by_name) {
  const served s = served_demo("parakeet-tdt", {"--max-body", "1000000", "--max-audio-seconds", "20"});
  const std::string wav = contents_of(recording);
  const auto f = [&] { return form().file(wav); };
  const std::pair<std::string, const char*> table[] = {
      {form().field("model", "parakeet-tdt").post(), "400 file missing_required_parameter"},
      {f().field("model", "whisper-1").post(), "404 model model_not_found"},
      {f().field("colour", "red").post(), "400 colour unknown_parameter"},
      {f().field("response_format", "docx").post(), "400 response_format invalid_value"},
      {f().field("language", "de").post(), "400 language unsupported_value"},
      {f().field("prompt", "Paris").post(), "400 prompt unsupported_value"},
      {f().field("temperature", "0.5").post(), "400 temperature unsupported_value"},
      {f().field("temperature", "2").post(), "400 temperature invalid_value"},
      {f().field("temperature", "nan").post(), "400 temperature invalid_value"},
      {f().field("temperature", "").post(), "400 temperature invalid_value"},
      {f().field("stream", "yes").post(), "400 stream invalid_value"},
      {f().field("stream", "true").field("response_format", "srt").post(), "400 stream unsupported_value"},
      {f().field("timestamp_granularities[]", "word").post(), "400 timestamp_granularities[] invalid_value"},
      {f().field("chunking_strategy", "server_vad").post(), "400 chunking_strategy unsupported_value"},
      {f().field("known_speaker_names[]", "Ann").post(), "400 known_speaker_names[] unsupported_parameter"},
      {f().field("include[]", "logprobs").post(), "400 include[] unsupported_parameter"},
      {f().field("model", "a").field("model", "a").post(), "400 model invalid_value"},
      {f().field("prompt", std::string(70000, 'x')).post(), "400 prompt string_above_max_length"},
      {f().field("prompt", "\xff\xfe").post(), "400 prompt invalid_value"},
      {f().file(wav).post(), "400 file invalid_value"},
      {form().file(wav, "model").post(), "400 model invalid_value"},
      {form().field("file", "x").post(), "400 file invalid_value"},
      {form().file("this is no sound").post(), "400 file invalid_audio"},
      {form().file("").post(), "400 file invalid_audio"},
      {f().post("/v1/audio/translations"), "400 model unsupported_value"},
      {f().post("/v1/audio/transcriptions?model=x"), "400 - unknown_parameter"},
      {form().file(repeated_wav(recording, 12)).post(), "413 - request_too_large"},
      {f().post("/v1/chat/completions"), "404 - unknown_url"},
      {"GET /v1/audio/transcriptions HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", "405 - method_not_allowed"},
      {"POST /v1/models HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n", "405 - method_not_allowed"},
      {"GET /v1/models/zzz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", "404 model model_not_found"},
      {"POST /v1/audio/transcriptions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
       "Content-Length: 2\r\n\r\n{}",
       "415 - unsupported_content_type"},
      {f().post("/v1/audio/transcriptions", "Origin: https://evil.example\r\n"), "403 - origin_not_allowed"},
      {"GET /v1/models HTTP/1.1\r\nHost: evil.example\r\n\r\n", "403 - origin_not_allowed"},
  };
  for (const auto& [request, want] : table)
    EXPECT_EQ(error_code(ask(s.port(), request)), want) << request.substr(0, 200);
  EXPECT_EQ(error_code(ask(s.port(), form().file(repeated_wav(recording, 10)).post())), "413 file audio_too_long");
}

TEST(steno_service, models_and_health) {
  const served s = served_demo("whisper");
  const auto get = [&](const std::string& path) {
    return ask(s.port(), "GET " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
  };
  const json list = json::parse(get("/v1/models").body);
  EXPECT_EQ(list["object"], "list");
  EXPECT_EQ(list["data"][0]["id"], "whisper");
  EXPECT_EQ(list["data"][0]["object"], "model");
  EXPECT_EQ(json::parse(get("/v1/models/whisper").body), list["data"][0]);
  EXPECT_EQ(get("/health").status, 200);
  EXPECT_EQ(get("/ready").status, 200);
  // It does not stream by itself, and has sessions all the same.
  websocket w(s.port());
  EXPECT_EQ(w.shake_hands("127.0.0.1"), 101);
}

TEST(steno_service, keys_figures_and_other_origins) {
  const temporary_directory dir;
  const std::string keys = (dir.path() / "keys").string();
  std::ofstream(keys) << "# two\nsk-first-key\nsk-other-key\n";
  const std::string model = std::string(STENO_SOURCE_DIR) + "/examples/models/u2.gguf";
  const served s({"--api-keys", keys, "--allow-origin", "https://app.example"}, [] {}, {"-m", "whisper-1=" + model});
  const auto get = [&](const std::string& path, const std::string& more) {
    return ask(s.port(), "GET " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\n" + more + "\r\n");
  };
  const std::string key = "Authorization: Bearer sk-other-key\r\n";
  for (const char* wrong : {"", "Authorization: Bearer sk-test-key\r\n", "Authorization: Basic sk-other-key\r\n",
                            "Authorization: Bearer sk-other-key\r\nAuthorization: Bearer x\r\n"}) {
    EXPECT_EQ(error_code(get("/v1/models", wrong)), "401 - invalid_api_key") << wrong;
    EXPECT_EQ(get("/metrics", wrong).status, 401);
  }
  EXPECT_EQ(error_code(ask(s.port(), text_request())), "401 - invalid_api_key");  // before its body is looked at
  EXPECT_EQ(get("/health", "").status, 200);
  EXPECT_EQ(get("/v1/models/whisper-1", key).status, 200);
  EXPECT_EQ(websocket(s.port()).shake_hands(), 401);
  EXPECT_EQ(websocket(s.port()).shake_hands("127.0.0.1", key), 101);
  std::string request = form().file(contents_of(recording)).field("model", "whisper-1").post();
  request.replace(request.find("sk-test"), 7, "sk-first-key");
  EXPECT_EQ(json::parse(ask(s.port(), request).body)["text"], said);
  const std::string text = get("/metrics", key).body;
  for (const char* want :
       {"steno_requests_total{path=\"/v1/audio/transcriptions\",status=\"200\"} 1\n",
        "steno_requests_total{path=\"/v1/audio/transcriptions\",status=\"401\"} 1\n", "steno_recordings_total 1\n",
        "steno_queue_length 0\n", "steno_sessions_total 1\n", "steno_request_seconds_bucket{le=\"+Inf\"} "})
    EXPECT_NE(text.find(want), std::string::npos) << want << text;
  // Of a page: it may read, and may ask first.
  const std::string page = "Origin: https://app.example\r\n";
  EXPECT_EQ(get("/v1/models", key + page).fields["access-control-allow-origin"], "https://app.example");
  EXPECT_EQ(get("/v1/models", key).fields.count("access-control-allow-origin"), 0u);
  const http_answer first = ask(s.port(), "OPTIONS /v1/models HTTP/1.1\r\nHost: app.example\r\n" + page +
                                              "Access-Control-Request-Method: POST\r\n\r\n");
  EXPECT_EQ(first.status, 200);
  EXPECT_NE(first.fields.at("access-control-allow-headers").find("Authorization"), std::string::npos);
}

TEST(steno_service, connections_serve_request_after_request) {
  const served s = served_demo("u2");
  http_client c(s.port());
  for (int i = 0; i < 3; ++i) {
    c.send(text_request());
    EXPECT_EQ(c.read().body, said + "\n");
  }
  c.send("HEAD /health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(c.read().status, 200);
  // Several at once are answered in their order.
  http_client many(s.port());
  many.send(text_request() + "GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" + text_request());
  EXPECT_EQ(many.read().body, said + "\n");
  EXPECT_EQ(many.read().body, "{\"status\":\"ok\"}\n");
  EXPECT_EQ(many.read().body, said + "\n");
  // Large bodies are asked for.
  http_client patient(s.port());
  const form f = form().file(contents_of(recording)).field("response_format", "text");
  patient.send(form::head("/v1/audio/transcriptions", f.body().size(), "Expect: 100-continue\r\n"));
  EXPECT_EQ(patient.read_one().status, 100);
  patient.send(f.body());
  EXPECT_EQ(patient.read().body, said + "\n");
  // Of no known length, in chunks.
  http_client chunks(s.port());
  std::string head = form::head("/v1/audio/transcriptions", 0, "Transfer-Encoding: chunked\r\n");
  head.erase(head.find("Content-Length: 0\r\n"), 19);
  chunks.send(head);
  const std::string body = f.body();
  for (std::size_t at = 0; at < body.size(); at += 5000) {
    const std::string part = body.substr(at, 5000);
    char size[20];
    std::snprintf(size, sizeof size, "%zX;a=b\r\n", part.size());
    chunks.send(size + part + "\r\n");
  }
  chunks.send("0\r\nX: y\r\n\r\n");
  EXPECT_EQ(chunks.read().body, said + "\n");
}

TEST(steno_service, recordings_of_all_kinds) {
  const temporary_directory dir;
  if (shell(dir, "command -v ffmpeg").code != 0) GTEST_SKIP() << "no ffmpeg";
  const served s = served_demo("parakeet-tdt");
  for (const std::string kind : {"flac", "mp3", "ogg", "m4a", "webm"}) {
    const std::string file = (dir.path() / ("talk." + kind)).string();
    ASSERT_EQ(shell(dir, "ffmpeg -v error -i '" + recording + "' '" + file + "'").code, 0) << kind;
    const auto a = ask(s.port(), form().file(contents_of(file)).field("response_format", "text").post());
    EXPECT_EQ(a.body, shell(dir, std::string("'") + STENO_PROGRAM + "' -q --demo parakeet-tdt '" + file + "'").out)
        << kind;
  }
  const served without = served_demo("parakeet-tdt", {"--ffmpeg", "none"});
  EXPECT_EQ(error_code(ask(without.port(), form().file(contents_of((dir.path() / "talk.m4a").string())).post())),
            "400 file invalid_audio");
}

// The commands of docs/server.md.
TEST(steno_service, curl) {
  const temporary_directory dir;
  if (shell(dir, "command -v curl").code != 0) GTEST_SKIP() << "no curl";
  const served s = served_demo("u2");
  std::ifstream page(std::string(STENO_SOURCE_DIR) + "/docs/server.md");
  int commands = 0;
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("curl ")) continue;
    ++commands;
    while (line.ends_with('\\')) {
      std::string more;
      std::getline(page, more);
      line = line.substr(0, line.size() - 1) + more;
    }
    const std::size_t at = line.find(":10086");
    ASSERT_NE(at, std::string::npos) << line;
    line.replace(at + 1, 5, std::to_string(s.port()));
    const auto o = shell(dir, "cp '" + recording + "' talk.wav; " + line);
    EXPECT_EQ(o.code, 0) << line << o.err;
    EXPECT_NE(o.out.find("seven minutes"), std::string::npos) << line << "\n" << o.out;
  }
  EXPECT_GE(commands, 2);
  std::ofstream(dir.path() / "long.wav", std::ios::binary)
      << repeated_wav(recording, 15);  // curl asks before it sends a megabyte
  const auto o = shell(dir, "curl -sS --max-time 60 http://127.0.0.1:" + std::to_string(s.port()) +
                                "/v1/audio/transcriptions -F file=@long.wav -F response_format=text");
  EXPECT_NE(o.out.find("seven minutes"), std::string::npos) << o.out << o.err;
}

TEST(steno_service, a_full_queue_is_told) {
  const served s = served_demo("parakeet-tdt", {"--threads", "1", "--max-queue", "2"});
  const std::string request = form().file(repeated_wav(recording, 20)).field("response_format", "text").post();
  const http_answer alone = ask(s.port(), request);
  ASSERT_EQ(alone.status, 200);
  std::vector<std::thread> clients;
  std::vector<http_answer> answers(12);
  for (http_answer& a : answers) clients.emplace_back([&] { a = ask(s.port(), request); });
  for (std::thread& t : clients) t.join();
  int served_well = 0, refused = 0;
  for (const http_answer& a : answers) {
    if (a.status == 200) {
      ++served_well;
      EXPECT_EQ(a.body, alone.body);
    } else {
      ++refused;
      EXPECT_EQ(error_code(a), "429 - queue_full");
      EXPECT_EQ(a.fields.count("retry-after"), 1u);
    }
  }
  EXPECT_GE(served_well, 3);
  EXPECT_GE(refused, 1);
}

TEST(steno_service, short_recordings_that_wait_are_recognised_together) {
  const served s = served_demo("qwen3-asr", {"--threads", "1", "--max-queue", "32", "--max-batch", "4"});
  const std::string audio = std::string(STENO_SOURCE_DIR) + "/examples/audio/";
  // Of several kinds: some wait for the same, one is long, one asks for something else, one is no recording.
  const auto plain = [&](const std::string& bytes) { return form().file(bytes).field("response_format", "json"); };
  std::vector<std::string> requests;
  for (const auto& entry : std::filesystem::directory_iterator(audio))
    if (entry.path().extension() == ".wav") requests.push_back(plain(contents_of(entry.path())).post());
  ASSERT_GE(requests.size(), 3u);
  requests.push_back(plain(repeated_wav(recording, 14)).post());
  requests.push_back(plain(contents_of(recording)).field("prompt", "trains").post());
  requests.push_back(plain("no recording").post());
  std::vector<http_answer> alone;
  for (const std::string& r : requests) alone.push_back(ask(s.port(), r));
  EXPECT_NE(metrics_of(s).find("steno_recordings_together_total 0\n"), std::string::npos);
  std::vector<std::thread> clients;
  std::vector<http_answer> answers(3 * requests.size());
  for (std::size_t i = 0; i < answers.size(); ++i)
    clients.emplace_back([&, i] { answers[i] = ask(s.port(), requests[i % requests.size()]); });
  for (std::thread& t : clients) t.join();
  for (std::size_t i = 0; i < answers.size(); ++i) {
    EXPECT_EQ(answers[i].status, alone[i % requests.size()].status);
    EXPECT_EQ(answers[i].body, alone[i % requests.size()].body);
  }
  EXPECT_EQ(metrics_of(s).find("steno_recordings_together_total 0\n"), std::string::npos);
}

TEST(steno_service, clients_that_misbehave_harm_no_other) {
  const served s = served_demo("parakeet-tdt", {"--threads", "1", "--idle-timeout", "1", "--max-queue", "4"});
  const form f = form().file(contents_of(recording)).field("response_format", "text");
  const std::string head = form::head("/v1/audio/transcriptions", f.body().size());
  const std::string busy = form().file(repeated_wav(recording, 20)).post();
  const auto unharmed = [&](const char* after) { EXPECT_EQ(ask(s.port(), f.post()).body, said + "\n") << after; };

  http_client slow_header(s.port()), slow_body(s.port()), silent(s.port()), half(s.port());
  slow_header.send("POST /v1/audio/transcriptions HTTP/1.1\r\nHost: 127.0");
  slow_body.send(head + f.body().substr(0, 1000));
  half.send(head + f.body().substr(0, 1000));
  half.end_sending();
  EXPECT_TRUE(half.over());
  EXPECT_EQ(error_code(slow_body.read()), "408 - request_timeout");
  EXPECT_TRUE(slow_header.over());
  EXPECT_TRUE(silent.over());
  unharmed("slow clients");

  EXPECT_EQ(ask(s.port(), "GET /health HTTP/1.1\r\nX: " + std::string(20000, 'x') + "\r\n\r\n").status, 431);
  EXPECT_EQ(ask(s.port(), "no request at all\r\n\r\n").status, 400);
  EXPECT_EQ(ask(s.port(), "GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX\x01: y\r\n\r\n").status, 400);
  std::string chunked = head;
  chunked.replace(chunked.find("Content-Length: "), 16, "Transfer-Encoding: chunked\r\nX: ");
  EXPECT_EQ(ask(s.port(), chunked + "zz\r\n").status, 400);
  EXPECT_EQ(ask(s.port(), chunked + "5;" + std::string(1'000'000, 'x')).status, 400);
  unharmed("wrong requests");

  const std::string b = std::string("--") + form::boundary;
  const auto body = [&](const std::string& text) {
    return ask(s.port(), form::head("/v1/audio/transcriptions", text.size()) + text);
  };
  EXPECT_EQ(error_code(body("")), "400 - invalid_multipart");
  EXPECT_EQ(error_code(body(b + "\r\n")), "400 - invalid_multipart");
  EXPECT_EQ(error_code(body(f.body().substr(0, f.body().size() - 4))), "400 - invalid_multipart");  // no last boundary
  EXPECT_EQ(error_code(body(b + "\r\nContent-Disposition: form-data\r\n\r\nx\r\n" + b + "--")),
            "400 - invalid_multipart");
  EXPECT_EQ(error_code(body(b +
                            "\r\nContent-Disposition: form-data; name=file\r\nContent-Type: multipart/mixed; "
                            "boundary=q\r\n\r\nx\r\n" +
                            b + "--")),
            "400 - invalid_multipart");
  std::string many;
  for (int i = 0; i < 100; ++i)
    many += b + "\r\nContent-Disposition: form-data; name=\"timestamp_granularities[]\"\r\n\r\nword\r\n";
  EXPECT_EQ(error_code(body(many + b + "--")).substr(0, 3), "400");
  // A file's name is nobody's path.
  for (const char* name :
       {"../../../etc/passwd", "/etc/passwd", "a\\\"\\\\b;x=y", "|sh", "-", "x%0d%0aX: y", "\xff\xfe"})
    EXPECT_EQ(
        ask(s.port(), form().file(contents_of(recording), "file", name).field("response_format", "text").post()).body,
        said + "\n");
  EXPECT_EQ(error_code(ask(s.port(), form().file(contents_of(recording), "file", "x\r\nX: y\nZ").post())).substr(0, 3),
            "400");
  unharmed("wrong forms");

  // Clients that go away while theirs is recognised, or waits.
  for (int i = 0; i < 2; ++i) {
    std::vector<http_client> gone;
    for (int k = 0; k < 4; ++k) {
      gone.emplace_back(s.port());
      gone.back().send(busy);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    gone.clear();
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  unharmed("clients that went away");

  // One that takes nothing of its answer, with another request right behind.
  http_client stalled(s.port());
  for (int i = 0; i < 50; ++i) stalled.send("GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
  unharmed("a client that takes nothing");
}

TEST(steno_service, a_signal_lets_requests_end) {
  served s = served_demo("parakeet-tdt", {"--threads", "1", "--drain-timeout", "600"});  // sanitizers take their time
  const std::string longer = form().file(repeated_wav(recording, 300)).field("response_format", "text").post();
  const std::string want = ask(s.port(), longer).body;
  // Behind that request: the server does not wait for long for clients that say nothing.
  http_client working(s.port()), waiting(s.port()), idle(s.port()), sending(s.port());
  idle.send("GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
  EXPECT_EQ(idle.read().status, 200);
  sending.send(text_request().substr(0, 5000));
  working.send(longer);
  wait_for_figures(s, {"steno_recordings_running 1"});
  waiting.send(text_request());
  wait_for_figures(s, {"steno_recordings_running 1", "steno_queue_length 1"});
  s.signal(SIGTERM);
  EXPECT_TRUE(idle.over());
  sending.send(text_request().substr(5000));
  for (http_client* c : {&working, &waiting, &sending}) {
    const http_answer a = c->read();
    EXPECT_EQ(a.body, c == &working ? want : said + "\n");
    EXPECT_EQ(a.fields.count("connection"), 1u);
  }
  EXPECT_EQ(s.wait(), 143);
}

// What it leaves undone is given back all the same: sanitizers see that.
TEST(steno_service, a_drain_that_is_over_cuts_requests_off) {
  served s = served_demo("parakeet-tdt", {"--threads", "1", "--drain-timeout", "0"});
  http_client working(s.port()), waiting(s.port());
  working.send(form().file(repeated_wav(recording, 300)).field("response_format", "text").post());
  wait_for_figures(s, {"steno_recordings_running 1"});
  waiting.send(text_request());
  wait_for_figures(s, {"steno_recordings_running 1", "steno_queue_length 1"});
  s.signal(SIGTERM);
  EXPECT_TRUE(working.over());
  EXPECT_TRUE(waiting.over());
  EXPECT_EQ(s.wait(), 143);
}

}  // namespace steno_service_test
