// tools/convert/nemo/crispasr_gguf.cpp - CrispASR's GGUF files of Parakeet (TDT, RNN-T) and Nemotron; see
// other_gguf.hpp.
//
// Biases and norms are as the checkpoint had them, but for a bias of zeros in the depthwise convolutions. Pieces have
// no types.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "limits.hpp"
#include "nemo/foreign_gguf.hpp"
#include "nemo/other_gguf.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace nemo_files {

namespace {

constexpr name_part of_crispasr[] = {{"encoder.pre_encode.", "encoder.pre."},
                                     {".norm_feed_forward1.", ".norm_ff1."},
                                     {".norm_feed_forward2.", ".norm_ff2."},
                                     {".feed_forward1.", ".ff1."},
                                     {".feed_forward2.", ".ff2."},
                                     {".norm_self_att.", ".norm_attn."},
                                     {".self_attn.linear_", ".attn."},
                                     {".self_attn.", ".attn."},
                                     {".conv.pointwise_conv1.", ".conv.pw1."},
                                     {".conv.pointwise_conv2.", ".conv.pw2."},
                                     {".conv.depthwise_conv.", ".conv.dw."},
                                     {".conv.batch_norm.", ".conv.bn."},
                                     {"decoder.prediction.embed.", "decoder.embed."},
                                     {"joint.joint_net.2.", "joint.out."},
                                     {"ctc_decoder.decoder_layers.0.", "ctc."}};

// Nemotron's norms of layers have a name of their own.
std::string crispasr_name(const std::string& ours, bool nemotron) {
  const std::string name = nemo_name(ours);
  if (const std::size_t i = name.find(".conv.batch_norm."); nemotron && i != std::string::npos)
    return name.substr(0, i) + ".conv.ln." + name.substr(i + 17);
  if (const auto part = lstm_part(name))
    return "decoder.lstm." + part->second + (part->first.starts_with("weight") ? ".w" : ".b") +
           part->first.substr(part->first.find('_'));
  return replace_parts(name, of_crispasr);
}

constexpr unused_setting of_crispasr_keys[] = {{"general", of_the_file, general_gguf_keys},
                                               {"tokenizer", "the vocabulary is read", tokenizer_gguf_keys},
                                               {"parakeet.ctc_vocab_size", in_the_tensors},
                                               {"nemotron.prompt_kernel_in", in_the_tensors}};
// Tables of the front end that the file has, for the settings.
void take_stored_tables(checkpoint_tensors& from, fastconformer_settings& s, const stored_tables& tables) {
  const frontends::nemo_mel_options& o = s.frontend.mel;
  const auto values = [&](const std::string& name, extent count) {
    const stored_tensor* const t = find(from, name);
    return t == nullptr || static_cast<extent>(t->count()) != count ? std::vector<float>()
                                                                    : take_values(from, name, t->shape);
  };
  const std::vector<float> window = values(tables.window, o.window);
  take_tables(s, window, values(tables.filters, o.mels * (o.fft_size / 2 + 1)), tables);
}

// Of CrispASR's "nemotron": everything is causal, as its program has it.
void read_crispasr_nemotron(const foreign_keys& f, parakeet_settings& s) {
  const std::string at = "nemotron.";
  s.frontend.normalise = frontends::normalisation::none;
  s.causal_downsampling = f.flag(at + "causal_downsampling", true);
  const std::string norm = f.text(at + "conv_norm_type", "layer_norm");
  s.layer_norm = norm == "layer_norm";
  if (!s.layer_norm) f.require(at + "conv_norm_type", "layer_norm");
  s.causal = s.chunked = true;
  f.require(at + "att_context_style", "chunked_limited");
  const std::vector<int> lefts = f.wholes(at + "att_context_left", -1, 1 << 20),
                         rights = f.wholes(at + "att_context_right", -1, 1 << 20);
  const std::string what = "keys " + steno::weights::quoted(at + "att_context_left") + " and att_context_right";
  f.require(at + "n_att_context_presets", std::to_string(lefts.size()));
  if (lefts.empty() || rights.empty())
    fail({.where = f.where(), .what = what, .expected = "what the attention sees", .found = "nothing"});
  take_pairs(lefts[0], rights[0], lefts, rights, f.where(), what, s);
  prompt_settings& p = s.prompts;
  p.count = f.need(at + "num_prompts", 1, 1u << 16);
  p.inner = f.need(at + "prompt_kernel_mid", 1, 1u << 22);
  p.languages.names = f.strings(at + "prompt_langs");
  p.languages.numbers = f.wholes(at + "prompt_ids", 0, 1 << 16);
  check_prompts(p, f.where(), "keys " + steno::weights::quoted(at + "prompt_langs") + " and prompt_ids");
  p.languages.usual = p.languages.find("auto").value_or(-1);
}

}  // namespace

