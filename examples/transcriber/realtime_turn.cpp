// SPDX-License-Identifier: Apache-2.0
#include "realtime_turn.hpp"

#include <new>
#include <utility>

#include "safe_result.hpp"
#include "text_width.hpp"
#include "time_shift.hpp"

namespace steno::app {
namespace {

// Whole characters alone: a model may be sure of half a one.
std::size_t whole_characters(std::string_view text) {
  std::size_t n = text.size();
  for (int back = 0; back < 4 && n > 0; ++back) {
    const auto c = static_cast<unsigned char>(text[n - 1]);
    if (c < 0x80) return text.size();
    if (c >= 0xc0) {
      const std::size_t bytes = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
      return text.size() - (n - 1) >= bytes ? text.size() : n - 1;
    }
    --n;
  }
  return text.size();
}

}  // namespace

realtime_turn::realtime_turn(std::string id, double begin, const transcriber& model, const session_options& o,
                             const pipelines::session_models& beside, const inverse_text_normaliser* figures)
    : id_(std::move(id)), begin_(begin), figures_(figures) {
  heard([&] { stream_.emplace(model, o, beside); });
}

std::string realtime_turn::push(std::span<const float> pcm) {
  samples_ += pcm.size();
  return heard([&] { stream_->push(pcm, [this](const session_event& e) { take(e); }); });
}

std::string realtime_turn::finish() {
  std::string more = heard([&] { stream_->finish([this](const session_event& e) { take(e); }); });
  stream_.reset();
  return more;
}

// What goes wrong is this turn's matter, and not the session's.
template <class F>
std::string realtime_turn::heard(F&& f) {
  if (!failure_.empty()) return {};
  try {
    f();
    if (stable_.size() <= told_.size() || !stable_.starts_with(told_)) return {};
    std::string more = stable_.substr(told_.size());
    more.resize(whole_characters(more));
    told_ += more;
    return more;
  } catch (const std::bad_alloc&) {
    stream_.reset();
    failure_ = "out of memory";
    short_ = true;
  } catch (const std::exception& e) {
    stream_.reset();
    failure_ = e.what();
    if (failure_.empty()) failure_ = "failed";
  }
  return {};
}

void realtime_turn::take(const session_event& e) {
  if (!e.final()) {
    if (figures_ != nullptr) return;  // words that are sure may still become figures
    stable_ = settled_;
    pipelines::append_text(stable_, result_text(e.stable));
    return;
  }
  segment s = e.utterance;
  if (figures_ != nullptr) figures_->rewrite(s);
  s = shifted(safe(std::move(s)), begin_);
  pipelines::append_text(settled_, s.text);
  stable_ = settled_;
  segments_.push_back(std::move(s));
}

}  // namespace steno::app
