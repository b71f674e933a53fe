// steno/models/fun_asr_nano.hpp - Fun-ASR-Nano: SAN-M encoder, adaptor, and Qwen3 that writes the text.
//
//   rows   = audio_adaptor(audio_encoder(features))       features as SenseVoice's, without CMVN; 60 ms a row
//   prompt = [system, user: what to do, the first fake_token_len(frames) rows, assistant]
//   text   = language model, token by token
//   times  = best path of the text's tokens through log_softmax(ctc_lo(ctc_decoder(audio_encoder(features))))
//
// Follows `FunASRNano` (funasr/models/fun_asr_nano/model.py); see docs/models/fun_asr_nano.md. Tested in
// tests/parity/fun_asr_nano_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/result.hpp>
#include <steno/core/sorting.hpp>
#include <steno/frontends/wav_frontend.hpp>
#include <steno/kernels/softmax.hpp>
#include <steno/models/fun_asr_nano_prompt.hpp>
#include <steno/models/load.hpp>
#include <steno/models/metadata.hpp>
#include <steno/models/qwen_vocabulary.hpp>
#include <steno/networks/audio_adaptor.hpp>
#include <steno/networks/qwen3_decoder.hpp>
#include <steno/networks/qwen3_writing.hpp>
#include <steno/networks/sanm_encoder.hpp>
#include <steno/search/ctc_alignment.hpp>
#include <steno/search/ctc_greedy.hpp>
#include <steno/search/scores.hpp>
#include <steno/text/repeated_words.hpp>
#include <steno/tokenizers/byte_bpe.hpp>
#include <steno/tokenizers/byte_words.hpp>
#include <steno/tokenizers/qwen_tokens.hpp>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace funasr {

/// Sizes by name; what is left out is adopted from the file.
struct fun_asr_nano_sizes {
  nn::sanm_sizes audio_encoder = {};           ///< of the audio encoder
  nn::audio_adaptor_sizes audio_adaptor = {};  ///< from the encoder's rows to those of the language model
  nn::audio_adaptor_sizes ctc_decoder = {};    ///< from the encoder's rows to those of the CTC head
  extent ctc_vocabulary = dynamic;             ///< tokens of the CTC head
  nn::qwen3_text_sizes llm = {};               ///< of the language model
};

/// Fun-ASR-Nano: an audio encoder, and a language model that writes the text. Const and safe for threads, each with
/// its own context.
template <fun_asr_nano_sizes S, class Frontend = frontends::wav_frontend<>>
class fun_asr_nano {
  using Encoder = nn::sanm_encoder<S.audio_encoder>;
  using Adaptor = steno::nn::audio_adaptor<S.audio_adaptor>;
  using CtcDecoder = steno::nn::audio_adaptor<S.ctc_decoder>;
  using Decoder = nn::qwen3_decoder<S.llm>;
  static constexpr extent CtcVocab = S.ctc_vocabulary;

 public:
  static constexpr fun_asr_nano_sizes sizes = S;                    ///< `dynamic` where the file decides
  static constexpr std::string_view architecture = "fun_asr_nano";  ///< `general.architecture` of its files
  /// The header that brings it into the pipelines.
  static constexpr std::string_view family_header = "steno/pipelines/fun_asr_nano.hpp";
  static constexpr float hotword_score = 3;        ///< what a token of a phrase earns while a text is written
  static constexpr int sample_rate = 16000;        ///< Hz of the mono samples that it takes
  static constexpr extent width = Decoder::input;  ///< columns of the language model's rows
  using options = fun_asr_nano_options;            ///< of one call of recognise()

  fun_asr_nano() = default;
  /// Front end, tokenizer and settings from the file's metadata; the weights are bound by load(). Throws steno::error.
  STENO_COLD explicit fun_asr_nano(const gguf_file& file)
      : frontend(models::read_wav_frontend<Frontend>(file, architecture)) {
    tokenizer = qwen3::read_qwen_tokens(file);
    ends = file.has("fun_asr_nano.eos_ids") ? models::read_ids(file, "fun_asr_nano.eos_ids")
                                            : std::vector<int>{tokenizer.require("<|im_end|>")};
    low_frame_rate = models::read_flag(file, "fun_asr_nano.use_low_frame_rate", true);
    think = models::read_flag(file, "fun_asr_nano.do_think", true);
    if (file.has("fun_asr_nano.ctc.tokens"))
      ctc_tokens = models::made_of(file, "fun_asr_nano.ctc.tokens", [&] {
        return tokenizers::byte_bpe(models::stored_tokens(file, "fun_asr_nano.ctc.tokens"));
      });
    if (file.has("fun_asr_nano.ctc.special_tokens"))
      ctc_special = models::read_tokens(file, "fun_asr_nano.ctc.special_tokens");
    ctc_blank = static_cast<int>(models::read_whole(file, "fun_asr_nano.ctc.blank_id", 0, 1 << 24, 0));
  }

