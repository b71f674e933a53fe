// steno/models/qwen3_asr.hpp - Qwen3-ASR: log-mel frames, an audio tower, and a language model that reads its rows.
//
//   rows   = audio_tower(log_mel<128>(pcm))            13 rows a second
//   prompt = embed_tokens[system, user], with the rows in place of <|audio_pad|>
//   logits = language model(prompt, what was written)
//
// Follows `Qwen3ASRForConditionalGeneration` and `Qwen3ASRModel` (QwenLM/Qwen3-ASR); see docs/models/qwen3_asr.md.
// Tested in tests/models/qwen3_asr_test.cpp and tests/parity/qwen3_asr_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/result.hpp>
#include <steno/core/text_ref.hpp>
#include <steno/models/metadata.hpp>
#include <steno/models/qwen3.hpp>
#include <steno/models/qwen3_languages.hpp>
#include <steno/networks/qwen3_writing.hpp>
#include <steno/segmentation/quiet_splits.hpp>
#include <steno/text/qwen3_output.hpp>
#include <steno/text/repeated_words.hpp>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace qwen3 {

/// How recordings are cut: `split_audio_into_chunks`, and its limit of 20 minutes.
inline constexpr segmentation::cut_policy qwen3_cuts = {
    .max_seconds = 1200, .rule = segmentation::cut_rule::around, .around = 5, .min_seconds = 0.5};

/// Wishes for one call.
struct qwen3_asr_options {
  std::string language = {};                    ///< forced: a name or code; empty: the model finds it
  std::string prompt = {};                      ///< the system prompt: names, subjects, whatever helps
  int max_new_tokens = 4096;                    ///< of one part
  double max_seconds = qwen3_cuts.max_seconds;  ///< seconds; longer recordings are cut at quiet places
  double search_expand = qwen3_cuts.around;     ///< seconds around a cut
  search::token_sampling sampling = {};         ///< greedy, as the original
  std::optional<dtype> cache = std::nullopt;    ///< of keys and values; none: what suits the weights
  /// A pattern of words comes no more than so many times in a row, and circles end the writing; 0: as it comes.
  int max_repeats = 3;
  core::text_ref writing = {};  ///< takes the text of a clip so far behind each token; not of several clips at once
  const search::hotword_automaton* hotwords = nullptr;  ///< phrases to favour, beside the prompt; null: none
  std::span<const int> earlier = {};                    ///< tokens of a text that this one may repeat: written faster
};

/// One part of a recording, as the model wrote it.
struct qwen3_part {
  extent start = 0;                                   ///< first sample
  extent count = 0;                                   ///< samples of the recording
  std::vector<int> ids;                               ///< without the end
  std::string raw;                                    ///< text of the ids, special tokens left out
  text::qwen3_output output;                          ///< language and text that `raw` stands for
  nn::qwen3_stop stop = nn::qwen3_stop::end_of_text;  ///< why the writing ended
};
/// A recording, as the model wrote it; its parts are joined as the original does it.
struct qwen3_transcription {
  std::string language;           ///< names of the parts' languages, neighbours that are equal once, with commas
  std::string text;               ///< texts of the parts without anything in between
  std::vector<qwen3_part> parts;  ///< in order
};

/// A prompt: rows of `before`, rows of the audio, rows of `after`.
struct qwen3_prompt {
  std::vector<int> before;  ///< tokens in front of the audio
  std::vector<int> after;   ///< tokens behind it
};

/// Qwen3-ASR: a language model that reads audio. A loaded model is const and may be shared by threads, each with its
/// own context and state.
template <qwen3_sizes S>
class qwen3_asr : public qwen3_thinker<S> {
 public:
  using base = qwen3_thinker<S>;  ///< front end, audio tower, language model, tokenizer
  /// As in qwen3_thinker.
  using base::audio_rows, base::encode, base::sample_rate, base::text, base::tokenizer, base::width;
  static constexpr std::string_view architecture = "qwen3_asr";  ///< `general.architecture` of its files
  /// The header that brings it into the pipelines.
  static constexpr std::string_view family_header = "steno/pipelines/qwen3_asr.hpp";
  static constexpr float hotword_score = 4;  ///< what a token of a phrase earns while a text is written
  using options = qwen3_asr_options;         ///< of one call of recognise()

