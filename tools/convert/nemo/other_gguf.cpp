// tools/convert/nemo/other_gguf.cpp - see other_gguf.hpp.
//
// A name in such a file is made of NeMo's by a table of parts. Biases and norms are as the checkpoint had them, but for
// the sum of the LSTM's two biases in transcribe.cpp's files and a bias of zeros in CrispASR's depthwise convolutions.
// Pieces of CrispASR's files have no types: they are known by how they are written.
#include "nemo/other_gguf.hpp"

#include <steno/error.hpp>
#include <steno/models/sortformer.hpp>
#include <steno/weights/byte_cursor.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gguf_settings.hpp"
#include "limits.hpp"
#include "nemo/parakeet.hpp"
#include "nemo/sortformer.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace nemo_files {

namespace {

using name_part = std::pair<std::string_view, std::string_view>;

// The first part that fits is replaced, of each list.
std::string replace_parts(std::string name, std::span<const name_part> parts) {
  for (const auto& [from, to] : parts)
    if (const std::size_t i = name.find(from); i != std::string::npos) name.replace(i, from.size(), to);
  return name;
}

// decoder.prediction.dec_rnn.lstm.weight_ih_l0 -> {weight_ih, 0}; nothing for other names.
std::optional<std::pair<std::string, std::string>> lstm_part(const std::string& name) {
  constexpr std::string_view before = "decoder.prediction.dec_rnn.lstm.";
  if (!name.starts_with(before)) return std::nullopt;
  const std::size_t layer = name.rfind("_l");
  return std::pair(name.substr(before.size(), layer - before.size()), name.substr(layer + 2));
}

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

// The keys of a file: those that a model needs must be there, and all must be known.
class keys_of {
 public:
  explicit keys_of(const gguf_file& file) : file_(file), f_(gguf_settings(file)) {}

  std::uint32_t need(const std::string& key, std::uint32_t min, std::uint32_t max) const {
    if (!f_.settings.contains(key))
      fail({.where = f_.source,
            .what = "key " + steno::weights::quoted(key),
            .expected = "a number from " + std::to_string(min) + " to " + std::to_string(max),
            .found = "nothing"});
    return f_.number(key, 0, min, max);
  }
  std::uint32_t number(const std::string& key, std::uint32_t otherwise, std::uint32_t min, std::uint32_t max) const {
    return f_.number(key, otherwise, min, max);
  }
  double real(const std::string& key, double otherwise, double min, double max) const {
    return f_.real(key, otherwise, min, max);
  }
  bool flag(const std::string& key, bool otherwise) const {
    if (const std::string v = f_.text(key, ""); v == "0" || v == "1") return v == "1";
    return f_.flag(key, otherwise);
  }
  std::string text(const std::string& key, const std::string& otherwise) const { return f_.text(key, otherwise); }
  void require(const std::string& key, const std::string& value) const { f_.require(key, value); }
  void require_number(const std::string& key, double value) const { f_.require(key, value); }
  // A limit of attention or convolution in rows; negative is none.
  std::int32_t context(const std::string& key) const {
    return static_cast<std::int32_t>(f_.real(key, -1, -1, 1 << 20));
  }
  // Arrays; empty where there is none.
  std::vector<int> wholes(const std::string& key, int least, int most) const {
    f_.mark_read(key);
    return file_.has(key) ? models::read_wholes(file_, key, least, most, 4096) : std::vector<int>();
  }
  std::vector<std::string> strings(const std::string& key) const {
    f_.mark_read(key);
    return file_.has(key) ? file_.strings(key) : std::vector<std::string>();
  }
  std::vector<std::int32_t> durations(const std::string& key) const {
    std::vector<std::int32_t> all;
    f_.mark_read(key);
    if (!file_.has(key)) return all;
    for (const double d : file_.numbers(key)) {
      if (!(d >= 0 && d <= 1024) || d != static_cast<double>(static_cast<std::int32_t>(d)) || all.size() >= 64)
        fail({.where = f_.source,
              .what = "key " + steno::weights::quoted(key),
              .expected = "up to 64 numbers of frames",
              .found = weights::number_text(d)});
      all.push_back(static_cast<std::int32_t>(d));
    }
    return all;
  }
  // An unknown key of the model is an error.
  void check(std::span<const unused_setting> known, std::vector<std::string>& notes) const {
    constexpr std::string_view of_models[] = {"parakeet.", "nemotron.", "stt."};
    f_.check_all_read(of_models, known, notes);
  }
  const std::string& where() const { return f_.source; }

