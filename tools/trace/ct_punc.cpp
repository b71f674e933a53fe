// The stages of a punctuation model, pass by pass, and the text it makes: of whole texts, and of a stream's pieces.
// SPDX-License-Identifier: Apache-2.0
#include <steno/models/ct_punc.hpp>
#include <steno/models/ct_punc_realtime.hpp>
#include <steno/weights/mapped_file.hpp>

#include <nlohmann/json.hpp>

#include "families.hpp"
#include "stages/ct_punc.hpp"

namespace steno::trace {

namespace {

// What stands in the input: one text, or several under a name of their own ("text", "piece").
struct texts {
  const char* name = nullptr;  // null: there is one text
  std::vector<std::string> all;
};

// A file of text, or a JSON object: its input_text, the texts of its `runs` or the inputs of its `pieces`.
texts read_texts(const std::string& path) {
  const weights::mapped_file file(path);
  std::string text(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  if (!path.ends_with(".json")) return {nullptr, {std::move(text)}};
  const nlohmann::json j = nlohmann::json::parse(text, nullptr, false);
  texts found;
  const auto take = [&](const nlohmann::json& from, const char* key) {
    if (from.is_object() && from.contains(key) && from[key].is_string()) found.all.push_back(from[key]);
  };
  const auto take_each = [&](const char* list, const char* key, const char* name) {
    if (!found.all.empty() || !j.is_object() || !j.contains(list) || !j[list].is_array()) return;
    found.name = name;
    for (const nlohmann::json& one : j[list])
      if (!one.is_object() || one.value("form", "with_dictionary") == "with_dictionary") take(one, key);
  };
  take(j, "input_text");
  take_each("runs", "text", "text");
  take_each("pieces", "input", "piece");
  if (found.all.empty())
    fail({.where = path,
          .what = "holds no text",
          .expected = "a JSON object with input_text, runs of a text each, or pieces of an input each"});
  return found;
}

template <class F>
void each_text(const texts& t, context& c, F&& punctuate) {
  for (std::size_t i = 0; i < t.all.size(); ++i) {
    if (t.name == nullptr) {
      punctuate(t.all[i]);
      continue;
    }
    auto scope = c.enter(t.name, static_cast<extent>(i));
    punctuate(t.all[i]);
  }
}

}  // namespace

void ct_punc(job& j) {
  const auto model = load<funasr::ct_punc_any>(std::move(j.file));
  const std::int64_t at_once = j.set.take_number("split_size", 20);
  j.set.finish();
  const auto sink = j.sink(stages::ct_punc);
  context c(j.run, core::tracer(sink));
  each_text(read_texts(j.input), c, [&](const std::string& text) { (void)model.punctuate(text, c, at_once); });
}

void ct_punc_realtime(job& j) {
  const auto model = load<funasr::ct_punc_realtime_any>(std::move(j.file));
  const std::int64_t at_once = j.set.take_number("split_size", 20);
  j.set.finish();
  const auto sink = j.sink(stages::ct_punc);
  context c(j.run, core::tracer(sink));
  funasr::ct_punc_realtime_any::cache cache;
  each_text(read_texts(j.input), c, [&](const std::string& text) { (void)model.punctuate(text, cache, c, at_once); });
}

const family of_ct_transformer("ct_transformer",
                               "split_size=20 (INPUT is text, or JSON with input_text, or with runs of a text each)",
                               ct_punc);
const family of_ct_transformer_streaming("ct_transformer_streaming",
                                         "split_size=20 (INPUT is text, or JSON with pieces of an input each)",
                                         ct_punc_realtime);

}  // namespace steno::trace
