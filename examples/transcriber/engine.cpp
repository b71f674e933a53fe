#include "engine.hpp"

#include <steno/error.hpp>

namespace steno::app {

std::unique_ptr<recogniser> open_model(const std::string& path, int) {
  fail({.where = path, .what = "no model family is built in yet"});
}

}  // namespace steno::app
