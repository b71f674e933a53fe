#include "outputs.hpp"

namespace steno::app {

outputs::outputs(const options& o, const std::vector<input>& inputs, screen& on)
    : format_(o.output_format),
      layout_(o.output_layout),
      several_(inputs.size() > 1),
      place_(o.output, read_files(o, inputs), on),
      writer_(format_, several_, layout_) {
  // Cues and rows do not say which recording they are of.
  const bool apart = format_ == format::srt || format_ == format::vtt || format_ == format::tsv;
  if (apart && several_ && !place_.one_file_each()) {
    const std::string name(format_names[static_cast<std::size_t>(format_)]);
    wrong_usage("--format " + name +
                " of several inputs does not go into one output; -o DIR/ writes one file for each");
  }
}

void outputs::follow(style usual) {
  if (layout_.style == style::usual) layout_.style = format_ == format::json ? style::steno : usual;
  writer_ = writer(format_, several_, layout_);
}

// An input that fails at once leaves no file.
void outputs::put(const std::string& text) {
  if (!text.empty()) place_.put(text);
}

void outputs::begin(const input& from) {
  place_.begin(from, extension(format_));
  if (place_.one_file_each()) writer_ = writer(format_, false, layout_);
  writer_.begin(from.audio, from.name);
}
void outputs::heard(const segment& s, std::optional<int> channel) { put(writer_.add(s, channel)); }
void outputs::end(const result& head) { put(writer_.end(head)); }
void outputs::cut(double seconds_done) { put(writer_.cut(seconds_done)); }

}  // namespace steno::app
