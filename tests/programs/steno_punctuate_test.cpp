// --punctuate of steno transcribe and steno stream: marks in the text of any model, by either form of punctuation
// model, and what is none.
// SPDX-License-Identifier: Apache-2.0
#include "programs/run_program.hpp"
#include "support/random.hpp"

namespace steno_punctuate_test {

using steno::test::outcome;

class steno_punctuate : public testing::Test {
 protected:
  steno_punctuate() {
    steno::test::random_numbers random(3);
    std::vector<std::int16_t> pcm(16000 * 6);
    for (std::size_t i = 0; i < pcm.size(); ++i) pcm[i] = static_cast<std::int16_t>(random.uniform(-9000, 9000));
    std::ofstream(dir.path() / "noise.raw", std::ios::binary)
        .write(reinterpret_cast<const char*>(pcm.data()), static_cast<std::streamsize>(pcm.size() * 2));
  }
  outcome run(const std::string& arguments, const std::string& verb = "transcribe") {
    const std::string model = (steno::test::compact() / "paraformer_online" / "model.gguf").string();
    return steno::test::shell(dir,
                              "'" STENO_PROGRAM "' " + verb + " -q -m '" + model + "' " + arguments + " - < noise.raw");
  }
  static std::string without_marks(std::string text) {
    for (const std::string mark : {"\uff0c", "\u3002", "\uff1f", "\u3001"})
      for (std::size_t at; (at = text.find(mark)) != std::string::npos;) text.erase(at, mark.size());
    return text;
  }
  static std::string model(const std::string& family) {
    return std::string("'").append((steno::test::compact() / family / "model.gguf").string()).append("'");
  }
  steno::test::temporary_directory dir;
};

TEST_F(steno_punctuate, marks_are_added_and_words_stay) {
  const outcome plain = run(""), marked = run("--punctuate " + model("ct_punc"));
  ASSERT_EQ(plain.code, 0) << plain.err;
  ASSERT_EQ(marked.code, 0) << marked.err;
  ASSERT_GT(plain.out.size(), 10u);
  EXPECT_EQ(without_marks(marked.out), plain.out);
  EXPECT_NE(marked.out, plain.out);
  EXPECT_TRUE(marked.out.ends_with("\u3002\n") || marked.out.ends_with("\uff1f\n")) << marked.out;
}

TEST_F(steno_punctuate, the_form_for_streams_marks_recordings_and_streams) {
  for (const std::string verb : {"transcribe", "stream"}) {
    const outcome plain = run("", verb), marked = run("--punctuate " + model("ct_punc_realtime"), verb);
    ASSERT_EQ(plain.code, 0) << plain.err;
    ASSERT_EQ(marked.code, 0) << marked.err;
    ASSERT_GT(plain.out.size(), 10u);
    EXPECT_EQ(without_marks(marked.out), plain.out) << verb;  // which marks: tests/pipelines/punctuate_test.cpp
  }
  EXPECT_EQ(run("--punctuate " + model("paraformer"), "stream").code, 1);
}

TEST_F(steno_punctuate, other_models_are_refused) {
  const outcome o = run("--punctuate " + model("paraformer"));
  EXPECT_EQ(o.code, 1);
  EXPECT_EQ(o.out, "");
  EXPECT_NE(o.err.find("ct_transformer"), std::string::npos) << o.err;
}

}  // namespace steno_punctuate_test
