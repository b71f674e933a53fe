// What the server's connections share, and the list of those that are there.
//
// Tested through tests/transcriber/server_test.cpp and server_faults_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "access.hpp"
#include "client_rates.hpp"
#include "metrics.hpp"
#include "model_shelf.hpp"
#include "places.hpp"
#include "server.hpp"
#include "work_queue.hpp"

namespace steno::app {

/// A connection as the server sees it.
class drainable {
 public:
  /// Ends its session in good order. From any thread; returns at once.
  virtual void drain() = 0;
  /// The server has ended and no thread of its runs: lets go of work that holds the connection in its turn.
  virtual void abandon() noexcept {}

 protected:
  ~drainable() = default;
};

/// Outlives the connections. Its functions are safe for threads.
class server_hall {
 public:
  /// Throws steno::error for origins that are none.
  server_hall(std::unique_ptr<model_shelf> m, const server_options& o, std::function<void(const std::string&)> log);

  void say(const std::string& line) const;
  /// The same of something that failed, without a word when there is no memory for one.
  void say_failed(std::string_view what, const std::exception& why) const noexcept;
  /// Each connection between its beginning and its end.
  void add(const std::shared_ptr<drainable>& one);
  void remove(const drainable& one) noexcept;
  std::size_t connections() const;
  /// Drains all that are there; `empty` is called when the last one has ended, perhaps at once. To be called once.
  void drain(std::function<void()> empty);
  bool draining() const;
  /// The server has ended: `empty` is not called any more, and connections that are left are abandoned.
  void abandon();

  const std::unique_ptr<model_shelf> models;
  const server_options options;
  const long long began;  ///< seconds since 1970
  access_rules access;
  places seats;
  work_queue desk;  ///< recognises recordings
  metrics counts;
  client_rates rates;
  work_queue loader;  ///< loads models that sessions wait for

 private:
  const std::function<void(const std::string&)> log_;
  mutable std::mutex mutex_;
  std::map<const drainable*, std::weak_ptr<drainable>> all_;
  bool draining_ = false;
  std::function<void()> empty_;
};

}  // namespace steno::app
