// steno/models/parakeet_transducer.hpp - Parakeet RNN-T, TDT and EOU: FastConformer, prediction network, joint network.
//
//   g = lstm(embed(last label));  scores = joint_net.2(relu(enc(row) + pred(g)))   [pieces, blank, durations]
//
// NeMo `EncDecRNNTBPEModel`, `RNNTDecoder`, `RNNTJoint` and its greedy searches. Before the first label the network is
// fed zeros, not a row of the embedding. A search is a value: the labels, the state and its projection. With
// durations it is TDT. Models with prompts (Nemotron: `EncDecRNNTBPEModelWithPrompt`) put a language behind the
// encoder: row = prompt_kernel([row | one-hot]). Tested in tests/parity/parakeet_test.cpp and nemotron_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/kernels/elementwise.hpp>
#include <steno/kernels/softmax.hpp>
#include <steno/layers/lstm.hpp>
#include <steno/layers/prompt_projection.hpp>
#include <steno/models/nemo_encoders.hpp>
#include <steno/models/nemo_prompts.hpp>
#include <steno/models/parakeet.hpp>
#include <steno/models/parakeet_beam.hpp>
#include <steno/models/parakeet_windows.hpp>
#include <steno/search/ctc_greedy.hpp>
#include <steno/search/scores.hpp>
#include <steno/search/transducer_beam.hpp>
#include <steno/search/transducer_greedy.hpp>
#include <steno/tokenizers/nemo_words.hpp>

#include <algorithm>
#include <cmath>
#include <optional>

