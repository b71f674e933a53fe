// SPDX-License-Identifier: Apache-2.0
#include "resuming.hpp"

#include <steno/error.hpp>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "json_builder.hpp"

namespace steno::app {
namespace {
std::string some_of(std::size_t some, std::size_t all) { return std::to_string(some) + " of " + std::to_string(all); }
}  // namespace

void leave_out_done(const done_list& list, std::vector<input>& inputs, reporter& report) {
  const done_list::state known = list.look_up(inputs);
  std::vector<input> left;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (known.done[i] == 0) left.push_back(std::move(inputs[i]));
  if (left.size() < inputs.size())
    report.note(some_of(inputs.size() - left.size(), inputs.size()) + " inputs were done before");
  inputs = std::move(left);
}

int list_left(const options& o, const std::vector<input>& inputs, screen& to, reporter& report) {
  const done_list::state known = done_list(o.output, o).look_up(inputs);
  std::size_t left = 0, several = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (known.done[i] > 1) ++several;
    if (known.done[i] > 0) continue;
    ++left;
    const input& in = inputs[i];
    json_builder line;
    line.open('{').key("name").text(place_of(in));
    line.key("audio").text(in.audio);
    if (const auto reason = known.reasons.find(i); reason != known.reasons.end())
      line.key("failed").text(reason->second);
    if (!to.put(stdout, line.close('}').str() + "\n"))
      fail({.where = "standard output", .what = std::string("cannot write: ") + std::strerror(errno)});
  }
  report.note(some_of(inputs.size() - left, inputs.size()) + " inputs are done, " + std::to_string(left) +
              " are left, " + std::to_string(known.reasons.size()) + " of these failed" +
              (several > 0 ? "; " + std::to_string(several) + " were done more than once" : ""));
  return left > 0 ? 1 : 0;
}

}  // namespace steno::app
