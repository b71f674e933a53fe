// A recording handed to a stream in portions.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/context.hpp>

#include <algorithm>
#include <span>

namespace steno::test {

/// Pushes pcm in portions of these sizes, again and again from the first, and finishes the stream. Streams and sessions
/// of every family.
template <class Stream, class Sink>
void play(Stream& s, std::span<const float> pcm, std::span<const std::size_t> portions, context& c, const Sink& sink) {
  for (std::size_t i = 0; !pcm.empty(); ++i) {
    const auto some = pcm.first(std::min(portions[i % portions.size()], pcm.size()));
    s.push(some, c, sink);
    pcm = pcm.subspan(some.size());
  }
  s.finish(c, sink);
}
/// The same in portions of one size.
template <class Stream, class Sink>
void play(Stream& s, std::span<const float> pcm, std::size_t portion, context& c, const Sink& sink) {
  play(s, pcm, std::span(&portion, 1), c, sink);
}

}  // namespace steno::test
