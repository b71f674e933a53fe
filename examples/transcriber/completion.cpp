// What shells and man(1) read, made from the options of the verbs.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "help.hpp"
#include "options.hpp"
#include "replaced.hpp"

namespace steno::app {
namespace {

std::string first_sentence(const std::string& about) {
  std::string text = about.substr(0, about.find_first_of("[;("));
  while (!text.empty() && (text.back() == ' ' || text.back() == ':' || text.back() == ',')) text.pop_back();
  return text;
}

bool is_file(const option_words& o) {
  return o.value == "FILE" || o.value == "MODEL" || o.value == "NAME" || o.value == "DIR" || o.value == "FOLDER";
}

// Values that are known.
std::string choices(const option_words& o, const std::string& verb) {
  const bool format = std::find(o.names.begin(), o.names.end(), "--format") != o.names.end();
  if (!format) return {};
  if (verb == "transcribe" || verb == "align") {
    std::string all;
    for (const format_facts& f : format_table) all.append(all.empty() ? "" : " ").append(f.name);
    return all;
  }
  if (verb == "stream") return "text jsonl";
  return verb == "info" ? "text json" : "text json jsonl rttm";
}

std::string bash() {
  std::string out =
      "# bash completion of steno\n_steno() {\n  local word=\"${COMP_WORDS[COMP_CWORD]}\" "
      "before=\"${COMP_WORDS[COMP_CWORD-1]}\" verb=transcribe w\n  for w in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
      "    case \"$w\" in\n      ";
  std::string verbs, names;
  for (const std::string& v : verb_names()) {
    verbs.append(verbs.empty() ? "" : "|").append(v);
    names.append(names.empty() ? "" : " ").append(v);
  }
  out += verbs + ") verb=\"$w\"; break ;;\n    esac\n  done\n  case \"$verb\" in\n";
  for (const std::string& v : verb_names()) {
    std::string flags, files, known;
    for (const option_words& o : words_of(v)) {
      if (o.positional) continue;
      std::string any;
      for (const std::string& n : o.names) {
        flags.append(" ").append(n);
        any.append(any.empty() ? "" : "|").append(n);
      }
      if (const std::string list = choices(o, v); !list.empty())
        known.append("        ")
            .append(any)
            .append(") COMPREPLY=($(compgen -W \"")
            .append(list)
            .append(
                "\" -- "
                "\"$word\")); return ;;\n");
      else if (is_file(o))
        files.append(files.empty() ? "" : "|").append(any);
    }
    out.append("    ").append(v).append(")\n      case \"$before\" in\n").append(known);
    if (!files.empty())
      out.append("        ").append(files).append(") COMPREPLY=($(compgen -f -- \"$word\")); return ;;\n");
    out.append("      esac\n      [[ $word == -* ]] && COMPREPLY=($(compgen -W \"")
        .append(flags.substr(1))
        .append("\" -- \"$word\"))\n      ;;\n");
  }
  return out +
         "  esac\n  if [[ $word != -* ]]; then\n    COMPREPLY+=($(compgen -f -- \"$word\"))\n    [[ $COMP_CWORD -eq 1 "
         "]] "
         "&& COMPREPLY+=($(compgen -W \"" +
         names +
         " help\" -- \"$word\"))\n  fi\n}\n"
         "complete -o filenames -F _steno steno\n";
}

std::string shell_quoted(const std::string& text) { return "'" + replaced(text, "'", "'\\''") + "'"; }

std::string zsh() {
  std::string out =
      "#compdef steno\n# zsh completion of steno\n_steno() {\n  local verb=transcribe w\n"
      "  for w in \"${words[@]:1:$((CURRENT-2))}\"; do\n    case \"$w\" in\n      ";
  std::string verbs, names;
  for (const std::string& v : verb_names()) {
    verbs.append(verbs.empty() ? "" : "|").append(v);
    names.append(" ").append(v);
  }
  out += verbs + ") verb=\"$w\"; break ;;\n    esac\n  done\n  local -a flags\n  case \"$verb\" in\n";
  for (const std::string& v : verb_names()) {
    out.append("    ").append(v).append(") flags=(\n");
    for (const option_words& o : words_of(v)) {
      if (o.positional) continue;
      std::string about = first_sentence(o.about);
      about = replaced(replaced(replaced(about, "\\", "\\\\"), "[", "\\["), "]", "\\]");
      about = replaced(about, ":", "\\:");
      std::string value;
      if (!o.value.empty()) {
        const std::string list = choices(o, v);
        value = ":" + o.value + ":" + (!list.empty() ? "(" + list + ")" : is_file(o) ? "_files" : " ");
      }
      for (const std::string& n : o.names)
        out.append("      ").append(shell_quoted("*" + n + "[" + about + "]" + value)).append("\n");
    }
    out += "    ) ;;\n";
  }
  return out + "  esac\n  if [[ $CURRENT -eq 2 && $words[2] != -* ]]; then\n    compadd --" + names +
         " help\n  fi\n  _arguments \"${flags[@]}\" '*:file:_files'\n}\n_steno \"$@\"\n";
}

std::string fish() {
  std::string out = "# fish completion of steno\n";
  std::string names;
  for (const std::string& v : verb_names()) names.append(names.empty() ? "" : " ").append(v);
  out.append("complete -c steno -n __fish_use_subcommand -a ").append(shell_quoted(names + " help")).append("\n");
  for (const std::string& v : verb_names()) {
    const std::string where = v == "transcribe"
                                  ? "not __fish_seen_subcommand_from " + replaced(names, "transcribe ", "")
                                  : "__fish_seen_subcommand_from " + v;
    for (const option_words& o : words_of(v)) {
      if (o.positional) continue;
      std::string line = "complete -c steno -n " + shell_quoted(where);
      for (const std::string& n : o.names)
        line.append(n.starts_with("--") ? " -l " : " -s ").append(n.substr(n.starts_with("--") ? 2 : 1));
      if (!o.value.empty()) {
        const std::string list = choices(o, v);
        line += !list.empty() ? " -x -a " + shell_quoted(list) : is_file(o) ? " -r -F" : " -x";
      }
      out.append(line).append(" -d ").append(shell_quoted(first_sentence(o.about))).append("\n");
    }
  }
  return out;
}

// Text in roff: no line begins with a command, and minus signs are such.
std::string roff(std::string_view text) {
  std::string out = replaced(replaced(std::string(text), "\\", "\\e"), "-", "\\-");
  std::string safe;
  for (std::size_t at = 0; at <= out.size();) {
    const std::size_t end = std::min(out.find('\n', at), out.size());
    const std::string line = out.substr(at, end - at);
    at = end + 1;
    if (!line.empty() && (line[0] == '.' || line[0] == '\'')) safe += "\\&";
    safe.append(line).append("\n");
  }
  return safe;
}

void add_options_of(std::string& out, const std::string& verb) {
  std::string topic;
  for (const option_words& o : words_of(verb)) {
    if (o.topic != topic) out.append(".SS ").append(roff(o.topic));
    topic = o.topic;
    out += ".TP\n";
    std::string names;
    for (const std::string& n : o.names)
      names.append(names.empty() ? "" : ", ").append("\\fB").append(replaced(n, "-", "\\-")).append("\\fR");
    if (!o.value.empty()) names.append(" \\fI").append(replaced(o.value, "-", "\\-")).append("\\fR");
    out.append(names).append("\n").append(roff(o.about));
  }
}

}  // namespace

std::string completion_script(const std::string& shell) {
  if (shell == "bash") return bash();
  if (shell == "zsh") return zsh();
  if (shell == "fish") return fish();
  wrong_usage("help completion: name a shell: bash, zsh or fish");
}

std::string manual_page(const std::string& verb) {
  const std::string name = verb.empty() ? "steno" : "steno-" + verb, of = verb.empty() ? "transcribe" : verb;
  std::string out =
      ".TH " + name + " 1 \"\" \"steno\" \"User commands\"\n.SH NAME\n" + replaced(name, "-", "\\-") + " \\- ";
  std::string about(description(of));
  const std::size_t end = about.find_first_of(".:");
  out += roff(verb.empty() ? "speech recognition at the command line" : about.substr(0, end));
  out += ".SH SYNOPSIS\n.nf\n";
  if (verb.empty())
    out += roff(short_usage);
  else
    out += roff("steno " + verb + " [OPTIONS] ...");
  out += ".fi\n.SH DESCRIPTION\n" + roff(about) + ".SH OPTIONS\n";
  if (verb.empty()) out += "Those of the verb transcribe, which may be left out.\n";
  add_options_of(out, of);
  out += ".SH EXAMPLES AND EXIT STATUS\n.nf\n" + roff(examples(of)) + ".fi\n.SH SEE ALSO\n";
  std::string see;
  for (const std::string& v : verb_names())
    see.append(see.empty() ? "" : ", ").append("steno\\-").append(v).append("(1)");
  return out + (verb.empty() ? see : "steno(1)") + "\n";
}

}  // namespace steno::app