  qwen3_asr() = default;
  /// Front end, tokenizer and settings from the file's metadata; the weights are bound by load(). Throws steno::error.
  STENO_COLD explicit qwen3_asr(const gguf_file& file) : base(file, architecture) {
    if (file.has("qwen3_asr.eos_ids"))
      ends = models::read_ids(file, "qwen3_asr.eos_ids");
    else
      ends = {tokenizer.require("<|im_end|>"), tokenizer.require("<|endoftext|>")};
    if (file.has("qwen3_asr.languages")) own_languages = file.strings("qwen3_asr.languages");
    if (file.has("qwen3_asr.longest_clip"))
      max_clip_seconds = models::read_number(file, "qwen3_asr.longest_clip", 1, 1200, 0);
  }

  std::vector<int> ends;                   ///< tokens that end a text
  std::vector<std::string> own_languages;  ///< names; empty: the published models'
  /// Seconds that the model understands at once, where its file says so: what pipelines and sessions hand it is no
  /// longer by default. 0: as the original.
  double max_clip_seconds = 0;

  void members(auto&& v) {
    base::members(v);
    v.equal("rows of lm_head and embed_tokens", text.outputs(), text.vocabulary());  // what is written is read again
  }

  /// Names of the languages that can be forced.
  STENO_COLD std::vector<std::string> languages() const {
    if (!own_languages.empty()) return own_languages;
    std::vector<std::string> all;
    for (const qwen3_language& l : qwen3_languages) all.emplace_back(l.name);
    return all;
  }
  /// Whether language_name() takes it.
  STENO_COLD bool supports_language(std::string_view given) const {
    const std::string normal = text::normal_language(given);
    if (normal.empty() || normal == "Auto" || !find_qwen3_language(given).empty()) return true;
    const std::vector<std::string> known = languages();
    return std::find(known.begin(), known.end(), normal) != known.end() || !find_qwen3_language(normal).empty();
  }
  /// The name of a language given by name or code; empty for "", "auto" and white space. Throws steno::error for one
  /// that the model does not know.
  STENO_COLD std::string language_name(std::string_view given) const {
    const std::string normal = text::normal_language(given);
    if (normal.empty() || normal == "Auto") return {};
    const std::string_view by_code = find_qwen3_language(given);
    const std::string name = by_code.empty() ? normal : std::string(by_code);
    if (!supports_language(given))
      fail({.what = "language " + steno::weights::quoted(std::string(given)), .expected = "one that the model knows"});
    return name;
  }
  /// The prompt for a clip; `language` is a name or empty, `written` what the answer begins with.
  STENO_COLD qwen3_prompt prompt(const std::string& context_text, const std::string& language,
                                 std::string_view written = {}) const {
    constexpr std::string_view what = "the prompt (context and hotwords)";
    check_prompt_text(what, context_text);
    qwen3_prompt p;
    p.before =
        tokenizer.encode("<|im_start|>system\n" + context_text + "<|im_end|>\n<|im_start|>user\n<|audio_start|>");
    std::string after = "<|audio_end|><|im_end|>\n<|im_start|>assistant\n";
    if (!language.empty()) after.append("language ").append(language).append("<asr_text>");
    p.after = tokenizer.encode(after.append(written));
    check_prompt_tokens(what, p.before.size());
    return p;
  }

  /// Room for keys and values, in `format` or the default one. Throws steno::error for other formats than
  /// f32, f16 and q8_0.
  nn::qwen3_decoder_state state_for(const std::optional<dtype>& format) const {
    return nn::qwen3_state_of(text, format);
  }
  /// How a text in this language (a name or empty) is written: what ends it, how a token is chosen.
  nn::qwen3_writing writing(const qwen3_asr_options& o, const std::string& language) const {
    return {.ends = ends,
            .max_tokens = o.max_new_tokens,
            .sampling = o.sampling,
            .stop_loops = o.max_repeats > 0,
            .hotwords = o.hotwords,
            .text_tag = text_tag(language),
            .earlier = o.earlier};
  }
  /// The token behind which the text begins, or -1 where the prompt has it; `language` is a name or empty.
  int text_tag(const std::string& language) const { return language.empty() ? tokenizer.find("<asr_text>") : -1; }

