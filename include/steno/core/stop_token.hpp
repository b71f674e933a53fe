// steno/core/stop_token.hpp - how a long call learns that it shall end: std::stop_token, or the same where the standard
// library has none (LLVM's up to version 19). Tested in tests/core/stop_token_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>

#include <atomic>
#include <memory>
#include <version>

#if defined(__cpp_lib_jthread)
#include <stop_token>
#endif

namespace steno {
inline namespace STENO_ABI {
namespace core {
namespace detail {

/// std::stop_token without callbacks: whether somebody wants a call to end. Copies share one answer. Thread-safe.
class simple_stop_token {
 public:
  simple_stop_token() = default;
  bool stop_requested() const noexcept { return flag_ != nullptr && flag_->load(std::memory_order_acquire); }
  bool stop_possible() const noexcept { return flag_ != nullptr; }

 private:
  friend class simple_stop_source;
  std::shared_ptr<std::atomic<bool>> flag_;
};

/// std::stop_source: ends the calls that have its tokens. Copies are one source. Thread-safe.
class simple_stop_source {
 public:
  simple_stop_source() : flag_(std::make_shared<std::atomic<bool>>(false)) {}
  simple_stop_token get_token() const noexcept {
    simple_stop_token t;
    t.flag_ = flag_;
    return t;
  }
  bool stop_requested() const noexcept { return flag_->load(std::memory_order_acquire); }
  bool request_stop() noexcept { return !flag_->exchange(true, std::memory_order_acq_rel); }

 private:
  std::shared_ptr<std::atomic<bool>> flag_;
};

}  // namespace detail

#if defined(__cpp_lib_jthread)
using stop_source = std::stop_source;  ///< who ends a call
using stop_token = std::stop_token;    ///< what a call looks at
#else
using stop_source = detail::simple_stop_source;
using stop_token = detail::simple_stop_token;
#endif

}  // namespace core
}  // namespace STENO_ABI
}  // namespace steno