 private:
  const gguf_file& file_;
  checkpoint_settings f_;
};

constexpr std::string_view says_nothing = "of the file, not the model", in_the_tensors = "the tensors' shapes say it";
constexpr unused_setting of_crispasr_keys[] = {{"general", says_nothing, general_gguf_keys},
                                               {"tokenizer", "the vocabulary is read", tokenizer_gguf_keys},
                                               {"parakeet.ctc_vocab_size", in_the_tensors},
                                               {"nemotron.prompt_kernel_in", in_the_tensors}};
constexpr unused_setting of_transcribe_keys[] = {
    {"general", says_nothing, general_gguf_keys},
    {"tokenizer", "the vocabulary is read", tokenizer_gguf_keys},
    {"quantize.imatrix", says_nothing, "chunks_count dataset entries_count file"},
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

void check_encoder_sizes(const fastconformer_settings& s, const std::string& where) {
  if (s.width % s.heads == 0 && s.width % 2 == 0 && s.taps % 2 == 1) return;
  fail({.where = where,
        .what = "the encoder's sizes",
        .expected = "an even width that the heads divide, and an odd kernel",
        .found = std::to_string(s.width) + ", " + std::to_string(s.heads) + ", " + std::to_string(s.taps)});
}

tokenizers::piece_type type_of_piece(const std::string& piece) {
  using tokenizers::piece_type;
  if (piece == "<unk>") return piece_type::unknown;
  if (piece == "<EOU>" || piece == "<EOB>") return piece_type::user_defined;
  if (piece == "<s>" || piece == "</s>" || piece == "<pad>") return piece_type::control;
  if (piece.size() > 4 && piece.starts_with("<|") && piece.ends_with("|>")) return piece_type::control;
  const bool byte = piece.size() == 6 && piece.starts_with("<0x") && piece.back() == '>';
  return byte ? piece_type::byte : piece_type::normal;
}

// The labels; what stands behind them in a file is its name for the blank.
tokenizers::sentencepiece_vocabulary pieces_of_file(const gguf_file& file, std::uint32_t count) {
  tokenizers::sentencepiece_vocabulary v;
  v.pieces = file.strings("tokenizer.ggml.tokens");
  const bool blank = v.pieces.size() == std::size_t{count} + 1;
  if (v.pieces.size() != count && !blank)
    fail({.where = file.where(),
          .what = "key \"tokenizer.ggml.tokens\"",
          .expected = std::to_string(count) + " labels, and perhaps the blank",
          .found = std::to_string(v.pieces.size())});
  const auto numbers = [&](const char* key) {
    std::vector<double> all;
    if (!file.has(key)) return all;
    all = file.numbers(key);
    if (all.size() == v.pieces.size()) return all;
    fail({.where = file.where(),
          .what = "key " + steno::weights::quoted(key),
          .expected = std::to_string(v.pieces.size()) + " numbers",
          .found = std::to_string(all.size())});
  };
  const std::vector<double> scores = numbers("tokenizer.ggml.scores"), types = numbers("tokenizer.ggml.token_type");
  v.pieces.resize(count);
  for (std::size_t i = 0; i < v.pieces.size(); ++i) {
    v.scores.push_back(scores.empty() ? 0.0f : static_cast<float>(std::clamp(scores[i], -1e30, 1e30)));
    const bool known = !types.empty() && types[i] >= 1 && types[i] <= 6;
    tokenizers::piece_type type =
        known ? tokenizers::piece_type(static_cast<int>(types[i])) : type_of_piece(v.pieces[i]);
    if (v.pieces[i] == "<EOU>" || v.pieces[i] == "<EOB>") type = tokenizers::piece_type::user_defined;
    v.types.push_back(static_cast<int>(type));
  }
  return v;
}

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

// An LSTM whose file has the sum of its biases: the other one is 0.
void split_sums(checkpoint_tensors& from, std::uint32_t layers, extent width) {
  for (std::uint32_t i = 0; i < layers; ++i) {
    stored_tensor none{.name = "pred.lstm." + std::to_string(i) + ".no_bias", .shape = {4 * width}};
    none.read = [](std::span<float> y) { std::fill(y.begin(), y.end(), 0.0f); };
    from.all.push_back(std::move(none));
  }
}

// Pairs of left and right, with those of two other keys in front: what the attention sees.
void take_pairs(std::int32_t left, std::int32_t right, const std::vector<int>& lefts, const std::vector<int>& rights,
                const std::string& where, const std::string& what, fastconformer_settings& s) {
  if (lefts.size() != rights.size())
    fail({.where = where,
          .what = what,
          .expected = "as many on the left as on the right",
          .found = std::to_string(lefts.size()) + " and " + std::to_string(rights.size())});
  std::vector<std::vector<int>> pairs{{left, right}};
  for (std::size_t i = 0; i < lefts.size(); ++i)
    if (lefts[i] != left || rights[i] != right) pairs.push_back({lefts[i], rights[i]});
  take_contexts(pairs, where, what, s);
}

// Of CrispASR's "nemotron": everything is causal, as its program has it.
void read_crispasr_nemotron(const keys_of& f, parakeet_settings& s) {
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

imported_model import_crispasr(const std::shared_ptr<gguf_file>& file) {
  const keys_of f(*file);
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

// Front end and encoder of transcribe.cpp; `at` is "stt.parakeet." or "stt.sortformer.".
void read_transcribe_encoder(const keys_of& f, const std::string& at, const checkpoint_tensors& tensors,
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
void read_transcribe_prompts(const keys_of& f, const std::string& at, prompt_settings& p) {
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

imported_model import_transcribe(const std::shared_ptr<gguf_file>& file) {
  const keys_of f(*file);
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

}  // namespace

imported_model import_other_parakeet(const std::shared_ptr<gguf_file>& file) {
  if (file->has("parakeet.d_model") || file->has("nemotron.d_model")) return import_crispasr(file);
  if (file->has("stt.variant")) return import_transcribe(file);
  fail({.where = file->where(),
        .what = "a GGUF file of \"parakeet\" or \"nemotron\" whose keys are not known",
        .expected = "those of CrispASR (parakeet.d_model, nemotron.d_model) or transcribe.cpp (stt.variant)"});
}

imported_model import_other_sortformer(const std::shared_ptr<gguf_file>& file) {
  if (!file->has("stt.variant"))
    fail({.where = file->where(),
          .what = "a GGUF file of \"sortformer\" whose keys are not known",
          .expected = "steno's own (steno.version) or those of transcribe.cpp (stt.variant)"});
  const keys_of f(*file);
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
