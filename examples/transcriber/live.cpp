#include "live.hpp"

#include <steno/error.hpp>
#include <steno/models/parakeet_sentences.hpp>
#include <steno/streaming/paraformer_stream.hpp>
#include <steno/streaming/parakeet_stream.hpp>
#include <steno/streaming/parakeet_window_stream.hpp>
#include <steno/streaming/qwen3_stream.hpp>
#include <steno/streaming/u2_stream.hpp>

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "convert.hpp"

namespace steno::app {
namespace {

template <class Model>
class u2_listener final : public listener {
 public:
  u2_listener(const Model& m, const live_request& r)
      : model_(m), contexts_(graph(m, r)), stream_(m, options(r, contexts_)) {}

  void push(std::span<const float> pcm, const live_sink& sink) override {
    stream_.push(pcm, context_, [&](const u2_event& e) { sink(describe(e)); });
  }
  void finish(const live_sink& sink) override {
    stream_.finish(context_, [&](const u2_event& e) { sink(describe(e)); });
  }
  bool over() const override { return stream_.over(); }

 private:
  static context_graph graph(const Model& m, const live_request& r) {
    std::vector<std::vector<int>> phrases;
    for (const std::string& p : r.phrases) {
      const auto units = m.tokenizer.split(p);
      if (!units)
        fail({.what = "phrase " + steno::quoted(p), .expected = "characters that are among the model's units"});
      phrases.push_back(*units);
    }
    return context_graph(phrases, {.score = r.phrase_score.value_or(context_options{}.score)});
  }
  static u2_stream_options options(const live_request& r, const context_graph& contexts) {
    u2_stream_options o;
    o.chunk_size = r.chunk_size.value_or(static_cast<int>(o.chunk_size));
    o.left_chunks = r.left_chunks.value_or(static_cast<int>(o.left_chunks));
    o.beam.labels = o.beam.prefixes = r.beam;
    o.rescore = r.rescore;
    o.endpoints = r.endpoints;
    o.continuous = r.continuous;
    o.longest_utterance = r.longest;
    o.contexts = &contexts;
    return o;
  }

  live_event describe(const u2_event& e) const {
    const wenet_units& units = model_.tokenizer;
    live_event out;
    out.final = e.kind == u2_event_kind::final;
    out.endpoint = e.endpoint;
    out.start = static_cast<double>(e.offset_ms) / 1000;
    out.heard = static_cast<double>(e.heard_ms) / 1000;
    out.score = e.score;
    segment s;
    // Without the second pass each token is as sure as the whole is on average.
    const double mean = std::exp(e.score / static_cast<double>(e.ids.size() + 1));
    std::vector<float> sure(e.ids.size(), static_cast<float>(std::min(mean, 1.0)));
    if (!e.rescoring.empty())
      sure.assign(e.rescoring[0].token_confidence.begin(), e.rescoring[0].token_confidence.end());
    model_.write_result(e.ids, out.final ? e.times : std::span<const extent>{}, sure, s, e.offset_ms);
    out.text = std::move(s.text);
    out.words = std::move(s.words);
    out.token_ids = std::move(s.token_ids);
    out.stable = units.text(e.ids.first(static_cast<std::size_t>(e.stable)));
    if (!out.final) {
      out.nbest.push_back({units.sentence(e.ids), {}});
      return out;
    }
    for (const ctc_hypothesis& h : e.nbest) {
      auto& a = out.nbest.emplace_back();
      a.sentence = units.sentence(h.ids);
      const auto times = piece_times(h.times, model_.frame_ms(), e.offset_ms);
      for (std::size_t i = 0; i < h.ids.size(); ++i)
        a.pieces.push_back({std::string(units.piece(h.ids[i])), times[i].start_ms, times[i].end_ms});
    }
    return out;
  }

  const Model& model_;
  context_graph contexts_;
  context context_;
  u2_stream<Model> stream_;
};

class paraformer_listener final : public listener {
 public:
  using model_type = paraformer_online_any;
  paraformer_listener(const model_type& m, const live_request& r) : model_(m), stream_(m, options(m, r)) {}

