// Every type of layers/ and networks/ that reads rows and writes rows is a layer: with static sizes and with sizes of
// the file, under the record that its stack has. One that is missing here fails the test below.
#include <steno/layers/activate.hpp>
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
#include <steno/layers/position_attention.hpp>
#include <steno/layers/relative_attention.hpp>
#include <steno/layers/rms_norm.hpp>
#include <steno/layers/sanm_attention.hpp>
#include <steno/layers/sinusoid.hpp>
#include <steno/layers/softmax.hpp>
#include <steno/layers/window_overlap.hpp>
#include <steno/layers/with_activation.hpp>
#include <steno/networks/audio_adaptor.hpp>
#include <steno/networks/fastconformer_encoder.hpp>
#include <steno/networks/fsmn_encoder.hpp>
#include <steno/networks/nemo_transformer.hpp>
#include <steno/networks/qwen3_audio_encoder.hpp>
#include <steno/networks/qwen3_decoder.hpp>
#include <steno/networks/sanm_decoder.hpp>
#include <steno/networks/sanm_encoder.hpp>
#include <steno/networks/transformer_decoder.hpp>
#include <steno/networks/u2_encoder.hpp>
#include <steno/networks/whisper_decoder.hpp>

#include <gtest/gtest.h>

#include "sources.hpp"

using namespace steno;

namespace {

constexpr extent any = dynamic;

// What stacks of these families share.
struct full_env {
  attention_window window;
  view<const float> positions;
  distance_table distances;
  kernels::activation activation;
  kernels::operand encoded;
  extent keep, again, drop, overlap;
};
struct text_env {
  const kv_sequences& sequences;
  const rotary_angles& angles;
};

template <class... L>
constexpr bool layers = (layer<L> && ...);
template <class Env, class... L>
constexpr bool layers_in = (layer<L, Env> && ...);

// layers/
static_assert(layers<linear<8, 6>, linear<any, any>, layer_norm<8>, layer_norm<any>, rms_norm<8>, rms_norm<any>>);
static_assert(
    layers<feed_forward<8, 16>, feed_forward<any, any>, gated_feed_forward<8, 16>, gated_feed_forward<any, any>>);
static_assert(layers<fsmn<5, 8>, fsmn<any, any>, lstm<8, 2>, lstm<any>, softmax<8>, activate<8, relu>>);
static_assert(layers<conv1d<8, 6, 3>, conv1d<any, any, 3>, conv2d_halving<8, 1, 4>, conv2d_halving<any, any, any>>);
static_assert(layers<conv2d_subsampling<4, 80, 8>, conv2d_subsampling<any, any, any>, depthwise_subsampling<80, 4, 8>,
                     depthwise_subsampling<any, any, any>>);
static_assert(layers_in<full_env, conformer_convolution<8, 5>, conformer_convolution<any, any>>);
static_assert(layers<scale_by_root<8, 8>, scale_by_own_root<8>, optional_scale<8>, sinusoid<8, 1>,
                     learned_positions<16, 8>, learned_positions<any, any>>);
static_assert(layers_in<full_env, drop_rows<8>, window_overlap<8, 8>>);
static_assert(layers<joined_frames<2, linear<8, 6>>, joined_frames<any, linear<any, any>>>);
static_assert(layers<with_activation<linear<8, 8>>, with_positions<linear<8, 8>>, with_distances<linear<8, 8>>>);
static_assert(
    layers<attention<separate_products<8, 2, linear_names>>, attention<separate_products<any, any, linear_names>>>);
static_assert(layers<sanm_attention<10, 8, 2, 5>, sanm_attention<any, any, any, any>>);
static_assert(layers_in<full_env, position_attention<8, 2>, position_attention<any, any>, relative_attention<8, 2>,
                        relative_attention<any, any>, cross_attention<encoder_products<8, 2>>,
                        cross_attention<separate_products<any, any, linear_names>>>);
static_assert(layers_in<text_env, grouped_attention<8, 4, 2, 2>, grouped_attention<any, any, any, any>>);
static_assert(layers_in<decoder_layer_env, attention<separate_products<8, 2, linear_names>>,
                        cross_attention<separate_products<8, 2, linear_names>>>);
static_assert(layers<sequence<linear<8, 6>, linear<6, 3>>, residual<linear<8, 8>>, half_residual<linear<8, 8>>,
                     fitting_residual<linear<8, 6>>, post_norm<layer_norm<8>, linear<8, 8>>,
                     parallel<linear<8, 8>, linear<8, 8>>, repeat<2, linear<8, 8>>, repeat<any, linear<any, any>>>);

// networks/
static_assert(
    layers<audio_adaptor<audio_adaptor_sizes{
               .features = 8, .inner = 16, .width = 8, .heads = 2, .units = 16, .blocks = 2, .rate = 1}>,
           adaptor_block<8, 2, 16>,
           nemo_transformer<nemo_transformer_sizes{.width = 8, .heads = 2, .units = 16, .layers = 2}>,
           nemo_transformer_block<8, 2, 16>,
           fsmn_encoder<fsmn_sizes{.features = 8,
                                   .input_affine = 6,
                                   .width = 6,
                                   .projection = 4,
                                   .taps = 5,
                                   .layers = 2,
                                   .output_affine = 6,
                                   .classes = 3}>,
           fsmn_block<6, 4, 5>, whisper_encoder<80, 8, 2, 2>, whisper_encoder_block<8, 2>, qwen3_audio_layer<8, 2, 16>,
           qwen3_audio_stem<16, 8, 4, 50>, qwen3_audio_encoder<16, 8, 2, 16, 4, 8, 2>>);
static_assert(
    layers_in<
        full_env,
        sanm_main_encoder<sanm_sizes{.features = 10, .width = 8, .heads = 2, .units = 16, .taps = 5, .blocks = 2}>,
        sanm_encoder<sanm_sizes{}>, sanm_block<10, 8, 2, 16, 5>,
        sanm_decoder<sanm_decoder_sizes{.width = 8, .heads = 2, .units = 16, .taps = 5, .layers = 2, .vocabulary = 30}>,
        sanm_decoder_layer<8, 2, 16, 5>, sanm_decoder_end<8, 16>, normed_feed_forward<8, 16, 12>>);
static_assert(layers_in<full_env, wenet_conformer_block<8, 2, 16, 5>, wenet_transformer_block<8, 2, 16>,
                        fastconformer_block<8, 2, 16, 5>,
                        u2_encoder<conv2d_subsampling<4, 80, 8>, wenet_conformer_block<8, 2, 16, 5>, 2>,
                        fastconformer_layers<fastconformer_block<8, 2, 16, 5>, 2>, fastconformer_encoder_any,
                        fastconformer_encoder<depthwise_subsampling<80, 4, 8>, fastconformer_block<8, 2, 16, 5>, 2>>);
static_assert(layers_in<decoder_layer_env, whisper_decoder_block<8, 2>, transformer_decoder_block<8, 2, 16>>);
static_assert(layers_in<decoder_env, whisper_decoder_stack<8, 2, 2>>);
static_assert(layers_in<text_env, qwen3_layer<8, 4, 2, 2, 16>>);

// Types with widths that are no layers, and why.
const std::set<std::string> others = {
    "cif_predictor",        // rows to a number each: what fires is a search
    "qwen3_decoder",        // a decoder: ids in, rows and scores out, step by step
    "transformer_decoder",  // the same
    "whisper_decoder",      // the same
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
