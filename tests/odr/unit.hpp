// What each unit of the program tells about its steno. Nothing in here depends on compiler flags.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

struct unit_report {
  std::string abi;               // name of the inline namespace
  std::vector<double> product;   // an exact product, computed with this unit's steno
  std::vector<double> spectrum;  // of an impulse: exactly 1 + 0j everywhere
  const void* symbol;            // address of a function of steno: the same for units with one ABI
};

unit_report unit_base();
unit_report unit_again();
unit_report unit_fftw();
unit_report unit_avx2();
unit_report unit_native();
