// WeNet folders: what is read, what is refused, and the tensors of the published sizes.
// SPDX-License-Identifier: Apache-2.0
#include "convert.hpp"
#include "convert/published.hpp"
#include "support/golden.hpp"
#include "support/refusal.hpp"
#include "wenet/folder.hpp"
#include "wenet/u2.hpp"

#include <steno/error.hpp>

#include <gtest/gtest.h>

#include <fstream>

namespace wenet_test {

namespace fs = std::filesystem;
using namespace steno;

void write(const fs::path& path, std::string_view text) { std::ofstream(path) << text; }

std::string trained(const std::string& more = "") {
  return "encoder: conformer\nencoder_conf:\n  output_size: 8\n  num_blocks: 1\ndecoder: transformer\ninput_dim: 80\n"
         "output_dim: 3\n" +
         more;
}

TEST(wenet_folder, units_are_numbered_without_gaps) {
  const test::temporary_directory d;
  const fs::path file = d.path() / "units.txt";
  write(file, "<blank> 0\r\nb 2\n\na 1\n");
  EXPECT_EQ(wenet_files::read_units(file), (std::vector<std::string>{"<blank>", "a", "b"}));
  const std::pair<const char*, const char*> bad[] = {
      {"\n", "holds no units"}, {"a 0\nb 0\n", "occurs twice"}, {"a 0\nb 2\n", "without gaps"}, {"a\n", "line 1"},
      {"a -1\n", "line 1"},     {"a 0 1\n", "line 1"},          {"a 4000000000\n", "line 1"}};
  for (const auto& [text, what] : bad) {
    write(file, text);
    EXPECT_NE(test::refusal([&] { wenet_files::read_units(file); }).find(what), std::string::npos) << text;
  }
}

// mean = sum / count; istd = 1 / sqrt(max(sum of squares / count - mean^2, 1e-20)).
TEST(wenet_folder, cmvn_of_both_forms) {
  const test::temporary_directory d;
  const fs::path json = d.path() / "json", text = d.path() / "text";
  write(json, R"({"mean_stat": [4, 8], "var_stat": [20, 32], "frame_num": 2})");
  write(text, "[ 4 8 2\n 20 32 0 ]\n");
  for (const auto& [path, is_json] : {std::pair{json, true}, {text, false}}) {
    const wenet_files::cmvn_statistics s = wenet_files::read_cmvn(path, is_json);
    EXPECT_EQ(s.mean, (std::vector<float>{2, 4}));
    EXPECT_FLOAT_EQ(s.istd.at(0), 0.40824829f);
    EXPECT_FLOAT_EQ(s.istd.at(1), 1e10f);
  }
  for (const char* bad : {"", "{}", R"({"mean_stat": [1], "var_stat": [], "frame_num": 1})",
                          R"({"mean_stat": [1], "var_stat": [1], "frame_num": 0})", R"({"mean_stat": "x"})"}) {
    write(json, bad);
    EXPECT_NE(test::refusal([&] { wenet_files::read_cmvn(json, true); }), "") << bad;
  }
  for (const char* bad : {"", "[ ]", "[ 1 2 3 ]", "[ 1 2 x 0 ]", "1 2 3 4 5 6"}) {
    write(text, bad);
    EXPECT_NE(test::refusal([&] { wenet_files::read_cmvn(text, false); }), "") << bad;
  }
}

// A value that is not finite, or a variance that makes a factor 0, would turn every frame into the same one.
TEST(wenet_folder, cmvn_of_no_finite_numbers_is_refused_by_its_place) {
  const auto found = [](std::string_view text, bool json) {
    return test::refusal([&] { wenet_files::parse_cmvn(text, "global_cmvn", json); });
  };
  EXPECT_EQ(found("[ 10 20 inf\n 0 0 0 ]", false),
            "global_cmvn: line 1: element 2: expected a finite number, found \"inf\"");
  EXPECT_EQ(found("[ 10 20 2\n 5 nan 0 ]", false),
            "global_cmvn: line 2: element 4: expected a finite number, found \"nan\"");
  EXPECT_NE(found("[ 10 20 2 5 -inf 0 ]", false).find("element 4"), std::string::npos);
  EXPECT_NE(found("[ 10 20 2 1e300 0 0 ]", false).find("feature 0: expected a mean and a variance"), std::string::npos);
  EXPECT_NE(found(R"({"mean_stat": [1], "var_stat": [1e300], "frame_num": 1})", true).find("feature 0"),
            std::string::npos);
  EXPECT_NE(found(R"({"mean_stat": [1], "var_stat": [1e999], "frame_num": 1})", true).find("too large"),
            std::string::npos);
  EXPECT_NE(found(R"({"mean_stat": [1, null], "var_stat": [1, 1], "frame_num": 1})", true)
                .find("\"mean_stat\": element 1: expected a number"),
            std::string::npos);
}

TEST(wenet_folder, old_and_new_settings) {
  const test::temporary_directory d;
  write(d.path() / "final.pt", "PK");
  write(d.path() / "units.txt", "a 0\n");
  write(d.path() / "global_cmvn", "{}");
  write(d.path() / "train.yaml", "cmvn_file: data/train/global_cmvn\nis_json_cmvn: false\n");
  const wenet_files::folder old = wenet_files::open_folder(d.path());
  EXPECT_EQ(old.cmvn, d.path() / "global_cmvn");
  EXPECT_FALSE(old.json_cmvn);
  EXPECT_EQ(old.units, d.path() / "units.txt");
  write(d.path() / "lang_char.txt", "a 0\n");
  write(d.path() / "train.yaml",
        "cmvn: null\ncmvn_conf:\n  cmvn_file: null\ntokenizer_conf:\n  symbol_table_path: /somewhere/lang_char.txt\n"
        "  special_tokens:\n    <sos>: 7\n");
  const wenet_files::folder fresh = wenet_files::open_folder(d.path());
  EXPECT_FALSE(fresh.cmvn);
  EXPECT_EQ(fresh.units, d.path() / "lang_char.txt");
  EXPECT_EQ(fresh.number("tokenizer_conf.special_tokens.<sos>", 0, 0, 9), 7u);
}

TEST(wenet_folder, what_is_missing_or_computed_otherwise_is_named) {
  const test::temporary_directory d;
  const auto said = [&] { return test::refusal([&] { open_checkpoint(d.path()); }); };
  write(d.path() / "train.yaml", trained());
  EXPECT_NE(said().find("weights are missing"), std::string::npos);
  write(d.path() / "final.pt", "PK");
  EXPECT_NE(said().find("vocabulary is missing"), std::string::npos);
  write(d.path() / "units.txt", "<blank> 0\n<unk> 1\n<sos/eos> 2\n");
  EXPECT_NE(said().find("final.pt"), std::string::npos);  // not an archive
  const std::pair<const char*, const char*> refused[] = {
      {"model: transducer\n", "model is not supported"},
      {"dataset_conf:\n  fbank_conf:\n    num_mel_bins: 40\n", "input_dim is not supported"},
      {"dataset_conf:\n  fbank_conf:\n    window_type: hamming\n", "window_type is not supported"},
      {"decoder_conf:\n  norm_eps: 1e-12\n", "norm_eps is not supported: expected 1e-05, found \"1e-12\""},
      {"tokenizer_conf:\n  connect_symbol: ' '\n", "connect_symbol is not supported"},
      {"tokenizer: whisper\n", "tokenizer is not supported"},
      {"cmvn: online\n", "cmvn is not supported"},
      {"tokenizer_conf:\n  special_tokens:\n    <eos>: 5\n", "<eos>"},
      {"ctc_conf:\n  ctc_blank_id: 3\n", "ctc_blank_id"},
      {"model_conf:\n  reverse_weight: 2\n", "reverse_weight"}};
  for (const auto& [more, what] : refused) {
    write(d.path() / "train.yaml", trained(more));
    EXPECT_NE(said().find(what), std::string::npos) << more << said();
  }
  const std::pair<const char*, const char*> conf[] = {{"output_size: 7", "attention_heads"},
                                                      {"input_layer: linear", "input_layer"},
                                                      {"cnn_module_kernel: 8", "odd number"},
                                                      {"cnn_module_norm: rms_norm", "cnn_module_norm"},
                                                      {"normalize_before: false", "normalize_before"},
                                                      {"pos_enc_layer_type: abs_pos", "rel_pos with rel_selfattn"},
                                                      {"activation_type: hardtanh", "activation_type"},
                                                      {"macaron_style: false", "macaron_style"},
                                                      {"norm_eps: 1e-6", "norm_eps"},
                                                      {"conv_norm_eps: null", "conv_norm_eps"},
                                                      {"concat_after: true", "concat_after"},
                                                      {"n_kv_head: 2", "a setting that steno does not know"}};
  for (const auto& [line, what] : conf) {
    write(d.path() / "train.yaml",
          "encoder_conf:\n  " + std::string(line) + "\ndecoder: transformer\ninput_dim: 80\noutput_dim: 3\n");
    EXPECT_NE(said().find(what), std::string::npos) << line << said();
  }
  write(d.path() / "train.yaml", "{");
  EXPECT_NE(said().find("YAML"), std::string::npos);
}

// Names and shapes of the real models: exactly these, but for what readers leave out.
TEST(wenet_manifests, every_tensor_of_the_published_sizes) {
  STENO_REQUIRE_SHARED(shared);
  int models = 0;
  for (const auto& entry : fs::directory_iterator(shared / "manifests")) {
    const std::string file = entry.path().filename().string();
    if (!file.starts_with("wenet-") || !file.ends_with(".tsv")) continue;
    SCOPED_TRACE(file);
    ++models;
    checkpoint_tensors from = test::published(shared, entry.path().stem().string());
    const extent vocabulary = find(from, "ctc.ctc_lo.bias")->shape[0];
    std::string units;
    std::vector<std::string> tokens;
    fs::path config = entry.path();
    config.replace_extension(".yaml");
    const test::temporary_directory d;
    fs::copy_file(config, d.path() / "train.yaml");
    for (extent i = 0; i < vocabulary; ++i) {
      tokens.push_back("u" + std::to_string(i));
      units.append(tokens.back()).append(" ").append(std::to_string(i)).append("\n");
    }
    write(d.path() / "units.txt", units);
    write(d.path() / "final.pt", "PK");
    const wenet_files::folder f = wenet_files::open_folder(d.path());
    const wenet_files::u2_settings s = wenet_files::read_settings(f, wenet_files::read_units(f.units).size());
    std::vector<std::string> notes;
    wenet_files::check_settings(f, notes);
    EXPECT_EQ(notes, std::vector<std::string>());
    std::erase_if(from.all, [](const stored_tensor& t) { return t.name.starts_with("encoder.global_cmvn."); });
    imported_model model;
    wenet_files::set_keys(model.file, s);
    model.file.set("tokenizer.ggml.tokens", tokens);
    wenet_files::promise(from, s);
    EXPECT_NO_THROW(take_tensors(model, std::move(from)));
  }
  EXPECT_EQ(models, 12);
}

}  // namespace wenet_test
