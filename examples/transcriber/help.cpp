// SPDX-License-Identifier: Apache-2.0
#include "help.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "options.hpp"
#include "peer_options.hpp"
#include "text_width.hpp"
#include "verb_options.hpp"

namespace steno::app {
namespace {

constexpr int help_width = 80, indent = 26;

// Lines of a text that has its own, each at most as wide as a screen.
std::string folded(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    const std::size_t front = std::min(line.find_first_not_of(' '), line.size());
    if (columns(line) <= help_width || line.find("  ", front) != std::string_view::npos) {
      out.append(line).append("\n");
      continue;
    }
    for (const std::string& part : wrap(line, help_width - static_cast<int>(front)))
      out.append(front, ' ').append(part).append("\n");
  }
  return out;
}

// "  -o, --output FILE        Write to ..."
std::string row(const option_words& o) {
  std::string left = "  ";
  for (const std::string& n : o.names) left.append(left.size() > 2 ? ", " : "").append(n);
  if (!o.value.empty()) left.append(" ").append(o.value);
  const std::vector<std::string> lines = wrap(o.about, help_width - indent);
  std::string out = left;
  bool beside = columns(left) <= indent - 2;
  if (!beside) out += "\n";
  int at = beside ? columns(left) : 0;
  for (const std::string& line : lines) {
    out.append(static_cast<std::size_t>(indent - at), ' ').append(line).append("\n");
    at = 0;
  }
  return lines.empty() && beside ? out + "\n" : out;
}

// "output" of "Output: where results go".
std::string word_of(const std::string& topic) {
  std::string word = topic.substr(0, topic.find(':'));
  std::transform(word.begin(), word.end(), word.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  std::replace(word.begin(), word.end(), ' ', '-');
  return word;
}

std::vector<std::string> topics_of(const std::vector<option_words>& all) {
  std::vector<std::string> topics;
  for (const option_words& o : all)
    if (std::find(topics.begin(), topics.end(), o.topic) == topics.end()) topics.push_back(o.topic);
  return topics;
}

std::string usage(const std::string& verb, const std::vector<option_words>& all) {
  std::string line = verb == "transcribe" ? "steno [transcribe] [OPTIONS]" : "steno " + verb + " [OPTIONS]";
  for (const option_words& o : all)
    if (o.positional) line.append(" ").append(o.names.front());
  return line;
}

bool is_left_out(const option_words& o, const std::set<std::string>& without) {
  return std::any_of(o.names.begin(), o.names.end(), [&](const std::string& n) { return without.count(n) != 0; });
}

std::string one_list(const std::vector<std::string>& words, const char* separator) {
  std::string all;
  for (const std::string& w : words) all.append(all.empty() ? "" : separator).append(w);
  return all;
}

}  // namespace

const std::vector<std::string>& verb_names() {
  static const std::vector<std::string> names = {"transcribe", "stream", "diarize", "vad",   "align",
                                                 "serve",      "bench",  "info",    "models"};
  return names;
}

std::vector<option_words> words_of(const std::string& verb) {
  options o;
  o.verb = verb;
  raw_options raw;
  CLI::App app;
  app.allow_windows_style_options(false);
  add_options(app, o, raw);
  add_common_options(app);
  std::vector<option_words> all;
  for (const CLI::Option* option : app.get_options()) {
    option_words w;
    w.topic = option->get_group();
    w.about = option->get_description();
    w.positional = option->nonpositional() == false;
    if (w.positional && option->get_lnames().empty() && option->get_snames().empty()) {
      w.names = {option->get_name() + (option->get_items_expected_max() > 1 ? "..." : "")};
    } else {
      w.positional = false;
      for (const std::string& n : option->get_snames()) w.names.push_back("-" + n);
      for (const std::string& n : option->get_lnames()) w.names.push_back("--" + n);
      std::string type = option->get_type_name();
      type.erase(std::min(type.find(':'), type.size()));
      if (option->get_items_expected_max() > 0) w.value = type;
    }
    all.push_back(std::move(w));
  }
  return all;
}

std::string help_text(const std::string& verb, const std::string& topic, const std::set<std::string>& without,
                      const std::string& model) {
  const std::vector<option_words> all = words_of(verb);
  const std::vector<std::string> topics = topics_of(all);
  std::string out;
  if (topic.empty()) out = folded(description(verb)) + "\nUsage: " + usage(verb, all) + "\n";
  bool found = false;
  for (const std::string& t : topics) {
    if (!topic.empty() && word_of(t) != topic) continue;
    std::string rows;
    for (const option_words& o : all)
      if (o.topic == t && !is_left_out(o, without)) rows += row(o);
    if (rows.empty()) continue;
    found = true;
    out.append(out.empty() ? "" : "\n").append(t).append("\n").append(rows);
  }
  if (!found) {
    std::vector<std::string> words;
    for (const std::string& t : topics) words.push_back(word_of(t));
    wrong_usage("help: steno " + verb + " has no topic " + topic + " (there are " + one_list(words, ", ") + ")");
  }
  if (!without.empty()) {
    std::vector<std::string> names;
    for (const option_words& o : all)
      if (is_left_out(o, without)) names.push_back(o.names.back());
    out += "\n" + folded("Left out, because " + printable(model) + " does not take them: " + one_list(names, ", "));
  }
  if (topic.empty()) out += "\n" + folded(examples(verb));
  return out;
}

void help_command(const std::vector<std::string>& words) {
  const auto is_verb = [](const std::string& w) {
    return std::find(verb_names().begin(), verb_names().end(), w) != verb_names().end();
  };
  if (words.empty()) throw stop{0, help_text("transcribe")};
  if (words[0] == "peers") throw stop{0, peers_text()};
  if (words[0] == "completion") throw stop{0, completion_script(words.size() > 1 ? words[1] : "")};
  if (words[0] == "man") {
    if (words.size() > 1 && !is_verb(words[1])) wrong_usage("help man: no verb is called " + words[1]);
    throw stop{0, manual_page(words.size() > 1 ? words[1] : "")};
  }
  if (is_verb(words[0])) throw stop{0, help_text(words[0], words.size() > 1 ? words[1] : "")};
  throw stop{0, help_text("transcribe", words[0])};
}

}  // namespace steno::app
