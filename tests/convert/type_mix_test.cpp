// Which matrices of each published model get more bits in q4_k_m and q5_k_m: the rule on layers, the roles that names
// say, and the size of a file that llama.cpp's own quantiser made.
// SPDX-License-Identifier: Apache-2.0
#include "type_mix.hpp"

#include <steno/core/dtype.hpp>

#include <map>

#include "convert/fixtures.hpp"
#include "convert/published.hpp"
#include "support/golden.hpp"

namespace type_mix_test {

using namespace steno;

std::vector<std::size_t> layers_with_more(std::size_t n) {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < n; ++i)
    if (uses_more_bits(i, n)) all.push_back(i);
  return all;
}

TEST(type_mix, layers) {
  using list = std::vector<std::size_t>;
  EXPECT_EQ(layers_with_more(1), (list{0}));
  EXPECT_EQ(layers_with_more(4), (list{2, 3}));
  EXPECT_EQ(layers_with_more(28), (list{0, 1, 2, 5, 8, 11, 14, 17, 20, 23, 24, 25, 26, 27}));
  EXPECT_EQ(layers_with_more(32), (list{0, 1, 2, 3, 6, 9, 12, 15, 18, 21, 24, 27, 28, 29, 30, 31}));
}

TEST(type_mix, places) {
  const auto is = [](std::string_view name, matrix_role role, std::string_view layers = "", std::size_t layer = 0) {
    const matrix_place p = place_of(name);
    EXPECT_EQ(p.role, role) << name;
    EXPECT_EQ(p.layers, layers) << name;
    EXPECT_EQ(p.layer, layer) << name;
  };
  is("encoder.encoders.7.self_attn.linear_q_k_v.weight", matrix_role::value, "encoder.encoders", 7);
  is("decoder.blocks.11.mlp.2.weight", matrix_role::down, "decoder.blocks", 11);
  is("decoder.blocks.11.mlp.0.weight", matrix_role::other);
  is("encoder.layers.0.feed_forward2.linear2.weight", matrix_role::down, "encoder.layers", 0);
  is("audio_adaptor.linear2.weight", matrix_role::other);  // no layer of a stack
  is("encoder.encoders.7.self_attn.linear_v.bias", matrix_role::other);
  is("joint.joint_net.2.weight", matrix_role::output);
  is("llm.lm_head.weight", matrix_role::output);
  is("", matrix_role::other);
}

std::vector<imported_tensor> matrices(const checkpoint_tensors& from, std::string_view within = "") {
  std::vector<imported_tensor> all;
  for (const stored_tensor& t : from.all)
    if (t.name.starts_with(within)) all.push_back({.name = t.name, .shape = t.shape, .product = t.shape.size() >= 2});
  return all;
}

TEST(type_mix, roles_of_published_models) {
  STENO_REQUIRE_SHARED(shared);
  struct row {
    const char* name;
    std::size_t values, downs, outputs;  // layers: encoder + decoder
  };
  const row table[] = {{"sensevoice-small", 70, 70, 1},
                       {"paraformer-large-zh", 50 + 16, 50 + 17, 1},
                       {"seaco-paraformer-large-zh", 50 + 16 + 6, 50 + 17 + 7, 2},
                       {"ct-transformer-punc-272727", 4, 4, 1},
                       {"fsmn-vad", 0, 0, 1},
                       {"fun-asr-nano-2512-ms", 70 + 2 + 5 + 28, 70 + 2 + 5 + 28, 2},
                       {"nemo-parakeet-ctc-1.1b", 42, 2 * 42, 1},
                       {"nemo-parakeet-tdt-0.6b-v3", 24, 2 * 24, 1},
                       {"nemo-parakeet_realtime_eou_120m-v1", 17, 2 * 17, 1},
                       {"nemo-diar_sortformer_4spk-v1", 18 + 18, 2 * 18 + 18, 2},
                       {"qwen3-asr-0.6b", 18 + 28, 18 + 28, 1},
                       {"qwen3-asr-1.7b", 24 + 28, 24 + 28, 1},
                       {"whisper-base", 6 + 6 + 6, 6 + 6, 0},
                       {"whisper-large-v3", 32 + 32 + 32, 32 + 32, 0},
                       {"wenet-aishell-u2pp_transformer", 12 + 2 * 6, 12 + 6, 3},
                       {"wenet-wenetspeech-u2pp_conformer", 12 + 2 * 6, 2 * 12 + 6, 3}};
  for (const row& r : table) {
    std::map<matrix_role, std::size_t> counts;
    for (const imported_tensor& t : matrices(test::published(shared, r.name))) ++counts[place_of(t.name).role];
    EXPECT_EQ(counts[matrix_role::value], r.values) << r.name;
    EXPECT_EQ(counts[matrix_role::down], r.downs) << r.name;
    EXPECT_EQ(counts[matrix_role::output], r.outputs) << r.name;
  }
}

// FunASR's README gives 484 MB for its qwen3-0.6b-q4km.gguf, which has an output matrix of its own and, inferred from
// its q8_0 sister, 6 MB of tokenizer.
TEST(type_mix, a_language_model_is_as_large_as_llama_cpp_makes_it) {
  STENO_REQUIRE_SHARED(shared);
  const std::vector<imported_tensor> llm = matrices(test::published(shared, "fun-asr-nano-2512-ms"), "llm.");
  const std::vector<dtype> types = mixed_types(llm, dtype::q4_k);
  double bytes = 0;
  for (std::size_t i = 0; i < llm.size(); ++i) bytes += static_cast<double>(core::bytes_of(types[i], llm[i].count()));
  EXPECT_NEAR(bytes / 1e6, 484 - 6, 1);
}

TEST(type_mix, an_embedding_makes_the_scores_where_nothing_else_does) {
  const auto of = [](std::string name, bool product = true) {
    return imported_tensor{.name = std::move(name), .shape = {512, 256}, .product = product};
  };
  std::vector<imported_tensor> tied = {of("m.model.embed_tokens.weight"), of("m.model.layers.0.mlp.up_proj.weight"),
                                       of("m.model.layers.0.norm.weight", false)};
  EXPECT_EQ(mixed_types(tied, dtype::q5_k), (std::vector<dtype>{dtype::q6_k, dtype::q5_k, dtype::f32}));
  tied.push_back(of("m.lm_head.weight"));
  EXPECT_EQ(mixed_types(tied, dtype::q5_k), (std::vector<dtype>{dtype::q5_k, dtype::q5_k, dtype::f32, dtype::q6_k}));
}

}  // namespace type_mix_test
