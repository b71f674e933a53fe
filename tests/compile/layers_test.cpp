// Every type of layers/ and networks/ that reads rows and writes rows is a layer: with static sizes and with sizes of
// the file, under the record that its stack has. One that is missing here fails the test below.
// SPDX-License-Identifier: Apache-2.0
#include <steno/layers/activate.hpp>
#include <steno/layers/bidirectional_lstm.hpp>
#include <steno/layers/conformer_convolution.hpp>
#include <steno/layers/conv1d.hpp>
#include <steno/layers/conv2d_halving.hpp>
#include <steno/layers/conv2d_subsampling.hpp>
#include <steno/layers/cross_attention.hpp>
#include <steno/layers/depthwise_subsampling.hpp>
#include <steno/layers/drop_rows.hpp>
#include <steno/layers/feed_forward.hpp>
#include <steno/layers/fsmn.hpp>
#include <steno/layers/gated_feed_forward.hpp>
#include <steno/layers/grouped_attention.hpp>
#include <steno/layers/joined_frames.hpp>
#include <steno/layers/layer_norm.hpp>
#include <steno/layers/learned_positions.hpp>
#include <steno/layers/lstm.hpp>
#include <steno/layers/lstm_cell.hpp>
#include <steno/layers/position_attention.hpp>
#include <steno/layers/prompt_projection.hpp>
#include <steno/layers/relative_attention.hpp>
#include <steno/layers/rms_norm.hpp>
#include <steno/layers/round_to_half.hpp>
#include <steno/layers/sanm_attention.hpp>
#include <steno/layers/sigmoid.hpp>
#include <steno/layers/sinusoid.hpp>
#include <steno/layers/softmax.hpp>
#include <steno/layers/spread_rows.hpp>
#include <steno/layers/stft_magnitude.hpp>
#include <steno/layers/window_overlap.hpp>
#include <steno/layers/with_activation.hpp>
#include <steno/networks/audio_adaptor.hpp>
#include <steno/networks/contextual_decoder.hpp>
#include <steno/networks/fastconformer_encoder.hpp>
#include <steno/networks/fsmn_encoder.hpp>
#include <steno/networks/nemo_transformer.hpp>
#include <steno/networks/nemo_transformer_decoder.hpp>
#include <steno/networks/qwen3_audio_encoder.hpp>
#include <steno/networks/qwen3_decoder.hpp>
#include <steno/networks/sanm_decoder.hpp>
#include <steno/networks/sanm_encoder.hpp>
#include <steno/networks/sanm_vad_encoder.hpp>
#include <steno/networks/silero_network.hpp>
#include <steno/networks/transformer_decoder.hpp>
#include <steno/networks/u2_encoder.hpp>
#include <steno/networks/whisper_decoder.hpp>

#include <gtest/gtest.h>

#include "sources.hpp"

