// WeNet U2 and U2++ against the original: every stage, chunk, cache, search result and time of the golden cases, from
// the checkpoint through the converter.
// SPDX-License-Identifier: Apache-2.0
#include <steno/pipelines/u2.hpp>
#include <steno/streaming/u2_stream.hpp>

#include "convert/convert.hpp"
#include "support/compare.hpp"
#include "support/golden.hpp"
#include "support/json_file.hpp"
#include "support/wav.hpp"
#include "trace/stages/u2.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <map>

namespace wenet_test {

namespace fs = std::filesystem;
using namespace steno;
using nlohmann::json;
using test::read_json;

using ids_type = std::vector<int>;
using table = matrix<float, dynamic, dynamic>;

struct golden_case {
  fs::path folder;
  json want, runtime;
  std::vector<float> pcm;
  std::map<std::string, npy::array> stages;

  explicit golden_case(const fs::path& where)
      : folder(where),
        want(read_json(where / "expected.json")),
        runtime(read_json(where / "cpp_runtime.json")),
        pcm(test::load_wav(where / "input.wav").pcm) {
    for (const auto& e : fs::directory_iterator(folder / "stages"))
      stages.emplace(e.path().stem().string().substr(3), npy::load(e.path()));
  }
};

// The first values of a golden stage; some stages hold the first frames only.
double distance(const view<const float>& x, const npy::array& golden) {
  const std::vector<float> b = golden.floats();
  if (b.size() > static_cast<std::size_t>(x.size())) return INFINITY;
  double worst = 0, scale = 1;
  for (std::size_t i = 0; i < b.size(); ++i) {
    const auto at = static_cast<extent>(i);
    const double e = static_cast<double>(x(at / x.cols(), at % x.cols())) - static_cast<double>(b[i]);
    worst = std::isnan(e) ? INFINITY : std::max(worst, std::fabs(e));
    scale = std::max(scale, std::fabs(static_cast<double>(b[i])));
  }
  return worst / scale;
}

struct hypothesis {
  ids_type ids;
  std::vector<extent> times;
  double score;
};
std::vector<hypothesis> golden_nbest(const json& list) {
  std::vector<hypothesis> all;
  for (const json& h : list)
    all.push_back({h["ids"].get<ids_type>(), h["times"].get<std::vector<extent>>(), h["score"].get<double>()});
  return all;
}

// Scores within 1e-2 (float32 against float64 alone moves them by 1e-4); entries may swap where the golden scores are
// closer than 1e-3, as the case's notes allow.
void expect_nbest(const search::ctc_prefix_beam& search, const json& list) {
  const std::vector<hypothesis> want = golden_nbest(list);
  ASSERT_EQ(search.size(), static_cast<extent>(want.size()));
  for (extent i = 0; i < search.size(); ++i) {
    const search::ctc_hypothesis h = search.hypothesis(i);
    const auto same = std::find_if(want.begin(), want.end(), [&](const hypothesis& w) { return w.ids == h.ids; });
    ASSERT_NE(same, want.end()) << "entry " << i;
    EXPECT_NEAR(h.score, same->score, 1e-2) << "entry " << i;
    EXPECT_EQ(h.times, same->times) << "entry " << i;
    EXPECT_NEAR(same->score, want[static_cast<std::size_t>(i)].score, 1e-3) << "entry " << i << " is out of order";
  }
}

template <class Model>
struct computed {
  table rows, scores;
};
template <class Model>
computed<Model> whole(const Model& m, const golden_case& g, context& c) {
  computed<Model> h;
  const extent n = m.frames(static_cast<extent>(g.pcm.size()));
  h.rows.resize(n, m.encoder.output_size());
  h.scores.resize(n, m.tokenizer.size());
  m.encode(g.pcm, h.rows, {}, c);
  m.score(h.rows, 0, h.scores, c);
  return h;
}

template <class Model>
table features(const Model& m, const golden_case& g, context& c) {
  table x(m.frontend.rows(static_cast<extent>(g.pcm.size())), m.frontend.width());
  m.frontend(g.pcm, x, c);
  return x;
}

// att_cache [layers, heads, t, 2 d] of the original from our rows, whose keys have their positions behind them.
template <class Encoder>
using block_of = std::remove_cvref_t<decltype(std::declval<Encoder&>().template get<"encoders">().layers[0])>;

template <class Encoder>
std::vector<float> att_cache(const Encoder& e, const nn::state_of<Encoder>& s, extent d) {
  const extent heads = e.template get<"encoders">().front().template get<"self_attn">().heads(), wide = d / heads;
  std::vector<float> all;
  for (const auto& b : Encoder::template get<"encoders">(s)) {
    const nn::kv_cache& cache = block_of<Encoder>::template get<"self_attn">(b).cache;
    for (extent h = 0; h < heads; ++h)
      for (extent t = 0; t < cache.rows(); ++t) {
        const float* const key = cache.keys().data() + h * cache.key_head_stride() + t * cache.key_width();
        const float* const value = cache.values().data() + h * cache.value_head_stride() + t * wide;
        all.insert(all.end(), key, key + wide);
        all.insert(all.end(), value, value + wide);
      }
  }
  return all;
}
// What our states keep of the convolutions [layers, rows, d], and the same of cnn_cache [layers, 1, d, rows], which is
// the input of the gate: ours is its output.
template <class Encoder>
std::vector<float> gated_cache(const Encoder& e, const npy::array& golden, context& c) {
  std::vector<float> all;
  if constexpr (block_of<Encoder>::template has<"conv_module">()) {
    const auto& blocks = e.template get<"encoders">().layers;
    const auto layers = static_cast<extent>(blocks.size()), rows = static_cast<extent>(golden.shape.back());
    const extent d = e.output_size();
    const std::vector<float> before = golden.floats();
    EXPECT_EQ(static_cast<extent>(before.size()), layers * d * rows);
    table x(rows, d), wide(rows, 2 * d), y(rows, d);
    for (extent l = 0; l < layers; ++l) {
      for (extent i = 0; i < d; ++i)
        for (extent t = 0; t < rows; ++t) x(t, i) = before[static_cast<std::size_t>((l * d + i) * rows + t)];
      blocks[static_cast<std::size_t>(l)].template get<"conv_module">().pointwise_conv1.multiply(x, wide, c);
      y = wide.leftCols(d).array() / (1 + (-wide.rightCols(d).array()).exp());
      all.insert(all.end(), y.data(), y.data() + y.size());
    }
  }
  return all;
}
template <class Encoder>
std::vector<float> convolution_rows(const nn::state_of<Encoder>& s) {
  std::vector<float> all;
  if constexpr (block_of<Encoder>::template has<"conv_module">())
    for (const auto& b : Encoder::template get<"encoders">(s)) {
      const auto& rows = block_of<Encoder>::template get<"conv_module">(b);
      all.insert(all.end(), rows.begin(), rows.end());
    }
  return all;
}

template <class Model>
class checks {
 public:
  using encoder_type = typename Model::encoder_type;

