// Names and shapes of published checkpoints (shared/manifests), as a source of tensors without values.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fstream>
#include <sstream>
#include <string>

#include "model_tensors.hpp"
#include "support/golden.hpp"

namespace steno::test {

/// Lines "name, type, shape", behind comments and a header. Shapes are 512x80x3; scalars have none.
inline checkpoint_tensors published(const std::filesystem::path& shared, const std::string& name) {
  checkpoint_tensors from{.where = name};
  std::ifstream file(shared / "manifests" / (name + ".tsv"));
  EXPECT_TRUE(file) << name;
  for (std::string line; std::getline(file, line);) {
    std::istringstream row(line);
    std::string tensor, second, shape;
    std::getline(row, tensor, '\t');
    std::getline(row, second, '\t');
    std::getline(row, shape, '\t');
    if (line.starts_with('#') || shape.starts_with("shape")) continue;
    stored_tensor t{.name = tensor};
    for (std::size_t at = 0, used = 0; at < shape.size() && shape[at] >= '0' && shape[at] <= '9'; at += used + 1)
      t.shape.push_back(std::stol(shape.substr(at), &used));
    from.all.push_back(std::move(t));
  }
  EXPECT_FALSE(from.all.empty()) << name;
  return from;
}

}  // namespace steno::test
