// tools/convert/verify.cpp - see verify.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "verify.hpp"

#include <steno/error.hpp>
#include <steno/weights/blocks.hpp>

#include <cstdio>
#include <utility>

#include "model_tensors.hpp"
#include "number_formats.hpp"
#include "package.hpp"

namespace steno {
inline namespace STENO_ABI {

namespace {

std::string millions(std::uint64_t n) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f M", static_cast<double>(n) / 1e6);
  return text;
}

std::string counted(std::size_t n, const char* what) { return std::to_string(n) + " " + what; }

// read    "encoder.after_norm.bias" [512] f32; where the format changes, what it becomes.
std::string read_line(const imported_tensor& t, std::optional<dtype> becomes) {
  std::string line = "read     ";
  if (!t.source.empty() && t.source != t.name) line.append(weights::quoted(t.source)).append(" as ");
  line.append(weights::quoted(t.name)).append(" ").append(shape_text(t.shape)).append(" ");
  line.append(weights::format_name(t.stored));
  if (becomes && *becomes != t.stored) line.append(" -> ").append(weights::format_name(*becomes));
  return line;
}

verification refused(const std::filesystem::path& input, const tensors_differ& e) {
  verification v;
  std::size_t missing = 0;
  for (const tensor_problem& p : e.problems) missing += p.what == tensor_problem::kind::missing ? 1u : 0u;
  v.lines.push_back(input.string() + ": would not convert: " + counted(missing, "missing, ") +
                    counted(e.problems.size() - missing, "refused, ") + counted(e.read.size(), "read"));
  for (const bool wanted : {true, false})
    for (const tensor_problem& p : e.problems)
      if ((p.what == tensor_problem::kind::missing) == wanted)
        v.lines.push_back(wanted ? "missing  " + weights::quoted(p.name) : "refused  " + p.text());
  for (const imported_tensor& t : e.read) v.lines.push_back(read_line(t, std::nullopt));
  return v;
}

verification accepted(const std::filesystem::path& input, imported_model model, const convert_options& options) {
  const format_choice choice{.type = options.type, .mix = options.mix, .exceptions = options.exceptions};
  const std::vector<dtype> formats = packaged_formats(model, choice);
  add_tensors(model, choice);  // names that a packaged file cannot have
  std::uint64_t values = 0, bytes = 0;
  for (std::size_t i = 0; i < formats.size(); ++i) {
    values += model.tensors[i].count();
    bytes += core::bytes_of(formats[i], static_cast<std::size_t>(model.tensors[i].count()));
  }
  verification v{.converts = true, .lines = {}};
  v.lines.push_back(input.string() + ": would convert: " + counted(model.tensors.size(), "tensors read, ") +
                    counted(model.ignored.size(), "ignored, ") + counted(model.notes.size(), "notes; ") +
                    millions(values) + " values, " + std::to_string((bytes + 500000) / 1000000) + " MB of tensors");
  for (const ignored_tensor& t : model.ignored)
    v.lines.push_back("ignored  " + weights::quoted(t.name) + ": " + t.reason);
  for (const std::string& note : model.notes) v.lines.push_back("note     " + note);
  for (std::size_t i = 0; i < formats.size(); ++i) v.lines.push_back(read_line(model.tensors[i], formats[i]));
  return v;
}

}  // namespace

verification verify(const std::filesystem::path& input, const convert_options& options) {
  try {
    return accepted(input, import_checkpoint(input, options), options);
  } catch (const tensors_differ& e) {
    return refused(input, e);
  } catch (const error& e) {
    return {.converts = false, .lines = {input.string() + ": would not convert", std::string("refused  ") + e.what()}};
  }
}

}  // namespace STENO_ABI
}  // namespace steno
