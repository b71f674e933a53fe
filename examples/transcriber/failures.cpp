// SPDX-License-Identifier: Apache-2.0
#include "failures.hpp"

#include <steno/error.hpp>
#include <steno/search/scores.hpp>

#include <new>
#include <stdexcept>
#include <system_error>

#include "model_files.hpp"

namespace steno::app {

std::string failure_text(const std::exception& e, const std::string& about) {
  const std::string front = about.empty() ? "" : about + ": ";
  if (dynamic_cast<const search::scores_error*>(&e) != nullptr) return front + e.what() + ": " + opened_model_files();
  if (const auto* known = dynamic_cast<const error*>(&e))
    return known->parts().where.empty() ? front + known->what() : known->what();
  if (dynamic_cast<const std::bad_alloc*>(&e) != nullptr || dynamic_cast<const std::length_error*>(&e) != nullptr)
    return front + "out of memory (a smaller model, fewer --threads or clips of fewer --max-clip-seconds need less)";
  if (const auto* s = dynamic_cast<const std::system_error*>(&e);
      s != nullptr && s->code() == std::errc::resource_unavailable_try_again)
    return front + "cannot start the threads: " + s->code().message() + " (try --threads 1, or look at ulimit -u)";
  return front + e.what();
}

}  // namespace steno::app
