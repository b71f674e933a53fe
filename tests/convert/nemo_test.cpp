// .nemo archives: what is read, what is refused, and the tensors of the published sizes.
// SPDX-License-Identifier: Apache-2.0
#include "convert.hpp"
#include "convert/mapped_and_copied.hpp"
#include "convert/published.hpp"
#include "convert/tar_member.hpp"
#include "nemo/parakeet.hpp"
#include "nemo/tar.hpp"
#include "support/golden.hpp"
#include "support/refusal.hpp"

#include <steno/error.hpp>

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstring>
#include <fstream>
#include <sstream>

namespace nemo_test {

namespace fs = std::filesystem;
using namespace steno;
using test::member;

std::span<const std::byte> bytes_of(const std::string& s) { return std::as_bytes(std::span(s.data(), s.size())); }

std::string gzip(const std::string& text) {
  std::string packed(text.size() + 1000, '\0');
  z_stream z{};
  EXPECT_EQ(deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(packed.data());
  z.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&z, Z_FINISH), Z_STREAM_END);
  packed.resize(z.total_out);
  deflateEnd(&z);
  return packed;
}

std::string text_of(const nemo_files::tar_member& m) {
  return {reinterpret_cast<const char*>(m.bytes.data()), m.bytes.size()};
}

std::string config(const std::string& more = "") {
  return "target: nemo.collections.asr.models.EncDecCTCModelBPE\npreprocessor:\n  features: 80\n  normalize: "
         "per_feature\n"
         "encoder:\n  feat_in: 80\n  d_model: 8\n  n_heads: 2\n  n_layers: 1\n  subsampling: dw_striding\n"
         "  subsampling_conv_channels: 4\n  conv_kernel_size: 9\n" +
         more;
}
nemo_files::parakeet_settings settings(const std::string& text) {
  return nemo_files::read_parakeet_settings(read_yaml("model_config.yaml", text, "a NeMo config"));
}

TEST(nemo_tar, names_of_all_kinds) {
  const std::string long_name(150, 'n');
  const std::string tar = member("./", "", '5') + member("./a.yaml", "abc") +
                          member("@LongLink", long_name + '\0', 'L') + member("cut", "long") +
                          member("pax", "13 path=some\n", 'x') + member("other", std::string(600, 'x')) +
                          std::string(1024, '\0');
  ASSERT_TRUE(nemo_files::is_tar(bytes_of(tar)));
  for (const std::string& form : {tar, gzip(tar)}) {
    const nemo_files::tar_archive archive(bytes_of(form), "x");
    const auto& all = archive.members();
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(all[0].name, "a.yaml");
    EXPECT_EQ(text_of(all[0]), "abc");
    EXPECT_EQ(all[1].name, long_name);
    EXPECT_EQ(text_of(all[1]), "long");
    EXPECT_EQ(all[2].name, "some");
    EXPECT_EQ(text_of(all[2]), std::string(600, 'x'));
  }
}

// A model of gigabytes must not be copied to be read.
TEST(nemo_tar, members_of_a_plain_archive_lie_in_it) {
  const std::string tar = member("a", std::string(300000, 'x')) + member("b", "y") + std::string(1024, '\0');
  const nemo_files::tar_archive archive(bytes_of(tar), "x");
  ASSERT_EQ(archive.members().size(), 2u);
  EXPECT_EQ(archive.members()[0].bytes.data(), bytes_of(tar).data() + 512);
  EXPECT_EQ(archive.members()[0].bytes.size(), 300000u);
  EXPECT_EQ(archive.members()[1].bytes.data(), bytes_of(tar).data() + 512 + 300032 + 512);
}

TEST(nemo_tar, damage_is_noticed) {
  const auto found = [](const std::string& bytes) {
    return test::refusal([&] { (void)nemo_files::tar_archive(bytes_of(bytes), "x"); });
  };
  std::string tar = member("a", std::string(1000, 'x')) + std::string(1024, '\0');
  EXPECT_EQ(found(tar), "");
  EXPECT_NE(found(tar.substr(0, 1024)).find("damaged"), std::string::npos);
  const std::string packed = gzip(tar);
  EXPECT_NE(found(packed.substr(0, packed.size() / 2)).find("damaged"), std::string::npos);
  tar[3] = 'q';  // the header's sum no longer fits
  EXPECT_NE(found(tar).find("damaged"), std::string::npos);
  EXPECT_NE(found("hello").find("damaged"), std::string::npos);
}