  explicit checks(const fs::path& folder) : g(folder), model(open(folder)) {}

  static Model open(const fs::path& folder) {
    opened_checkpoint opened = open_checkpoint(folder / "checkpoint");
    return load<Model>(std::move(opened.file));
  }
  double of_stage(const std::string& name, const std::vector<float>& values) {
    return distance(core::make_view(values.data(), 1, static_cast<extent>(values.size())), g.stages.at(name));
  }

  // 1e-4 of max(1, absmax) is the contract's bound for f32; the filterbank's is 2e-2 (silent bins), see the notes.
  void stages() {
    std::map<std::string, double> seen;
    const auto sink = [&](std::string_view path, const view<const float>& x) {
      const std::string name = stages::u2(path);
      if (g.stages.contains(name)) seen[name] = distance(x, g.stages.at(name));
    };
    context traced(executor{}, core::tracer(sink));
    whole(model, g, traced);
    for (const auto& [name, array] : g.stages) {
      if (name.starts_with("stream_") || name.ends_with("decoder_logprobs") || name == "attention_steps") continue;
      ASSERT_TRUE(seen.contains(name)) << name;
      EXPECT_LE(seen.at(name), name == "fbank" || name == "cmvn" ? 2e-2 : 1e-4) << name;
    }
  }

