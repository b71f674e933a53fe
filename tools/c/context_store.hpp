// Scratch memory of the calls of a model: as many contexts as there were calls at once.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/context.hpp>

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace steno::c {

class context_store {
 public:
  explicit context_store(executor run) : run_(run) {}
  // A context for one call or stream; it comes back when that is over.
  class lent {
   public:
    explicit lent(context_store& of) : of_(of), context_(of.take()) {}
    ~lent() { of_.give_back(std::move(context_)); }
    lent(const lent&) = delete;
    lent& operator=(const lent&) = delete;
    context& operator*() const { return *context_; }

   private:
    context_store& of_;
    std::unique_ptr<context> context_;
  };

 private:
  std::unique_ptr<context> take() {
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        std::unique_ptr<context> one = std::move(free_.back());
        free_.pop_back();
        return one;
      }
      free_.reserve(++made_);  // so that giving back does not allocate
    }
    return std::make_unique<context>(run_);
  }
  void give_back(std::unique_ptr<context> one) noexcept {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(one));
  }

  executor run_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<context>> free_;
  std::size_t made_ = 0;
};

}  // namespace steno::c
