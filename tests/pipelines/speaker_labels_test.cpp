// A diarizer beside a recording: on this thread or on its own, in any portions, the same words by the same speakers.
// SPDX-License-Identifier: Apache-2.0
#include <steno/pipelines/speaker_labels.hpp>

#include "convert/convert.hpp"
#include "support/golden.hpp"
#include "support/random.hpp"

#include <gtest/gtest.h>

#include <tuple>

namespace speaker_labels_test {

using namespace steno;

const std::string small = (test::compact() / "sortformer" / "model.gguf").string();
const std::string whole = (test::compact() / "other_sizes" / "sortformer" / "checkpoint" / "model.nemo").string();

// A model for streams, and one that hears recordings as a whole.
diarizer open(const std::string& path) {
  opened_checkpoint opened = open_checkpoint(path);
  return diarizer(std::move(opened.file));
}

using found_words = std::vector<std::tuple<std::string, std::string, std::string>>;  // text, word's, segment's

// A segment of four words for each second, recognised `late` portions after it was said.
found_words listen(const diarizer& d, const std::vector<float>& pcm, std::size_t portion, std::size_t late,
                   const std::optional<executor>& beside) {
  context c;
  pipelines::speaker_labels who(d, {}, {}, beside);
  found_words all;
  const auto take = [&](segment s) {
    for (const word& w : s.words) all.emplace_back(w.text, w.speaker.value_or("-"), s.speaker.value_or("-"));
  };
  int next = 0;
  const auto recognise = [&](double until) {
    for (; next + 1 <= until; ++next) {
      segment s;
      s.start = next;
      s.end = next + 1;
      for (int k = 0; k < 4; ++k) {
        const double t = next + 0.25 * k;
        s.words.push_back({.text = std::to_string(k), .start = t, .end = t + 0.1, .how = timing::native});
        s.text += (k == 0 ? "" : " ") + s.words.back().text;
      }
      who.add(s);
    }
  };
  std::size_t done = 0;
  for (std::size_t at = 0; at < pcm.size(); at += portion, ++done) {
    who.push(std::span(pcm).subspan(at, std::min(portion, pcm.size() - at)), c);
    if (done >= late) recognise(static_cast<double>(at) / 16000);
    who.forget(next);
    who.take(take);
  }
  who.close(c);
  recognise(static_cast<double>(pcm.size()) / 16000);
  who.take(take);
  return all;
}

TEST(speaker_labels, the_same_on_one_thread_and_on_two) {
  const std::vector<float> pcm = test::random_numbers(5).vector(16000 * 12, -0.3f, 0.3f);
  for (const std::string& file : {small, whole}) {
    const diarizer d = open(file);
    const found_words want = listen(d, pcm, 16000, 0, {});
    ASSERT_EQ(want.size(), 48u);
    for (const std::size_t portion : {1600u, 7777u, 200000u})
      for (const std::size_t late : {0u, 9u}) {
        EXPECT_EQ(listen(d, pcm, portion, late, {}), want) << portion;
        EXPECT_EQ(listen(d, pcm, portion, late, executor()), want) << portion;
      }
  }
}

TEST(speaker_labels, rows_are_those_that_are_kept) {
  const std::vector<float> pcm = test::random_numbers(5).vector(16000 * 8 + 3, -0.3f, 0.3f);
  for (const std::string& file : {small, whole}) {
    const diarizer d = open(file);
    context c;
    diarization kept(d, {}), handed(d, {});
    kept.push(pcm, c);
    (void)kept.finish(c);
    std::vector<float> rows;
    const auto take = [&](const view<const float>& r) { rows.insert(rows.end(), r.data(), r.data() + r.size()); };
    for (std::size_t at = 0; at < pcm.size(); at += 1234)
      handed.push(std::span(pcm).subspan(at, std::min<std::size_t>(1234, pcm.size() - at)), c, take);
    handed.finish(c, take);
    const auto want = kept.activities();
    EXPECT_EQ(rows, std::vector<float>(want.data(), want.data() + want.size()));
    EXPECT_EQ(handed.activities().rows(), 0);
  }
}

// It is given up before its end: the thread ends, too.
TEST(speaker_labels, may_be_left) {
  const diarizer d(small);
  context c;
  pipelines::speaker_labels who(d, {}, {}, executor());
  who.push(std::vector<float>(16000 * 5), c);
  pipelines::speaker_labels moved = std::move(who);
  moved.push(std::vector<float>(16000), c);
  moved.wait();
}

TEST(speaker_labels, settings_that_make_no_sense) {
  const diarizer d(small);
  diarize_options o;
  o.cache = d.default_cache();
  o.cache->chunk_len = 0;
  EXPECT_THROW(pipelines::speaker_labels(d, o), error);
  EXPECT_THROW(pipelines::speaker_labels(d, {}, {.onset = 2}), error);
}

}  // namespace speaker_labels_test