  void searches() {
    const computed<Model> h = whole(model, g, c);
    const json& full = g.want["full"];
    segment s;
    model.decode(core::read(h.rows), core::read(h.scores), {.search = wenet::u2_search::ctc_greedy}, s, c);
    EXPECT_EQ(s.token_ids, full["greedy"]["ids"].get<ids_type>());
    EXPECT_EQ(std::get<std::string>(s.extra.at(0).second), full["greedy"]["text"].get<std::string>());

    search::ctc_prefix_beam search({.blank = model.blank});
    search.advance(core::read(h.scores));
    expect_nbest(search, full["prefix_beam"]["nbest"]);
    attention(h);
    rescoring(h, search);
  }

  void blank_penalty() {
    const computed<Model> h = whole(model, g, c);
    table penalised(h.scores.rows(), h.scores.cols());
    model.score(h.rows, g.want["blank_penalty"]["value"].get<float>(), penalised, c);
    std::vector<search::ctc_token> tokens;
    search::ctc_greedy(penalised, model.blank, tokens);
    ids_type ids;
    for (const search::ctc_token& t : tokens) ids.push_back(t.id);
    EXPECT_EQ(ids, g.want["blank_penalty"]["greedy_ids"].get<ids_type>());
  }

  void attention(const computed<Model>& h) {
    for (const json& w : g.want["attention"]) {
      const search::attention_result r =
          model.attend(core::read(h.rows), w["beam"].get<extent>(), w["length_penalty"].get<double>(), c);
      EXPECT_EQ(r.ids, w["ids"].get<ids_type>());
      EXPECT_EQ(r.steps, w["steps"].get<extent>());
    }
    const npy::array& golden = g.stages.at("attention_steps");
    extent step = 0;
    std::vector<float> steps;
    const auto sink = [&](std::string_view path, const view<const float>& x) {
      if (path != "attention_step" || step++ >= golden.shape[0]) return;
      for (extent t = 0; t < x.rows(); ++t)
        steps.insert(steps.end(), x.data() + t * x.cols(), x.data() + (t + 1) * x.cols());
    };
    context traced(executor{}, core::tracer(sink));
    model.attend(core::read(h.rows), golden.shape[1], 0, traced);
    EXPECT_LE(of_stage("attention_steps", steps), 1e-4);
  }

  void rescoring(const computed<Model>& h, const search::ctc_prefix_beam& search) {
    std::vector<search::ctc_hypothesis> nbest;
    for (extent i = 0; i < search.size(); ++i) nbest.push_back(search.hypothesis(i));
    const json& want = g.want["attention_rescoring"];
    for (const auto& [name, values] : want.items()) {
      if (!name.starts_with("decoder_scores")) continue;
      const double reverse = name.ends_with("l2r") ? 0 : std::stod(name.substr(name.rfind('_') + 1));
      const auto again = model.rescore(core::read(h.rows), nbest, 0, reverse, c);
      for (std::size_t i = 0; i < again.size(); ++i)
        EXPECT_NEAR(again[i].decoder, values[i].template get<double>(), 1e-2) << name << " " << i;
    }
    for (const json& w : want["results"]) {
      const double ctc = w["ctc_weight"];
      const auto again = model.rescore(core::read(h.rows), nbest, ctc, w["reverse_weight"].get<double>(), c);
      std::size_t winner = 0;
      for (std::size_t i = 1; i < again.size(); ++i)
        if (again[i].score > again[winner].score) winner = i;
      EXPECT_EQ(nbest[winner].ids, w["ids"].get<ids_type>());
      EXPECT_EQ(nbest[winner].times, w["times"].get<std::vector<extent>>());
      EXPECT_NEAR(again[winner].score, w["score"].get<double>(), 1e-2 * std::max(1.0, ctc));  // n-best scores: 1e-2
      EXPECT_NEAR(again[winner].confidence, w["confidence"].get<double>(), 1e-5);
      const auto confidence = w["tokens_confidence"].get<std::vector<double>>();
      ASSERT_EQ(again[winner].token_confidence.size(), confidence.size());
      for (std::size_t i = 0; i < confidence.size(); ++i)
        EXPECT_NEAR(again[winner].token_confidence[i], confidence[i], 1e-4);
    }
    decoder_stage("decoder_logprobs", model.decoder, nbest, h, false);
    if (g.stages.contains("r_decoder_logprobs"))
      decoder_stage("r_decoder_logprobs", model.reverse_decoder, nbest, h, true);
  }

