// Networks that are layers, at the sizes of a published model each. Here and not beside the networks: to look at a type
// is to instantiate it, which every user's unit would pay for (docs/compile-time.md).
#include <steno/networks/audio_adaptor.hpp>
#include <steno/networks/conformer_block.hpp>
#include <steno/networks/fastconformer_encoder.hpp>
#include <steno/networks/fsmn_encoder.hpp>
#include <steno/networks/nemo_transformer.hpp>
#include <steno/networks/sanm_decoder.hpp>
#include <steno/networks/sanm_encoder.hpp>
#include <steno/networks/u2_encoder.hpp>
#include <steno/networks/whisper_encoder.hpp>

namespace {
using namespace steno;

static_assert(layer<sanm_main_encoder<560, 512, 4, 2048, 11, 49>> &&
              layer<sanm_encoder<560, 512, 4, 2048, 11, 49, 20>>);
static_assert(layer<sanm_decoder<512, 4, 2048, 11, 16, 8404>, sanm_decoder_env>);
static_assert(layer<nemo_transformer<192, 8, 768, 18>>);
static_assert(layer<fsmn_encoder<400, 140, 250, 128, 20, 4, 140, 248>>);
static_assert(layer<fastconformer<128, 1024, 24, bias::none>, fastconformer_env>);
static_assert(layer<u2_encoder<conv2d_subsampling<4, 80, 256>, wenet_conformer_block<256, 4, 2048, 15>, 12>, u2_env>);
static_assert(layer<audio_adaptor<512, 2048, 1024, 8, 256, 2>>);
static_assert(layer<whisper_encoder<80, 512, 8, 6>>);

}  // namespace
