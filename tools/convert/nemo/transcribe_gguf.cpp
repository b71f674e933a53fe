// tools/convert/nemo/transcribe_gguf.cpp - transcribe.cpp's GGUF files of Parakeet, Nemotron and Sortformer; see
// other_gguf.hpp.
//
// Biases and norms are as the checkpoint had them, but for the sum of the LSTM's two biases.
// SPDX-License-Identifier: Apache-2.0
#include <steno/models/sortformer.hpp>

#include <algorithm>

#include "limits.hpp"
#include "nemo/foreign_gguf.hpp"
#include "nemo/other_gguf.hpp"
#include "nemo/sortformer.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace nemo_files {

namespace {

constexpr name_part of_transcribe[] = {{"transformer_encoder.layers.", "tf.blocks."},
                                       {"encoder.pre_encode.", "enc.pre_encode."},
                                       {"encoder.layers.", "enc.blocks."},
                                       {".norm_feed_forward1.", ".norm_ff1."},
                                       {".norm_feed_forward2.", ".norm_ff2."},
                                       {".feed_forward1.", ".ff1."},
                                       {".feed_forward2.", ".ff2."},
                                       {".norm_self_att.", ".norm_attn."},
                                       {".self_attn.", ".attn."},
                                       {".conv.pointwise_conv1.", ".conv.pointwise1."},
                                       {".conv.pointwise_conv2.", ".conv.pointwise2."},
                                       {".conv.depthwise_conv.", ".conv.depthwise."},
                                       {".conv.batch_norm.", ".conv.bn."},
                                       {"decoder.prediction.embed.", "pred.embed."},
                                       {"joint.joint_net.2.", "joint.out."},
                                       {"decoder.decoder_layers.0.", "head.ctc."},
                                       {"prompt_kernel.", "prompt.mlp."},
                                       {".layer_norm_", ".norm_"},
                                       {".first_sub_layer.query_net.", ".attn.q."},
                                       {".first_sub_layer.key_net.", ".attn.k."},
                                       {".first_sub_layer.value_net.", ".attn.v."},
                                       {".first_sub_layer.out_projection.", ".attn.out."},
                                       {".second_sub_layer.dense_", ".ff."},
                                       {"sortformer_modules.encoder_proj.", "diar.encoder_proj."},
                                       {"sortformer_modules.first_hidden_to_hidden.", "diar.fc1."},
                                       {"sortformer_modules.single_hidden_to_spks.", "diar.single_spk_head."}};

std::string transcribe_name(const std::string& ours) {
  const std::string name = nemo_name(ours);
  if (const auto part = lstm_part(name)) {
    const std::string at = "pred.lstm." + part->second;
    if (part->first == "weight_ih") return at + ".Wx";
    if (part->first == "weight_hh") return at + ".Wh";
    return part->first == "bias_ih" ? at + ".bias" : at + ".no_bias";  // the second one: split_sums()
  }
  return replace_parts(name, of_transcribe);
}

constexpr unused_setting of_transcribe_keys[] = {
    {"general", of_the_file, general_gguf_keys},
    {"tokenizer", "the vocabulary is read", tokenizer_gguf_keys},
    {"quantize.imatrix", of_the_file, "chunks_count dataset entries_count file"},
    {"stt.variant", "the other keys say it"},
    {"stt.capability", "of the program", "lang_detect streaming timestamps translate"},
    {"stt.frontend.dither", "training alone reads it"},
    {"stt.frontend.type", "it is NeMo's"},
    {"stt.parakeet.encoder.streaming", "the subsampling says it",
     "drop_extra_pre_encoded pre_encode_cache_size sampling_frames_first"},
    {"stt.parakeet.prompt.field", "of the program"},
    {"stt.parakeet.encoder.pos_emb_max_len", "positions are made as they are needed"},
    {"stt.parakeet.joint.num_extra_outputs", in_the_tensors},
    {"stt.parakeet.predictor.vocab", in_the_tensors},
    {"stt.sortformer.encoder.pos_emb_max_len", "positions are made as they are needed"},
};

// An LSTM whose file has the sum of its biases: the other one is 0.
void split_sums(checkpoint_tensors& from, std::uint32_t layers, extent width) {
  for (std::uint32_t i = 0; i < layers; ++i) {
    stored_tensor none{.name = "pred.lstm." + std::to_string(i) + ".no_bias", .shape = {4 * width}};
    none.read = [](std::span<float> y) { std::fill(y.begin(), y.end(), 0.0f); };
    from.all.push_back(std::move(none));
  }
}

// Front end and encoder of transcribe.cpp; `at` is "stt.parakeet." or "stt.sortformer.".
void read_transcribe_encoder(const foreign_keys& f, const std::string& at, const checkpoint_tensors& tensors,
                             fastconformer_settings& s) {
  frontends::nemo_mel_options& mel = s.frontend.mel;
  const std::string mel_keys = "stt.frontend.", encoder = at + "encoder.";
  mel.mels = f.need(mel_keys + "num_mels", 8, 1024);
  f.require(mel_keys + "sample_rate", "16000");
  mel.fft_size = f.number(mel_keys + "n_fft", 512, 16, limits::width);
  mel.window = f.number(mel_keys + "win_length", 400, 2, limits::width);
  mel.shift = f.number(mel_keys + "hop_length", 160, 1, limits::width);
  const std::string window = f.text(mel_keys + "window", "hann");
  const auto shape = std::find(std::begin(nemo::nemo_windows), std::end(nemo::nemo_windows), window);
  if (shape == std::end(nemo::nemo_windows)) f.require(mel_keys + "window", "hann");
  mel.shape = frontends::nemo_window(shape - std::begin(nemo::nemo_windows));
  mel.preemphasis = static_cast<float>(f.real(mel_keys + "pre_emphasis", 0.97, 0, 1));
  mel.band.high = f.real(mel_keys + "f_max", 0, 0, 8000);
  if (mel.band.high == 0) mel.band.high = 8000;
  mel.band.low = f.real(mel_keys + "f_min", 0, 0, mel.band.high - 1);
  f.require(mel_keys + "log", "true");
  const std::string normal = f.text(mel_keys + "normalize", "per_feature");
  using frontends::normalisation;
  s.frontend.normalise = normal == "all_features"                               ? normalisation::all_features
                         : normal == "NA" || normal == "none" || normal.empty() ? normalisation::none
                                                                                : normalisation::per_feature;
  if (s.frontend.normalise == normalisation::per_feature) f.require(mel_keys + "normalize", "per_feature");
  check_frontend(s, f.where());
  s.width = f.need(encoder + "d_model", 2, limits::width);
  s.blocks = f.need(encoder + "n_layers", 1, limits::layers);
  s.heads = f.need(encoder + "n_heads", 1, 1024);
  s.units = f.need(encoder + "d_ff", 1, 1u << 22);
  s.taps = f.need(encoder + "conv_kernel", 1, 1023);
  s.channels = f.need(encoder + "subsampling_channels", 1, limits::width);
  f.require(encoder + "subsampling_factor", "8");
  f.require(encoder + "feat_in", std::to_string(mel.mels));
  const std::string norm = f.text(encoder + "conv_norm_type", "batch_norm");
  s.layer_norm = norm == "layer_norm";
  if (!s.layer_norm) f.require(encoder + "conv_norm_type", "batch_norm");
  check_encoder_sizes(s, f.where());
  s.xscaling = f.flag(encoder + "xscaling", true);  // a Sortformer's file does not say it
  s.left = f.context(encoder + "att_context_left");
  s.right = f.context(encoder + "att_context_right");
  const std::string style = f.text(encoder + "att_context_style", "regular");
  s.chunked = style == "chunked_limited";
  if (style == "chunked_limited_with_rc") {
    s.left = s.right = -1;  // whole clips are seen as a whole
    s.windows = {.left = f.wholes(encoder + "att_chunk_left_choices", 0, 1 << 20),
                 .chunk = f.wholes(encoder + "att_chunk_chunk_choices", 0, 1 << 20),
                 .right = f.wholes(encoder + "att_chunk_right_choices", 0, 1 << 20)};
    check_stream_windows(s.windows, f.where(), "keys " + steno::weights::quoted(encoder + "att_chunk_*_choices"));
  } else if (!s.chunked) {
    f.require(encoder + "att_context_style", "regular");
  }
  // The usual one first, whatever place the file gives it.
  const std::string choices = encoder + "att_context_size_choices";
  const std::vector<int> sizes = f.wholes(choices, -1, 1 << 20);
  std::vector<int> lefts, rights;
  for (std::size_t i = 0; i < sizes.size(); ++i) (i % 2 == 0 ? lefts : rights).push_back(sizes[i]);
  if (s.chunked) take_pairs(s.left, s.right, lefts, rights, f.where(), "key " + steno::weights::quoted(choices), s);
  if (s.chunked && s.right < 0)
    fail({.where = f.where(), .what = "key \"" + encoder + "att_context_right\"", .expected = "at least 0"});
  const std::int32_t before = f.context(encoder + "conv_context_left"),
                     after = f.context(encoder + "conv_context_right");
  const auto taps = static_cast<std::int32_t>(s.taps);
  s.causal = after == 0 && before == taps - 1 && taps > 1;
  if (!s.causal && before >= 0 && (before != (taps - 1) / 2 || after != before))
    fail({.where = f.where(),
          .what = "keys \"" + encoder + "conv_context_left\" and \"..._right\"",
          .expected = "as many on either side, or none on the right",
          .found = std::to_string(before) + ", " + std::to_string(after)});
  // No key says whether the subsampling is causal; its bands do.
  const auto bands = [&](extent more) {
    extent n = mel.mels;
    for (int i = 0; i < 3; ++i) n = (n + more) / 2 + 1;
    return n;
  };
  const stored_tensor* const out = find(tensors, "enc.pre_encode.out.weight");
  const auto columns = out == nullptr ? extent{0} : static_cast<extent>(out->count()) / static_cast<extent>(s.width);
  s.causal_downsampling = bands(0) != bands(-1) ? columns == bands(0) * static_cast<extent>(s.channels) : s.causal;
}

// Languages of transcribe.cpp's Nemotron.
void read_transcribe_prompts(const foreign_keys& f, const std::string& at, prompt_settings& p) {
  p.count = f.number(at + "num_prompts", 0, 0, 1u << 16);
  if (p.count == 0) return;
  p.inner = f.need(at + "hidden", 1, 1u << 22);
  f.require(at + "activation", "relu");
  p.languages.names = f.strings(at + "dictionary.locales");
  p.languages.numbers = f.wholes(at + "dictionary.indices", 0, 1 << 16);
  check_prompts(p, f.where(), "keys " + steno::weights::quoted(at + "dictionary.locales") + " and indices");
  const std::uint32_t usual = f.number(at + "auto_id", p.count, 0, p.count);
  if (usual < p.count) p.languages.usual = static_cast<int>(usual);
}

}  // namespace

