// FunASR's own GGUF files, made here with the layout and the mistakes of its exporter (runtime/llama.cpp of FunASR).
// SPDX-License-Identifier: Apache-2.0
#include <steno/models/sense_voice.hpp>
#include <steno/weights/blocks.hpp>
#include <steno/weights/gguf_writer.hpp>

#include "convert.hpp"
#include "convert/fixtures.hpp"
#include "model_tensors.hpp"
#include "support/golden.hpp"

namespace gguf_import_test {

using steno::dtype;
using steno::extent;
using steno::gguf_file;
using steno::test::error_of;

const std::vector<std::string> pieces = {"<unk>",
                                         "<s>",
                                         "</s>",
                                         "<|zh|>",
                                         "\xE2\x96\x81"
                                         "a",
                                         "b"};

float value_at(std::size_t i) { return static_cast<float>(static_cast<int>(i * 37 % 257) - 128) / 64; }

// `matrices` is what --wtype of the exporter says; `change` may spoil the file before it is written.
template <class Change>
void write_published(const std::filesystem::path& path, dtype matrices, Change&& change,
                     const std::vector<std::int32_t>& query = {0, 1, 2, 14}) {
  steno::weights::gguf_writer w;
  w.set("general.architecture", "sensevoice-small");
  w.set("sv.input_size", std::uint32_t{560});
  w.set("sv.output_size", std::uint32_t{32});
  w.set("sv.attention_heads", std::uint32_t{2});
  w.set("sv.num_blocks", std::uint32_t{2});
  w.set("sv.tp_blocks", std::uint32_t{1});
  w.set("sv.kernel_size", std::uint32_t{3});
  w.set("sv.vocab_size", static_cast<std::uint32_t>(pieces.size()));
  w.set("sv.blank_id", std::uint32_t{0});
  w.set("sv.query_tokens", query);
  change(w);
  const auto add = [&](const std::string& name, std::vector<extent> shape, dtype format) {
    w.add(name, format, std::span<const extent>(shape), [format, shape](std::span<std::byte> out) {
      std::size_t count = 1;
      for (const extent n : shape) count *= static_cast<std::size_t>(n);
      std::vector<float> values(count);
      for (std::size_t i = 0; i < count; ++i) values[i] = value_at(i);
      steno::weights::quantise(format, values.data(), out.data(), count);
    });
  };
  steno::funasr::sense_voice<steno::funasr::sense_voice_sizes{
      .encoder = {.features = 560, .width = 32, .heads = 2, .units = 32, .taps = 3, .blocks = 1, .tp_blocks = 1},
      .vocabulary = 6}>
      sizes;
  for (const steno::expected_tensor& e : steno::expected_tensors(sizes)) {
    if (e.optional) continue;
    // f16 files hold embed.weight in f16 too; q8 files leave it, and rows that are not whole blocks, in f32.
    const bool small =
        matrices == dtype::f16 ? (e.product || e.name == "embed.weight") : e.product && e.kept[1] % 32 == 0;
    add(e.name, e.kept, small ? matrices : dtype::f32);
  }
  add("cmvn.shift", {1}, dtype::f32);    // the block [ 0 ] of Splice
  add("cmvn.scale", {560}, dtype::f32);  // in truth the shifts
  w.write(path.string());
}
// Keys and tensors of two files, in any order.
void expect_same(const gguf_file& a, const gguf_file& b) {
  EXPECT_EQ(a.keys(), b.keys());
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < b.size(); ++i) {
    const steno::weights::tensor_ref want = b.tensor(i);
    const auto got = a.find(want.name);
    ASSERT_TRUE(got) << want.name;
    EXPECT_EQ(got->format, want.format) << want.name;
    EXPECT_EQ(got->shape, want.shape) << want.name;
    EXPECT_TRUE(std::ranges::equal(got->bytes, want.bytes)) << want.name;
  }
}
void with_vocabulary(steno::weights::gguf_writer& w) { w.set("sv.vocab", pieces); }

class published_gguf : public testing::Test {
 protected:
  steno::test::temporary_directory directory_;
  std::filesystem::path input_ = directory_.path() / "sensevoice-small.gguf", output_ = directory_.path() / "out.gguf";
};

