// SPDX-License-Identifier: Apache-2.0
#include "server_hall.hpp"

#include <steno/error.hpp>

#include <ctime>
#include <utility>
#include <vector>

#include "failures.hpp"

namespace steno::app {

server_hall::server_hall(std::unique_ptr<model_shelf> m, const server_options& o,
                         std::function<void(const std::string&)> log)
    : models(std::move(m)),
      options(o),
      began(static_cast<long long>(std::time(nullptr))),
      seats(o.connections, o.per_peer),
      desk(static_cast<std::size_t>(o.max_queue)),
      rates(o.per_minute),
      loader(static_cast<std::size_t>(o.connections)),
      log_(std::move(log)) {
  access.host = o.host;
  for (const std::string& text : o.allow_origins)
    if (!allow_origin(access, text))
      fail({.what = "allowed origin",
            .expected = "SCHEME://HOST or SCHEME://HOST:PORT, as browsers send it, or *",
            .found = text});
}

void server_hall::say(const std::string& line) const {
  if (log_) log_(line);
}

void server_hall::say_failed(std::string_view what, const std::exception& why) const noexcept {
  try {
    say(std::string(what).append(": ").append(failure_text(why, "")));
  } catch (const std::exception&) {
  }
}

void server_hall::add(const std::shared_ptr<drainable>& one) {
  const std::lock_guard<std::mutex> lock(mutex_);
  all_.emplace(one.get(), one);
}

void server_hall::remove(const drainable& one) noexcept {
  std::function<void()> empty;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    all_.erase(&one);
    if (all_.empty()) empty.swap(empty_);
  }
  if (empty) empty();
}

std::size_t server_hall::connections() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return all_.size();
}

void server_hall::drain(std::function<void()> empty) {
  std::vector<std::shared_ptr<drainable>> now;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    draining_ = true;
    if (!all_.empty()) empty.swap(empty_);
    now.reserve(all_.size());
    for (const auto& [key, weak] : all_)
      if (auto one = weak.lock()) now.push_back(std::move(one));
  }
  for (const auto& one : now) one->drain();
  if (empty) empty();
}

bool server_hall::draining() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return draining_;
}

void server_hall::abandon() {
  std::vector<std::shared_ptr<drainable>> left;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    empty_ = nullptr;
    left.reserve(all_.size());
    for (const auto& [key, weak] : all_)
      if (auto one = weak.lock()) left.push_back(std::move(one));
  }
  for (const auto& one : left) one->abandon();
}

}  // namespace steno::app