imported_model import_transcribe(const std::shared_ptr<gguf_file>& file) {
  const foreign_keys f(*file);
  const std::string at = "stt.parakeet.";
  parakeet_settings s;
  const std::string head = f.text(at + "head_kind", "tdt");
  if (head != "ctc" && head != "rnnt") f.require(at + "head_kind", "tdt");
  s.transducer = head != "ctc";
  checkpoint_tensors from = all_tensors(*file);
  read_transcribe_encoder(f, at, from, s);
  s.bias = f.flag(at + "encoder.use_bias", true);
  const auto tokens = static_cast<std::uint32_t>(
      std::min<std::size_t>(file->strings("tokenizer.ggml.tokens").size(), std::size_t{1} << 20));
  s.vocabulary = f.number("tokenizer.ggml.blank_token_id", tokens == 0 ? 0 : tokens - 1, 1, 1u << 20);
  if (s.transducer) {
    s.predictor = f.need(at + "predictor.hidden", 1, limits::width);
    s.predictor_layers = f.need(at + "predictor.n_layers", 1, 64);
    s.joint = f.need(at + "joint.hidden", 1, limits::width);
    f.require(at + "joint.activation", "relu");
    s.durations = f.durations(at + "tdt.durations");
    if (head == "rnnt") s.durations.clear();
    if (head == "tdt" && s.durations.empty())
      fail({.where = file->where(), .what = "key \"" + at + "tdt.durations\"", .expected = "numbers of frames"});
    check_durations(s, file->where());
    s.max_symbols = f.number(at + "tdt.max_symbols", 10, 1, limits::symbols_per_frame);
    read_transcribe_prompts(f, at + "prompt.", s.prompts);
    split_sums(from, s.predictor_layers, static_cast<extent>(s.predictor));
  }
  imported_model model;
  model.where = file->where();
  model.source = file;
  f.check(of_transcribe_keys, model.notes);
  from.compared = checkpoint_tensors::shapes::counts;
  from.in_order = false;
  from.named = transcribe_name;
  from.ignored = {{".num_batches_tracked", "a counter of training"}};
  set_parakeet_keys(model.file, s, pieces_of_file(*file, s.vocabulary));
  promise_encoder(from, s);
  promise_heads(from, s);
  take_tensors(model, std::move(from));
  return model;
}