  void push(std::span<const float> pcm, const live_sink& sink) override {
    stream_.push(pcm, context_, [&](const paraformer_event& e) { sink(describe(e)); });
  }
  void finish(const live_sink& sink) override {
    stream_.finish(context_, [&](const paraformer_event& e) { sink(describe(e)); });
  }
  bool over() const override { return stream_.over(); }

 private:
  static paraformer_stream_options options(const model_type& m, const live_request& r) {
    if (!r.phrases.empty()) fail({.what = "this model knows no hotwords"});
    paraformer_stream_options o{.sizes = m.usual};
    if (r.chunk_size) {  // the published sizes look half a chunk ahead: [0, 10, 5], [0, 8, 4]
      o.sizes.size = *r.chunk_size;
      o.sizes.after = (*r.chunk_size + 1) / 2;
    }
    if (r.left_chunks) o.sizes.encoder_look_back = *r.left_chunks;
    if (!r.endpoints) o.endpoint_pieces = 0;
    o.continuous = r.continuous;
    o.longest_utterance = r.longest;
    return o;
  }

  live_event describe(const paraformer_event& e) const {
    live_event out;
    out.final = e.kind == stream_event_kind::final;
    out.endpoint = e.endpoint;
    out.start = static_cast<double>(e.offset_ms) / 1000;
    out.heard = static_cast<double>(e.heard_ms) / 1000;
    out.score = e.score;
    segment s;
    const auto settled = static_cast<std::size_t>(e.stable);
    model_.write_text(e.ids.first(settled), e.log_probabilities, s);
    out.stable = s.text;
    if (settled < e.ids.size()) model_.write_text(e.ids, e.log_probabilities, s);
    out.text = std::move(s.text);
    out.token_ids = std::move(s.token_ids);
    if (out.final) out.words = std::move(s.words);
    out.nbest.push_back({out.text, {}});
    return out;
  }

  const model_type& model_;
  context context_;
  paraformer_stream<model_type> stream_;
};

// A row of the model is 80 ms; utterances end after a minute at the latest, so that a step's cost stays bounded.
class qwen3_listener final : public listener {
 public:
  using model_type = qwen3_asr_any;
  qwen3_listener(const model_type& m, const live_request& r) : stream_(m, options(r)) {}

  void push(std::span<const float> pcm, const live_sink& sink) override {
    stream_.push(pcm, context_, [&](const qwen3_stream_event& e) { sink(describe(e)); });
  }
  void finish(const live_sink& sink) override {
    stream_.finish(context_, [&](const qwen3_stream_event& e) { sink(describe(e)); });
  }
  bool over() const override { return false; }

 private:
  static qwen3_stream_options options(const live_request& r) {
    qwen3_stream_options o{.longest = 60, .commit = true};
    if (r.chunk_size && *r.chunk_size > 0) o.chunk = *r.chunk_size * 0.08;
    if (r.longest > 0) o.longest = r.longest * 0.08;
    // Phrases are what the model is told before it listens.
    for (const std::string& p : r.phrases) o.context.append(o.context.empty() ? "" : ", ").append(p);
    return o;
  }
  static live_event describe(const qwen3_stream_event& e) {
    live_event out;
    out.final = e.kind == stream_event_kind::final;
    out.start = e.start;
    out.heard = e.heard;
    out.text = std::string(e.text);
    out.stable = std::string(e.stable);
    out.stop = stop_name(e.stop);
    out.token_ids.assign(e.ids.begin(), e.ids.end());
    out.nbest.push_back({out.text, {}});
    return out;
  }

  context context_;
  qwen3_stream<model_type> stream_;
};

/// Models with <EOU>: a turn is an utterance.
class parakeet_listener final : public listener {
 public:
  using model_type = parakeet_transducer_any;
  using stream_type = parakeet_stream<model_type>;
  parakeet_listener(const model_type& m, const live_request& r)
      : model_(m), request_(r), stream_(m, options(r), context_) {}

