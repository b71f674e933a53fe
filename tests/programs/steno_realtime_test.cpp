// Transcription sessions of OpenAI's API over WebSocket, with the program: every kind of model, every setting.
// SPDX-License-Identifier: Apache-2.0
#include <steno/pipelines/result.hpp>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "programs/http_client.hpp"
#include "programs/realtime_client.hpp"
#include "programs/run_program.hpp"
#include "programs/served.hpp"

namespace steno_realtime_test {
namespace {

using namespace steno::test;
using nlohmann::json;

const std::string audio_folder = std::string(STENO_SOURCE_DIR) + "/examples/audio/";
const std::string said = "the train to paris leaves in seven minutes";

json update(const json& input) {
  return {{"type", "session.update"}, {"session", {{"type", "transcription"}, {"audio", {{"input", input}}}}}};
}
const json at_16_khz = {{"format", {{"type", "audio/pcm"}, {"rate", 16000}}}, {"turn_detection", nullptr}};

std::string kinds(const std::vector<json>& all) {
  std::string text;
  for (const json& e : all) {
    std::string kind = e["type"];
    kind = kind.substr(kind.find_last_of('.') + 1);
    if (kind == "delta" && text.ends_with("delta ")) continue;
    text += kind + " ";
  }
  return text;
}
std::string deltas(const std::vector<json>& all) {
  std::string text;
  for (const json& e : all)
    if (e["type"] == "conversation.item.input_audio_transcription.delta") text += e["delta"].get<std::string>();
  return text;
}
std::string fault(const json& e) {
  if (e["type"] != "error") return e.dump();
  EXPECT_TRUE(e["event_id"].is_string()) << e;
  const auto text = [](const json& j) { return j.is_string() ? j.get<std::string>() : std::string("-"); };
  const json& of = e["error"];
  EXPECT_FALSE(text(of["message"]).empty());
  return text(of["type"]) + " " + text(of["code"]) + " " + text(of["param"]) + " " + text(of["event_id"]);
}

}  // namespace

TEST(steno_realtime, every_model_transcribes_what_is_committed) {
  const auto pcm = pcm_of(audio_folder + "train.wav");
  for (const std::string family : {"parakeet-tdt", "parakeet-eou", "paraformer", "paraformer-online", "whisper", "u2",
                                   "qwen3-asr", "fun-asr-nano"}) {
    const served s = served_demo(family);
    realtime_client c(s.port(), "?intent=transcription");
    ASSERT_EQ(c.status, 101);
    EXPECT_EQ(c.hear()["type"], "session.created");
    c.say(update(at_16_khz));
    const json updated = c.hear();
    EXPECT_EQ(updated["type"], "session.updated");
    EXPECT_EQ(updated["session"]["audio"]["input"]["format"], json({{"type", "audio/pcm"}, {"rate", 16000}}));
    EXPECT_EQ(updated["session"]["audio"]["input"]["transcription"]["model"], family);
    EXPECT_TRUE(updated["session"]["audio"]["input"]["turn_detection"].is_null());
    std::string first;
    for (int turn = 0; turn < 2; ++turn) {  // nothing of the first is in the second
      c.append_all(pcm, 1600);
      c.say({{"type", "input_audio_buffer.commit"}});
      std::vector<json> all;
      const json done = c.hear("conversation.item.input_audio_transcription.completed", &all);
      ASSERT_FALSE(done.is_null()) << family;
      const std::string text = done["transcript"];
      EXPECT_EQ(text.substr(0, 9), "the train") << family << ": " << text;
      if (family != "u2") {
        EXPECT_EQ(text, said) << family;
      }
      EXPECT_EQ(text.substr(0, deltas(all).size()), deltas(all)) << family;
      EXPECT_NEAR(done["usage"]["seconds"].get<double>(), 2.889, 0.002);
      const auto at = std::find_if(all.begin(), all.end(),
                                   [](const json& e) { return e["type"] == "input_audio_buffer.committed"; });
      ASSERT_NE(at, all.end());
      EXPECT_EQ((*at)["item_id"], done["item_id"]);
      EXPECT_EQ((*at)["previous_item_id"].is_null(), turn == 0);
      if (turn == 0) first = text;
      EXPECT_EQ(text, first) << family;
    }
  }
}

TEST(steno_realtime, turns_are_found_by_pauses) {
  std::vector<std::int16_t> pcm;
  const auto silence = [&](std::size_t n) { pcm.insert(pcm.end(), n, 0); };
  for (const char* name : {"train.wav", "shopping.wav"}) {
    silence(8000);
    const auto more = pcm_of(audio_folder + name);
    pcm.insert(pcm.end(), more.begin(), more.end());
    silence(16000);
  }
  const auto faster = at_24_khz(pcm);
  for (const std::string family : {"parakeet-tdt", "whisper"}) {
    const served s = served_demo(family);
    std::string before;
    for (const std::size_t portion : {2400u, 777u, 100000u}) {  // which make no difference
      realtime_client c(s.port());
      c.hear();
      c.append_all(faster, portion);
      std::vector<json> all;
      c.hear("conversation.item.input_audio_transcription.completed", &all);
      const json second = c.hear("conversation.item.input_audio_transcription.completed", &all);
      ASSERT_FALSE(second.is_null());
      std::string heard, order;
      for (const json& e : all) {
        const std::string type = e["type"];
        if (type.ends_with("completed")) heard += e["transcript"].get<std::string>() + "|";
        if (type.ends_with("speech_started")) heard += std::to_string(e["audio_start_ms"].get<int>()) + "-";
        if (type.ends_with("speech_stopped")) heard += std::to_string(e["audio_end_ms"].get<int>()) + " ";
      }
      EXPECT_NE(heard.find(said), std::string::npos) << heard;
      EXPECT_EQ(std::count(heard.begin(), heard.end(), '|'), 2) << heard;
      if (before.empty()) before = heard;
      EXPECT_EQ(heard, before);
      std::string kind = kinds(all);
      EXPECT_EQ(kind.find("speech_started "), 0u) << kind;
      EXPECT_NE(kind.find("speech_stopped committed added done "), std::string::npos) << kind;
      std::vector<std::string> ids;
      for (const json& e : all) ids.push_back(e["event_id"]);
      std::sort(ids.begin(), ids.end());
      EXPECT_EQ(std::adjacent_find(ids.begin(), ids.end()), ids.end());
    }
  }
}

TEST(steno_realtime, the_form_of_the_beta) {
  const served s = served_demo("parakeet-tdt");
  realtime_client c(s.port(), "?intent=transcription", "OpenAI-Beta: realtime=v1\r\n");
  EXPECT_EQ(c.hear()["type"], "transcription_session.created");
  c.say({{"type", "transcription_session.update"},
         {"session",
          {{"input_audio_format", "pcm16"},
           {"input_audio_transcription", {{"model", "parakeet-tdt"}, {"prompt", ""}, {"language", nullptr}}},
           {"input_audio_noise_reduction", nullptr},
           {"include", nullptr},
           {"turn_detection",
            {{"type", "server_vad"}, {"threshold", 0.5}, {"prefix_padding_ms", 300}, {"silence_duration_ms", 500}}}}}});
  const json updated = c.hear();
  EXPECT_EQ(updated["type"], "transcription_session.updated") << updated;
  EXPECT_EQ(updated["session"]["input_audio_format"], "pcm16");
  auto pcm = at_24_khz(pcm_of(audio_folder + "train.wav"));
  pcm.insert(pcm.end(), 24000, 0);
  c.append_all(pcm, 4800);
  std::vector<json> all;
  EXPECT_EQ(c.hear("conversation.item.input_audio_transcription.completed", &all)["transcript"], said);
  EXPECT_NE(kinds(all).find("committed created "), std::string::npos) << kinds(all);
}

TEST(steno_realtime, g711_is_heard) {
  const auto pcm = pcm_of(audio_folder + "train.wav");
  const served s = served_demo("whisper");
  for (const bool a_law : {false, true}) {
    // Half the rate, by means of two; the nearest of the 256 values that G.711 has.
    std::string codes;
    for (std::size_t i = 0; i + 1 < pcm.size(); i += 2) {
      const int value = (pcm[i] + pcm[i + 1]) / 2, magnitude = std::min(std::abs(value), 32000);
      int code = 0;
      if (a_law) {
        int exponent = 7;
        while (exponent > 0 && magnitude < (0x100 << (exponent - 1))) --exponent;
        const int mantissa = exponent == 0 ? magnitude >> 4 : (magnitude >> (exponent + 3)) & 15;
        code = ((value >= 0 ? 0x80 : 0) | exponent << 4 | (mantissa & 15)) ^ 0x55;
      } else {
        const int biased = magnitude + 0x84;
        int exponent = 7;
        while (exponent > 0 && biased < (0x80 << exponent)) --exponent;
        code = ~((value < 0 ? 0x80 : 0) | exponent << 4 | ((biased >> (exponent + 3)) & 15));
      }
      codes += static_cast<char>(code & 0xff);
    }
    realtime_client c(s.port());
    c.hear();
    c.say(update({{"format", {{"type", a_law ? "audio/pcma" : "audio/pcmu"}}}, {"turn_detection", nullptr}}));
    EXPECT_EQ(c.hear()["type"], "session.updated");
    c.say({{"type", "input_audio_buffer.append"}, {"audio", base64(codes)}});
    c.say({{"type", "input_audio_buffer.commit"}});
    const json done = c.hear("conversation.item.input_audio_transcription.completed");
    EXPECT_NEAR(done["usage"]["seconds"].get<double>(), 2.889, 0.01);
    const std::string text = done["transcript"];
    EXPECT_NE(text.find("train"), std::string::npos) << text;
  }
}

TEST(steno_realtime, what_cannot_be_honoured_is_refused_by_name) {
  const served s = served_demo("parakeet-tdt", {"--own-stream"});
  realtime_client c(s.port());
  c.hear();
  const auto refused = [&](json event) {
    event["event_id"] = "mine";
    c.say(event);
    return fault(c.hear());
  };
  const std::string in = "session.audio.input.";
  EXPECT_EQ(refused(update({{"transcription", {{"model", "gpt-4o-transcribe"}}}})),
            "invalid_request_error model_not_found " + in + "transcription.model mine");
  EXPECT_EQ(refused(update({{"transcription", {{"language", "en"}}}})),
            "invalid_request_error unsupported_value " + in + "transcription.language mine");
  EXPECT_EQ(refused(update({{"transcription", {{"prompt", "trains"}}}})),
            "invalid_request_error unsupported_parameter " + in + "transcription.prompt mine");
  EXPECT_EQ(refused(update({{"transcription", {{"delay", "low"}}}})),
            "invalid_request_error unsupported_parameter " + in + "transcription.delay mine");
  EXPECT_EQ(refused(update({{"transcription", nullptr}})),
            "invalid_request_error unsupported_value " + in + "transcription mine");
  EXPECT_EQ(refused(update({{"turn_detection", {{"type", "semantic_vad"}}}})),
            "invalid_request_error unsupported_value " + in + "turn_detection.type mine");
  EXPECT_EQ(refused(update({{"turn_detection", {{"type", "server_vad"}, {"threshold", 0.9}}}})),
            "invalid_request_error unsupported_value " + in + "turn_detection.threshold mine");
  EXPECT_EQ(refused(update({{"turn_detection", {{"silence_duration_ms", -1}}}})),
            "invalid_request_error invalid_value " + in + "turn_detection.silence_duration_ms mine");
  EXPECT_EQ(refused(update({{"turn_detection", {{"idle_timeout_ms", 5000}}}})),
            "invalid_request_error unsupported_parameter " + in + "turn_detection.idle_timeout_ms mine");
  EXPECT_EQ(refused(update({{"noise_reduction", {{"type", "near_field"}}}})),
            "invalid_request_error unsupported_parameter " + in + "noise_reduction mine");
  EXPECT_EQ(refused(update({{"format", {{"type", "audio/pcm"}, {"rate", 44100}}}})),
            "invalid_request_error invalid_value " + in + "format.rate mine");
  EXPECT_EQ(refused({{"type", "session.update"}, {"session", {{"type", "realtime"}}}}),
            "invalid_request_error unsupported_value session.type mine");
  EXPECT_EQ(refused({{"type", "session.update"}, {"session", {{"voice", "marin"}}}}),
            "invalid_request_error unknown_parameter session.voice mine");
  EXPECT_EQ(
      refused({{"type", "session.update"}, {"session", {{"include", {"item.input_audio_transcription.logprobs"}}}}}),
      "invalid_request_error unsupported_parameter session.include[] mine");
  EXPECT_EQ(refused({{"type", "session.update"}}), "invalid_request_error missing_required_parameter session mine");
  EXPECT_EQ(refused({{"type", "response.create"}}), "invalid_request_error invalid_value type mine");
  EXPECT_EQ(refused({{"type", "input_audio_buffer.append"}, {"audio", "!!!!"}}),
            "invalid_request_error invalid_value audio mine");
  EXPECT_EQ(refused({{"type", "input_audio_buffer.append"}}),
            "invalid_request_error missing_required_parameter audio mine");
  EXPECT_EQ(refused({{"type", "input_audio_buffer.commit"}}),
            "invalid_request_error input_audio_buffer_commit_empty - mine");
  EXPECT_EQ(refused({{"event", "x"}}), "invalid_request_error missing_required_parameter type mine");
  c.socket().text("{");
  EXPECT_EQ(fault(c.hear()), "invalid_request_error invalid_json - -");
  c.socket().text("[1]");
  EXPECT_EQ(fault(c.hear()), "invalid_request_error invalid_json - -");
  c.socket().frame(2, "xx");
  EXPECT_EQ(fault(c.hear()), "invalid_request_error invalid_value - -");
  // And it still works; what was refused changed nothing.
  c.say(update(at_16_khz));
  EXPECT_EQ(c.hear()["type"], "session.updated");
  c.append(pcm_of(audio_folder + "shopping.wav"));
  c.say({{"type", "input_audio_buffer.clear"}});
  EXPECT_EQ(c.hear("input_audio_buffer.cleared")["type"], "input_audio_buffer.cleared");
  c.append(pcm_of(audio_folder + "train.wav"));
  EXPECT_EQ(refused(update({{"format", {{"type", "audio/pcm"}}}})), "invalid_request_error invalid_value - mine");
  c.say({{"type", "input_audio_buffer.commit"}});
  EXPECT_EQ(c.hear("conversation.item.input_audio_transcription.completed")["transcript"], said);

  realtime_client other(s.port(), "?model=gpt-realtime");
  EXPECT_EQ(fault(other.hear()), "invalid_request_error model_not_found model -");
  EXPECT_TRUE(other.hear().is_null());
  realtime_client call(s.port(), "?call_id=1");
  EXPECT_EQ(fault(call.hear()), "invalid_request_error unknown_parameter call_id -");
  const auto plain = ask(s.port(), "GET /v1/realtime HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
  EXPECT_EQ(plain.status, 426);
}

// The Sortformer is small and random: whom it finds is not the point.
TEST(steno_realtime, speakers_are_told_where_a_session_asks) {
  const std::string who = (compact() / "sortformer" / "model.gguf").string();
  served s = served_demo("parakeet-tdt", {"--speakers", who, "--log-texts"});
  std::vector<std::int16_t> pcm;
  for (const char* name : {"train.wav", "shopping.wav"}) {
    pcm.insert(pcm.end(), 8000, 0);
    const auto more = pcm_of(audio_folder + name);
    pcm.insert(pcm.end(), more.begin(), more.end());
    pcm.insert(pcm.end(), 16000, 0);
  }
  pcm.insert(pcm.end(), 30 * 16000, 0);  // speakers of what was said are settled when so much has followed
  const json asked = {{"format", {{"type", "audio/pcm"}, {"rate", 16000}}}, {"transcription", {{"speakers", true}}}};
  json before;
  for (const std::size_t portion : {1600u, 777u, 100000u}) {
    realtime_client c(s.port());
    c.hear();
    c.say(update(asked));
    EXPECT_EQ(c.hear()["session"]["audio"]["input"]["transcription"]["speakers"], true);
    c.append_all(pcm, portion);
    c.say({{"type", "nothing"}});
    std::vector<json> all;
    c.hear("error", &all);
    std::map<std::string, std::string> texts, parts;
    json found = json::array();
    for (json& e : all) {
      const std::string type = e["type"];
      if (type.ends_with("completed")) texts[e["item_id"]] = e["transcript"];
      if (!type.ends_with("input_audio_transcription.segment")) continue;
      EXPECT_TRUE(texts.contains(e["item_id"])) << "before its turn is complete: " << e;
      EXPECT_EQ(e["content_index"], 0);
      EXPECT_TRUE(e["speaker"].is_null() || e["speaker"].get<std::string>().size() == 1) << e;
      EXPECT_LE(e["start"], e["end"]);
      steno::pipelines::append_text(parts[e["item_id"]], e["text"].get<std::string>());
      found.push_back({e["speaker"], e["start"], e["end"], e["text"]});
    }
    EXPECT_EQ(texts.size(), 2u);
    EXPECT_EQ(parts, texts);
    if (before.is_null()) before = found;
    EXPECT_EQ(found, before) << portion;
  }
  EXPECT_NE(before.dump().find("\"A\""), std::string::npos) << before;

  // Who takes the wish back gets what is open; nothing is told of later turns.
  realtime_client changing(s.port());
  changing.hear();
  changing.say(update(asked));
  changing.hear();
  std::vector<json> told, later;
  changing.append_all(std::span(pcm).first(44000), 4000);
  changing.say({{"type", "input_audio_buffer.commit"}});
  changing.hear("conversation.item.input_audio_transcription.completed", &told);
  changing.say(update({{"transcription", {{"speakers", false}}}}));
  const json updated = changing.hear("session.updated", &told);
  EXPECT_FALSE(updated["session"]["audio"]["input"]["transcription"].contains("speakers")) << updated;
  EXPECT_NE(kinds(told).find("completed segment "), std::string::npos) << kinds(told);
  changing.append_all(std::span(pcm).first(44000), 4000);
  changing.say({{"type", "input_audio_buffer.commit"}});
  changing.hear("conversation.item.input_audio_transcription.completed", &later);
  EXPECT_EQ(kinds(later).find("segment "), std::string::npos) << kinds(later);

  // The end of the server settles what is open; whoever did not wish for speakers has none.
  realtime_client c(s.port()), other(s.port());
  for (realtime_client* one : {&c, &other}) {
    one->hear();
    one->say(update(one == &c ? asked : json{{"format", asked["format"]}}));
    one->hear();
    one->append_all(std::span(pcm).first(44000), 4000);  // in the first turn
    one->say({{"type", "nothing"}});
    one->hear("error");
  }
  EXPECT_EQ(fault((c.say(update({{"transcription", {{"speakers", false}}}})), c.hear("error"))),
            "invalid_request_error invalid_value - -");
  s.signal(SIGTERM);
  std::vector<json> all, none;
  c.hear("error", &all);
  other.hear("error", &none);
  EXPECT_NE(kinds(all).find("completed segment "), std::string::npos) << kinds(all);
  EXPECT_EQ(kinds(none).find("segment "), std::string::npos) << kinds(none);
  EXPECT_EQ(s.wait(), 143);
  const std::string log = s.log_up_to("");
  EXPECT_NE(log.find("said: \"the train"), std::string::npos) << log;
}

TEST(steno_realtime, speakers_want_a_model_that_streams) {
  const std::string whole = (compact() / "other_sizes" / "sortformer" / "checkpoint" / "model.nemo").string();
  for (const std::vector<std::string>& more : {std::vector<std::string>{}, {"--speakers", whole}}) {
    const served s = served_demo("parakeet-tdt", more);
    realtime_client c(s.port());
    c.hear();
    c.say(update({{"transcription", {{"speakers", true}}}}));
    EXPECT_EQ(fault(c.hear()), "invalid_request_error unsupported_value session.audio.input.transcription.speakers -");
    c.say(update({{"transcription", {{"speakers", 1}}}}));
    EXPECT_EQ(fault(c.hear()), "invalid_request_error invalid_value session.audio.input.transcription.speakers -");
    c.say(update({{"transcription", {{"speakers", nullptr}}}}));
    EXPECT_EQ(c.hear()["type"], "session.updated");
  }
}

TEST(steno_realtime, keys_may_come_as_a_protocol_and_the_end_is_told) {
  const temporary_directory dir;
  const std::string keys = (dir.path() / "keys").string();
  std::ofstream(keys) << "sk-1234567890\n";
  served s = served_demo("parakeet-tdt", {"--api-keys", keys});
  EXPECT_EQ(realtime_client(s.port()).status, 401);
  EXPECT_EQ(
      realtime_client(s.port(), "", "Sec-WebSocket-Protocol: realtime, openai-insecure-api-key.wrong-key\r\n").status,
      401);
  realtime_client c(s.port(), "?model=parakeet-tdt",
                    "Sec-WebSocket-Protocol: realtime, openai-insecure-api-key.sk-1234567890\r\n");
  ASSERT_EQ(c.status, 101);
  EXPECT_EQ(c.hear()["type"], "session.created");
  c.say(update(at_16_khz));
  c.append(pcm_of(audio_folder + "train.wav"));
  c.say({{"type", "nothing"}});  // its answer comes when the audio has been read
  c.hear("error");
  s.signal(SIGTERM);
  std::vector<json> all;
  const json last = c.hear("error", &all);
  EXPECT_EQ(fault(last), "server_error shutting_down - -");
  ASSERT_GE(all.size(), 2u);
  EXPECT_EQ(all[all.size() - 2]["transcript"], said);
  const auto end = c.socket().read();
  EXPECT_TRUE(!end || end->close_code() == 1001);
  EXPECT_EQ(s.wait(), 143);
}

}  // namespace steno_realtime_test