imported_model import_crispasr(const std::shared_ptr<gguf_file>& file) {
  const foreign_keys f(*file);
  const bool nemotron = file->has("nemotron.d_model");
  const std::string at = nemotron ? "nemotron." : "parakeet.";
  parakeet_settings s;
  s.transducer = true;
  f.require(at + "sample_rate", "16000");
  frontends::nemo_mel_options& mel = s.frontend.mel;
  mel.mels = f.need(at + "n_mels", 8, 1024);
  mel.fft_size = f.need(at + "n_fft", 16, limits::width);
  mel.window = f.need(at + "win_length", 2, limits::width);
  mel.shift = f.need(at + "hop_length", 1, limits::width);
  check_frontend(s, file->where());
  s.width = f.need(at + "d_model", 2, limits::width);
  s.blocks = f.need(at + "n_layers", 1, limits::layers);
  s.heads = f.need(at + "n_heads", 1, 1024);
  s.units = f.need(at + "ff_dim", 1, 1u << 22);
  s.taps = f.need(at + "conv_kernel", 1, 1023);
  s.channels = f.need(at + "subsampling_channels", 1, limits::width);
  f.require(at + "subsampling_factor", "8");
  f.require(at + "head_dim", std::to_string(s.width / s.heads));
  s.xscaling = f.flag(at + "xscaling", false);
  s.bias_everywhere = false;  // no key says it
  s.predictor = f.need(at + "pred_hidden", 1, limits::width);
  s.predictor_layers = f.need(at + "pred_layers", 1, 64);
  s.joint = f.need(at + "joint_hidden", 1, limits::width);
  s.vocabulary = f.need(at + "vocab_size", 1, 1u << 20);
  f.require(at + "blank_id", std::to_string(s.vocabulary));
  s.durations = f.durations(at + "tdt_durations");
  if (f.number(at + "n_tdt_durations", 0, 0, 64) == 0) s.durations.clear();
  check_durations(s, file->where());
  f.require(at + "frame_dur_cs", std::to_string(mel.shift * 8 * 100 / 16000));
  if (nemotron) {
    read_crispasr_nemotron(f, s);
  } else {
    f.require(at + "global_tokens", "0");
    s.left = f.context(at + "att_context_left");
    s.right = f.context(at + "att_context_right");
    s.hybrid = f.flag(at + "has_ctc", false);
  }
  check_encoder_sizes(s, file->where());
  imported_model model;
  model.where = file->where();
  model.source = file;
  f.check(of_crispasr_keys, model.notes);
  checkpoint_tensors from = all_tensors(*file);
  from.compared = checkpoint_tensors::shapes::counts;
  from.in_order = false;
  from.named = [nemotron](const std::string& name) { return crispasr_name(name, nemotron); };
  from.ignored = {{".num_batches_tracked", "a counter of training"}};
  take_stored_tables(from, s, {file->where(), "preprocessor.window", "preprocessor.fb"});
  set_parakeet_keys(model.file, s, pieces_of_file(*file, s.vocabulary));
  promise_encoder(from, s);
  promise_heads(from, s);
  take_tensors(model, std::move(from));
  return model;
}

}  // namespace nemo_files
}  // namespace STENO_ABI
}  // namespace steno
