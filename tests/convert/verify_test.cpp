// What --verify says of checkpoints: every line of a small one, every kind of fault, and that it agrees with convert().
// SPDX-License-Identifier: Apache-2.0
#include "verify.hpp"

#include <steno/weights/gguf.hpp>
#include <steno/weights/gguf_writer.hpp>

#include <algorithm>

#include "convert/fixtures.hpp"
#include "support/golden.hpp"
#include "support/refusal.hpp"

namespace verify_test {

namespace fs = std::filesystem;

using namespace steno;
using test::fixture;

bool has(const verification& v, const std::string& line) {
  return std::find(v.lines.begin(), v.lines.end(), line) != v.lines.end();
}
std::string text(const verification& v) {
  std::string all;
  for (const std::string& l : v.lines) all.append(l).append("\n");
  return all;
}

TEST(verify, lists_what_would_be_read) {
  const verification v = verify(fixture("sense_voice"), {.type = dtype::q8_0});
  EXPECT_TRUE(v.converts);
  ASSERT_EQ(v.lines.size(), 1u + 48u) << text(v);
  EXPECT_EQ(v.lines[0], fixture("sense_voice").string() +
                            ": would convert: 48 tensors read, 0 ignored, 0 notes; 0.0 M values, 0 MB of tensors");
  EXPECT_TRUE(has(v, "read     \"encoder.encoders.0.feed_forward.w_1.weight\" [32 x 32] f16 -> q8_0")) << text(v);
  EXPECT_TRUE(has(v, "read     \"encoder.encoders.0.self_attn.fsmn_block.weight\" [3 x 32] f16 -> f32")) << text(v);
  EXPECT_TRUE(has(v, "read     \"cmvn.shift\" [12] f32")) << text(v);
  EXPECT_EQ(text(verify(fixture("sense_voice"), {.type = dtype::q8_0})), text(v)) << "the order is stable";
}

// A packaged file with a tensor less, one of another shape and one too many.
TEST(verify, lists_what_is_missing_and_refused) {
  test::temporary_directory d;
  const fs::path whole = d.path() / "whole.gguf", broken = d.path() / "broken.gguf";
  convert(fixture("sense_voice"), whole);
  const gguf_file f(whole.string());
  weights::gguf_writer w;
  for (const weights::gguf_value& v : f.values()) w.copy(v);
  for (std::size_t i = 0; i < f.size(); ++i) {
    const weights::tensor_ref t = f.tensor(i);
    if (t.name == "ctc.ctc_lo.bias") continue;
    std::vector<extent> shape(t.shape.begin(), t.shape.begin() + t.rank);
    if (t.name == "encoder.after_norm.bias") shape = {16, 2};
    w.add(std::string(t.name), t.format, std::span<const extent>(shape),
          [t](std::span<std::byte> out) { std::copy(t.bytes.begin(), t.bytes.end(), out.begin()); });
  }
  w.add("more\n\x1b[31m", dtype::f32, {extent{1}}, [](std::span<std::byte>) {});
  w.write(broken.string());
  const verification v = verify(broken);
  EXPECT_FALSE(v.converts);
  EXPECT_EQ(v.lines.at(0), broken.string() + ": would not convert: 1 missing, 2 refused, 46 read") << text(v);
  EXPECT_EQ(v.lines.at(1), "missing  \"ctc.ctc_lo.bias\"");
  EXPECT_EQ(v.lines.at(2), "refused  \"encoder.after_norm.bias\" is [16 x 2], not [any]");
  EXPECT_NE(v.lines.at(3).find("refused  \"more"), std::string::npos) << v.lines.at(3);
  EXPECT_EQ(v.lines.at(3).find('\n'), std::string::npos) << "a name cannot make lines";
  EXPECT_EQ(v.lines.size(), 4u + 46u);
}

TEST(verify, other_faults_are_one_line) {
  test::temporary_directory d;
  const auto refused = [&](const fs::path& input, const std::string& part, const convert_options& options = {}) {
    const verification v = verify(input, options);
    EXPECT_FALSE(v.converts);
    ASSERT_EQ(v.lines.size(), 2u) << text(v);
    EXPECT_EQ(v.lines[0], input.string() + ": would not convert");
    EXPECT_NE(v.lines[1].find("refused  "), std::string::npos);
    EXPECT_NE(v.lines[1].find(part), std::string::npos) << v.lines[1];
  };
  refused(d.path() / "missing.pt", "No such file");
  refused(d.path(), "not a checkpoint folder");
  test::write_text(d.path() / "cut.gguf", "GGUF\x03");
  refused(d.path() / "cut.gguf", "cut.gguf: ");
  refused(fixture("sense_voice"), "no tensor has such a name", {.exceptions = {{"nothing", dtype::f16}}});
  refused(fixture("sense_voice"), "--longest-clip", {.longest_clip = 10});
}

TEST(verify, reads_and_writes_nothing_else) {
  test::temporary_directory d;
  fs::copy(fixture("sense_voice"), d.path() / "folder");
  (void)verify(d.path() / "folder");
  std::size_t files = 0;
  for (const fs::directory_entry& e : fs::recursive_directory_iterator(d.path()))
    files += e.is_regular_file() ? 1u : 0u;
  std::size_t before = 0;
  for (const fs::directory_entry& e : fs::recursive_directory_iterator(fixture("sense_voice")))
    before += e.is_regular_file() ? 1u : 0u;
  EXPECT_EQ(files, before);
}

// A file cut off anywhere: never a crash, and never a success that convert() has not.
TEST(verify, cut_files) {
  test::temporary_directory d;
  fs::copy(fixture("sense_voice"), d.path() / "folder");
  const std::string whole = test::read_text(fixture("sense_voice") / "model.pt");
  for (std::size_t size = 0; size < whole.size(); size += whole.size() / 61 + 1) {
    test::write_text(d.path() / "folder/model.pt", whole.substr(0, size));
    EXPECT_FALSE(verify(d.path() / "folder").converts) << size;
  }
}

TEST(verify, ignored_tensors_have_reasons) {
  STENO_REQUIRE_SHARED(shared);
  const verification v = verify(shared / "golden/nemo/sortformer-v1/checkpoint/model.nemo");
  EXPECT_TRUE(v.converts);
  EXPECT_TRUE(has(v, "ignored  \"encoder.layers.0.conv.batch_norm.num_batches_tracked\": a counter of training"));
  EXPECT_TRUE(has(v, "ignored  \"sortformer_modules.hidden_to_spks.bias\": no forward pass reads it"));
}

// Every checkpoint of the golden data, whatever it is and whether steno can read it.
TEST(verify, agrees_with_convert) {
  STENO_REQUIRE_SHARED(shared);
  test::temporary_directory d;
  std::size_t good = 0;
  for (const fs::directory_entry& family : fs::directory_iterator(shared / "golden")) {
    if (!family.is_directory()) continue;
    for (const fs::directory_entry& c : fs::directory_iterator(family.path())) {
      fs::path input = c.path() / "checkpoint";
      if (!fs::exists(input)) continue;
      for (const char* inside : {"model.nemo", "hf", "ggml/ggml-model.bin"})
        if (fs::exists(input / inside)) input /= inside;
      const std::string fault = test::refusal([&] { convert(input, d.path() / "out.gguf"); });
      const verification v = verify(input);
      EXPECT_EQ(v.converts, fault.empty()) << input << ": " << fault << "\n" << v.lines.at(0);
      good += v.converts ? 1u : 0u;
    }
  }
  EXPECT_GT(good, 15u);
}

}  // namespace verify_test
