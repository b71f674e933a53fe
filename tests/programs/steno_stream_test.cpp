// steno stream on raw PCM: events, text, errors.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <nlohmann/json.hpp>

#include "programs/run_program.hpp"
#include "support/random.hpp"

namespace steno_stream_test {

using nlohmann::json;
using steno::test::outcome;

class steno_stream : public testing::Test {
 protected:
  steno_stream() {
    steno::test::random_numbers random(3);
    std::vector<std::int16_t> pcm(16000 * 6);
    for (std::size_t i = 0; i < pcm.size(); ++i)
      pcm[i] = static_cast<std::int16_t>(random.uniform(-9000, 9000) *
                                         (0.1f + std::fabs(std::sin(static_cast<float>(i) / 9000))));
    std::ofstream(dir.path() / "noise.raw", std::ios::binary)
        .write(reinterpret_cast<const char*>(pcm.data()), static_cast<std::streamsize>(pcm.size() * 2));
  }
  outcome run(const std::string& arguments) {
    return steno::test::shell(dir, "'" STENO_PROGRAM "' stream " + arguments + " < noise.raw");
  }
  static std::vector<json> events(const std::string& lines) {
    std::vector<json> all;
    std::istringstream in(lines);
    for (std::string line; std::getline(in, line);) all.push_back(json::parse(line));
    return all;
  }
  const std::string model = "-m '" + (steno::test::compact() / "wenet" / "model.gguf").string() + "' ";
  steno::test::temporary_directory dir;
};

TEST_F(steno_stream, events_are_lines_of_json_and_the_last_is_final) {
  const outcome o = run(model + "--format jsonl --chunk-size 4 --left-chunks 4 -");
  ASSERT_EQ(o.code, 0) << o.err;
  const std::vector<json> all = events(o.out);
  ASSERT_GT(all.size(), 5u);
  double heard = 0;
  std::string stable;
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    if (all[i]["type"] != "partial") {
      stable.clear();
      continue;
    }
    EXPECT_GT(all[i]["heard"].get<double>(), heard);
    heard = all[i]["heard"];
    EXPECT_GE(all[i]["latency_ms"].get<double>(), 0);
    EXPECT_EQ(all[i]["text"].get<std::string>().rfind(stable, 0), 0u);
    stable = all[i]["stable"];
  }
  const json& last = all.back();
  EXPECT_EQ(last["type"], "final");
  EXPECT_EQ(last["words"].size(), last["token_ids"].size());
  EXPECT_EQ(last["nbest"].size(), 10u);
  EXPECT_NE(o.err.find("latency"), std::string::npos);
}

TEST_F(steno_stream, text_into_a_pipe_is_final_results_alone) {
  const outcome o = run(model + "--chunk-size 4 --no-endpoints -q -");
  EXPECT_EQ(o.code, 0);
  EXPECT_EQ(o.err, "");
  EXPECT_EQ(std::count(o.out.begin(), o.out.end(), '\n'), 1);
  EXPECT_EQ(o.out.find('\r'), std::string::npos);
  EXPECT_EQ(o.out.rfind("u", 0), 0u) << o.out;
}

TEST_F(steno_stream, an_online_paraformer_streams_too) {
  const std::string online = "-m '" + (steno::test::compact() / "paraformer_online" / "model.gguf").string() + "' ";
  const outcome o = run(online + "--format jsonl -");
  ASSERT_EQ(o.code, 0) << o.err;
  const std::vector<json> all = events(o.out);
  ASSERT_GT(all.size(), 3u);
  EXPECT_EQ(all[0]["type"], "partial");
  EXPECT_EQ(all[0]["heard"].get<double>(), 0.6);
  const json& last = all.back();
  EXPECT_EQ(last["type"], "final");
  EXPECT_EQ(last["end"].get<double>(), 6.0);
  ASSERT_FALSE(last["words"].empty());
  EXPECT_EQ(last["words"][0]["timing"], "none");
  EXPECT_FALSE(last["words"][0].contains("start"));
  EXPECT_NE(run(online + "--format jsonl --chunk-size 5 -").out, o.out);
  EXPECT_EQ(run(online + "--chunk-size -1 -").code, 1);
  const outcome refused = run(online + "--look-ahead 4 -");
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("--look-ahead: paraformer_online has no use for it"), std::string::npos) << refused.err;
}

TEST_F(steno_stream, an_online_paraformer_favours_hotwords) {
  const auto train = [&](const std::string& options) {
    return steno::test::shell(dir, std::string("'") + STENO_PROGRAM + "' stream -q --demo paraformer-online " +
                                       options + " '" STENO_SOURCE_DIR "/examples/audio/train.wav'");
  };
  std::ofstream(dir.path() / "phrases.txt") << "vienna\t10\numbrella\n";
  const outcome plain = train(""), led = train("--hotwords phrases.txt --beam 4");
  ASSERT_EQ(led.code, 0) << led.err;
  EXPECT_EQ(plain.out.find("vienna"), std::string::npos) << plain.out;
  EXPECT_NE(led.out.find("vienna"), std::string::npos) << led.out;
  EXPECT_EQ(led.out.find("umbrella"), std::string::npos) << led.out;
}

TEST_F(steno_stream, a_language_model_says_why_it_stopped) {
  const std::string qwen = "-m '" + (steno::test::compact() / "qwen3_asr" / "model.gguf").string() + "' ";
  const outcome o = run(qwen + "--own-stream --format jsonl -");
  ASSERT_EQ(o.code, 0) << o.err;
  const std::vector<json> all = events(o.out);
  ASSERT_GE(all.size(), 3u);
  for (const json& e : all) {
    const std::string why = e.at("stop");
    EXPECT_TRUE(why == "end_of_text" || why == "max_tokens" || why == "repetition") << why;
  }
  EXPECT_FALSE(events(run(model + "--format jsonl -").out).at(0).contains("stop"));
}

