#pragma once
#include <steno/core/result.hpp>
