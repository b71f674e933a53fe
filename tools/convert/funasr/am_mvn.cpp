// tools/convert/funasr/am_mvn.cpp - see am_mvn.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "funasr/am_mvn.hpp"

#include <steno/error.hpp>
#include <steno/weights/byte_cursor.hpp>
#include <steno/weights/mapped_file.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <optional>

#include "../number_text.hpp"
#include "funasr/folder.hpp"
#include "model_tensors.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace funasr_files {

namespace {

constexpr std::size_t longest = 16384;  // features in one vector

class scanner {
 public:
  scanner(std::string_view text, const std::string& where) : text_(text), rest_(text), where_(where) {}

  // A word between blanks; brackets are words of their own.
  std::string_view next() {
    while (!rest_.empty() && blank(rest_.front())) rest_.remove_prefix(1);
    if (rest_.empty()) return {};
    std::size_t n = 1;
    if (rest_.front() != '[' && rest_.front() != ']')
      while (n < rest_.size() && !blank(rest_[n]) && rest_[n] != '[' && rest_[n] != ']') ++n;
    const std::string_view word = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return word;
  }
  std::vector<float> block(const std::string& component) {
    std::vector<float> values;
    for (std::string_view word = next(); word != "]"; word = next()) {
      float value = 0;
      const bool number = is_number(word, value);
      if (word.empty()) bad("the block of " + component + " does not end");
      if (!number || !std::isfinite(value))
        fail({.where = where_,
              .what = "line " + std::to_string(line_of(word)) + ": element " + std::to_string(values.size()) +
                      " of the block of " + component,
              .expected = "a finite number",
              .found = steno::weights::quoted(word)});
      if (values.size() == longest) bad("the block of " + component + " is too long");
      values.push_back(value);
    }
    return values;
  }
  [[noreturn]] void bad(const std::string& why) const { fail({.where = where_, .what = "not an am.mvn file: " + why}); }

 private:
  static bool blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

  std::ptrdiff_t line_of(std::string_view word) const { return std::count(text_.data(), word.data(), '\n') + 1; }

  std::string_view text_, rest_;
  const std::string& where_;
};

}  // namespace

am_mvn parse_am_mvn(std::string_view text, const std::string& where) {
  scanner words(text, where);
  am_mvn result;
  std::string component;               // named last
  std::optional<std::size_t> outputs;  // its first number
  for (std::string_view word = words.next(); !word.empty(); word = words.next()) {
    if (word == "<AddShift>" || word == "<Rescale>" || word == "<Splice>") {
      component = word;
      std::size_t n = 0;
      const std::string_view size = words.next();
      const auto [end, failure] = std::from_chars(size.data(), size.data() + size.size(), n);
      if (failure != std::errc{} || end != size.data() + size.size()) words.bad(component + " has no size");
      outputs = n;
    } else if (word.front() == '<' && word != "<LearnRateCoef>") {
      component.clear();
    } else if (word == "[") {
      std::vector<float> values = words.block(component.empty() ? "an unknown component" : component);
      if (component != "<AddShift>" && component != "<Rescale>") continue;
      std::vector<float>& target = component == "<AddShift>" ? result.shift : result.scale;
      if (!target.empty()) words.bad(component + " occurs twice");
      if (values.empty() || values.size() != outputs)
        fail({.where = where,
              .what = "length of the block of " + component,
              .expected = std::to_string(*outputs),
              .found = std::to_string(values.size())});
      target = std::move(values);
    }
  }
  if (result.shift.empty()) words.bad("it has no <AddShift> block");
  if (result.scale.empty()) words.bad("it has no <Rescale> block");
  if (result.shift.size() != result.scale.size())
    fail({.where = where,
          .what = "length of <Rescale>",
          .expected = std::to_string(result.shift.size()) + " as <AddShift>",
          .found = std::to_string(result.scale.size())});
  return result;
}

am_mvn read_am_mvn(const std::string& path) {
  const weights::mapped_file file(path);
  return parse_am_mvn({reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()}, path);
}

void set_cmvn(imported_model& model, const std::filesystem::path& path) {
  const gguf_file keys(model.where, model.file.keys());
  const std::string at = keys.text("general.architecture").value_or("") + ".frontend.";
  const double width = keys.number(at + "n_mels").value_or(80) * keys.number(at + "lfr_m").value_or(7);
  am_mvn m = read_am_mvn(path.string());
  if (static_cast<double>(m.shift.size()) != width)
    fail({.where = path.string(),
          .what = "length of the vectors",
          .expected = weights::number_text(width) + " as the model's input",
          .found = std::to_string(m.shift.size())});
  add_cmvn(model, std::move(m.shift), std::move(m.scale));
}

bool has_cmvn(const imported_model& model) {
  return std::any_of(model.tensors.begin(), model.tensors.end(),
                     [](const imported_tensor& t) { return t.name == "cmvn.shift"; });
}

void take_cmvn(imported_model& model, const folder& f, const std::optional<std::filesystem::path>& path) {
  if (path || f.cmvn) return set_cmvn(model, path ? *path : *f.cmvn);
  const bool beside = std::filesystem::exists(f.root / "am.mvn");
  model.notes.push_back(f.root.string() + ": features are not normalised, for " +
                        (beside ? "configuration.json does not name the am.mvn" : "there is no am.mvn") +
                        "; FunASR does the same, but published models need theirs (--cmvn am.mvn)");
}

}  // namespace funasr_files
}  // namespace STENO_ABI
}  // namespace steno