  // [3, L + 1, V]; rows behind a hypothesis' end are unused.
  template <class Decoder>
  void decoder_stage(const char* name, const Decoder& d, const std::vector<search::ctc_hypothesis>& nbest,
                     const computed<Model>& h, bool reversed) {
    const npy::array& golden = g.stages.at(name);
    const std::vector<float> b = golden.floats();
    const extent longest = golden.shape[1], units = golden.shape[2];
    double worst = 0, scale = 1;
    model.decoder_scores(d, core::read(h.rows), nbest, reversed, c, [&](const view<const float>& y, auto begin) {
      for (extent i = 0; i < 3; ++i)
        for (extent t = begin[static_cast<std::size_t>(i)]; t < begin[static_cast<std::size_t>(i) + 1]; ++t)
          for (extent u = 0; u < units; ++u) {
            const auto want = static_cast<double>(
                b[static_cast<std::size_t>((i * longest + t - begin[static_cast<std::size_t>(i)]) * units + u)]);
            worst = std::max(worst, std::fabs(static_cast<double>(y(t, u)) - want));
            scale = std::max(scale, std::fabs(want));
          }
    });
    EXPECT_LE(worst / scale, 1e-4) << name;
  }

  // The original's filterbank, normalised: last bits of our own hang on the C library's logarithm.
  table recorded_features() {
    const npy::array& fbank = g.stages.at("fbank");
    const std::vector<float> values = fbank.floats();
    table x = core::make_view(values.data(), fbank.rows(), static_cast<extent>(values.size()) / fbank.rows());
    EXPECT_EQ(x.rows(), model.frontend.rows(static_cast<extent>(g.pcm.size())));
    model.frontend.last(core::read(x), x, c);
    return x;
  }

