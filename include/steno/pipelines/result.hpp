// steno/pipelines/result.hpp - the result of a recogniser, where users of the pipelines look for it.
//
// The type itself lies below the models, which return it.
#pragma once
#include <steno/core/result.hpp>
