// What the types of four published models say, read from top to bottom: layers in order, with the checkpoint's names
// and sizes by name.
// SPDX-License-Identifier: Apache-2.0
#include <steno/layers/outline.hpp>
#include <steno/models/parakeet_transducer.hpp>
#include <steno/models/qwen3_asr.hpp>
#include <steno/models/sense_voice.hpp>
#include <steno/models/whisper.hpp>

#include <gtest/gtest.h>

namespace outline_test {

using namespace steno;

TEST(outline, sense_voice_small) {
  EXPECT_EQ("\n" + nn::outline<funasr::sense_voice_small>(), R"(
sense_voice
  encoder: sanm_encoder 560 -> 512
    scale_by_root 560, output_size 512
    sinusoid 560
    window_overlap 560, output_size 512
    encoders0: repeat 1 of sanm_block 560 -> 512
      residual where widths agree
        norm1: layer_norm 560
        self_attn: sanm_attention 560 -> 512, attention_heads 4
          linear_q_k_v: linear 560 -> 1536
          linear_out: linear 512
          fsmn_block: fsmn 512, taps 11
      residual
        norm2: layer_norm 512
        feed_forward: feed_forward 512
          w_1: linear 512 -> 2048, relu
          w_2: linear 2048 -> 512
    encoders: repeat 49 of sanm_block 512
      residual where widths agree
        norm1: layer_norm 512
        self_attn: sanm_attention 512, attention_heads 4
          linear_q_k_v: linear 512 -> 1536
          linear_out: linear 512
          fsmn_block: fsmn 512, taps 11
      residual
        norm2: layer_norm 512
        feed_forward: feed_forward 512
          w_1: linear 512 -> 2048, relu
          w_2: linear 2048 -> 512
    after_norm: layer_norm 512
    tp_encoders: repeat 20 of sanm_block 512
      residual where widths agree
        norm1: layer_norm 512
        self_attn: sanm_attention 512, attention_heads 4
          linear_q_k_v: linear 512 -> 1536
          linear_out: linear 512
          fsmn_block: fsmn 512, taps 11
      residual
        norm2: layer_norm 512
        feed_forward: feed_forward 512
          w_1: linear 512 -> 2048, relu
          w_2: linear 2048 -> 512
    tp_norm: layer_norm 512
  ctc.ctc_lo: linear 512 -> 25055
  embed.weight: 16 x 560
  cmvn: cmvn 560
    shift: 560, optional
    scale: 560, optional
)");
}

TEST(outline, whisper_base) {
  EXPECT_EQ("\n" + nn::outline<whisper::whisper_base>(), R"(
whisper_model
  encoder: whisper_encoder 80 -> 512
    conv1: conv1d 80 -> 512, taps 3, gelu
    conv2: conv1d 512, taps 3, stride 2, gelu
    positional_embedding: learned_positions 512, rows 1500
    blocks: repeat 6 of whisper_encoder_block 512
      residual
        attn_ln: layer_norm 512
        attn: attention 512, attention_heads 8
          query: linear 512
          key: linear 512, no bias
          value: linear 512
          out: linear 512
      residual
        mlp_ln: layer_norm 512
        mlp: feed_forward 512
          0: linear 512 -> 2048, gelu
          2: linear 2048 -> 512
    ln_post: layer_norm 512
  decoder: whisper_decoder 512 -> 51865
    token_embedding.weight: 51865 x 512
    positional_embedding: 448 x 512
    blocks: repeat 6 of whisper_decoder_block 512
      residual
        attn_ln: layer_norm 512
        attn: attention 512, attention_heads 8
          query: linear 512
          key: linear 512, no bias
          value: linear 512
          out: linear 512
      residual
        cross_attn_ln: layer_norm 512
        cross_attn: cross_attention 512, attention_heads 8
          query: linear 512
          key: linear 512, no bias
          value: linear 512
          out: linear 512
      residual
        mlp_ln: layer_norm 512
        mlp: feed_forward 512
          0: linear 512 -> 2048, gelu
          2: linear 2048 -> 512
    ln: layer_norm 512
)");
}

TEST(outline, parakeet_tdt_06b_v3) {
  EXPECT_EQ("\n" + nn::outline<nemo::parakeet_tdt_06b_v3>(), R"(
parakeet_transducer
  encoder: fastconformer_encoder 128 -> 1024
    pre_encode: depthwise_subsampling 128 -> 1024, causal_downsampling 0, feat_in 128
      conv.0: linear 9 -> 256
      conv.2.weight: 9 x 256
      conv.2.bias: 256
      conv.3: linear 256
      conv.5.weight: 9 x 256
      conv.5.bias: 256
      conv.6: linear 256
      out: linear 4096 -> 1024
    drop_rows 1024
    optional_scale 1024, xscaling any
    with_distances 1024
      layers: repeat 24 of fastconformer_block 1024
        half residual
          norm_feed_forward1: layer_norm 1024
          feed_forward1: feed_forward 1024
            linear1: linear 1024 -> 4096, silu, no bias
            linear2: linear 4096 -> 1024, no bias
        residual
          norm_self_att: layer_norm 1024
          self_attn: relative_attention 1024, n_heads 8
            linear_q: linear 1024, no bias
            linear_k: linear 1024, no bias
            linear_v: linear 1024, no bias
            linear_out: linear 1024, no bias
            linear_pos: linear 1024, no bias
            pos_bias_u: 1024
            pos_bias_v: 1024
        residual
          norm_conv: layer_norm 1024
          conv: conformer_convolution 1024, causal 0, cnn_layer_norm 0
            pointwise_conv1: linear 1024 -> 2048, no bias
            depthwise_conv.weight: 9 x 1024
            depthwise_conv.bias: 1024
            pointwise_conv2: linear 1024, no bias
        half residual
          norm_feed_forward2: layer_norm 1024
          feed_forward2: feed_forward 1024
            linear1: linear 1024 -> 4096, silu, no bias
            linear2: linear 4096 -> 1024, no bias
        norm_out: layer_norm 1024
  decoder.prediction.embed.weight: 8193 x 640
  decoder.prediction.dec_rnn.lstm: lstm 640, pred_rnn_layers 2
    weight_ih_l0: 2560 x 640
    weight_hh_l0: 2560 x 640
    bias_ih_l0: 2560
    bias_hh_l0: 2560
    weight_ih_l1: 2560 x 640
    weight_hh_l1: 2560 x 640
    bias_ih_l1: 2560
    bias_hh_l1: 2560
  joint.enc: linear 1024 -> 640
  joint.pred: linear 640
  joint.joint_net.2: linear 640 -> 8198
)");
}

TEST(outline, qwen3_asr_0_6b) {
  EXPECT_EQ("\n" + nn::outline<qwen3::qwen3_asr_0_6b>(), R"(
qwen3_asr
  thinker.audio_tower: qwen3_audio_encoder 128 -> 1024, n_window_infer 800
    qwen3_audio_stem 128 -> 896, num_mel_bins 128, n_window 50
      conv2d1: conv2d_halving 128 -> 30720
        linear 9 -> 480
      conv2d2: conv2d_halving 30720 -> 15360
        linear 4320 -> 480
      conv2d3: conv2d_halving 15360 -> 7680
        linear 4320 -> 480
      conv_out: linear 7680 -> 896, no bias
    layers: repeat 18 of qwen3_audio_layer 896
      residual
        self_attn_layer_norm: layer_norm 896
        self_attn: attention 896, attention_heads 14
          q_proj: linear 896
          k_proj: linear 896
          v_proj: linear 896
          out_proj: linear 896
      residual
        final_layer_norm: layer_norm 896
        fc1: linear 896 -> 3584, gelu
        fc2: linear 3584 -> 896
    ln_post: layer_norm 896
    proj1: linear 896, gelu
    proj2: linear 896 -> 1024
  thinker: qwen3_decoder 1024 -> 151936, rope_theta 1000000
    model.embed_tokens.weight: 151936 x 1024
    model.layers: repeat 28 of qwen3_layer 1024
      residual
        input_layernorm: rms_norm 1024
        self_attn: grouped_attention 1024, heads 16, key heads 8, width of a head 128
          q_proj: linear 1024 -> 2048, no bias
          k_proj: linear 1024, no bias
          v_proj: linear 1024, no bias
          o_proj: linear 2048 -> 1024, no bias
          q_norm: rms_norm 128
          k_norm: rms_norm 128
      residual
        post_attention_layernorm: rms_norm 1024
        mlp: gated_feed_forward 1024
          gate_proj: linear 1024 -> 3072, no bias
          up_proj: linear 1024 -> 3072, no bias
          down_proj: linear 3072 -> 1024, no bias
    model.norm: rms_norm 1024
    lm_head.weight: 151936 x 1024, optional
    model.embed_tokens.weight: 151936 x 1024
)");
}

TEST(outline, what_a_file_decides_is_any) {
  const std::string text = nn::outline<nn::sanm_encoder<nn::sanm_sizes{.width = 8}>>();
  EXPECT_NE(text.find("encoders: repeat any of sanm_block 8\n"), std::string::npos) << text;
  EXPECT_NE(text.find("self_attn: sanm_attention any -> 8, attention_heads any\n"), std::string::npos) << text;
  EXPECT_NE(text.find("w_1: linear 8 -> any, relu\n"), std::string::npos) << text;
}

TEST(outline, layers_side_by_side) {
  EXPECT_EQ((nn::outline<nn::sequence<
                 nn::at<"both", nn::parallel<nn::at<"a", nn::linear<4, 6>>, nn::linear<4, 6, nn::bias::none>>>>>()),
            "sequence\n"
            "  both: parallel 4 -> 6\n"
            "    a: linear 4 -> 6\n"
            "    linear 4 -> 6, no bias\n");
}

}  // namespace outline_test