  // Chunk by chunk: outputs, caches, partial and final results.
  void streaming() {
    const table x = recorded_features();
    const extent d = model.encoder.output_size(), rate = model.encoder.template get<"embed">().rate.get();
    for (const json& w : g.want["streaming"]) {
      const extent chunk = w["chunk_size"], left = w["num_left_chunks"];
      const std::string name =
          "stream_c" + std::to_string(chunk) + "_l" + (left < 0 ? std::string("all") : std::to_string(left)) + "_";
      SCOPED_TRACE(name);
      const auto check = [&](const std::string& part, const std::vector<float>& values) {
        if (!g.stages.contains(name + part)) return;
        EXPECT_LE(of_stage(name + part, values), 1e-4) << part;
      };
      auto state = model.encoder.start();
      std::vector<float> rows, scores;
      search::ctc_prefix_beam search({.blank = model.blank});
      const extent context_frames = model.encoder.template get<"embed">().right_context() + 1;
      std::size_t n = 0;
      for (extent at = 0; at + context_frames <= x.rows(); at += chunk * rate, ++n) {
        const extent end = std::min(at + (chunk - 1) * rate + context_frames, x.rows());
        EXPECT_EQ(at, w["input_windows"][n][0].get<extent>());
        EXPECT_EQ(end, w["input_windows"][n][1].get<extent>());
        const extent made = model.encoder.rows(end - at);
        ASSERT_EQ(made, w["chunk_frames_out"][n].get<extent>());
        table y(made, d), p(made, model.tokenizer.size());
        model.encoder(core::read(x.middleRows(at, end - at)), y, &state,
                      nn::u2_env{.keep = left < 0 ? -1 : left * chunk}, c);
        EXPECT_EQ(block_of<encoder_type>::template get<"self_attn">(encoder_type::template get<"encoders">(state)[0])
                      .cache.rows(),
                  w["att_cache_len"][n].get<extent>());
        if (n == 0) check("att_cache_after1", att_cache(model.encoder, state, d));
        model.score(y, 0, p, c);
        rows.insert(rows.end(), y.data(), y.data() + y.size());
        scores.insert(scores.end(), p.data(), p.data() + p.size());
        search.advance(core::read(p));
        if (w["partials"].empty()) continue;  // kept for some sizes only
        const json& partial = w["partials"].at(n);
        EXPECT_EQ(search.frames(), partial["frames"].get<extent>());
        EXPECT_EQ(search.hypothesis(0).ids, partial["ids"].get<ids_type>());
        EXPECT_EQ(search.hypothesis(0).times, partial["times"].get<std::vector<extent>>());
        EXPECT_NEAR(search.score(0), partial["score"].get<double>(), 1e-2);
      }
      EXPECT_EQ(n, w["chunk_frames_out"].size());
      check("encoder_out", rows);
      check("ctc_logprobs", scores);
      check("att_cache", att_cache(model.encoder, state, d));
      if (g.stages.contains(name + "cnn_cache"))
        check_convolution(state, gated_cache(model.encoder, g.stages.at(name + "cnn_cache"), c));
      expect_nbest(search, w["prefix_beam"]["nbest"]);
      std::vector<search::ctc_token> tokens;
      search::ctc_greedy(
          core::make_view(static_cast<const float*>(scores.data()), search.frames(), model.tokenizer.size()),
          model.blank, tokens);
      ids_type ids;
      for (const search::ctc_token& t : tokens) ids.push_back(t.id);
      EXPECT_EQ(ids, w["greedy"]["ids"].get<ids_type>());
      masked_pass(x, rows, chunk, left);
      streamed(w, chunk, left);
    }
  }

  void check_convolution(const nn::state_of<encoder_type>& s, const std::vector<float>& want) {
    const std::vector<float> kept = convolution_rows<encoder_type>(s);
    ASSERT_EQ(kept.size(), want.size());
    const auto n = static_cast<extent>(kept.size());
    if (n == 0) return;
    EXPECT_LE((core::make_view(kept.data(), 1, n) - core::make_view(want.data(), 1, n)).cwiseAbs().maxCoeff(), 1e-4f)
        << "cnn_cache";
  }

  // A full pass with chunk masks gives what the chunks give; only models with causal convolution can. With weights in
  // f32, few rows add up in lanes and many do not, so bits differ. Outputs have a root mean square of 1, and that of
  // the differences is 6.1e-7 at most; the largest is a matter of luck, 4.1e-6 with these features. Other formats leave
  // no difference (same_bits_in_chunks).
  void masked_pass(const table& x, const std::vector<float>& rows, extent chunk, extent left) {
    if (!causal()) return;
    const extent d = model.encoder.output_size(), n = static_cast<extent>(rows.size()) / d;
    const table y = masked(x, chunk, left);
    const auto apart = (y.topRows(n) - core::make_view(rows.data(), n, d)).array().cast<double>().eval();
    EXPECT_LE(std::sqrt(apart.square().mean()), 1e-6);
    EXPECT_LE(apart.abs().maxCoeff(), 5e-6);
  }
  bool causal() const {
    if constexpr (block_of<encoder_type>::template has<"conv_module">())
      return model.encoder.template get<"encoders">().layers[0].template get<"conv_module">().causal.get() != 0;
    return true;
  }
  table masked(const table& x, extent chunk, extent left) {
    table y(model.encoder.rows(x.rows()), model.encoder.output_size());
    model.encoder(core::read(x), y, nullptr, nn::u2_env{.window = {.chunk = chunk, .left = left}}, c);
    return y;
  }

