// From a FunASR folder to a packaged file: keys, every value, number formats, and opening without a file.
// SPDX-License-Identifier: Apache-2.0
#include "convert.hpp"

#include <steno/weights/blocks.hpp>
#include <steno/weights/gguf_writer.hpp>

#include <cmath>
#include <cstring>

#include "convert/fixtures.hpp"
#include "convert/mapped_and_copied.hpp"
#include "support/golden.hpp"
#include "torch/checkpoint.hpp"

namespace convert_test {

using steno::dtype;
using steno::extent;
using steno::gguf_file;
using steno::test::fixture;

// Element i of a tensor of fixtures/sense_voice, in the checkpoint's order (make_fixtures.py).
float sense_voice_value(std::string_view name, std::size_t i) {
  std::size_t offset = 0;
  for (const char c : name) offset += static_cast<unsigned char>(c);
  return static_cast<float>(static_cast<int>((offset % 251 + i) * 37 % 257) - 128) / 64;
}

std::vector<float> values_of(const gguf_file& file, std::string_view name) {
  const auto t = file.find(name);
  EXPECT_TRUE(t) << name;
  return t ? steno::weights::values_of(*t, file.where()) : std::vector<float>();
}

std::vector<extent> shape_of(const steno::weights::tensor_ref& t) {
  return {t.shape.begin(), t.shape.begin() + t.rank};
}

class convert_folder : public testing::Test {
 protected:
  // Converts and opens; the file's name tells the type.
  gguf_file packed(const std::filesystem::path& input, const char* type = nullptr) {
    steno::convert_options options;
    if (type != nullptr) options.type = steno::core::find_dtype(type)->type;
    const std::string name = type != nullptr ? type : "stored";
    const auto output = directory_.path() / steno::test::new_name(name + ".gguf");
    EXPECT_TRUE(steno::convert(input, output, options).empty());
    return gguf_file(output.string());
  }
  steno::test::temporary_directory directory_;
};

TEST_F(convert_folder, keys) {
  const gguf_file f = packed(fixture("sense_voice"));
  EXPECT_EQ(f.text("general.architecture"), "sense_voice");
  EXPECT_EQ(f.text("general.name"), "SenseVoiceSmall");
  EXPECT_EQ(f.number("general.file_type"), 1) << "mostly f16";
  EXPECT_TRUE(f.text("steno.version"));
  const std::pair<const char*, int> numbers[] = {{"encoder.attention_heads", 2},
                                                 {"encoder.kernel_size", 3},
                                                 {"encoder.num_blocks", 2},
                                                 {"encoder.tp_blocks", 1},
                                                 {"encoder.output_size", 32},
                                                 {"encoder.linear_units", 32},
                                                 {"frontend.sample_rate", 16000},
                                                 {"frontend.n_mels", 4},
                                                 {"frontend.frame_length", 25},
                                                 {"frontend.frame_shift", 10},
                                                 {"frontend.lfr_m", 3},
                                                 {"frontend.lfr_n", 2},
                                                 {"blank_id", 0}};
  for (const auto& [key, value] : numbers) EXPECT_EQ(f.number(std::string("sense_voice.") + key), value) << key;
  EXPECT_EQ(f.text("sense_voice.frontend.window"), "hamming");
  EXPECT_EQ(f.text("tokenizer.ggml.model"), "sentencepiece");
  EXPECT_EQ(f.strings("tokenizer.ggml.tokens"), (std::vector<std::string>{"<unk>", "<s>", "</s>", "<|zh|>", "<|en|>",
                                                                          "\xE2\x96\x81"
                                                                          "a",
                                                                          "b", "\xE2\x96\x81", "\xE4\xBD\xA0"}));
  EXPECT_EQ(f.value("tokenizer.ggml.scores")->array_of<float>(),
            (std::vector<float>{0, -1, -2, -3, -4, -5, -6, -7, -8}));
  EXPECT_EQ(f.value("tokenizer.ggml.token_type")->array_of<std::int32_t>(),
            (std::vector<std::int32_t>{2, 3, 3, 1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(f.value("tokenizer.ggml.add_space_prefix")->get<bool>(), false);
  EXPECT_EQ(f.value("tokenizer.ggml.remove_extra_whitespaces")->get<bool>(), true);
  EXPECT_EQ(f.text("tokenizer.ggml.unk_surface"), " \xE2\x81\x87 ");
}

TEST_F(convert_folder, every_value_as_torch_has_it) {
  for (const char* type : {"f32", "f16", static_cast<const char*>(nullptr)}) {  // the fixture's values are exact in f16
    const gguf_file f = packed(fixture("sense_voice"), type);
    EXPECT_EQ(f.size(), 3u * 13u + 4u + 3u + 2u);
    for (std::size_t i = 0; i < f.size(); ++i) {
      const steno::weights::tensor_ref t = f.tensor(i);
      if (t.name.starts_with("cmvn.")) continue;
      const std::vector<float> got = steno::weights::values_of(t, "");
      const bool memory = t.name.ends_with("fsmn_block.weight");
      if (memory) {
        ASSERT_EQ(shape_of(t), (std::vector<extent>{3, 32}));
      }
      for (std::size_t k = 0; k < got.size(); ++k)
        ASSERT_EQ(got[k], sense_voice_value(t.name, memory ? k % 32 * 3 + k / 32 : k)) << t.name << " " << k;
    }
    for (std::size_t k = 0; k < 12; ++k) {
      EXPECT_EQ(values_of(f, "cmvn.shift").at(k), (static_cast<float>(k) - 20) / 8);
      EXPECT_EQ(values_of(f, "cmvn.scale").at(k), (static_cast<float>(k) + 1) / 8);
    }
  }
}

TEST_F(convert_folder, number_formats) {
  const gguf_file exact = packed(fixture("sense_voice"), "f32");
  for (const char* type :
       {"f32", "f16", "bf16", "q8_0", "q5_1", "q5_0", "q4_1", "q4_0", "q4_k", "q5_k", "q6_k", "q8_128", "bf16_a16"}) {
    SCOPED_TRACE(type);
    const dtype wanted = steno::core::find_dtype(type)->type;
    const gguf_file f = packed(fixture("sense_voice"), type);
    EXPECT_EQ(f.number("general.file_type"), wanted == dtype::f32    ? 0
                                             : wanted == dtype::f16  ? 1
                                             : wanted == dtype::q4_0 ? 2
                                             : wanted == dtype::q8_0 ? 7
                                             : wanted == dtype::q5_0 ? 8
                                             : wanted == dtype::q4_1 ? 3
                                             : wanted == dtype::q5_1 ? 9
                                             : wanted == dtype::q4_k ? 15
                                             : wanted == dtype::q5_k ? 17
                                             : wanted == dtype::q6_k ? 18
                                             : wanted == dtype::bf16 ? 32
                                                                     : static_cast<int>(wanted));
    ASSERT_EQ(f.size(), exact.size());
    for (std::size_t i = 0; i < f.size(); ++i) {
      const steno::weights::tensor_ref t = f.tensor(i);
      const std::string name(t.name);
      const bool product =
          t.rank == 2 && name.ends_with(".weight") && name != "embed.weight" && name.find("fsmn") == std::string::npos;
      const bool rows_fit = t.shape[1] % 32 == 0;  // the first layer reads 12 features
      // Rows here are of 32 to 96 values: q4_k becomes q5_0, q5_k q5_1, q6_k and q8_128 q8_0.
      const dtype blocks = wanted == dtype::q4_k                              ? dtype::q5_0
                           : wanted == dtype::q5_k                            ? dtype::q5_1
                           : wanted == dtype::q6_k || wanted == dtype::q8_128 ? dtype::q8_0
                                                                              : wanted;
      const dtype expected = !product                                              ? dtype::f32
                             : steno::core::info(wanted).elements > 1 && !rows_fit ? dtype::f16
                                                                                   : blocks;
      EXPECT_EQ(t.format, expected) << name;
      // bf16 keeps 8 bits: half a unit in the last place is 2^-9 of the value. q8_0 rounds to steps of 1/127 of a
      // block's largest value (at most 2 here) and stores that step in f16 (2^-11): half a step and 127 times the
      // step's error. q5_0 and q4_0 have steps of 1/16 and 1/8 of it, and none above 15/16 and 7/8: a whole step off.
      // q5_1 and q4_1 divide what lies between the least and the largest (at most 4) by 31 and 15; both in f16.
      const float largest = 2, step = largest / 127;
      const float bound = expected == dtype::bf16 || expected == dtype::bf16_a16 ? largest / 512
                          : expected == dtype::q8_0                              ? step / 2 + largest / 2048
                          : expected == dtype::q5_0                              ? largest / 16 + largest / 2048
                          : expected == dtype::q4_0                              ? largest / 8 + largest / 2048
                          : expected == dtype::q5_1                              ? largest / 31 + largest / 512
                          : expected == dtype::q4_1                              ? largest / 15 + largest / 512
                                                                                 : 0;
      const std::vector<float> got = steno::weights::values_of(t, ""), want = values_of(exact, name);
      ASSERT_EQ(got.size(), want.size());
      for (std::size_t k = 0; k < got.size(); ++k) ASSERT_LE(std::fabs(got[k] - want[k]), bound) << name << " " << k;
    }
  }
}

std::string bytes_of_file(const gguf_file& f) { return steno::test::read_text(f.where()); }

TEST_F(convert_folder, a_packaged_file_can_change_its_format) {
  const gguf_file q8 = packed(fixture("sense_voice"), "q8_0");
  const auto again = directory_.path() / "again.gguf";
  steno::convert(q8.where(), again, {});
  EXPECT_EQ(steno::test::read_text(again), bytes_of_file(q8)) << "without --type nothing changes";
  steno::convert(q8.where(), again, {.type = dtype::q8_0});
  EXPECT_EQ(steno::test::read_text(again), bytes_of_file(q8)) << "blocks are copied, not quantised twice";

  steno::convert(q8.where(), again, {.type = dtype::f16});
  const gguf_file f16(again.string());
  EXPECT_EQ(f16.number("general.file_type"), 1);
  EXPECT_EQ(f16.keys(), q8.keys());
  for (std::size_t i = 0; i < q8.size(); ++i) {
    const steno::weights::tensor_ref from = q8.tensor(i), to = f16.tensor(i);
    EXPECT_EQ(from.name, to.name);
    EXPECT_EQ(to.format, from.format == dtype::q8_0 ? dtype::f16 : from.format);
    std::vector<float> want = steno::weights::values_of(from, "");
    std::vector<std::byte> rounded(want.size() * 2);
    if (to.format == dtype::f16) {
      steno::weights::quantise(dtype::f16, want.data(), rounded.data(), want.size());
      steno::weights::dequantise(dtype::f16, rounded.data(), want.data(), want.size());
    }
    EXPECT_EQ(steno::weights::values_of(to, ""), want) << from.name;
  }
}

TEST_F(convert_folder, the_input_may_be_any_file_of_the_folder) {
  const std::string whole = bytes_of_file(packed(fixture("sense_voice")));
  for (const char* name : {"model.pt", "config.yaml", "configuration.json"}) {
    const auto output = directory_.path() / "one.gguf";
    steno::convert(fixture("sense_voice") / name, output);
    EXPECT_EQ(steno::test::read_text(output), whole) << name;
  }
}

TEST_F(convert_folder, opening_needs_no_file) {
  const gguf_file f = packed(fixture("sense_voice"));
  for (const auto& input : {fixture("sense_voice"), fixture("sense_voice") / "model.pt"}) {
    const steno::opened_checkpoint c = steno::open_checkpoint(input);  // compressed: nothing can stay in it
    EXPECT_TRUE(std::ranges::equal(c.file.bytes(), f.bytes()));
    EXPECT_TRUE(c.file.copied());
    EXPECT_EQ(c.file.where(), input.string());
    EXPECT_EQ(values_of(c.file, "ctc.ctc_lo.bias"), values_of(f, "ctc.ctc_lo.bias"));
  }
  const steno::opened_checkpoint mapped = steno::open_checkpoint(f.where());
  EXPECT_FALSE(mapped.file.copied()) << "a packaged file is mapped, not copied";
  EXPECT_EQ(mapped.file.size(), f.size());
}

// torch.save compresses nothing.
TEST(convert_torch, tensors_stay_in_the_file) {
  const auto sizes = steno::test::compact() / "other_sizes";
  for (const char* name :
       {"ct_punc", "fsmn_vad", "fun_asr_nano", "paraformer", "paraformer_online", "sense_voice", "u2"})
    steno::test::expect_mapped_like_copied(sizes / name / "checkpoint");
}

TEST_F(convert_folder, another_cmvn) {
  const auto mvn = directory_.path() / "other.mvn";
  std::string values;
  for (int i = 0; i < 12; ++i) values.append(" ").append(std::to_string(i)).append(".5");
  steno::test::write_text(mvn, "<Nnet> <AddShift> 12 12 [" + values + " ] <Rescale> 12 12 [" + values + " ] </Nnet>");
  const auto output = directory_.path() / "cmvn.gguf", again = directory_.path() / "again.gguf";
  steno::convert(fixture("sense_voice"), output, {.cmvn = mvn});
  EXPECT_EQ(values_of(gguf_file(output.string()), "cmvn.shift").at(3), 3.5f);
  steno::convert(packed(fixture("sense_voice")).where(), again, {.cmvn = mvn});
  EXPECT_EQ(steno::test::read_text(again), steno::test::read_text(output)) << "on a packaged file";
  steno::test::write_text(mvn, "<AddShift> 2 2 [ 1 1 ] <Rescale> 2 2 [ 1 1 ]");
  EXPECT_NE(steno::test::error_of([&] {
              steno::convert(fixture("sense_voice"), output, {.cmvn = mvn});
            }).find("length of the vectors: expected 12 as the model's input, found 2"),
            std::string::npos);
}

// Values that cannot be packed are named by file and tensor.
TEST_F(convert_folder, values_that_spoil_a_model_are_named) {
  const auto input = directory_.path() / "spoilt.gguf", output = directory_.path() / "x.gguf";
  const std::string matrix = "encoder.encoders0.0.feed_forward.w_1.weight";
  const auto said = [&](float in_matrix, float in_cmvn) {
    const gguf_file good = packed(fixture("sense_voice"));
    steno::weights::gguf_writer w;
    for (const steno::weights::gguf_value& v : good.values()) w.copy(v);
    for (std::size_t i = 0; i < good.size(); ++i) {
      const steno::weights::tensor_ref t = good.tensor(i);
      std::vector<float> values = steno::weights::values_of(t, good.where());
      if (t.name == matrix) values[5] = in_matrix;
      if (t.name == "cmvn.shift") values[2] = in_cmvn;
      w.add(t.name, dtype::f32, std::span<const extent>(t.shape.data(), static_cast<std::size_t>(t.rank)),
            [values](std::span<std::byte> out) { std::memcpy(out.data(), values.data(), out.size()); });
    }
    w.write(input.string());
    return steno::test::error_of([&] { steno::convert(input, output, {.type = dtype::q8_0}); });
  };
  const std::string where = input.string() + ": tensor \"";
  EXPECT_TRUE(said(3e38f, 0).starts_with(where + matrix + "\": a value cannot be stored as q8_0")) << said(3e38f, 0);
  EXPECT_TRUE(said(std::nanf(""), 0).starts_with(where + matrix + "\" holds a value that q8_0 cannot hold"));
  EXPECT_EQ(said(1, INFINITY), where + "cmvn.shift\": element 2: expected a finite number, found inf");
  EXPECT_FALSE(std::filesystem::exists(output));
}

TEST_F(convert_folder, progress_counts_all_bytes) {
  std::vector<std::uint64_t> seen;
  std::uint64_t last_total = 0;
  const auto output = directory_.path() / "x.gguf";
  steno::convert(fixture("sense_voice"), output, {.progress = [&](std::uint64_t done, std::uint64_t total) {
                   seen.push_back(done);
                   last_total = total;
                 }});
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  EXPECT_EQ(seen.back(), last_total);
  EXPECT_EQ(last_total, std::filesystem::file_size(output));
}

TEST_F(convert_folder, golden_checkpoint) {
  STENO_REQUIRE_SHARED(shared);
  const auto folder = shared / "golden" / "funasr" / "sensevoice" / "checkpoint";
  const gguf_file f = packed(folder);
  steno::torch::checkpoint c(folder / "model.pt");
  EXPECT_EQ(f.size(), c.tensors().size() + 2);
  for (const auto& e : c.tensors()) {
    const auto t = f.find(e.name);
    ASSERT_TRUE(t) << e.name;
    EXPECT_EQ(t->format, dtype::f32);
    std::vector<float> want(e.count);
    c.read(e, want);
    if (e.shape.size() == 3) {
      std::vector<float> turned(want.size());
      for (std::size_t d = 0; d < e.shape[0]; ++d)
        for (std::size_t k = 0; k < e.shape[2]; ++k) turned[k * e.shape[0] + d] = want[d * e.shape[2] + k];
      want = turned;
    }
    EXPECT_EQ(steno::weights::values_of(*t, ""), want) << e.name;
  }
  EXPECT_EQ(f.number("sense_voice.encoder.num_blocks"), 3);
  EXPECT_EQ(f.number("sense_voice.frontend.lfr_m"), 7);
  EXPECT_EQ(values_of(f, "cmvn.shift").size(), 560u);
  EXPECT_NEAR(values_of(f, "cmvn.scale").at(0), 0.2875766158103943, 1e-8) << "as printed in am.mvn, rounded to f32";
}

}  // namespace convert_test