  /// One clip that is encoded at once: what the model writes of it. `s` begins anew.
  qwen3_part write(std::span<const float> pcm, const qwen3_prompt& p, const std::string& language,
                   const qwen3_asr_options& o, nn::qwen3_decoder_state& s, context& c) const {
    core::workspace::frame scratch(c.scratch);
    auto last = scratch.template matrix<dynamic, width>(1, text.width());
    s.clear();
    read_prompt(pcm, p, s, 0, last, c);
    auto scope = c.enter("text");
    const auto show = [&](const nn::qwen3_writer& w) {
      if (!o.writing) return;
      const std::string raw = this->tokenizer.decode(w.text().ids, true);
      if (!language.empty() || raw.find("<asr_text>") != std::string::npos)  // else there is no text yet
        o.writing(steno::text::parse_qwen3_output(raw, language, false).text);
    };
    return part_of(pcm, language, o,
                   nn::qwen3_write(text, view<float, dynamic, width>(last), s, writing(o, language), c, {}, show));
  }
  /// Several clips at once: every step writes a token of each.
  std::vector<qwen3_part> write(std::span<const std::span<const float>> clips, const qwen3_prompt& p,
                                const std::string& language, const qwen3_asr_options& o, nn::qwen3_decoder_state& s,
                                context& c) const {
    core::workspace::frame scratch(c.scratch);
    s.clear();
    auto last = scratch.template matrix<dynamic, width>(static_cast<extent>(clips.size()), text.width());
    for (std::size_t i = 0; i < clips.size(); ++i)
      read_prompt(clips[i], p, s, static_cast<extent>(i), last.middleRows(static_cast<extent>(i), 1), c);
    std::vector<nn::qwen3_writer> writers(clips.size(), nn::qwen3_writer(writing(o, language)));
    std::vector<nn::qwen3_text> texts =
        nn::qwen3_write_together(text, view<float, dynamic, width>(last), s, std::span<nn::qwen3_writer>(writers), c);
    std::vector<qwen3_part> parts;
    for (std::size_t i = 0; i < clips.size(); ++i) parts.push_back(part_of(clips[i], language, o, std::move(texts[i])));
    return parts;
  }

 private:
  /// Reads the prompt of a clip as text number `n`; `last` [1, width] is what the first token is chosen by.
  void read_prompt(std::span<const float> pcm, const qwen3_prompt& p, nn::qwen3_decoder_state& s, extent n,
                   view<float, dynamic, width> last, context& c) const {
    core::workspace::frame scratch(c.scratch);
    const extent audio = audio_rows(static_cast<extent>(pcm.size()));
    const auto before = static_cast<extent>(p.before.size()), after = static_cast<extent>(p.after.size());
    auto x = scratch.template matrix<dynamic, width>(before + audio + after, text.width());
    text.embed(p.before, x.topRows(before));
    encode(pcm, x.middleRows(before, audio), c);
    text.embed(p.after, x.bottomRows(after));
    auto scope = c.enter("text");
    c.trace("in", x);
    nn::qwen3_read(text, x, s, c, n);
    last = x.bottomRows(1);
  }
  /// f(start, count, padded) for the parts of a recording; those of something longer are filled up to half a second.
  template <class F>
  static void each_piece(std::span<const float> pcm, const qwen3_asr_options& o, F&& f) {
    segmentation::cut_policy p = qwen3_cuts;
    p.max_seconds = o.max_seconds;
    p.around = o.search_expand;
    const std::vector<extent> starts = segmentation::quiet_splits(pcm, sample_rate, p);
    constexpr auto shortest = static_cast<extent>(qwen3_cuts.min_seconds * sample_rate);
    std::vector<float> padded;
    for (std::size_t i = 0; i < starts.size(); ++i) {
      const extent end = i + 1 < starts.size() ? starts[i + 1] : static_cast<extent>(pcm.size());
      padded.clear();
      if (starts.size() > 1 && end - starts[i] < shortest) {
        padded.assign(pcm.begin() + starts[i], pcm.begin() + end);
        padded.resize(static_cast<std::size_t>(shortest));
      }
      f(starts[i], end - starts[i], std::as_const(padded));
    }
  }
  qwen3_part part_of(std::span<const float> pcm, const std::string& language, const qwen3_asr_options& o,
                     nn::qwen3_text t) const {
    qwen3_part made;
    made.count = static_cast<extent>(pcm.size());
    made.stop = t.stop;
    made.raw = tokenizer.decode(t.ids, true);
    made.output = text::parse_qwen3_output(made.raw, language);
    if (o.max_repeats > 0)
      made.output.text = text::limit_repeats(std::move(made.output.text), static_cast<std::size_t>(o.max_repeats));
    made.ids = std::move(t.ids);
    return made;
  }

