// steno transcribe --align: times of words from a forced aligner; steno align beside it.
// SPDX-License-Identifier: Apache-2.0
#include "programs/run_program.hpp"
#include "support/random.hpp"

#include <nlohmann/json.hpp>

namespace steno_align_test {

using nlohmann::json;
using steno::test::outcome;

class steno_align : public testing::Test {
 protected:
  steno_align() {
    steno::test::random_numbers random(3);
    std::vector<std::int16_t> pcm(16000 * 6);
    for (std::size_t i = 0; i < pcm.size(); ++i) pcm[i] = static_cast<std::int16_t>(random.uniform(-9000, 9000));
    std::ofstream(dir.path() / "noise.raw", std::ios::binary)
        .write(reinterpret_cast<const char*>(pcm.data()), static_cast<std::streamsize>(pcm.size() * 2));
  }
  static std::string model(const std::string& family) {
    return std::string("'").append((steno::test::compact() / family / "model.gguf").string()).append("'");
  }
  outcome transcribe(const std::string& family, const std::string& arguments) {
    return steno::test::shell(dir, std::string("'" STENO_PROGRAM "' transcribe -q -m ")
                                       .append(model(family))
                                       .append(" --format json ")
                                       .append(arguments)
                                       .append(" - < noise.raw"));
  }
  steno::test::temporary_directory dir;
};

// Paraformer's online form gives no times of its own here; the text stays what it was.
TEST_F(steno_align, words_get_times_where_there_are_none) {
  const outcome plain = transcribe("paraformer_online", ""),
                aligned = transcribe("paraformer_online", "--align " + model("qwen3_aligner"));
  ASSERT_EQ(plain.code, 0) << plain.err;
  ASSERT_EQ(aligned.code, 0) << aligned.err;
  const json a = json::parse(plain.out), b = json::parse(aligned.out);
  EXPECT_EQ(a["text"], b["text"]);
  std::size_t words = 0;
  for (const json& s : b["segments"]) {
    double last = 0;
    for (const json& w : s["words"]) {
      EXPECT_EQ(w["timing"], "aligned");
      EXPECT_GE(w["start"].get<double>(), last);
      EXPECT_GE(w["end"].get<double>(), w["start"].get<double>());
      last = w["start"].get<double>();
      ++words;
    }
  }
  EXPECT_GT(words, 0u);
}

TEST_F(steno_align, native_times_stay) {
  const outcome plain = transcribe("sensevoice", ""),
                aligned = transcribe("sensevoice", "--align " + model("qwen3_aligner"));
  ASSERT_EQ(aligned.code, 0) << aligned.err;
  EXPECT_EQ(plain.out, aligned.out);
}

TEST_F(steno_align, other_models_are_refused) {
  const outcome o = transcribe("sensevoice", "--align " + model("paraformer"));
  EXPECT_EQ(o.code, 1);
  EXPECT_EQ(o.out, "");
  EXPECT_NE(o.err.find("qwen3_forced_aligner"), std::string::npos) << o.err;
}

TEST_F(steno_align, a_known_text_is_aligned) {
  std::ofstream(dir.path() / "said.txt") << "it is said";
  const outcome o = steno::test::shell(dir, "'" STENO_PROGRAM "' align -q -m " + model("qwen3_aligner") +
                                                " --text said.txt --format json - < noise.raw");
  ASSERT_EQ(o.code, 0) << o.err;
  const json r = json::parse(o.out);
  ASSERT_EQ(r["segments"][0]["words"].size(), 3u);
  EXPECT_EQ(r["segments"][0]["words"][2]["word"], "said");
}

}  // namespace steno_align_test
