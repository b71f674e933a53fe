// What an HTTP request is refused with, in the form of OpenAI's API.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <exception>
#include <string>
#include <string_view>
#include <utility>

namespace steno::app {

class api_error : public std::exception {
 public:
  /// `status` of HTTP; `code` and `param` are null in the answer where they are empty.
  api_error(int status, std::string message, std::string code = "", std::string param = "")
      : status_(status), message_(std::move(message)), code_(std::move(code)), param_(std::move(param)) {}
  const char* what() const noexcept override { return message_.c_str(); }
  int status() const { return status_; }
  /// {"error": {"message", "type", "param", "code"}}
  std::string body() const;

 private:
  int status_;
  std::string message_, code_, param_;
};

/// "Not Found" of 404
std::string_view status_text(int status);

}  // namespace steno::app