  Frontend frontend;                                ///< samples to features
  Encoder audio_encoder;                            ///< features to rows, SAN-M
  Adaptor audio_adaptor;                            ///< its rows to the language model's width
  CtcDecoder ctc_decoder;                           ///< with ctc_lo, where the file has them
  nn::linear<CtcDecoder::output, CtcVocab> ctc_lo;  ///< rows of ctc_decoder to logits, where the file has it
  Decoder llm;                           ///< the language model, Qwen3; no layers in files of the audio half alone
  tokenizers::qwen_tokens tokenizer;     ///< text to ids and back
  tokenizers::byte_bpe ctc_tokens;       ///< of the CTC head, by number; none where the file has no head
  std::vector<std::string> ctc_special;  ///< names of the tokens behind them that its texts may show
  int ctc_blank = 0;                     ///< number of its blank
  std::vector<int> ends;                 ///< tokens that end a text
  bool low_frame_rate = true;     ///< the language model reads the first eighth of the rows alone: audio_tokens()
  bool think = true;              ///< false: the answer begins with an empty block of thoughts
  models::model_storage storage;  ///< what the weights point into

  void members(auto&& v) {
    v("audio_encoder", audio_encoder);
    v("audio_adaptor", audio_adaptor);
    v.optional("ctc.ctc_lo", ctc_lo);
    if (ctc_lo.w) v("ctc_decoder", ctc_decoder);
    v("llm", llm);
    v.equal("widths of features and audio_encoder", frontend.width(), audio_encoder.input_size());
    v.equal("widths of audio_encoder and audio_adaptor", audio_encoder.output_size(), audio_adaptor.input_size());
    v.equal("widths of audio_adaptor and language model", audio_adaptor.output_size(), llm.width());
    v.equal("audio_encoder.output_size and its width", nn::sanm_width(audio_encoder), audio_encoder.output_size());
    if (ctc_lo.w) v.equal("widths of ctc_decoder and ctc_lo", ctc_decoder.output_size(), ctc_lo.input_size());
    if (ctc_lo.w)
      v.equal("widths of audio_encoder and ctc_decoder", audio_encoder.output_size(), ctc_decoder.input_size());
    if (ctc_lo.w) {
      const extent named = ctc_tokens.size() + static_cast<extent>(ctc_special.size());
      v.within("fun_asr_nano.ctc.blank_id among the rows of ctc.ctc_lo", ctc_blank, 0, ctc_lo.output_size() - 1);
      v.within("number of fun_asr_nano.ctc.tokens and special_tokens, and rows of ctc.ctc_lo", named, 0,
               ctc_lo.output_size());
    }
    v.within("number of tokenizer.ggml.tokens, and rows of embed_tokens", tokenizer.size(), 0, llm.vocabulary());
    v.equal("rows of lm_head and embed_tokens", llm.outputs(), llm.vocabulary());
  }
  /// Codes of the languages that the model knows by its kind, and "auto": none is named. Models that read all rows are
  /// the multilingual ones.
  STENO_COLD std::vector<std::string> languages() const {
    std::vector<std::string> codes{"auto"};
    for (const fun_asr_nano_language& l : fun_asr_nano_languages)
      if (!low_frame_rate || codes.size() < 4) codes.emplace_back(l.code);
    return codes;
  }
  /// One of them, or a name in Chinese, which is put into the prompt as it is.
  STENO_COLD bool supports_language(std::string_view language) const {
    const auto ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
    const std::vector<std::string> codes = languages();
    return std::find(codes.begin(), codes.end(), language) != codes.end() ||
           (!language.empty() && std::none_of(language.begin(), language.end(), ascii));
  }
  /// Whether words get times: the file has a CTC head and its tokens.
  bool aligns() const noexcept { return ctc_lo.w && ctc_tokens.size() > 0; }