 public:
  /// Several recordings, as transcribe() each: the parts of all are written `together` at a time, which reads the
  /// weights once for as many tokens.
  STENO_COLD std::vector<qwen3_transcription> transcribe(std::span<const std::span<const float>> recordings,
                                                         const qwen3_asr_options& o, context& c,
                                                         std::size_t together = 8) const {
    const std::string language = language_name(o.language);
    const qwen3_prompt p = prompt(o.prompt, language);
    std::vector<qwen3_transcription> all(recordings.size());
    std::vector<std::vector<std::string>> found(recordings.size());
    struct piece {
      std::size_t recording;
      extent start, count;
      std::vector<float> padded;
    };
    std::vector<piece> waiting;
    nn::qwen3_decoder_state s = state_for(o.cache);
    const auto write_waiting = [&] {
      std::vector<std::span<const float>> clips;
      for (const piece& w : waiting)
        clips.push_back(w.padded.empty() ? recordings[w.recording].subspan(static_cast<std::size_t>(w.start),
                                                                           static_cast<std::size_t>(w.count))
                                         : std::span<const float>(w.padded));
      std::vector<qwen3_part> parts = write(clips, p, language, o, s, c);
      for (std::size_t i = 0; i < parts.size(); ++i) {
        parts[i].start = waiting[i].start;
        parts[i].count = waiting[i].count;
        all[waiting[i].recording].text += parts[i].output.text;
        found[waiting[i].recording].push_back(parts[i].output.language);
        all[waiting[i].recording].parts.push_back(std::move(parts[i]));
      }
      waiting.clear();
    };
    for (std::size_t r = 0; r < recordings.size(); ++r)
      each_piece(recordings[r], o, [&](extent start, extent count, const std::vector<float>& padded) {
        waiting.push_back({r, start, count, padded});
        if (waiting.size() == std::max<std::size_t>(together, 1)) write_waiting();
      });
    if (!waiting.empty()) write_waiting();
    for (std::size_t r = 0; r < recordings.size(); ++r) all[r].language = text::merge_languages(found[r]);
    return all;
  }

  /// A recording: mono samples at 16 kHz in [-1, 1], cut at quiet places when it is longer than o.max_seconds. Follows
  /// `Qwen3ASRModel.transcribe`. `emit(const qwen3_part&)` is called after each part. Throws steno::error for a
  /// language the model does not know.
  template <class Emit>
  STENO_COLD qwen3_transcription transcribe(std::span<const float> pcm, const qwen3_asr_options& o, context& c,
                                            Emit&& emit) const {
    const std::string language = language_name(o.language);
    const qwen3_prompt p = prompt(o.prompt, language);
    qwen3_transcription all;
    nn::qwen3_decoder_state s = state_for(o.cache);
    std::vector<std::string> found;
    each_piece(pcm, o, [&](extent start, extent count, const std::vector<float>& padded) {
      qwen3_part made =
          write(padded.empty() ? pcm.subspan(static_cast<std::size_t>(start), static_cast<std::size_t>(count)) : padded,
                p, language, o, s, c);
      made.start = start;
      made.count = count;
      all.text += made.output.text;
      found.push_back(made.output.language);
      emit(std::as_const(made));
      all.parts.push_back(std::move(made));
    });
    all.language = text::merge_languages(found);
    return all;
  }
  /// The same at once.
  qwen3_transcription transcribe(std::span<const float> pcm, const qwen3_asr_options& o, context& c) const {
    return transcribe(pcm, o, c, [](const qwen3_part&) {});
  }

