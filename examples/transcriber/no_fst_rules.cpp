// Of a build without OpenFst.
// SPDX-License-Identifier: Apache-2.0
#include "fst_rules.hpp"

namespace steno::app {

struct fst_rules::transducer {};

fst_rules::fst_rules(std::unique_ptr<transducer>) {}
fst_rules::~fst_rules() = default;

std::unique_ptr<fst_rules> fst_rules::read(const std::string&, const std::string&, std::string& problem) {
  problem = "this build has no OpenFst: it was configured with STENO_ITN_RULES=OFF";
  return nullptr;
}

bool fst_rules::rewrite(const std::string&, std::string&) const { return false; }

}  // namespace steno::app
