// SPDX-License-Identifier: Apache-2.0
#include "itn.hpp"

#include <steno/error.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "folder_entries.hpp"
#include "itn_tokens.hpp"
#include "utf8_path.hpp"
#include "written_words.hpp"

namespace steno::app {
namespace fs = std::filesystem;

namespace {

constexpr std::string_view wetext_tagger = "tagger.fst", wetext_verbalizer = "verbalizer.fst",
                           nemo_tagger = "tokenize_and_classify.far";
constexpr const char* rule_files =
    "zh_itn_tagger.fst and zh_itn_verbalizer.fst (WeTextProcessing), or classify/tokenize_and_classify.far and "
    "verbalize/verbalize.far (NeMo)";

// The tagger of a folder.
fs::path tagger_in(const fs::path& folder) {
  std::error_code e;
  for (const fs::path& at : {folder / nemo_tagger, folder / "classify" / nemo_tagger})
    if (fs::exists(at, e)) return at;
  std::vector<fs::path> found;
  for (const fs::path& entry : folder_entries(folder)) {
    const std::string name = entry.filename().string();
    if (name.ends_with(wetext_tagger) && name.find("_tn_") == name.npos) found.push_back(entry);
  }
  std::sort(found.begin(), found.end());
  if (found.size() == 1) return found[0];
  if (found.empty())
    fail({.where = folder.string(),
          .what = "rules of inverse text normalisation",
          .expected = rule_files,
          .found = "none of them"});
  fail({.where = folder.string(),
        .what = "rules of inverse text normalisation",
        .expected = "one tagger",
        .found = found[0].filename().string() + ", " + found[1].filename().string(),
        .hint = "name the file of the one that you want"});
}

std::unique_ptr<fst_rules> read_rules(const fs::path& file, const char* name) {
  std::error_code e;
  if (!fs::exists(file, e)) fail({.where = file.string(), .what = "there is no such file", .expected = rule_files});
  std::string problem;
  std::unique_ptr<fst_rules> rules = fst_rules::read(file.string(), name, problem);
  if (!rules) fail({.where = file.string(), .what = "cannot be used as rules: " + problem});
  return rules;
}

std::string_view trimmed(std::string_view s) {
  const std::size_t from = s.find_first_not_of(' ');
  if (from == s.npos) return {};
  return s.substr(from, s.find_last_not_of(' ') - from + 1);
}

// NeMo's spaces: no-break ones stand for those within a token, and several are one.
std::string plain_spaces(std::string_view s) {
  std::string out;
  for (std::size_t i = 0; i < s.size(); ++i) {
    const bool no_break = s.substr(i, 2) == "\xc2\xa0";
    if (no_break) ++i;
    if (no_break || s[i] == ' ') {
      if (!out.empty() && out.back() != ' ') out += ' ';
    } else {
      out += s[i];
    }
  }
  return std::string(trimmed(out));
}

// A mark that had no space before it has none afterwards: NeMo's tagger makes a token of it.
std::string with_marks_of(std::string_view spoken, const std::string& written) {
  std::string out;
  for (std::size_t i = 0; i < written.size(); ++i) {
    const char space_and_mark[] = {' ', i + 1 < written.size() ? written[i + 1] : ' ', '\0'};
    const bool mark = std::string_view(".,!?;:").find(space_and_mark[1]) != std::string_view::npos &&
                      (i + 2 >= written.size() || written[i + 2] == ' ');
    if (written[i] != ' ' || !mark || spoken.find(space_and_mark) != spoken.npos) out += written[i];
  }
  return out;
}

// NeMo's verbalizer takes one token, in whichever order of its fields it knows.
std::optional<std::string> verbalize_nemo(const std::vector<itn_token>& tokens, const fst_rules& rules) {
  std::string all;
  for (const itn_token& t : tokens) {
    if (t.fields.size() != 1) return std::nullopt;
    const itn_token& one = t.fields[0];
    std::string said = one.value;
    if (one.group && !each_order(one, [&](const itn_token& ordered) { return rules.rewrite(itn_text(ordered), said); }))
      return std::nullopt;
    all += ' ' + said;
  }
  return plain_spaces(all);
}

std::optional<std::string> verbalize_wetext(const std::vector<itn_token>& tokens, const fst_rules& rules) {
  std::string all, said;
  for (const itn_token& t : tokens) all += ' ' + itn_text(in_the_order_of_wetext(t));
  if (!rules.rewrite(std::string(trimmed(all)), said)) return std::nullopt;
  return said;
}

}  // namespace

inverse_text_normaliser::inverse_text_normaliser(const std::string& path) {
  std::error_code e;
  const fs::path named = utf8_path(path), tagger = fs::is_directory(named, e) ? tagger_in(named) : named;
  const std::string name = tagger.filename().string();
  if (name.find("_tn_") != name.npos)
    fail({.where = path,
          .what = "these rules write figures as words (text normalisation)",
          .hint = "the other direction's files have _itn_ in their names"});
  const fs::path folder = tagger.parent_path();
  if (name == nemo_tagger) {
    nemo_ = true;
    tagger_ = read_rules(tagger, "TOKENIZE_AND_CLASSIFY");
    const fs::path beside = folder / "verbalize.far", apart = folder.parent_path() / "verbalize" / "verbalize.far";
    const fs::path verbalizer = fs::exists(beside, e) ? beside : apart;
    verbalizer_ = read_rules(verbalizer, "ALL");
    if (const fs::path last = verbalizer.parent_path() / "post_process.far"; fs::exists(last, e))
      last_ = read_rules(last, "POSTPROCESSOR");
  } else if (name.ends_with(wetext_tagger)) {
    tagger_ = read_rules(tagger, "tagger");
    const std::string language = name.substr(0, name.size() - wetext_tagger.size());
    verbalizer_ = read_rules(folder / utf8_path(language + std::string(wetext_verbalizer)), "verbalizer");
  } else {
    fail({.where = path, .what = "rules of inverse text normalisation", .expected = rule_files});
  }
}

std::string inverse_text_normaliser::written(const std::string& text) const {
  if (std::string tagged; !trimmed(text).empty() && tagger_->rewrite(text, tagged)) {
    if (const std::optional<std::vector<itn_token>> tokens = parse_itn_tokens(tagged)) {
      std::optional<std::string> out =
          nemo_ ? verbalize_nemo(*tokens, *verbalizer_) : verbalize_wetext(*tokens, *verbalizer_);
      if (std::string done; out && last_ && last_->rewrite(*out, done)) out = std::move(done);
      if (out) return nemo_ ? with_marks_of(text, *out) : *std::move(out);
    }
  }
  return text;
}

void inverse_text_normaliser::rewrite(segment& s) const {
  std::string text = written(s.text);
  s.words = words_as_written(s.text, s.words, text);
  s.text = std::move(text);
  for (alternative& a : s.alternatives) a.text = written(a.text);
}

void inverse_text_normaliser::rewrite(session_event& e) const {
  if (!e.final()) return;
  rewrite(e.utterance);
  for (streaming::session_alternative& a : e.nbest) a.text = written(a.text);
}

}  // namespace steno::app