  // Sums of these formats run in one order however many rows there are, but with AMX, whose tiles take many rows only.
  void same_bits_in_chunks() {
    if (!causal()) return;
    for (const kernels::isa level : kernels::isa_levels) {
      if (level < kernels::lowest_vector_isa || !kernels::has_isa(level) || kernels::name_of(level) == "amx") continue;
      SCOPED_TRACE(kernels::name_of(level));
      kernels::limit_isa(level);
      for (const dtype type : {dtype::f16, dtype::bf16, dtype::q8_0}) {
        SCOPED_TRACE(core::info(type).name);
        const test::temporary_directory scratch;
        convert(g.folder / "checkpoint", scratch.path() / "model.gguf", {.type = type});
        model = load<Model>((scratch.path() / "model.gguf").string());
        const table x = features(model, g, c);
        for (const json& w : g.want["streaming"]) chunks_of_masked_pass(x, w["chunk_size"], w["num_left_chunks"]);
      }
    }
    kernels::limit_isa(kernels::best_isa());
  }
  void chunks_of_masked_pass(const table& x, extent chunk, extent left) {
    const extent rate = model.encoder.template get<"embed">().rate.get();
    const extent needed = model.encoder.template get<"embed">().right_context() + 1;
    const table want = masked(x, chunk, left);
    auto state = model.encoder.start();
    extent row = 0;
    for (extent at = 0; at + needed <= x.rows(); at += chunk * rate) {
      const extent end = std::min(at + (chunk - 1) * rate + needed, x.rows());
      table y(model.encoder.rows(end - at), want.cols());
      model.encoder(core::read(x.middleRows(at, end - at)), y, &state, nn::u2_env{.keep = left < 0 ? -1 : left * chunk},
                    c);
      EXPECT_TRUE(y == want.middleRows(row, y.rows())) << "chunks of " << chunk << ", row " << row;
      row += y.rows();
    }
    EXPECT_GT(row, chunk);
  }

  // The same through a stream, in portions of any size: rescored winner, times of its word pieces.
  void streamed(const json& w, extent chunk, extent left) {
    const json& best = w["attention_rescoring"];
    std::vector<std::vector<int>> events[2];
    for (const std::size_t portion : {std::size_t{1777}, g.pcm.size()}) {
      auto& list = events[portion == 1777 ? 0 : 1];
      wenet::u2_stream<Model> stream(model, {.chunk_size = chunk,
                                             .left_chunks = left,
                                             .ctc_weight = best["ctc_weight"],
                                             .reverse_weight = best["reverse_weight"],
                                             .endpoints = false});
      wenet::u2_event last;
      std::vector<search::ctc_hypothesis> nbest;
      std::vector<wenet::rescored> again;
      ids_type stable;
      const auto sink = [&](const wenet::u2_event& e) {
        list.emplace_back(e.ids.begin(), e.ids.end());
        const ids_type firm(e.ids.begin(), e.ids.begin() + (e.kind == wenet::u2_event_kind::partial ? e.stable : 0));
        if (e.kind == wenet::u2_event_kind::partial) {
          ASSERT_GE(firm.size(), stable.size());
          EXPECT_TRUE(std::equal(stable.begin(), stable.end(), firm.begin()));
          stable = firm;
          return;
        }
        EXPECT_TRUE(std::equal(stable.begin(), stable.end(), e.ids.begin()));
        last = e;
        nbest.assign(e.nbest.begin(), e.nbest.end());
        again.assign(e.rescoring.begin(), e.rescoring.end());
      };
      for (std::size_t at = 0; at < g.pcm.size(); at += portion)
        stream.push(std::span(g.pcm).subspan(at, std::min(portion, g.pcm.size() - at)), c, sink);
      stream.finish(c, sink);
      ASSERT_FALSE(nbest.empty());
      EXPECT_EQ(nbest[0].ids, best["ids"].get<ids_type>());
      EXPECT_EQ(nbest[0].times, best["times"].get<std::vector<extent>>());
      EXPECT_NEAR(last.score, best["score"].get<double>(), 1e-2);
      EXPECT_NEAR(again[0].confidence, best["confidence"].get<double>(), 1e-5);
      EXPECT_FALSE(last.endpoint);
    }
    EXPECT_EQ(events[0], events[1]);
  }