// What an archive unpacks to is compared with its size before it is unpacked, also of members that are skipped.
TEST(nemo_tar, bombs_are_refused) {
  const auto found = [](const std::string& bytes) {
    return test::refusal([&] { (void)nemo_files::tar_archive(bytes_of(bytes), "x"); });
  };
  const std::string zeros(std::size_t{20} << 20, '\0'), end(1024, '\0');
  const std::string wanted = "x: the archive claims to hold far more than its size allows";
  EXPECT_EQ(found(gzip(member("a", zeros) + end)).substr(0, wanted.size()), wanted);
  EXPECT_EQ(found(gzip(member("link", zeros, '2') + end)).find("is damaged"), std::string::npos);
  EXPECT_EQ(found(member("a", zeros) + end), "");
  EXPECT_EQ(found(gzip(member("a", zeros.substr(0, 1000000)) + end)), "");  // little in all, whatever its ratio
  std::string many;
  for (int i = 0; i < 65537; ++i) many += member(std::to_string(i), "");
  EXPECT_EQ(found(many + end), "x: members of the archive: expected up to 65536, found more");
}

// A tar of a zip, neither of which is compressed; a compressed one is read as before.
TEST(nemo_file, tensors_stay_in_the_archive) {
  const fs::path plain = test::compact() / "other_sizes/parakeet_ctc/checkpoint/model.nemo";
  test::expect_mapped_like_copied(plain);
  const test::temporary_directory d;
  const fs::path packed = d.path() / "model.nemo";
  test::write_text(packed, gzip(test::read_text(plain)));
  const opened_checkpoint inflated = open_checkpoint(packed);
  EXPECT_TRUE(test::image_of(inflated) == test::image_of(open_checkpoint(plain, weights::file_reading::copied)));
}