  /// Rows of the adaptor that the language model reads, of so many frames of features.
  extent audio_tokens(extent frames) const noexcept {
    if (!low_frame_rate) return frames;
    // Floors, as Python divides.
    const auto half = [](extent n) { return (n - (n < 0 ? 1 : 0)) / 2; };
    const extent a = 1 + half(frames - 1), b = 1 + half(a - 1);
    return half(b - 1) + 1;
  }
  /// A prompt: tokens, the rows of the audio, tokens.
  struct prompt_ids {
    std::vector<int> before;  ///< in front of the audio
    std::vector<int> after;   ///< behind it
  };
  /// The prompt that `o` makes. Throws steno::error when it is too long.
  STENO_COLD prompt_ids prompt(const options& o) const {
    std::string before = "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n<|im_start|>user\n";
    std::string after = "<|im_end|>\n<|im_start|>assistant\n";
    if (!think) after += "<think>\n\n</think>\n\n";
    before += fun_asr_nano_prompt(o);
    constexpr std::string_view what = "the prompt (hotwords)";
    qwen3::check_prompt_text(what, before);
    prompt_ids p{tokenizer.encode(before), tokenizer.encode(after)};
    qwen3::check_prompt_tokens(what, p.before.size());
    return p;
  }

  /// Mono samples at 16 kHz in [-1, 1] to the encoder's rows [frontend.rows(pcm.size()), width of the encoder].
  void encode(std::span<const float> pcm, view<float, dynamic, Encoder::output> y, context& c) const {
    core::workspace::frame scratch(c.scratch);
    auto x = scratch.template matrix<dynamic, Encoder::input>(y.rows(), audio_encoder.input_size());
    frontend(pcm, x, c);
    auto scope = c.enter("audio_encoder");
    audio_encoder(x, y, nullptr, nn::no_env{}, c);
  }
  /// Rows of the CTC head's scores for so many of the encoder's.
  extent ctc_rows(extent frames) const noexcept { return ctc_decoder.rows(frames); }
  /// Log-probabilities of the CTC head for the encoder's rows; only where the file has one.
  void score(view<const float, dynamic, Encoder::output> encoded, view<float, dynamic, CtcVocab> scores,
             context& c) const {
    core::workspace::frame scratch(c.scratch);
    auto made = scratch.template matrix<dynamic, CtcDecoder::output>(scores.rows(), ctc_decoder.output_size());
    decode_ctc(encoded, made, c);
    ctc_lo.multiply(core::as<const float, dynamic, CtcDecoder::output>(made), scores, c);
    c.trace("ctc_logits", scores);
    kernels::log_softmax(core::read(scores), core::write(scores), c.run);
    search::require_numbers(core::read(scores), c.run);
    c.trace("ctc_log_probs", scores);
  }
  /// A token of a text and when it was spoken.
  struct ctc_time {
    int id;                 ///< of ctc_tokens
    double start, end;      ///< seconds
    float log_probability;  ///< the highest of its frames
  };
  /// What the CTC head makes of a recording.
  struct ctc_reading {
    std::string text;             ///< its own, greedy
    std::vector<ctc_time> times;  ///< of the tokens of the given text; empty where they do not fit into the frames
  };
  /// The head's own text, and times of the tokens of `text`, from the encoder's rows. Only where aligns().
  STENO_COLD ctc_reading read_ctc(view<const float, dynamic, Encoder::output> encoded, std::string_view text,
                                  context& c) const {
    auto scope = c.enter("ctc");
    const std::vector<int> ids = ctc_tokens.encode(text);
    // Columns of the scores: the blank, and each of the text's tokens once. All of them would be 240 kB a row.
    std::vector<int> columns(ids), labels;
    core::sort_stably(columns);
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    columns.insert(columns.begin(), ctc_blank);
    for (const int id : ids)
      labels.push_back(static_cast<int>(std::lower_bound(columns.begin() + 1, columns.end(), id) - columns.begin()));
    const bool spoken = std::find(ids.begin(), ids.end(), ctc_blank) == ids.end();

    core::workspace::frame scratch(c.scratch);
    const extent rows = ctc_rows(encoded.rows());
    auto made = scratch.template matrix<dynamic, CtcDecoder::output>(rows, ctc_decoder.output_size());
    auto kept = scratch.template matrix<dynamic, dynamic>(rows, static_cast<extent>(columns.size()));
    decode_ctc(encoded, made, c);
    std::vector<int> best;
    constexpr extent at_once = 64;
    for (extent t = 0; t < rows; t += at_once) {
      core::workspace::frame part(c.scratch);
      const extent n = std::min(at_once, rows - t);
      auto scores = part.template matrix<dynamic, CtcVocab>(n, ctc_lo.output_size());
      ctc_lo.multiply(core::as<const float, dynamic, CtcDecoder::output>(made.middleRows(t, n)), scores, c);
      kernels::log_softmax(core::read(scores), core::write(scores), c.run);
      search::require_numbers(core::read(scores), c.run);
      for (extent i = 0; i < n; ++i) {
        const float* const row = scores.data() + i * scores.outerStride();
        const int id = search::best_label(row, scores.cols());
        if (best.empty() || best.back() != id) best.push_back(id);
        for (std::size_t k = 0; k < columns.size(); ++k) kept(t + i, static_cast<extent>(k)) = row[columns[k]];
      }
    }
    ctc_reading made_of_it{.text = ctc_text(best), .times = {}};
    std::vector<search::ctc_token> placed;
    if (!spoken || ids.empty() ||
        !search::ctc_alignment(core::read(kept), labels, {.blank = 0, .free_blank = false, .strict_steps = true},
                               c.scratch, placed))
      return made_of_it;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const search::ctc_token& p = placed[i];
      float highest = kept(p.start, p.id);
      for (extent t = p.start; t < p.end; ++t) highest = std::max(highest, kept(t, p.id));
      made_of_it.times.push_back({ids[i], seconds(p.start), seconds(p.end), highest});
    }
    return made_of_it;
  }
  /// The prompt's rows: of tokens, and in between the first of the adaptor's.
  void embed_prompt(const prompt_ids& p, view<const float, dynamic, Encoder::output> encoded,
                    view<float, dynamic, width> x, context& c) const {
    const auto before = static_cast<extent>(p.before.size()), after = static_cast<extent>(p.after.size());
    const extent audio = x.rows() - before - after;
    core::workspace::frame scratch(c.scratch);
    auto adapted = scratch.template matrix<dynamic, width>(audio_adaptor.rows(encoded.rows()), llm.width());
    {
      auto scope = c.enter("audio_adaptor");
      audio_adaptor(core::as<const float, dynamic, Adaptor::input>(encoded),
                    core::as<float, dynamic, Adaptor::output>(adapted), nullptr, nn::no_env{}, c);
    }
    c.trace("audio_adaptor", adapted);
    llm.embed(p.before, x.topRows(before));
    x.middleRows(before, audio) = adapted.topRows(audio);
    llm.embed(p.after, x.bottomRows(after));
    c.trace("audio_embeds_used", adapted.topRows(audio));
    c.trace("inputs_embeds", x);
  }

  /// One clip of mono samples at 16 kHz in [-1, 1], all at once. Throws steno::error when the file holds no language
  /// model (only its embedding).
  STENO_COLD segment recognise(std::span<const float> pcm, const options& o, context& c) const;
  /// Words of tokens with times; none ends behind `end`.
  STENO_COLD std::vector<word> words_of(std::span<const ctc_time> times, double end) const {
    std::vector<tokenizers::timed_piece> pieces;
    for (const ctc_time& t : times)
      pieces.push_back({ctc_tokens.bytes(t.id), std::min(t.start, end), std::min(t.end, end), t.log_probability});
    return tokenizers::join_byte_words(pieces);
  }

 private:
  void decode_ctc(view<const float, dynamic, Encoder::output> encoded, view<float, dynamic, CtcDecoder::output> y,
                  context& c) const {
    {
      auto scope = c.enter("ctc_decoder");
      ctc_decoder(core::as<const float, dynamic, CtcDecoder::input>(encoded), y, nullptr, nn::no_env{}, c);
    }
    c.trace("ctc_decoder", y);
  }
  // The original takes 60 ms a frame whatever the decoder joins, and no offset of the first.
  double seconds(extent frame) const noexcept {
    const double ms = frontend.head.head.options().frame_shift * static_cast<double>(frontend.head.last.n());
    return static_cast<double>(frame) * ms / 1000;
  }
  // Labels without repetitions; tokens of times, and those without a name, show nothing.
  std::string ctc_text(const std::vector<int>& labels) const {
    std::string text;
    for (const int id : labels) {
      if (id == ctc_blank) continue;
      const extent special = id - ctc_tokens.size();
      if (special < 0)
        text += ctc_tokens.bytes(id);
      else if (special < static_cast<extent>(ctc_special.size()))
        text += ctc_special[static_cast<std::size_t>(special)];
    }
    text = tokenizers::unicode::replace_invalid(text);
    constexpr std::string_view silence = "<|nospeech|>";
    for (std::size_t at = 0; (at = text.find(silence, at)) != std::string::npos;) text.erase(at, silence.size());
    return text;
  }
  // White space of any kind and "/sil" become one space.
  static std::string plain_text(std::string text) {
    for (std::size_t at = 0; (at = text.find("/sil", at)) != std::string::npos;) text.replace(at, 4, 1, ' ');
    std::string made;
    bool space = false;
    for (std::string_view rest = text; !rest.empty();) {
      const tokenizers::unicode::code_point p = tokenizers::unicode::first_of(rest);
      const bool blank = tokenizers::unicode::is_space(p.value) || (p.value >= 0x1c && p.value <= 0x1f);
      if (blank && !space) made += ' ';
      if (!blank) made += rest.substr(0, p.length);
      space = blank;
      rest.remove_prefix(p.length);
    }
    return made;
  }
};

