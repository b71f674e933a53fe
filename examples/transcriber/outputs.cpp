// SPDX-License-Identifier: Apache-2.0
#include "outputs.hpp"

namespace steno::app {

outputs::outputs(const options& o, const std::vector<input>& inputs, screen& on)
    : layout_(o.output_layout), several_(inputs.size() > 1) {
  const read_files reads(o, inputs);
  for (const format f : o.output_formats) {
    const std::string path = o.output_name.empty() ? o.output : o.output_name + std::string(extension(f));
    auto place = std::make_unique<output_place>(o.output_beside ? output_place::beside(reads, on)
                                                                : output_place(path, reads, on));
    all_.push_back({f, std::move(place), writer(f, several_, layout_)});
    if (facts(f).one_recording && several_ && !all_.back().place->one_file_each())
      wrong_usage("--format " + std::string(facts(f).name) +
                  " of several inputs does not go into one output; -o DIR/ writes one file for each");
  }
  if (all_.size() > 1 && o.output_name.empty() && !all_.front().place->one_file_each())
    wrong_usage(
        "several formats do not go into one output: -o DIR/ writes files of each, --output-name NAME one "
        "of each");
}

void outputs::renew(output& of, bool one_file) {
  layout l = layout_;
  if (l.style == style::usual) l.style = of.format == format::json ? style::steno : usual_;
  of.writer = writer(of.format, several_ && !one_file, l);
}

void outputs::follow(style usual) {
  usual_ = usual;
  for (output& each : all_) renew(each, false);
}

// An input that fails at once leaves no file.
void outputs::put(output& to, const std::string& text) {
  if (!text.empty()) to.place->put(text);
}

void outputs::begin(const input& from) {
  for (output& each : all_) {
    each.place->begin(from, extension(each.format));
    if (each.place->one_file_each()) renew(each, true);
    each.writer.begin(from.audio, from.name);
  }
}
void outputs::heard(const segment& s, std::optional<int> channel) {
  for (output& each : all_) put(each, each.writer.add(s, channel));
}
void outputs::end(const result& head) {
  for (output& each : all_) {
    each.place->put(each.writer.end(head));  // also where nobody spoke: a recording that was heard has its file
    if (each.place->one_file_each()) each.place->finish();
  }
}
void outputs::cut(double seconds_done) {
  for (output& each : all_) put(each, each.writer.cut(seconds_done));
}
void outputs::drop() {
  for (output& each : all_) each.place->drop();
}
void outputs::finish() {
  for (output& each : all_) each.place->finish();
}

}  // namespace steno::app
