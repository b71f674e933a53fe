// SPDX-License-Identifier: Apache-2.0
#include "api_error.hpp"

#include "json_builder.hpp"

namespace steno::app {

std::string api_error::body() const {
  const char* type = status_ >= 500   ? "server_error"
                     : status_ == 429 ? "rate_limit_error"
                     : status_ == 403 ? "permission_error"
                                      : "invalid_request_error";
  json_builder j;
  const auto or_null = [&](const char* key, const std::string& value) {
    j.key(key);
    if (value.empty())
      j.none();
    else
      j.text(value);
  };
  j.open('{').key("error").open('{').key("message").text(message_).key("type").text(type);
  or_null("param", param_);
  or_null("code", code_);
  return std::move(j.close('}').close('}')).str() + "\n";
}

std::string_view status_text(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 204:
      return "No Content";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 417:
      return "Expectation Failed";
    case 426:
      return "Upgrade Required";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 504:
      return "Gateway Timeout";
    case 503:
      return "Service Unavailable";
    default:
      return "Internal Server Error";
  }
}

}  // namespace steno::app