namespace layers_test {

using namespace steno;

namespace {

constexpr extent any = dynamic;

// What stacks of these families share.
struct full_env {
  nn::attention_window window;
  view<const float> positions;
  nn::distance_table distances;
  kernels::activation activation;
  kernels::operand encoded;
  extent keep, again, drop, overlap;
};
struct text_env {
  const nn::kv_sequences& sequences;
  const nn::rotary_angles& angles;
};

template <class... L>
constexpr bool layers = (nn::layer<L> && ...);
template <class Env, class... L>
constexpr bool layers_in = (nn::layer<L, Env> && ...);

// layers/
static_assert(layers<nn::linear<8, 6>, nn::linear<any, any>, nn::layer_norm<8>, nn::layer_norm<any>, nn::rms_norm<8>,
                     nn::rms_norm<any>>);
static_assert(layers<nn::feed_forward<8, 16>, nn::feed_forward<any, any>, nn::gated_feed_forward<8, 16>,
                     nn::gated_feed_forward<any, any>>);
static_assert(layers<nn::fsmn<5, 8>, nn::fsmn<any, any>, nn::fsmn<5, 8, nn::fsmn_sides::causal>, nn::lstm<8, 2>,
                     nn::lstm<any>, nn::bidirectional_lstm<8>, nn::bidirectional_lstm<any>, nn::spread_rows<8, 3>,
                     nn::spread_rows<any, 3>, nn::softmax<8>, nn::activate<8, nn::relu>>);
static_assert(layers<nn::sigmoid<8>, nn::round_to_half<8>, nn::lstm_cell<8>, nn::lstm_cell<any>, nn::stft_magnitude<16>,
                     nn::stft_magnitude<any>>);
static_assert(layers<nn::conv1d<8, 6, 3>, nn::conv1d<any, any, 3>, nn::conv2d_halving<8, 1, 4>,
                     nn::conv2d_halving<any, any, any>>);
static_assert(layers<nn::conv2d_subsampling<4, 80, 8>, nn::conv2d_subsampling<any, any, any>,
                     nn::depthwise_subsampling<80, 4, 8>, nn::depthwise_subsampling<any, any, any>>);
static_assert(layers_in<full_env, nn::conformer_convolution<8, 5>, nn::conformer_convolution<any, any>>);
static_assert(layers<nn::scale_by_root<8, 8>, nn::scale_by_own_root<8>, nn::optional_scale<8>, nn::sinusoid<8, 1>,
                     nn::learned_positions<16, 8>, nn::learned_positions<any, any>>);
static_assert(layers_in<full_env, nn::drop_rows<8>, nn::window_overlap<8, 8>>);
static_assert(layers<nn::joined_frames<2, nn::linear<8, 6>>, nn::joined_frames<any, nn::linear<any, any>>>);
static_assert(layers<nn::with_activation<nn::linear<8, 8>>, nn::with_positions<nn::linear<8, 8>>,
                     nn::with_distances<nn::linear<8, 8>>>);
static_assert(layers<nn::attention<nn::separate_products<8, 2, nn::linear_names>>,
                     nn::attention<nn::separate_products<any, any, nn::linear_names>>>);
static_assert(layers<nn::sanm_attention<10, 8, 2, 5>, nn::sanm_attention<any, any, any, any>>);
static_assert(
    layers_in<full_env, nn::position_attention<8, 2>, nn::position_attention<any, any>, nn::relative_attention<8, 2>,
              nn::relative_attention<any, any>, nn::cross_attention<nn::encoder_products<8, 2>>,
              nn::cross_attention<nn::separate_products<any, any, nn::linear_names>>>);
static_assert(layers_in<text_env, nn::grouped_attention<8, 4, 2, 2>, nn::grouped_attention<any, any, any, any>>);
static_assert(layers_in<nn::decoder_layer_env, nn::attention<nn::separate_products<8, 2, nn::linear_names>>,
                        nn::cross_attention<nn::separate_products<8, 2, nn::linear_names>>>);
static_assert(
    layers<nn::sequence<nn::linear<8, 6>, nn::linear<6, 3>>, nn::residual<nn::linear<8, 8>>,
           nn::half_residual<nn::linear<8, 8>>, nn::fitting_residual<nn::linear<8, 6>>,
           nn::post_norm<nn::layer_norm<8>, nn::linear<8, 8>>, nn::parallel<nn::linear<8, 8>, nn::linear<8, 8>>,
           nn::repeat<2, nn::linear<8, 8>>, nn::repeat<any, nn::linear<any, any>>>);

// networks/
static_assert(
    layers<nn::silero_network<nn::silero_sizes{.filter = 16, .first = 8, .second = 6, .third = 4, .hidden = 8}>,
           nn::silero_network<nn::silero_sizes{}>, nn::silero_encoder<nn::silero_sizes{}>,
           nn::silero_decoder<nn::silero_sizes{}>>);
static_assert(layers<nn::audio_adaptor<nn::audio_adaptor_sizes{
                         .features = 8, .inner = 16, .width = 8, .heads = 2, .units = 16, .blocks = 2, .rate = 1}>,
                     nn::adaptor_block<8, 2, 16>,
                     nn::nemo_transformer<nn::nemo_transformer_sizes{.width = 8, .heads = 2, .units = 16, .layers = 2}>,
                     nn::nemo_transformer_block<8, 2, 16>,
                     nn::fsmn_encoder<nn::fsmn_sizes{.features = 8,
                                                     .input_affine = 6,
                                                     .width = 6,
                                                     .projection = 4,
                                                     .taps = 5,
                                                     .layers = 2,
                                                     .output_affine = 6,
                                                     .classes = 3}>,
                     nn::fsmn_block<6, 4, 5>, nn::whisper_encoder<80, 8, 2, 2>, nn::whisper_encoder_block<8, 2>,
                     nn::qwen3_audio_layer<8, 2, 16>, nn::qwen3_audio_stem<16, 8, 4, 50>,
                     nn::qwen3_audio_encoder<16, 8, 2, 16, 4, 8, 2>>);
static_assert(layers_in<full_env,
                        nn::sanm_main_encoder<nn::sanm_sizes{
                            .features = 10, .width = 8, .heads = 2, .units = 16, .taps = 5, .blocks = 2}>,
                        nn::sanm_encoder<nn::sanm_sizes{}>, nn::sanm_block<10, 8, 2, 16, 5>,
                        nn::sanm_decoder<nn::sanm_decoder_sizes{
                            .width = 8, .heads = 2, .units = 16, .taps = 5, .layers = 2, .vocabulary = 30}>,
                        nn::sanm_decoder_body<nn::sanm_decoder_sizes{}>, nn::sanm_decoder_layer<8, 2, 16, 5>,
                        nn::sanm_decoder_memory<8, 16, 5>, nn::sanm_decoder_end<8, 16>,
                        nn::normed_feed_forward<8, 16, 12>, nn::contextual_bias<8, 2>>);
static_assert(layers_in<nn::contextual_decoder_env, nn::contextual_decoder<nn::sanm_decoder_sizes{}>,
                        nn::contextual_decoder<nn::sanm_decoder_sizes{
                            .width = 8, .heads = 2, .units = 16, .taps = 5, .layers = 2, .vocabulary = 30}>>);
static_assert(layers_in<nn::sanm_vad_record, nn::looking_back<nn::linear<8, 8>>,
                        nn::looking_back_but_last<nn::repeat<2, nn::linear<8, 8>>>,
                        nn::sanm_vad_encoder<nn::sanm_sizes{
                            .features = 8, .width = 8, .heads = 2, .units = 16, .taps = 5, .blocks = 2}>,
                        nn::sanm_vad_encoder<nn::sanm_sizes{}>>);
static_assert(
    layers_in<full_env, nn::wenet_conformer_block<8, 2, 16, 5>, nn::wenet_transformer_block<8, 2, 16>,
              nn::fastconformer_block<8, 2, 16, 5>,
              nn::u2_encoder<nn::conv2d_subsampling<4, 80, 8>, nn::wenet_conformer_block<8, 2, 16, 5>, 2>,
              nn::fastconformer_layers<nn::fastconformer_block<8, 2, 16, 5>, 2>, nn::fastconformer_encoder_any,
              nn::fastconformer_encoder<nn::depthwise_subsampling<80, 4, 8>, nn::fastconformer_block<8, 2, 16, 5>, 2>>);
static_assert(layers_in<nn::decoder_layer_env, nn::whisper_decoder_block<8, 2>, nn::transformer_decoder_block<8, 2, 16>,
                        nn::nemo_decoder_block<8, 2, 16>>);
static_assert(
    layers_in<nn::decoder_env, nn::whisper_decoder_stack<8, 2, 2>, nn::nemo_decoder_stack<nn::nemo_decoder_sizes{}>>);
static_assert(layers_in<text_env, nn::qwen3_layer<8, 4, 2, 2, 16>>);
static_assert(layers_in<nn::prompt_env, nn::prompt_projection<8, 4>, nn::prompt_projection<any>>);

// Types with widths that are no layers, and why.
const std::set<std::string> others = {
    "cif_predictor",        // rows to a number each: what fires is a search
    "qwen3_decoder",        // a decoder: ids in, rows and scores out, step by step
    "transformer_decoder",  // the same
    "whisper_decoder",      // the same
    "nemo_decoder",         // the same
    "residual_of",         "around", "separate_products", "fused_products", "grouped_products",
    "encoder_products",  // parts of attention
};

}  // namespace

// Every struct with widths, or derived from a stack, is asserted above or among the others.
TEST(layers, all_types_of_layers_and_networks_are_asserted) {
  const std::string here =
      test::code_only(test::slurp(std::filesystem::path(STENO_SOURCE_DIR) / "tests/compile/layers_test.cpp"));
  std::size_t found = 0;
  for (const test::source& s : test::headers()) {
    if (!s.name.starts_with("steno/layers/") && !s.name.starts_with("steno/networks/")) continue;
    const std::string text = test::code_only(s.text);
    const std::regex declared(R"(\nstruct (\w+)([^;{]*)\{([^}]*))");
    for (auto m = std::sregex_iterator(text.begin(), text.end(), declared); m != std::sregex_iterator(); ++m) {
      const std::string name = (*m)[1], bases = (*m)[2], begin = (*m)[3];
      const bool derived =
          std::regex_search(bases, std::regex(R"(:\s*(sequence|repeat|around|attention|detail::residual_of)\b)"));
      if (!derived && begin.find("static constexpr extent input") == std::string::npos) continue;
      ++found;
      if (others.contains(name)) continue;
      EXPECT_TRUE(std::regex_search(here, std::regex("\\b" + name + "<"))) << name << " of " << s.name;
    }
  }
  EXPECT_GT(found, 50u);
}

}  // namespace layers_test