  void push(std::span<const float> pcm, const live_sink& sink) override {
    if (!over_) stream_.push(pcm, context_, [&](const parakeet_event& e) { hear(e, sink); });
  }
  void finish(const live_sink& sink) override {
    if (!over_) stream_.finish(context_, [&](const parakeet_event& e) { hear(e, sink); });
    over_ = true;
  }
  bool over() const override { return over_; }

 private:
  static parakeet_stream_options options(const live_request& r) {
    if (!r.phrases.empty()) fail({.what = "this model knows no hotwords while it streams"});
    if (r.chunk_size.value_or(1) < 1) fail({.what = "chunk size", .expected = "at least 1 row of 80 ms"});
    return {.forget_at_end_of_turn = r.forget_turns, .chunk = r.chunk_size.value_or(0), .keep_turns = false};
  }
  void hear(const parakeet_event& e, const live_sink& sink) {
    if (over_) return;
    const bool backchannel = e.kind == parakeet_event_kind::end_of_backchannel;
    const bool turn = e.kind == parakeet_event_kind::end_of_turn;
    live_event out;
    out.endpoint = request_.endpoints && (turn || backchannel);
    out.final = out.endpoint || e.kind == parakeet_event_kind::final;
    if ((turn || backchannel) && !out.endpoint) return;
    if (out.endpoint) out.mark = turn ? "end_of_turn" : "end_of_backchannel";
    out.heard = e.heard;
    out.start = began_;
    std::vector<transducer_token> said;
    for (const transducer_token& t : e.tokens)
      if (t.id != stream_.end_of_turn() && t.id != stream_.end_of_backchannel()) said.push_back(t);
    segment s;
    model_.write_result(said, s);
    out.score = std::get<double>(s.extra.at(0).second);
    out.text = out.stable = std::move(s.text);
    out.token_ids = std::move(s.token_ids);
    if (out.final) out.words = std::move(s.words);
    out.nbest.push_back({out.text, {}});
    if (out.endpoint) began_ = e.heard;
    sink(out);
    over_ = out.endpoint && !request_.continuous;
  }

  const model_type& model_;
  live_request request_;
  context context_;
  stream_type stream_;
  double began_ = 0;
  bool over_ = false;
};

/// Any other Parakeet: pieces are encoded anew with what is around them; sentences are utterances.
template <class Model>
class parakeet_window_listener final : public listener {
 public:
  using stream_type = parakeet_window_stream<Model>;
  parakeet_window_listener(const Model& m, const live_request& r)
      : model_(m), request_(r), stream_(m, sizes(m, r), context_) {}

  void push(std::span<const float> pcm, const live_sink& sink) override {
    if (!over_) stream_.push(pcm, context_, [&](const parakeet_window_event& e) { hear(e, sink); });
  }
  void finish(const live_sink& sink) override {
    if (!over_) stream_.finish(context_, [&](const parakeet_window_event& e) { hear(e, sink); });
    over_ = true;
  }
  bool over() const override { return over_; }

