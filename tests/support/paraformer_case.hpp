// What the parity tests of the Paraformers share: a recorded case, its stages beside ours, times of words.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/models/load.hpp>

#include "convert/convert.hpp"
#include "support/compare.hpp"
#include "support/golden.hpp"
#include "support/json_file.hpp"
#include "support/wav.hpp"
#include "trace/stages/paraformer.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace steno::test {

/// The model of a checkpoint, through the converter.
template <class Model>
Model converted(const std::filesystem::path& checkpoint, dtype type = dtype::f32) {
  const temporary_directory scratch;
  const std::filesystem::path file = scratch.path() / "model.gguf";
  convert(checkpoint, file, {.type = type});
  return load<Model>(file.string());  // stays mapped when the name goes away
}

struct stages_run {
  std::map<std::string, difference> stages;
  segment recognised;
};

/// Runs a case and compares every recorded stage whose name begins with `run` (and of those of no run, all others that
/// are traced as often as recorded).
template <class Model>
stages_run run_stages(const Model& model, const std::filesystem::path& folder, const std::vector<float>& pcm,
                      const typename Model::options& o = {}, const std::string& run = "") {
  std::map<std::string, npy::array> golden;
  for (const auto& e : std::filesystem::directory_iterator(folder / "stages")) {
    const std::string name = e.path().stem().string().substr(3);
    if (!name.starts_with(run)) continue;
    golden.emplace(name.substr(run.size()), npy::load(e.path()));
  }
  stages_run r;
  const auto sink = [&](std::string_view path, const view<const float>& x) {
    const auto want = golden.find(stages::paraformer(path));
    if (want == golden.end()) return;
    ASSERT_EQ(want->second.size(), x.rows() * x.cols()) << path;
    r.stages[want->first] = compare(x, want->second);
  };
  context c(executor{}, core::tracer(sink));
  r.recognised = model.recognise(pcm, o, c);
  return r;
}

/// The contract's bound for every stage of a run that was recorded.
inline void expect_stages(const stages_run& r, const std::filesystem::path& folder, const std::string& run = "",
                          const std::string& of_others = "hotwords_") {
  std::size_t seen = 0;
  for (const auto& e : std::filesystem::directory_iterator(folder / "stages")) {
    std::string name = e.path().stem().string().substr(3);
    if (run.empty() ? name.starts_with(of_others) : !name.starts_with(run)) continue;
    name.erase(0, run.size());
    ++seen;
    ASSERT_TRUE(r.stages.contains(name)) << run << name;
    EXPECT_LE(r.stages.at(name).relative(), 1e-4) << run << name;
  }
  EXPECT_GT(seen, 0u);
}

/// Words begin and end at these milliseconds.
inline void expect_times(const segment& s, const nlohmann::json& times) {
  ASSERT_EQ(s.words.size(), times.size());
  for (std::size_t i = 0; i < s.words.size(); ++i) {
    EXPECT_EQ(s.words[i].how, timing::native);
    EXPECT_EQ(std::lround(s.words[i].start * 1000), times[i][0].get<long>()) << i;
    EXPECT_EQ(std::lround(s.words[i].end * 1000), times[i][1].get<long>()) << i;
  }
}

}  // namespace steno::test
