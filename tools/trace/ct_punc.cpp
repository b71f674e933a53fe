// The stages of a punctuation model, pass by pass, and the text it makes.
#include <steno/models/ct_punc.hpp>
#include <steno/weights/mapped_file.hpp>

#include <nlohmann/json.hpp>

#include "families.hpp"
#include "stages/ct_punc.hpp"

namespace steno::trace {

namespace {

// A file of text, or a JSON object whose input_text it is.
std::string read_text(const std::string& path) {
  const weights::mapped_file file(path);
  std::string text(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  if (!path.ends_with(".json")) return text;
  const nlohmann::json all = nlohmann::json::parse(text, nullptr, false);
  if (!all.is_object() || !all.contains("input_text") || !all["input_text"].is_string())
    fail({.where = path, .what = "holds no text", .expected = "a JSON object with input_text"});
  return all["input_text"].get<std::string>();
}

}  // namespace

void ct_punc(job& j) {
  const auto model = load<funasr::ct_punc_any>(std::move(j.file), {}, std::move(j.image));
  const long at_once = j.set.take_number("split_size", 20);
  j.set.finish();
  const auto sink = j.sink(stages::ct_punc);
  context c(j.run, core::tracer(sink));
  (void)model.punctuate(read_text(j.input), c, at_once);
}

const family of_ct_transformer("ct_transformer", "split_size=20 (INPUT is text, or JSON with input_text)", ct_punc);

}  // namespace steno::trace