 private:
  static parakeet_windows sizes(const Model& m, const live_request& r) {
    if (!r.phrases.empty()) fail({.what = "this model knows no hotwords while it streams"});
    parakeet_windows w = stream_type::usual;
    if (r.chunk_size.value_or(1) < 1) fail({.what = "chunk size", .expected = "at least 1 row of 80 ms"});
    if (r.chunk_size) w.middle = w.right = *r.chunk_size * m.frame_seconds();
    if (r.left_chunks.value_or(-1) >= 0) w.left = *r.left_chunks * w.middle;
    return w;
  }
  void hear(const parakeet_window_event& e, const live_sink& sink) {
    const auto told = [&](segment s, bool final) {
      if (over_) return;
      live_event out;
      out.final = final;
      out.endpoint = final && !e.final && request_.endpoints;
      out.start = s.start;
      out.heard = e.heard;
      for (const word& w : s.words) out.score += std::log(static_cast<double>(w.confidence));
      out.text = out.stable = std::move(s.text);
      out.token_ids = std::move(s.token_ids);
      if (final) out.words = std::move(s.words);
      out.nbest.push_back({out.text, {}});
      sink(out);
      over_ = out.endpoint && !request_.continuous;
    };
    bool closed = false;
    if (request_.endpoints || e.final)
      sentences_.advance(model_, e.tokens, e.log_probabilities, e.final, [&](segment s) {
        closed = true;
        told(std::move(s), true);
      });
    if (e.final && !closed) {  // the last result is always final
      segment nothing;
      nothing.start = nothing.end = e.heard;
      told(std::move(nothing), true);
    }
    if (e.final || sentences_.told() == e.tokens.size()) return;
    parakeet_sentences rest = sentences_;
    const auto all = [&](segment s) {
      if (open_.token_ids.empty()) return void(open_ = std::move(s));
      open_.text.append(" ").append(s.text);
      open_.token_ids.insert(open_.token_ids.end(), s.token_ids.begin(), s.token_ids.end());
    };
    open_ = {};
    rest.advance(model_, e.tokens, e.log_probabilities, true, all);
    told(std::move(open_), false);
  }

  const Model& model_;
  live_request request_;
  context context_;
  stream_type stream_;
  parakeet_sentences sentences_;
  segment open_;
  bool over_ = false;
};

template <class Model>
std::unique_ptr<listener> listen_to_parakeet(const Model& m, const live_request& r) {
  if constexpr (std::is_same_v<Model, parakeet_transducer_any>)
    if (parakeet_listener::stream_type::obstacle(m) == nullptr) return std::make_unique<parakeet_listener>(m, r);
  return std::make_unique<parakeet_window_listener<Model>>(m, r);
}

template <class Model>
struct listener_of {
  using type = u2_listener<Model>;
};
template <>
struct listener_of<paraformer_online_any> {
  using type = paraformer_listener;
};

template <>
struct listener_of<qwen3_asr_any> {
  using type = qwen3_listener;
};

template <class Model>
class loaded final : public live_model {
 public:
  explicit loaded(opened_checkpoint opened)
      : model_(load<Model>(std::move(opened.file), {}, std::move(opened.image))) {}
  std::string name() const override { return std::string(Model::architecture); }
  int sample_rate() const override { return Model::sample_rate; }
  std::unique_ptr<listener> listen(const live_request& r) const override {
    if constexpr (std::is_same_v<Model, parakeet_ctc_any> || std::is_same_v<Model, parakeet_transducer_any>)
      return listen_to_parakeet(model_, r);
    else
      return std::make_unique<typename listener_of<Model>::type>(model_, r);
  }

 private:
  Model model_;
};

}  // namespace

std::unique_ptr<live_model> open_live_model(const std::string& path, const note_function& note) {
  opened_checkpoint opened = open_checkpoint(path);
  for (const std::string& text : opened.notes) note(text);
  const std::string found = opened.file.text("general.architecture").value_or("");
  if (found == u2_conformer_any::architecture) return std::make_unique<loaded<u2_conformer_any>>(std::move(opened));
  if (found == u2_transformer_any::architecture) return std::make_unique<loaded<u2_transformer_any>>(std::move(opened));
  if (found == paraformer_online_any::architecture)
    return std::make_unique<loaded<paraformer_online_any>>(std::move(opened));
  if (found == qwen3_asr_any::architecture) return std::make_unique<loaded<qwen3_asr_any>>(std::move(opened));
  if (found == parakeet_ctc_any::architecture) return std::make_unique<loaded<parakeet_ctc_any>>(std::move(opened));
  if (found == parakeet_transducer_any::architecture)
    return std::make_unique<loaded<parakeet_transducer_any>>(std::move(opened));
  fail({.where = path,
        .what = "this model does not stream",
        .expected = "u2_conformer, u2_transformer, paraformer_online, qwen3_asr, parakeet_ctc or parakeet_transducer",
        .found = steno::quoted(found)});
}

}  // namespace steno::app