  // The phrases of the case, by the original's two automata.
  void hotwords() {
    const computed<Model> h = whole(model, g, c);
    for (const json& w : g.want["context"]) {
      const auto phrases = w["phrases_ids"].get<std::vector<ids_type>>();
      const search::hotword_automaton graph(
          phrases, {.rules = search::hotword_rules::training, .score = w["context_score"].get<float>()});
      search::ctc_prefix_beam search({.search = {.hotwords = &graph}, .blank = model.blank});
      search.advance(core::read(h.scores));
      search.finish();
      // The original does not sort again after finish(), so places are compared as they are.
      const std::vector<hypothesis> want = golden_nbest(w["nbest"]);
      ASSERT_EQ(search.size(), static_cast<extent>(want.size()));
      for (extent i = 0; i < search.size(); ++i) {
        const hypothesis& e = want[static_cast<std::size_t>(i)];
        EXPECT_EQ(search.hypothesis(i).ids, e.ids) << i;
        EXPECT_EQ(search.hypothesis(i).times, e.times) << i;
        EXPECT_NEAR(search.score(i), e.score, 1e-2) << i;
      }
    }
  }

  // The C++ runtime: partial results, n-best with word pieces and scores.
  void runtime() {
    compare_runtime(g.runtime["stream16"], 16, nullptr);
    compare_runtime(g.runtime["full"], -1, nullptr);
    std::ifstream in(g.folder / "contexts.txt");
    std::vector<ids_type> phrases;
    for (std::string line; std::getline(in, line);)
      if (const auto units = model.tokenizer.split(line)) phrases.push_back(*units);
    for (const json& w : g.runtime["stream16_context"]) {
      const search::hotword_automaton graph(phrases, {.score = w["context_score"].get<float>()});
      compare_runtime(w, 16, &graph);
    }
  }
  void compare_runtime(const json& w, extent chunk, const search::hotword_automaton* graph) {
    const bool rescore = w.contains("ctc_weight");
    std::size_t n = 0;
    wenet::u2_stream<Model> stream(model, {.chunk_size = chunk,
                                           .beam = {.search = {.hotwords = graph}},
                                           .rescore = rescore,
                                           .ctc_weight = w.value("ctc_weight", 0.5),
                                           .reverse_weight = w.value("reverse_weight", 0.0),
                                           .endpoints = false});
    const json& events = w["events"];
    const auto sink = [&](const wenet::u2_event& e) {
      ASSERT_LT(n, events.size());
      const json& want = events[n++];
      const bool final = e.kind == wenet::u2_event_kind::final;
      EXPECT_EQ(want["kind"], final ? "final" : "partial");
      if (!final) {
        EXPECT_EQ(model.tokenizer.sentence(e.ids), want["nbest"][0]["sentence"].template get<std::string>());
        EXPECT_NEAR(e.score, want["nbest"][0]["score"].template get<double>(), 1e-2);
        return;
      }
      ASSERT_EQ(e.nbest.size(), want["nbest"].size());
      for (std::size_t i = 0; i < e.nbest.size(); ++i) {
        const json& entry = want["nbest"][i];
        const double score = rescore ? e.rescoring[i].score : e.nbest[i].score;
        EXPECT_NEAR(score, entry["score"].template get<double>(), 1e-2) << i;
        if (model.tokenizer.sentence(e.nbest[i].ids) != entry["sentence"].template get<std::string>()) {
          // Neighbours whose scores are closer than 1e-3 may have changed places.
          const double before = i > 0 ? want["nbest"][i - 1]["score"].template get<double>() : INFINITY;
          const double after = i + 1 < e.nbest.size() ? want["nbest"][i + 1]["score"].template get<double>() : INFINITY;
          const auto here = entry["score"].template get<double>();
          EXPECT_LE(std::min(std::fabs(before - here), std::fabs(after - here)), 1e-3) << "entry " << i;
          continue;
        }
        const auto times = search::piece_times(e.nbest[i].times, model.frame_ms());
        ASSERT_EQ(times.size(), entry["word_pieces"].size());
        compare_pieces(e.nbest[i], times, entry["word_pieces"]);
      }
    };
    // A few tokens are placed otherwise, because the original visits prefixes in the order of a hash map.
    moved = pieces = 0;
    stream.push(g.pcm, c, sink);
    stream.finish(c, sink);
    EXPECT_EQ(n, events.size());
    EXPECT_LE(10 * moved, pieces) << "of the word pieces have other times than the runtime's";
  }
  void compare_pieces(const search::ctc_hypothesis& h, const std::vector<search::piece_time>& times, const json& want) {
    for (std::size_t i = 0; i < times.size(); ++i) {
      EXPECT_EQ(model.tokenizer.piece(h.ids[i]), want[i][0].get<std::string>());
      moved += times[i].start_ms != want[i][1].get<extent>() || times[i].end_ms != want[i][2].get<extent>();
      ++pieces;
    }
  }