  /// The same for one clip as a segment.
  STENO_COLD segment recognise(std::span<const float> pcm, const qwen3_asr_options& o, context& c) const;
  /// The same for several clips, which are written together.
  STENO_COLD std::vector<segment> recognise(std::span<const std::span<const float>> clips, const qwen3_asr_options& o,
                                            context& c) const;

 private:
  STENO_COLD static segment segment_of(qwen3_transcription t, std::size_t count) {
    segment s;
    s.end = static_cast<double>(count) / sample_rate;
    s.text = std::move(t.text);
    s.language = std::move(t.language);
    std::string stop(nn::stop_name(nn::qwen3_stop::end_of_text)), raw;
    for (qwen3_part& p : t.parts) {
      s.token_ids.insert(s.token_ids.end(), p.ids.begin(), p.ids.end());
      if (p.stop != nn::qwen3_stop::end_of_text) stop = nn::stop_name(p.stop);
      raw += p.raw;
    }
    core::add_extra(s.extra, "raw_text", std::move(raw));
    s.stop_reason = std::move(stop);
    return s;
  }
};

template <qwen3_sizes S>
segment qwen3_asr<S>::recognise(std::span<const float> pcm, const qwen3_asr_options& o, context& c) const {
  return segment_of(transcribe(pcm, o, c), pcm.size());
}

template <qwen3_sizes S>
std::vector<segment> qwen3_asr<S>::recognise(std::span<const std::span<const float>> clips, const qwen3_asr_options& o,
                                             context& c) const {
  std::vector<qwen3_transcription> all = transcribe(clips, o, c, clips.size());
  std::vector<segment> made;
  for (std::size_t i = 0; i < all.size(); ++i) made.push_back(segment_of(std::move(all[i]), clips[i].size()));
  return made;
}

/// The smaller one of the published sizes.
using qwen3_asr_0_6b = qwen3_asr<qwen3_sizes{.audio_tower = {.mels = 128,
                                                             .channels = 480,
                                                             .width = 896,
                                                             .heads = 14,
                                                             .units = 3584,
                                                             .layers = 18,
                                                             .half_chunk = 50,
                                                             .block_frames = 800},
                                             .text = {.width = 1024,
                                                      .heads = 16,
                                                      .key_heads = 8,
                                                      .head_width = 128,
                                                      .units = 3072,
                                                      .layers = 28,
                                                      .vocabulary = 151936,
                                                      .outputs = 151936,
                                                      .rope_theta = 1000000}}>;
/// The larger one.
using qwen3_asr_1_7b = qwen3_asr<qwen3_sizes{.audio_tower = {.mels = 128,
                                                             .channels = 480,
                                                             .width = 1024,
                                                             .heads = 16,
                                                             .units = 4096,
                                                             .layers = 24,
                                                             .half_chunk = 50,
                                                             .block_frames = 800},
                                             .text = {.width = 2048,
                                                      .heads = 16,
                                                      .key_heads = 8,
                                                      .head_width = 128,
                                                      .units = 6144,
                                                      .layers = 28,
                                                      .vocabulary = 151936,
                                                      .outputs = 151936,
                                                      .rope_theta = 1000000}}>;
/// Any size, adopted from the file.
using qwen3_asr_any = qwen3_asr<qwen3_sizes{}>;

}  // namespace qwen3
}  // namespace STENO_ABI
}  // namespace steno
