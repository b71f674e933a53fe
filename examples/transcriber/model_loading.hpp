// A model that a session waits for: loaded by the server's loader, after which the session is woken.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "live_protocol.hpp"
#include "server_hall.hpp"

namespace steno::app {

class model_loading final : public work_queue::task {
 public:
  model_loading(model_shelf& shelf, std::string id, std::function<void()> then)
      : shelf_(shelf), id_(std::move(id)), then_(std::move(then)) {}
  void run() noexcept override {
    try {
      (void)shelf_.get(id_);
    } catch (const std::exception&) {  // the shelf remembers why
    }
    try {
      then_();
    } catch (const std::exception&) {  // without memory the session waits until it is drained
    }
  }

 private:
  model_shelf& shelf_;
  const std::string id_;
  const std::function<void()> then_;
};

/// Asks for a model of the shelf where it is not loaded. True: `host` is woken when it is, or cannot be had.
inline bool wait_for_model(server_hall& hall, live_host& host, const std::string& id) {
  if (hall.models->ready(id) != nullptr) return false;
  return hall.loader.offer(std::make_shared<model_loading>(*hall.models, id, host.waker()));
}

/// What to say of one that could not be had.
inline std::string not_loaded(const server_hall& hall, const std::string& id) {
  const std::string why = hall.models->failure(id);
  return "the model cannot be loaded" + (why.empty() ? "" : ": " + why);
}

}  // namespace steno::app