// Names in an archive are anybody's text.
TEST(nemo_file, names_of_members_are_quoted) {
  const test::temporary_directory d;
  const fs::path file = d.path() / "model.nemo";
  std::string all;
  for (int i = 0; i < 20; ++i) all += member("a\nb\x1b[31m" + std::to_string(i), "x");
  std::ofstream(file, std::ios::binary) << all;
  const std::string said = test::refusal([&] { open_checkpoint(file); });
  EXPECT_NE(said.find(R"("a\x0ab\x1b[31m0")"), std::string::npos) << said;
  EXPECT_NE(said.find("and 12 more"), std::string::npos) << said;
  EXPECT_EQ(said.find('\n'), std::string::npos);
}

// A step of no frames that is repeated for ever: with a million symbols a frame it might as well be.
TEST(nemo_config, durations_lead_on) {
  const auto tdt = [](const std::string& durations, const std::string& symbols) {
    return "target: EncDecRNNTBPEModel\njoint:\n  num_extra_outputs: 2\nmodel_defaults:\n  tdt_durations: " +
           durations + "\ndecoding:\n  greedy:\n    max_symbols: " + symbols + "\n" +
           config().substr(config().find('\n') + 1);
  };
  EXPECT_EQ(settings(tdt("[0, 1]", "10")).durations, (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(test::refusal([&] { settings(tdt("[0, 0]", "10")); }),
            "model_config.yaml: durations of the transducer: expected at least one of a frame or more, found none: no "
            "step would reach the next frame");
  EXPECT_NE(
      test::refusal([&] { settings(tdt("[0, 1]", "1048576")); }).find("decoding.greedy.max_symbols: expected a number"),
      std::string::npos);
}

TEST(nemo_config, defaults_are_the_originals) {
  const nemo_files::parakeet_settings s = settings(config());
  EXPECT_FALSE(s.transducer);
  EXPECT_TRUE(s.bias && s.xscaling);
  EXPECT_FALSE(s.causal || s.causal_downsampling || s.layer_norm || s.chunked);
  EXPECT_EQ(s.units, 32u);
  EXPECT_EQ(s.left, -1);
  EXPECT_EQ(s.frontend.mel.window, 320);  // 0.02 s, the class's own default
}

TEST(nemo_config, lists_of_contexts_and_references) {
  const nemo_files::parakeet_settings s =
      settings(config("  att_context_style: chunked_limited\n  att_context_size: [[70, "
                      "13], [70, 1]]\n  conv_context_size: causal\n") +
               "model_defaults:\n  pred_hidden: 12\n");
  EXPECT_TRUE(s.chunked && s.causal);
  EXPECT_EQ(s.left, 70);
  EXPECT_EQ(s.right, 13);
  const checkpoint_settings y = read_yaml("x", "a: 5\nb:\n  c: ${a}\n  d: ${model.b.c}\n  e: ${b.e}\n", "x");
  EXPECT_EQ(y.text("b.d", ""), "5");
  EXPECT_EQ(y.text("b.e", ""), "${b.e}");
}

// All contexts of a model, the first is the usual one; what the original refuses is refused.
TEST(nemo_config, all_contexts_are_kept) {
  const std::string chunked = "  conv_context_size: causal\n  att_context_style: chunked_limited\n  att_context_size: ";
  const auto of = [&](const std::string& sizes) { return settings(config(chunked + sizes + "\n")); };
  EXPECT_EQ(of("[[70, 13], [70, 1]]").contexts, (std::vector<std::int32_t>{70, 13, 70, 1}));
  EXPECT_TRUE(of("[70, 1]").contexts.empty());
  EXPECT_EQ(of("[[-1, -1], [70, 1]]").right, -1);  // one of several may see everything
  for (const char* sizes : {"[70, 2]", "[[70, 13], [70, 3]]", "[[70, -1]]", "[-1, -1]", "[[70, 13, 1], [70, 1]]"})
    EXPECT_NE(test::refusal([&] { of(sizes); }).find("encoder.att_context_size"), std::string::npos) << sizes;
}

// Whole clips of a model that was trained to look behind each chunk are seen as a whole, whatever the config says.
TEST(nemo_config, windows_with_a_right_context) {
  const std::string style = "  att_context_style: chunked_limited_with_rc\n  att_context_size: [70, 3]\n";
  const nemo_files::parakeet_settings s =
      settings(config(style + "  att_chunk_context_size: [[70], [1, 7], [0, 3]]\n  conv_context_style: dcc\n"));
  EXPECT_EQ(s.left, -1);
  EXPECT_EQ(s.right, -1);
  EXPECT_FALSE(s.chunked);
  EXPECT_EQ(s.windows.chunk, (std::vector<int>{1, 7}));
  EXPECT_EQ(s.windows.right, (std::vector<int>{0, 3}));
  EXPECT_EQ(settings(config(style)).windows.left, std::vector<int>{70});
  for (const char* sizes : {"[[70], [0], [0]]", "[[70], [7]]", "[[9000], [7], [7]]", "[70, 7, 7]"})
    EXPECT_NE(test::refusal([&] {
                settings(config(style + "  att_chunk_context_size: " + sizes + "\n"));
              }).find("att_chunk_context_size"),
              std::string::npos)
        << sizes;
  EXPECT_NE(
      test::refusal([&] { settings(config(style + "  conv_context_style: other\n")); }).find("conv_context_style"),
      std::string::npos);
}

// Prompts as three classes of NeMo spell them.
TEST(nemo_config, languages_and_their_prompts) {
  const auto with = [](const std::string& target, const std::string& defaults) {
    return settings("target: nemo." + target + "\nmodel_defaults:\n" + defaults +
                    config().substr(config().find('\n') + 1));
  };
  const std::string names = "    en-US: 0\n    en: 0\n    'no': 27\n";
  const std::string feature = "  initialize_prompt_feature: true\n  num_prompts: 128\n  prompt_dictionary:\n" + names;
  const auto s = with("EncDecRNNTBPEModelWithPrompt", feature + "    auto: 101\n");
  EXPECT_EQ(s.prompts.count, 128u);
  EXPECT_EQ(s.prompts.languages.names, (std::vector<std::string>{"en-US", "en", "no", "auto"}));
  EXPECT_EQ(s.prompts.languages.numbers, (std::vector<int>{0, 0, 27, 101}));
  EXPECT_EQ(s.prompts.languages.usual, 101);
  EXPECT_EQ(s.prompts.kernel, "prompt_kernel");
  EXPECT_EQ(with("EncDecRNNTBPEModelWithPrompt", feature).prompts.languages.usual, -1);
  const auto hybrid = with("EncDecHybridRNNTCTCBPEModelWithPrompt", feature);
  EXPECT_TRUE(hybrid.hybrid);
  EXPECT_EQ(hybrid.prompts.languages.usual, 0);  // en-US
  EXPECT_EQ(with("EncDecRNNTBPEModelWithPrompt", "  prompt_dictionary:\n" + names).prompts.count, 0u);
  EXPECT_EQ(with("EncDecRNNTBPEModel", feature).prompts.count, 0u);
  for (const char* key : {"lang_id_prompt_dictionary", "language_dictionary"}) {
    const auto mixin =
        with("EncDecUnifiedRNNTBPEModel", "  initialize_lang_id_prompt: true\n  num_lang_id_prompts: 64\n  " +
                                              std::string(key) + ":\n" + names + "    unk: 7\n");
    EXPECT_EQ(mixin.prompts.count, 64u);
    EXPECT_EQ(mixin.prompts.kernel, "lang_id_prompt_kernel");
    EXPECT_EQ(mixin.prompts.languages.usual, 7);
  }
  const std::string on = "  initialize_prompt_feature: true\n  num_prompts: 4\n";
  for (const char* dictionary : {"", "  prompt_dictionary:\n    en: 4\n", "  prompt_dictionary:\n    en: x\n"})
    EXPECT_NE(test::refusal([&] {
                with("EncDecRNNTBPEModelWithPrompt", on + dictionary);
              }).find("model_defaults.prompt_dictionary"),
              std::string::npos)
        << dictionary;
}

TEST(nemo_config, what_computes_something_else_is_refused) {
  const std::pair<const char*, const char*> bad[] = {{"  subsampling_factor: 4\n", "subsampling_factor"},
                                                     {"  conv_norm_type: group_norm4\n", "conv_norm_type"},
                                                     {"  self_attention_model: abs_pos\n", "self_attention_model"},
                                                     {"  untie_biases: false\n", "untie_biases"},
                                                     {"  att_context_style: chunked_limited\n", "att_context_size"},
                                                     {"  conv_context_size: [6, 2]\n", "conv_context_size"},
                                                     {"  feat_out: 128\n", "feat_out"},
                                                     {"preprocessor:\n  use_torchaudio: true\n", "use_torchaudio"},
                                                     {"  n_heads: 3\n", ""}};
  for (const auto& [text, what] : bad) {
    const std::string found = test::refusal([&, &more = text] { settings(config(more)); });
    EXPECT_NE(found, "") << text;
    EXPECT_NE(found.find(what), std::string::npos) << found;
  }
  EXPECT_NE(test::refusal([&] { settings("target: SomethingElse\n"); }).find("target"), std::string::npos);
}

TEST(nemo_file, what_is_not_an_archive_is_said) {
  const test::temporary_directory d;
  const fs::path file = d.path() / "model.nemo";
  const auto write = [&](const std::string& content) { std::ofstream(file, std::ios::binary) << content; };
  const auto found = [&] { return test::refusal([&] { open_checkpoint(file); }); };
  write("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n");
  EXPECT_NE(found().find("git-LFS"), std::string::npos);
  write("hello");
  EXPECT_NE(found().find("not a .nemo archive"), std::string::npos);
  write(member("a.txt", "x"));
  EXPECT_NE(found().find("model_config.yaml"), std::string::npos);
  write(member("model_config.yaml", "- 1\n"));
  EXPECT_NE(found().find("NeMo config"), std::string::npos);
  write(member("./model_config.yaml", config()));
  EXPECT_NE(found().find("tokenizer.model"), std::string::npos);
}

// Every tensor of the published sizes, by name and shape.
TEST(nemo_file, published_sizes) {
  STENO_REQUIRE_SHARED(shared);
  for (const char* name :
       {"parakeet-ctc-0.6b", "parakeet-ctc-1.1b", "parakeet-tdt-0.6b-v3", "parakeet-tdt-1.1b",
        "parakeet_realtime_eou_120m-v1", "parakeet-unified-en-0.6b", "nemotron-3.5-asr-streaming-0.6b"}) {
    SCOPED_TRACE(name);
    std::ifstream yaml(shared / "manifests/nemo-configs" / (std::string(name) + ".yaml"));
    std::stringstream text;
    text << yaml.rdbuf();
    const bool ctc = std::string(name).find("ctc") != std::string::npos;
    const checkpoint_settings c =
        text.str().find("\ntarget:") != std::string::npos
            ? read_yaml(name, text.str(), "x")
            : read_yaml(name, text.str() + "\ntarget: " + (ctc ? "EncDecCTCModelBPE\n" : "EncDecRNNTBPEModel\n"), "x");
    nemo_files::parakeet_settings s = nemo_files::read_parakeet_settings(c);
    s.vocabulary = c.number(ctc ? "decoder.num_classes" : "decoder.vocab_size", 13087, 1, 1 << 20);
    tokenizers::sentencepiece_vocabulary pieces;
    pieces.pieces.resize(s.vocabulary, "a");
    pieces.scores.resize(s.vocabulary);
    pieces.types.resize(s.vocabulary, 1);
    imported_model model;
    nemo_files::set_parakeet_keys(model.file, s, pieces);
    checkpoint_tensors from = test::published(shared, "nemo-" + std::string(name));
    from.named = nemo_files::nemo_name;
    from.ignored = {"preprocessor", ".num_batches_tracked"};
    nemo_files::promise_encoder(from, s);
    nemo_files::promise_heads(from, s);
    EXPECT_NO_THROW(take_tensors(model, std::move(from)));
  }
}

}  // namespace nemo_test