template <fun_asr_nano_sizes S, class Frontend>
segment fun_asr_nano<S, Frontend>::recognise(std::span<const float> pcm, const options& o, context& c) const {
  segment s;
  s.end = static_cast<double>(pcm.size()) / sample_rate;
  const extent frames = frontend.rows(static_cast<extent>(pcm.size()));
  if (frames == 0) return s;
  const prompt_ids p = prompt(o);
  const extent audio = std::min(audio_tokens(frames), audio_adaptor.rows(frames));
  core::workspace::frame scratch(c.scratch);
  auto encoded = scratch.template matrix<dynamic, Encoder::output>(frames, audio_encoder.output_size());
  auto x = scratch.template matrix<dynamic, width>(static_cast<extent>(p.before.size() + p.after.size()) + audio,
                                                   llm.width());
  encode(pcm, encoded, c);
  embed_prompt(p, core::as<const float, dynamic, Encoder::output>(encoded), x, c);
  if (llm.layers.empty())
    fail({.what = "the file holds no language model", .hint = "only the audio half can be traced"});
  auto scope = c.enter("llm");
  nn::qwen3_decoder_state state = nn::qwen3_state_of(llm, o.cache);
  nn::qwen3_read(llm, x, state, c);
  const nn::qwen3_writing how{.ends = ends,
                              .max_tokens = o.max_new_tokens,
                              .sampling = o.sampling,
                              .stop_loops = o.max_repeats > 0,
                              .hotwords = o.favoured,
                              .earlier = o.earlier};
  const auto show = [&](const nn::qwen3_writer& w) {
    if (o.writing) o.writing(plain_text(tokenizer.decode(w.text().ids, true)));
  };
  nn::qwen3_text t = nn::qwen3_write(llm, view<float, dynamic, width>(x.bottomRows(1)), state, how, c, {}, show);
  s.text = plain_text(tokenizer.decode(t.ids, true));
  if (o.max_repeats > 0) s.text = text::limit_repeats(std::move(s.text), static_cast<std::size_t>(o.max_repeats));
  s.token_ids = std::move(t.ids);
  s.stop_reason = nn::stop_name(t.stop);
  if (!o.word_timestamps || !aligns()) return s;
  const ctc_reading read = read_ctc(core::as<const float, dynamic, Encoder::output>(encoded), s.text, c);
  s.words = words_of(read.times, s.end);
  core::add_extra(s.extra, "ctc_text", read.text);
  return s;
}

/// The published model.
using fun_asr_nano_0_8b = fun_asr_nano<fun_asr_nano_sizes{
    .audio_encoder =
        {.features = 560, .width = 512, .heads = 4, .units = 2048, .taps = 11, .blocks = 49, .tp_blocks = 20},
    .audio_adaptor = {.features = 512, .inner = 2048, .width = 1024, .heads = 8, .units = 256, .blocks = 2, .rate = 1},
    .ctc_decoder = {.features = 512, .inner = 2048, .width = 512, .heads = 8, .units = 128, .blocks = 5, .rate = 1},
    .ctc_vocabulary = 60515,
    .llm = {.width = 1024,
            .heads = 16,
            .key_heads = 8,
            .head_width = 128,
            .units = 3072,
            .layers = 28,
            .vocabulary = 151936,
            .outputs = 151936,
            .rope_theta = 1000000}}>;
/// Any size, adopted from the file.
using fun_asr_nano_any = fun_asr_nano<fun_asr_nano_sizes{}, frontends::wav_frontend_any>;

}  // namespace funasr
}  // namespace STENO_ABI
}  // namespace steno
