// A user's unit, compiled with and without what steno needs of a compiler.
// SPDX-License-Identifier: Apache-2.0
#include <steno/models/sense_voice.hpp>