  // The rule for word pieces itself, on the original's own times.
  void word_pieces() {
    const auto check = [&](const json& times, const json& want) {
      const auto frames = times.get<std::vector<extent>>();
      const auto placed = search::piece_times(frames, model.frame_ms());
      ASSERT_EQ(placed.size(), want.size());
      std::size_t other = 0;
      for (std::size_t i = 0; i < placed.size(); ++i)
        other += placed[i].start_ms != want[i][1].get<extent>() || placed[i].end_ms != want[i][2].get<extent>();
      EXPECT_LE(other, 9u);  // up to 4 tokens have other frames in the runtime, which touches their neighbours
    };
    check(g.want["full"]["prefix_beam"]["nbest"][0]["times"], g.want["full"]["cpp_word_pieces_ms"]);
  }

  golden_case g;
  Model model;
  context c;
  std::size_t moved = 0, pieces = 0;
};

class wenet_parity : public testing::TestWithParam<const char*> {
 protected:
  void on_model(auto&& f) {
    STENO_REQUIRE_SHARED(shared);
    const fs::path folder = shared / "golden/wenet" / GetParam();
    if (std::string_view(GetParam()) == "u2_transformer") {
      checks<wenet::u2_transformer_any> c(folder);
      f(c);
    } else {
      checks<wenet::u2_conformer_any> c(folder);
      f(c);
    }
  }
};

TEST_P(wenet_parity, stages) {
  on_model([](auto& c) { c.stages(); });
}
TEST_P(wenet_parity, searches) {
  on_model([](auto& c) { c.searches(); });
}
TEST_P(wenet_parity, blank_penalty) {
  on_model([](auto& c) { c.blank_penalty(); });
}
TEST_P(wenet_parity, streaming) {
  on_model([](auto& c) { c.streaming(); });
}
TEST_P(wenet_parity, same_bits_in_chunks) {
  on_model([](auto& c) { c.same_bits_in_chunks(); });
}
TEST_P(wenet_parity, hotwords) {
  on_model([](auto& c) { c.hotwords(); });
}
TEST_P(wenet_parity, runtime) {
  on_model([](auto& c) {
    c.runtime();
    c.word_pieces();
  });
}

INSTANTIATE_TEST_SUITE_P(, wenet_parity,
                         testing::Values("u2_conformer", "u2_conformer_bpe", "u2pp_conformer", "u2_unified_conformer",
                                         "u2_transformer"),
                         [](const auto& instance) { return std::string(instance.param); });

}  // namespace wenet_test