TEST_F(steno_stream, what_cannot_be_done_is_said) {
  EXPECT_EQ(run("-").code, 2);  // no model
  EXPECT_EQ(run(model).code, 2);
  EXPECT_EQ(run(model + "--format srt -").code, 2);
  EXPECT_EQ(run(model + "--chunk-size 5000 -").code, 2);
  std::ofstream(dir.path() / "phrases.txt") << "u3u4\nxyz\n";
  const outcome unknown = run(model + "--hotwords phrases.txt -");
  EXPECT_EQ(unknown.code, 1);
  EXPECT_NE(unknown.err.find("xyz"), std::string::npos);
  const std::string sense = "-m '" + (steno::test::compact() / "sensevoice" / "model.gguf").string() + "' ";
  const outcome other = run(sense + "--final-model x.gguf -");
  EXPECT_EQ(other.code, 2);
  EXPECT_NE(other.err.find("sense_voice does not"), std::string::npos) << other.err;
  const outcome chunks = run(sense + "--chunk-size 4 -");
  EXPECT_EQ(chunks.code, 2);
  EXPECT_NE(chunks.err.find("--chunk-size: sense_voice has no use for it while it recognises segments"),
            std::string::npos)
      << chunks.err;
  EXPECT_EQ(run(model + "--vad energy -").code, 2);
  EXPECT_EQ(run(model + "--by-segments --chunk-size 4 -").code, 2);
  EXPECT_EQ(run(model + "--partial-seconds 1 -").code, 2);
}

TEST_F(steno_stream, any_model_recognises_segments_on_the_way) {
  const std::string sense = "-m '" + (steno::test::compact() / "sensevoice" / "model.gguf").string() + "' ";
  for (const std::string& options : {sense, sense + "--vad energy ", model + "--by-segments "}) {
    const outcome o = run(options + "--format jsonl -");
    ASSERT_EQ(o.code, 0) << o.err;
    const std::vector<json> all = events(o.out);
    ASSERT_GT(all.size(), 2u) << options;
    EXPECT_EQ(all.back()["type"], "final");
    const bool told = std::any_of(all.begin(), all.end(), [](const json& e) { return e["type"] == "speech_start"; });
    EXPECT_EQ(told, options.find("--vad") != std::string::npos);
    const outcome less = run(options + "--format jsonl --partial-seconds 0 -");
    EXPECT_EQ(less.out.find("\"partial\""), std::string::npos) << options;
  }
}

// What streams by itself does so, but where its words would come late.
TEST_F(steno_stream, words_come_soon_unless_the_own_stream_is_wanted) {
  const std::filesystem::path examples = std::filesystem::path(STENO_SOURCE_DIR) / "examples";
  const std::string wav = " --format jsonl '" + (examples / "audio" / "train.wav").string() + "'";
  const auto first = [&](const std::string& options) {
    const outcome o = run(options + wav);
    EXPECT_EQ(o.code, 0) << options << o.err;
    return o.code == 0 ? events(o.out).at(0)["heard"].get<double>() : 0;
  };
  for (const std::string name : {"parakeet-tdt", "parakeet-ctc", "qwen3-asr"}) {
    const std::string late = "-m '" + (examples / "models" / (name + ".gguf")).string() + "'";
    const bool windows = name != "qwen3-asr";
    EXPECT_EQ(first(late), 1.0) << name;  // the energy VAD says nothing before
    EXPECT_EQ(run(late + wav).out.substr(0, 60), run(late + " --by-segments" + wav).out.substr(0, 60)) << name;
    EXPECT_GT(first(late + " --own-stream"), windows ? 2.5 : 1.9) << name;
    EXPECT_NEAR(first(late + " --chunk-size 9"), 0.72, 1e-9) << name;  // an option of its own stream alone
  }
  const std::string sense = "-m '" + (steno::test::compact() / "sensevoice" / "model.gguf").string() + "' ";
  const outcome none = run(sense + "--own-stream -");
  EXPECT_EQ(none.code, 2);
  EXPECT_NE(none.err.find("--own-stream: sense_voice does not stream by itself"), std::string::npos) << none.err;
  EXPECT_EQ(run(model + "--own-stream --by-segments -").code, 2);
  EXPECT_EQ(run(model + "--own-stream --final-model x.gguf -").code, 2);
  EXPECT_EQ(run(model + "--own-stream -").out, run(model + "-").out);
}

TEST_F(steno_stream, parakeet_streams_with_caches_turn_by_turn) {
  const std::string turns =
      "-m '" + (steno::test::compact() / "parakeet" / "model.gguf").string() + "' --format jsonl ";
  const outcome o = run(turns + "--vad energy -");
  ASSERT_EQ(o.code, 0) << o.err;
  const std::vector<json> all = events(o.out);
  ASSERT_GT(all.size(), 2u);
  EXPECT_EQ(all.back()["type"], "final");
  const auto count = [&](const char* type) {
    return std::count_if(all.begin(), all.end(), [&](const json& e) { return e["type"] == type; });
  };
  EXPECT_GT(count("partial"), 0);
  EXPECT_GT(count("speech_start"), 0);
  EXPECT_GE(count("speech_start"), count("speech_end"));
  for (const json& e : all)
    if (e["type"] == "partial") {
      EXPECT_EQ(e["text"], e["stable"]);  // labels of a greedy search never change
    }
  EXPECT_EQ(run(turns + "--chunk-size 1 --forget-turns -").code, 0);
  EXPECT_EQ(run(turns + "--chunk-size 0 -").code, 1);
}

}  // namespace steno_stream_test