namespace steno {
inline namespace STENO_ABI {
namespace nemo {

/// The `Kind` of parakeet_transducer.
struct parakeet_transducer_kind {
  static constexpr std::string_view architecture = "parakeet_transducer";  ///< `general.architecture` of its files
};

/// Wishes for one call of recognise().
struct parakeet_transducer_options {
  extent max_symbols = 0;  ///< steps at one frame of the greedy search; 0: as the file says
  extent beam = 1;         ///< hypotheses of mAES; 1 without hotwords and a language model: greedy
  const steno::search::hotword_automaton* hotwords =
      nullptr;                                        ///< they need a beam and must outlive the call; null: none
  const steno::search::word_scorer* words = nullptr;  ///< a language model, the same
  bool ctc = false;                                   ///< the CTC head of a hybrid model, its best path
  std::string language = "auto";                      ///< of models with prompts: a name that languages() has, or auto
  std::optional<int> look_ahead = {};                 ///< rows of 80 ms, one of those that the model was trained with
  parakeet_windows windows = {};                      ///< how long recordings are cut
};

/// A label of a transducer with its frame.
struct transducer_token {
  int id = 0;                 ///< number of the label
  extent frame = 0;           ///< encoder row at which it was found
  extent duration = 0;        ///< TDT: rows that the search moves on behind it
  float log_probability = 0;  ///< of the label among labels and blank
  float score = 0;            ///< as the original adds it up: TDT's is not normalised over the labels alone
};

/// Sizes by name; what is left out is adopted from the file.
struct parakeet_transducer_sizes {
  nn::fastconformer_sizes encoder = {};  ///< of FastConformer
  /// Sizes of a prediction network.
  struct prediction {
    extent width = dynamic;   ///< of the embedding and the LSTM
    extent layers = dynamic;  ///< of the LSTM
  } predictor = {};           ///< of the prediction network
  extent joint = dynamic;     ///< width of the joint network
  extent labels = dynamic;    ///< pieces and blank
  extent outputs = dynamic;   ///< these and durations
  extent prompts = dynamic;   ///< how many languages the model takes as a prompt; 0: it takes none
};

/// Parakeet RNN-T, TDT and EOU: FastConformer, prediction network, joint network, and in hybrid models a CTC head. A
/// loaded model is const and may be shared by threads, each with its own context.
template <parakeet_transducer_sizes S>
class parakeet_transducer
    : public parakeet<nn::fastconformer<S.encoder>, nemo_frontend<S.encoder.mels>, parakeet_transducer_kind> {
  using base = parakeet<nn::fastconformer<S.encoder>, nemo_frontend<S.encoder.mels>, parakeet_transducer_kind>;
  using Encoder = nn::fastconformer<S.encoder>;
  static constexpr extent Predictor = S.predictor.width, PredictorLayers = S.predictor.layers, Joint = S.joint,
                          Labels = S.labels, Outputs = S.outputs;

 public:
  static constexpr parakeet_transducer_sizes sizes = S;  ///< `dynamic` where the file decides
  using options = parakeet_transducer_options;           ///< of one call of recognise()
  /// What a unit of a hotword should earn in the beam search.
  static constexpr float hotword_score = steno::search::transducer_beam_options::hotword_score;

  parakeet_transducer() = default;
  /// Front end, tokenizer and settings from the file's metadata; the weights are bound by load(). Throws steno::error.
  STENO_COLD explicit parakeet_transducer(const gguf_file& file) : base(file), words(this->tokenizer) {
    const std::string at = std::string(base::architecture) + ".";
    max_symbols = models::read_whole(file, at + "max_symbols", 1, 1024, 10);
    hybrid = models::read_flag(file, at + "hybrid", false);
    prompts = read_nemo_prompts(file, base::architecture);
    if (!file.has(at + "durations")) return;
    durations = models::read_wholes(file, at + "durations", 0, 1024, 64);
    if (!durations.empty() && *std::max_element(durations.begin(), durations.end()) == 0)
      fail({.where = file.where(),
            .what = "key " + steno::weights::quoted(at + "durations"),
            .expected = "numbers of frames, one of them above 0",
            .found = "zeros",
            .hint = "a decoder would never get on"});
  }

  weights::weight<Labels, Predictor, dtype::f32, weights::use::rows>
      embed;                                       ///< one row for each label, the last one (blank) unused
  nn::lstm<Predictor, PredictorLayers> predictor;  ///< rows of `embed` to outputs, with a state
  nn::linear<Encoder::output, Joint> enc;          ///< encoder rows to the width of the joint network
  nn::linear<Predictor, Joint> pred;               ///< outputs of `predictor` to the same width
  nn::linear<Joint, Outputs> out;                  ///< joined rows to scores of labels, blank and durations
  nn::linear<Encoder::output, Labels> ctc;         ///< hybrid models only
  nn::prompt_projection<Encoder::output, S.prompts> prompt_kernel;  ///< models with prompts only
  nemo_prompts prompts;                                             ///< languages that the model takes; empty in others
  tokenizers::nemo_words words;                                     ///< joins tokens to words
  std::vector<int> durations;                                       ///< TDT only
  extent max_symbols = 10;                                          ///< steps at one frame of the greedy search
  bool hybrid = false;                                              ///< there is a CTC head

  void members(auto&& v) {
    base::members(v);
    v("decoder.prediction.embed.weight", embed);
    v("decoder.prediction.dec_rnn.lstm", predictor);
    v("joint.enc", enc);
    v("joint.pred", pred);
    v("joint.joint_net.2", out);
    if (hybrid) v("ctc_decoder.decoder_layers.0", ctc, core::stored::kernel(1));
    if constexpr (S.prompts == 0) {
      v.require(prompts.empty(), "prompt.names", "none of a model without prompts",
                static_cast<extent>(prompts.names.size()));
    } else if (core::is_static(S.prompts) || !prompts.empty()) {
      v("prompt_kernel", prompt_kernel);
      v.equal("widths of encoder and prompt_kernel", this->encoder.output_size(), prompt_kernel.input_size());
      int last = prompts.usual;
      for (const int number : prompts.numbers) last = std::max(last, number);
      v.require(last < prompt_kernel.prompts(), "prompt.numbers", "numbers below that of prompts", extent{last});
    }
    const extent labels = this->tokenizer.size() + extent{1};
    v.equal("widths of encoder and joint.enc", this->encoder.output_size(), enc.input_size());
    v.equal("tokenizer.ggml.tokens and blank, and rows of the embedding", labels, embed.rows());
    v.equal("widths of embedding and lstm", embed.cols(), predictor.input_size());
    v.equal("widths of lstm and joint.pred", predictor.output_size(), pred.input_size());
    v.equal("outputs of joint.enc and joint.pred", enc.output_size(), pred.output_size());
    v.equal("widths of joint.enc and joint.joint_net.2", enc.output_size(), out.input_size());
    v.equal("tokenizer.ggml.tokens, blank and durations, and rows of joint.joint_net.2",
            labels + static_cast<extent>(durations.size()), out.output_size());
    if (hybrid) v.equal("tokenizer.ggml.tokens and blank, and rows of ctc_decoder", labels, ctc.output_size());
  }

  /// Names of the languages that the model takes as a prompt; none of other models.
  std::vector<std::string> languages() const { return prompts.languages(); }

  /// 16 kHz mono samples in [-1, 1] -> encoder rows [frames(number of samples), D], behind the prompt of models that
  /// have one. Throws steno::error where such a model has no usual prompt and none is given.
  void encode(std::span<const float> pcm, view<float, dynamic, Encoder::output> y, context& c,
              const parakeet_encoding& how = {}) const {
    base::encode(pcm, y, c, how);
    prompt(y, how.prompt, c);
  }
  /// Encoder rows -> the same behind the prompt of that number, -1: the usual one. Nothing happens in models without
  /// prompts.
  void prompt(view<float, dynamic, Encoder::output> rows, [[maybe_unused]] int number,
              [[maybe_unused]] context& c) const {
    if constexpr (S.prompts != 0) {
      if (prompts.empty()) return;
      const nn::prompt_env env{.prompt = number < 0 ? prompts.prompt_of("auto") : number};
      prompt_kernel(core::as<const float, dynamic, Encoder::output>(rows), rows, nullptr, env, c);
      c.trace("prompted", rows);
    }
  }

  /// The prediction network behind a text. Copyable.
  struct prediction {
    typename nn::lstm<Predictor, PredictorLayers>::state state;  ///< of the LSTM
    std::vector<float> output = {};                              ///< its output
    std::vector<float> projected = {};                           ///< joint.pred of the output
  };
  /// A search with a beam: hypotheses, and the networks behind them.
  struct beam_search {
    parakeet_beam_network<parakeet_transducer> network;  ///< behind each hypothesis
    steno::search::transducer_beam beam;                 ///< hypotheses, without what is settled
    extent patience = 0;  ///< rows until the best hypothesis has decided a label; 0: all of them
  };
  /// What a search carries from row to row; rows count from the start. Copyable.
  struct search : prediction {
    std::vector<transducer_token> tokens = {};  ///< labels so far; with a beam those that are settled
    extent next = 0;                            ///< row at which it goes on
    std::optional<beam_search> beam = {};       ///< instead of the prediction; greedy without
  };
  /// Room for predict().
  prediction empty_prediction() const {
    return {.state = predictor.start(),
            .output = std::vector<float>(static_cast<std::size_t>(predictor.output_size())),
            .projected = std::vector<float>(static_cast<std::size_t>(pred.output_size()))};
  }
  /// A greedy search before the first row.
  search begin(context& c) const {
    search s{empty_prediction()};
    predict(s, -1, c);
    return s;
  }
  /// A search as the options want it, greedy or with a beam. What is favoured must outlive it. With `patience` a label
  /// that the hypotheses do not agree on is settled by the best one after so many rows, and one that ends a turn as
  /// soon as the best one has it: a stream needs both. Behind the label `forget` the prediction network starts anew.
  search begin(const options& o, context& c, extent patience = 0, int forget = -1) const {
    if (!searches(o)) return begin(c);
    const extent n = o.beam > 1 ? o.beam : steno::search::transducer_beam_options::default_beam;
    search s{empty_prediction()};
    s.beam.emplace(beam_search{
        .network = parakeet_beam_network<parakeet_transducer>(*this, c, forget),
        .beam = steno::search::transducer_beam({.search = {.beam = n, .hotwords = o.hotwords, .words = o.words},
                                                .blank = this->blank(),
                                                .durations = durations}),
        .patience = patience});
    return s;
  }
  /// Makes `id` the last label; -1: there is none yet.
  void predict(prediction& s, int id, context& c) const {
    c.check_stop();  // as repeated layers do
    core::workspace::frame scratch(c.scratch);
    auto x = scratch.template matrix<1, Predictor>(1, embed.cols());
    if (id < 0)
      x.setZero();
    else
      std::copy_n(embed.floats() + id * embed.cols(), embed.cols(), x.data());
    const auto y = core::make_view<dynamic, Predictor>(s.output.data(), 1, embed.cols());
    predictor(core::as<const float, dynamic, Predictor>(x), y, &s.state, nn::no_env{}, c);
    pred.multiply(core::make_view<dynamic, Predictor>(static_cast<const float*>(s.output.data()), 1, embed.cols()),
                  core::make_view<dynamic, Joint>(s.projected.data(), 1, pred.output_size()), c);
    c.trace("step.pred_out", y);
    c.trace("step.joint_pred_proj",
            core::make_view(static_cast<const float*>(s.projected.data()), 1, pred.output_size()));
    c.trace("step.lstm_h",
            core::make_view(static_cast<const float*>(s.state.h.data()), 1, static_cast<extent>(s.state.h.size())));
    c.trace("step.lstm_c",
            core::make_view(static_cast<const float*>(s.state.c.data()), 1, static_cast<extent>(s.state.c.size())));
  }

  /// Goes on with further encoder rows, which begin at row `first` of the stream; up to `max_steps` steps at a row of
  /// the greedy search. Behind the label `forget` its prediction network starts anew.
  void advance(search& s, const view<const float, dynamic, Encoder::output>& rows, extent first, extent max_steps,
               context& c, int forget = -1) const {
    core::workspace::frame scratch(c.scratch);
    const extent n = rows.rows(), labels = embed.rows();
    if (n == 0) return;
    auto projected = scratch.template matrix<dynamic, Joint>(n, enc.output_size());
    enc.multiply(rows, projected, c);
    if (s.beam) return advance_beam(s, core::read(projected), first, c);
    c.trace("joint_enc_proj", projected);
    auto sums = scratch.template matrix<dynamic, Joint>(rows_ahead, enc.output_size());
    auto scores = scratch.matrix(rows_ahead, out.output_size());
    const steno::search::transducer_rules rules{
        .blank = this->blank(), .durations = durations, .max_symbols = max_steps};
    // Behind a blank the scores of the next rows are known as long as no label comes; the weights are read once.
    extent known = 0, known_from = 0, ahead = 1;
    const auto joint = [&](extent t) -> const float* {
      if (c.tracing() || t >= known_from + known) {  // a trace has every evaluation of the original
        known_from = t;
        known = std::min(c.tracing() ? 1 : ahead, first + n - t);
        for (extent i = 0; i < known; ++i)
          join(projected.row(t - first + i).data(), s.projected.data(), core::write(sums.middleRows(i, 1)));
        out.multiply(core::as<const float, dynamic, Joint>(sums.topRows(known)),
                     core::as<float, dynamic, Outputs>(scores.topRows(known)), c);
        if (c.tracing()) {  // the original normalises on a CPU; the best ones stay the best
          kernels::log_softmax(core::read(scores.topRows(1)), core::write(scores.topRows(1)), c.run);
          c.trace("step.joint_logits", scores.topRows(1));
        }
      }
      return scores.row(t - known_from).data();
    };
    const auto accept = [&](const steno::search::transducer_step& step, const float* values) {
      ahead = rows_ahead;
      if (step.label == this->blank()) return;
      ahead = 1;
      known = 0;
      const auto [among_labels, among_all] = log_probabilities(values, labels, step.label, c);
      s.tokens.push_back({step.label, step.frame, step.duration, among_labels, among_all});
      if (step.label == forget) {
        std::fill(s.state.h.begin(), s.state.h.end(), 0.0f);
        std::fill(s.state.c.begin(), s.state.c.end(), 0.0f);
        return predict(s, -1, c);
      }
      predict(s, step.label, c);
    };
    s.next = steno::search::transducer_greedy(rules, std::max(s.next, first), first + n, joint, accept);
  }

  /// No rows follow: what a beam has not settled is as its best hypothesis has it.
  void finish(search& s) const {
    if (!s.beam) return;
    s.beam->beam.finish();
    take(s, 0, s.beam->beam.hypotheses()[0].ids.size());
  }

  static constexpr extent rows_ahead = 6;  ///< that the joint network scores behind a blank; hardly slower than one

  /// to = relu(row of joint.enc + row of joint.pred)
  static void join(const float* a, const float* b, view<float> to) {
    kernels::add(core::make_view(a, 1, to.cols()), core::make_view(b, 1, to.cols()), to);
    kernels::apply_relu(core::read(to), to);
  }
  /// Joined rows -> scores [rows, labels, blank, durations], not normalised.
  void score(const view<const float>& sum, view<float> y, context& c) const {
    out.multiply(core::as<const float, dynamic, Joint>(sum), core::as<float, dynamic, Outputs>(y), c);
    steno::search::require_finite(core::read(y), c.run);
  }
  /// Logarithms of the probability of one label.
  struct log_probability_pair {
    float among_labels;  ///< among labels and blank
    float among_all;     ///< among durations, too
  };
  /// Of `label` among labels and blank, and among durations, too: the original normalises over all of them on a CPU.
  log_probability_pair log_probabilities(const float* scores, extent labels, int label, context& c) const {
    core::workspace::frame scratch(c.scratch);
    auto y = scratch.matrix(1, labels);
    kernels::log_softmax(core::make_view(scores, 1, labels), y, c.run);
    const float alone = y(0, label), sum = scores[label] - alone;  // sum: log of all labels' exponentials
    float rest = 0;
    for (extent i = labels; i < out.output_size(); ++i) rest += std::exp(scores[i] - sum);
    return {alone, alone - std::log1p(rest)};
  }

  /// A token's frames as the original gives them: its own frame, or with TDT as many as its duration; a punctuation
  /// mark of TDT is put at the end of the token before.
  std::vector<tokenizers::placed_token> place(std::span<const transducer_token> tokens) const {
    std::vector<tokenizers::placed_token> all;
    const bool tdt = !durations.empty();
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const transducer_token& t = tokens[i];
      all.push_back({t.id, t.frame, t.frame + (tdt ? t.duration : 1)});
      if (tdt && i > 0 && words.begins_with_mark(this->tokenizer.decode(std::span(&t.id, 1))))
        all[i].start = all[i].end = all[i - 1].end;
    }
    return all;
  }

  /// Ids, text, words and score of `s`.
  STENO_COLD void write_result(std::span<const transducer_token> tokens, segment& s) const {
    std::vector<float> log_probs;
    double score = 0;
    for (const transducer_token& t : tokens) {
      s.token_ids.push_back(t.id);
      log_probs.push_back(t.log_probability);
      score += static_cast<double>(t.score);
    }
    s.score = score;
    base::write_text(words, place(tokens), log_probs, s);
  }

  /// Log-probability of the token of that number, among labels and blank.
  float log_probability(const search& s, std::size_t token) const { return s.tokens[token].log_probability; }

  /// A recording of 16 kHz mono samples in [-1, 1]; see parakeet_windows for long ones. Throws steno::error when the
  /// CTC head is wanted and there is none.
  STENO_COLD segment recognise(std::span<const float> pcm, const options& o, context& c) const;

  /// A recording as a reader wants it: every turn is a segment, from its first word to the label that ends it, which is
  /// not written, and part_words() has parted the words. What follows the last such label ends with the recording.
  STENO_COLD std::vector<segment> recognise_turns(std::span<const float> pcm, const options& o, context& c) const;

 private:
  struct found_tokens {
    std::vector<transducer_token> tokens;
    double score = 0;                            ///< of the hypothesis; the greedy search has those of its labels alone
    std::vector<alternative> alternatives = {};  ///< of a beam
  };
  parakeet_encoding encoding_of(const options& o) const {
    return {.window = this->window_for(o.look_ahead), .prompt = prompts.prompt_of(o.language)};
  }
  static bool searches(const options& o) noexcept {
    return o.beam > 1 || o.words != nullptr || (o.hotwords != nullptr && !o.hotwords->empty());
  }
  found_tokens search_tokens(std::span<const float> pcm, const options& o, context& c) const {
    search found = begin(o, c);
    const extent max_steps = o.max_symbols > 0 ? o.max_symbols : max_symbols;
    encode_windows(
        *this, pcm, o.windows, c, [&](const auto& rows, extent first) { advance(found, rows, first, max_steps, c); },
        encoding_of(o));
    finish(found);
    found_tokens result{.tokens = std::move(found.tokens)};
    if (found.beam) list_hypotheses(found.beam->beam.hypotheses(), result);
    return result;
  }
  STENO_COLD void list_hypotheses(std::span<const steno::search::transducer_hypothesis> all, found_tokens& to) const {
    to.score = all[0].total();
    for (const steno::search::transducer_hypothesis& h : all) {
      std::vector<int> ids = h.ids;
      std::erase_if(ids, [&](int id) { return this->ends_turn(id); });
      to.alternatives.push_back({words.text(this->tokenizer, ids), h.total()});
    }
  }
  // Rows one by one, so that what is settled does not depend on how they are portioned.
  void advance_beam(search& s, const view<const float>& projected, extent first, context& c) const {
    beam_search& b = *s.beam;
    b.network.set_rows(projected, first, c);
    for (extent t = first; t < first + projected.rows(); ++t) {
      b.beam.advance(b.network, t, t + 1);
      if (b.patience <= 0) continue;
      const std::size_t best = b.beam.best();
      const steno::search::transducer_hypothesis& h = b.beam.hypotheses()[best];
      std::size_t n = b.beam.agreed();
      for (std::size_t i = n; i < h.ids.size(); ++i)
        if (this->ends_turn(h.ids[i]) || h.frames[i] + b.patience <= t) n = i + 1;
      if (n == 0) continue;
      take(s, best, n);
      b.beam.settle(n, best);
    }
  }
  // The first `n` labels of a hypothesis become tokens.
  static void take(search& s, std::size_t of, std::size_t n) {
    const steno::search::transducer_hypothesis& h = s.beam->beam.hypotheses()[of];
    for (std::size_t i = 0; i < n; ++i)
      s.tokens.push_back({h.ids[i], h.frames[i], h.durations[i], h.log_probabilities[i], h.log_probabilities[i]});
  }
  STENO_COLD segment recognise_by_ctc(std::span<const float> pcm, const options& o, segment s, bool with_ends,
                                      context& c) const {
    core::workspace::frame scratch(c.scratch);
    auto scores =
        scratch.template matrix<dynamic, Labels>(this->frames(static_cast<extent>(pcm.size())), ctc.output_size());
    const auto score_rows = [&](const auto& rows, extent first) {
      view<float, dynamic, Labels> part = core::as<float, dynamic, Labels>(scores.middleRows(first, rows.rows()));
      ctc.multiply(rows, part, c);
      kernels::log_softmax(core::read(part), core::write(part), c.run);
    };
    encode_windows(*this, pcm, o.windows, c, score_rows, encoding_of(o));
    std::vector<steno::search::ctc_token> found;
    steno::search::ctc_greedy(core::read(scores), this->blank(), found);
    if (!with_ends) std::erase_if(found, [&](const auto& t) { return this->ends_turn(t.id); });
    std::vector<float> log_probs;
    for (const steno::search::ctc_token& t : found) {
      s.token_ids.push_back(t.id);
      log_probs.push_back(scores(t.start, t.id));
    }
    base::write_text(words, this->place_ctc(words, found), log_probs, s);
    return s;
  }
};

template <parakeet_transducer_sizes S>
segment parakeet_transducer<S>::recognise(std::span<const float> pcm, const options& o, context& c) const {
  segment s;
  s.end = static_cast<double>(pcm.size()) / base::sample_rate;
  if (o.language != "auto") s.language = o.language;
  if (o.ctc && !hybrid) fail({.what = "this model has no CTC head", .hint = "hybrid models have one"});
  (void)encoding_of(o);  // what is wrong is an error of an empty clip, too
  if (this->frames(static_cast<extent>(pcm.size())) == 0) return s;
  if (o.ctc) return recognise_by_ctc(pcm, o, std::move(s), true, c);
  found_tokens found = search_tokens(pcm, o, c);
  write_result(found.tokens, s);
  if (!searches(o)) return s;
  s.score = found.score;
  s.alternatives = std::move(found.alternatives);
  return s;
}

template <parakeet_transducer_sizes S>
std::vector<segment> parakeet_transducer<S>::recognise_turns(std::span<const float> pcm, const options& o,
                                                             context& c) const {
  const double length = static_cast<double>(pcm.size()) / base::sample_rate;
  std::vector<segment> turns;
  if (this->frames(static_cast<extent>(pcm.size())) == 0 || (o.ctc && !hybrid)) {
    turns.push_back(recognise(pcm, o, c));
    return turns;
  }
  if (o.ctc) {
    segment s{.end = length};
    if (o.language != "auto") s.language = o.language;
    turns.push_back(recognise_by_ctc(pcm, o, std::move(s), false, c));
    return turns;
  }
  found_tokens found = search_tokens(pcm, o, c);
  const std::span<const transducer_token> tokens(found.tokens);
  const auto ends = [&](const transducer_token& t) { return this->ends_turn(t.id); };
  const bool whole = std::none_of(tokens.begin(), tokens.end(), ends);
  for (std::size_t from = 0; from < tokens.size();) {
    const auto end = static_cast<std::size_t>(
        std::find_if(tokens.begin() + static_cast<std::ptrdiff_t>(from), tokens.end(), ends) - tokens.begin());
    if (end > from) {
      segment s;
      if (o.language != "auto") s.language = o.language;
      if (!whole) s.start = static_cast<double>(tokens[from].frame) * this->frame_seconds();
      s.end = end < tokens.size() ? static_cast<double>(tokens[end].frame + 1) * this->frame_seconds() : length;
      write_result(tokens.subspan(from, end - from), s);
      base::part_words(s.words);
      // What hypotheses score is not a sum over their labels.
      if (searches(o)) s.score = whole ? std::optional(found.score) : std::nullopt;
      if (whole) s.alternatives = std::move(found.alternatives);
      turns.push_back(std::move(s));
    }
    from = end + 1;
  }
  return turns;
}

/// nvidia/parakeet-tdt-0.6b-v3 (25 languages, 8192 pieces), -tdt-1.1b, -tdt_ctc-110m (hybrid) and
/// parakeet_realtime_eou_120m-v1 (1024 pieces, <EOU>, <EOB>). TDT has five durations.
using parakeet_tdt_06b_v3 = parakeet_transducer<parakeet_transducer_sizes{
    .encoder = fastconformer_xlarge({.mels = 128, .biases = nn::bias::none}),
    .predictor = {.width = 640, .layers = 2},
    .joint = 640,
    .labels = 8193,
    .outputs = 8198,
    .prompts = 0}>;
/// TDT with 42 layers and 1024 pieces.
using parakeet_tdt_11b = parakeet_transducer<parakeet_transducer_sizes{.encoder = fastconformer_xlarge({.layers = 42}),
                                                                       .predictor = {.width = 640, .layers = 2},
                                                                       .joint = 640,
                                                                       .labels = 1025,
                                                                       .outputs = 1030,
                                                                       .prompts = 0}>;
/// TDT with a CTC head, 17 layers and 1024 pieces.
using parakeet_tdt_ctc_110m = parakeet_transducer<parakeet_transducer_sizes{.encoder = fastconformer_large({}),
                                                                            .predictor = {.width = 640, .layers = 1},
                                                                            .joint = 640,
                                                                            .labels = 1025,
                                                                            .outputs = 1030,
                                                                            .prompts = 0}>;
/// RNN-T for streams, with labels for the end of a turn.
using parakeet_realtime_eou_120m = parakeet_transducer<parakeet_transducer_sizes{
    .encoder = fastconformer_large({.mels = 128, .biases = nn::bias::none, .streaming = true}),
    .predictor = {.width = 640, .layers = 1},
    .joint = 640,
    .labels = 1027,
    .outputs = 1027,
    .prompts = 0}>;

/// nvidia/parakeet-unified-en-0.6b: RNN-T of 1024 pieces, whole clips or streams that look behind each chunk.
using parakeet_unified_en_06b =
    parakeet_transducer<parakeet_transducer_sizes{.encoder = fastconformer_xlarge({.mels = 128}),
                                                  .predictor = {.width = 640, .layers = 2},
                                                  .joint = 640,
                                                  .labels = 1025,
                                                  .outputs = 1025,
                                                  .prompts = 0}>;
/// nvidia/nemotron-3.5-asr-streaming-0.6b: RNN-T for streams of 13087 pieces, with a prompt for the language.
using nemotron_35_streaming_06b = parakeet_transducer<parakeet_transducer_sizes{
    .encoder = fastconformer_xlarge({.mels = 128, .biases = nn::bias::none, .streaming = true}),
    .predictor = {.width = 640, .layers = 2},
    .joint = 640,
    .labels = 13088,
    .outputs = 13088,
    .prompts = 128}>;

/// Any sizes: extents are adopted from the file.
using parakeet_transducer_any = parakeet_transducer<parakeet_transducer_sizes{}>;

}  // namespace nemo
}  // namespace STENO_ABI
}  // namespace steno