TEST_F(published_gguf, becomes_a_packaged_file) {
  for (const dtype matrices : {dtype::f32, dtype::f16, dtype::q8_0}) {
    write_published(input_, matrices, with_vocabulary);
    const std::vector<std::string> notes = steno::convert(input_, output_);
    ASSERT_EQ(notes.size(), 1u);
    EXPECT_NE(notes[0].find("no usable feature normalisation"), std::string::npos);
    const gguf_file f(output_.string());
    EXPECT_EQ(f.text("general.architecture"), "sense_voice");
    EXPECT_EQ(f.number("sense_voice.encoder.linear_units"), 32);
    EXPECT_EQ(f.number("sense_voice.encoder.num_blocks"), 2);
    EXPECT_EQ(f.number("sense_voice.frontend.lfr_m"), 7);
    EXPECT_EQ(f.number("sense_voice.frontend.lfr_n"), 6);
    EXPECT_EQ(f.text("sense_voice.language"), "auto");
    EXPECT_EQ(f.number("sense_voice.use_itn"), 1) << "row 14 of the file's own query";
    EXPECT_EQ(f.strings("tokenizer.ggml.tokens"), pieces);
    EXPECT_FALSE(f.has("tokenizer.ggml.scores"));
    EXPECT_EQ(f.value("tokenizer.ggml.token_type")->array_of<std::int32_t>(),
              (std::vector<std::int32_t>{2, 3, 3, 1, 1, 1}));
    for (const std::string_view key : f.keys()) EXPECT_FALSE(key.starts_with("sv.")) << key;
    EXPECT_FALSE(f.find("cmvn.shift"));
    EXPECT_FALSE(f.find("cmvn.scale"));
    const auto embed = f.find("embed.weight");
    ASSERT_TRUE(embed);
    EXPECT_EQ(embed->format, dtype::f32);
    EXPECT_EQ(steno::weights::values_of(*embed, "").at(100), value_at(100));  // exact in f16
    EXPECT_EQ(f.find("encoder.encoders.0.feed_forward.w_1.weight")->format, matrices);
    const auto memory = f.find("encoder.encoders0.0.self_attn.fsmn_block.weight");
    EXPECT_EQ(memory->shape[0], 3);
    EXPECT_EQ(memory->shape[1], 32);
    EXPECT_EQ(steno::weights::values_of(*memory, "").at(40), value_at(40));

    const steno::opened_checkpoint opened = steno::open_checkpoint(input_);
    expect_same(opened.file, f);
    EXPECT_LT(opened.file.bytes().size(), f.bytes().size() / 4) << "what needs no change stays in the file";
    EXPECT_EQ(opened.notes.size(), 1u);
    const auto copied = steno::open_checkpoint(input_, steno::weights::file_reading::copied);
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(copied.file.bytes().data()), copied.file.bytes().size()),
              steno::test::read_text(output_));
  }
}

TEST_F(published_gguf, am_mvn_can_be_given) {
  write_published(input_, dtype::f32, with_vocabulary);
  std::string values;
  for (int i = 0; i < 560; ++i) values.append(" ").append(std::to_string(i));
  const auto mvn = directory_.path() / "am.mvn";
  steno::test::write_text(mvn, "<AddShift> 560 560 [" + values + " ] <Rescale> 560 560 [" + values + " ]");
  EXPECT_TRUE(steno::convert(input_, output_, {.cmvn = mvn}).empty());
  const gguf_file f(output_.string());
  EXPECT_EQ(steno::weights::values_of(*f.find("cmvn.shift"), "").at(559), 559.0f);
  EXPECT_EQ(steno::weights::values_of(*f.find("cmvn.scale"), "").at(1), 1.0f);
}

TEST_F(published_gguf, what_cannot_be_used_is_refused) {
  write_published(input_, dtype::f32, [](steno::weights::gguf_writer&) {});
  EXPECT_NE(error_of([&] { steno::convert(input_, output_); }).find("holds no vocabulary"), std::string::npos);
  write_published(input_, dtype::f32, [](steno::weights::gguf_writer& w) {
    w.set("sv.vocab", std::vector<std::string>{"<unk>", "a"});
  });
  EXPECT_NE(error_of([&] { steno::convert(input_, output_); }).find("\"ctc.ctc_lo.weight\" is [6 x 32], not [2 x 32]"),
            std::string::npos);
  steno::weights::gguf_writer other;
  other.set("general.architecture", "another");
  other.write(input_.string());
  EXPECT_NE(
      error_of([&] { steno::open_checkpoint(input_); }).find("GGUF architecture \"another\" is not supported yet"),
      std::string::npos);
  steno::weights::gguf_writer bare;
  bare.set("general.architecture", "sensevoice-small");
  bare.write(input_.string());
  EXPECT_NE(error_of([&] { steno::open_checkpoint(input_); }).find("key \"sv.attention_heads\": expected a number"),
            std::string::npos);
}

TEST_F(published_gguf, an_unknown_key_is_never_silent) {
  write_published(input_, dtype::f32, [](steno::weights::gguf_writer& w) {
    with_vocabulary(w);
    w.set("sv.norm_eps", 1e-5f);
  });
  EXPECT_NE(error_of([&] {
              steno::convert(input_, output_);
            }).find("\"sv.norm_eps\" is a setting that steno does not know: found \"1e-05\""),
            std::string::npos);
  write_published(input_, dtype::f32, [](steno::weights::gguf_writer& w) {
    with_vocabulary(w);
    w.set("audio.cpp.flavour", std::uint32_t{1});
    w.set("general.quantization_version", std::uint32_t{2});
  });
  const std::vector<std::string> notes = steno::convert(input_, output_);
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_NE(notes[0].find("not read, and not known: \"audio.cpp.flavour\""), std::string::npos) << notes[0];
}

TEST_F(published_gguf, the_query_of_a_file) {
  const auto with_query = [&](const std::vector<std::int32_t>& rows) {
    write_published(input_, dtype::f32, with_vocabulary, rows);
  };
  with_query({3, 1, 2, 15});
  steno::convert(input_, output_);
  EXPECT_EQ(gguf_file(output_.string()).text("sense_voice.language"), "zh");
  EXPECT_EQ(gguf_file(output_.string()).number("sense_voice.use_itn"), 0);
  for (const std::vector<std::int32_t>& wrong : std::vector<std::vector<std::int32_t>>{
           {0, 1, 2}, {0, 1, 2, 14, 0}, {5, 1, 2, 14}, {0, 2, 1, 14}, {0, 1, 2, 13}, {-1, 1, 2, 14}}) {
    with_query(wrong);
    EXPECT_NE(error_of([&] { steno::convert(input_, output_); }).find("key \"sv.query_tokens\": expected"),
              std::string::npos);
  }
}

}  // namespace gguf_import_test