imported_model import_other_sortformer(const std::shared_ptr<gguf_file>& file) {
  if (!file->has("stt.variant"))
    fail({.where = file->where(),
          .what = "a GGUF file of \"sortformer\" whose keys are not known",
          .expected = "steno's own (steno.version) or those of transcribe.cpp (stt.variant)"});
  const foreign_keys f(*file);
  const std::string at = "stt.sortformer.", transformer = at + "transformer.", stream = at + "stream.";
  sortformer_settings s;
  checkpoint_tensors from = all_tensors(*file);
  read_transcribe_encoder(f, at, from, s);
  f.require(at + "frame_hop", std::to_string(s.frontend.mel.shift * 8));
  s.speakers = f.need(at + "max_speakers", 1, 64);
  s.hidden = f.need(transformer + "d_model", 1, limits::width);
  s.layers = f.need(transformer + "n_layers", 1, limits::layers);
  s.inner = f.need(transformer + "d_ff", 1, limits::width);
  s.attention_heads = f.need(transformer + "n_heads", 1, 1024);
  f.require(transformer + "activation", "relu");
  if (f.flag(transformer + "pre_ln", false))
    fail({.where = file->where(), .what = "key \"" + transformer + "pre_ln\"", .expected = "false"});
  if (s.hidden % s.attention_heads != 0 || s.hidden == s.width)
    fail({.where = file->where(),
          .what = "key \"" + transformer + "d_model\"",
          .expected = "a width that n_heads divides, not the encoder's",
          .found = std::to_string(s.hidden)});
  const auto rows = [&](const char* key, extent otherwise) {
    return static_cast<extent>(f.number(stream + key, static_cast<std::uint32_t>(otherwise), 0, 8192));
  };
  s.streaming.chunk_len = rows("chunk_len", s.streaming.chunk_len);
  s.streaming.spkcache_len = rows("spkcache_len", s.streaming.spkcache_len);
  s.streaming.fifo_len = rows("fifo_len", s.streaming.fifo_len);
  s.streaming.spkcache_update_period = rows("spkcache_update_period", s.streaming.spkcache_update_period);
  s.streams = s.frontend.normalise == frontends::normalisation::none;
  if (s.streams) nemo::check_speaker_cache(s.streaming, s.speakers, file->where());
  imported_model model;
  model.where = file->where();
  model.source = file;
  f.check(of_transcribe_keys, model.notes);
  from.compared = checkpoint_tensors::shapes::counts;
  from.in_order = false;
  from.named = transcribe_name;
  from.ignored = {{"diar.spk_head", "no forward pass reads it"}, {".num_batches_tracked", "a counter of training"}};
  s.bias_everywhere = false;  // no key says it
  set_sortformer_keys(model.file, s);
  promise_encoder(from, s);
  promise_transformer(from, s);
  take_tensors(model, std::move(from));
  return model;
}

}  // namespace nemo_files
}  // namespace STENO_ABI
}  // namespace steno
