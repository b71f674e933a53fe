// <steno/steno.hpp> reaches every public header; a model's header reaches no other model.
// SPDX-License-Identifier: Apache-2.0
#include <steno/steno.hpp>

#include <gtest/gtest.h>

#include <map>

#include "sources.hpp"

namespace umbrella_test {
namespace {

// Everything that `start` includes, directly or through others.
std::set<std::string> reach(const std::map<std::string, std::string>& texts, const std::string& start) {
  std::set<std::string> seen;
  std::vector<std::string> open = {start};
  while (!open.empty()) {
    const std::string name = open.back();
    open.pop_back();
    const auto found = texts.find(name);
    if (found == texts.end() || !seen.insert(name).second) continue;
    for (std::string& target : steno::test::includes(found->second)) open.push_back(std::move(target));
  }
  return seen;
}

std::map<std::string, std::string> texts() {
  std::map<std::string, std::string> all;
  for (auto& s : steno::test::headers()) all.emplace(std::move(s.name), std::move(s.text));
  return all;
}

// The folders inside kernels/ hold what a kernel is made of.
bool is_internal(const std::string& name) {
  return steno::test::is_piece(name) || (name.starts_with("steno/kernels/") && std::ranges::count(name, '/') > 2);
}

}  // namespace

TEST(umbrella, reaches_every_public_header) {
  const auto all = texts();
  const auto reached = reach(all, "steno/steno.hpp");
  std::vector<std::string> forgotten;
  for (const auto& [name, text] : all)
    if (!is_internal(name) && !reached.contains(name)) forgotten.push_back("#include <" + name + ">");
  EXPECT_TRUE(forgotten.empty()) << "missing in steno.hpp:\n" << steno::test::joined(forgotten);
}

TEST(umbrella, a_model_brings_no_other_model) {
  const auto all = texts();
  // What files say, how they are loaded; nemo_parts.hpp has the front end of Parakeet and Sortformer, nemo_encoders.hpp
  // sizes of published encoders, nemo_prompts.hpp the languages that a model of NeMo takes; parakeet.hpp is the base of
  // its FastConformer models and none itself; paraformer_parts.hpp, bicif_parts.hpp and hotword_phrases.hpp what kinds
  // of Paraformer share, guides.hpp what tokenizers make of hotwords.
  const std::set<std::string> shared = {
      "steno/models/load.hpp",         "steno/models/metadata.hpp",        "steno/models/nemo_parts.hpp",
      "steno/models/nemo_prompts.hpp", "steno/models/qwen_vocabulary.hpp", "steno/models/paraformer_parts.hpp",
      "steno/models/bicif_parts.hpp",  "steno/models/hotword_phrases.hpp", "steno/models/parakeet.hpp",
      "steno/models/guides.hpp",       "steno/models/nemo_encoders.hpp"};
  // whisper_decode.hpp is a part of whisper.hpp.
  const auto family = [&](const std::string& name) {
    for (std::size_t at = name.find('_'); at != std::string::npos; at = name.find('_', at + 1))
      if (const std::string whole = name.substr(0, at) + ".hpp"; all.contains(whole)) return whole;
    return name;
  };
  std::vector<std::string> wrong;
  for (const auto& [name, text] : all) {
    if (!name.starts_with("steno/models/")) continue;
    for (const std::string& other : reach(all, name))
      if (other.starts_with("steno/models/") && family(other) != family(name) && !shared.contains(other))
        wrong.push_back(name + " reaches " + other);
  }
  EXPECT_TRUE(wrong.empty()) << steno::test::joined(wrong);
}

// And it compiles here, where nothing else of steno is included.
TEST(umbrella, declares_what_it_includes) {
  EXPECT_EQ(steno::version.major, STENO_VERSION_MAJOR);
  EXPECT_FALSE(steno::context().tracing());
}

}  // namespace umbrella_test
