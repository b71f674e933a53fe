// steno/steno.hpp - everything. Programs that need one model include <steno/models/MODEL.hpp> and compile faster.
//
// tests/compile/umbrella_test.cpp checks that no header is forgotten.
#pragma once
#include <steno/config.hpp>
#include <steno/core/context.hpp>
#include <steno/core/dtype.hpp>
#include <steno/core/executor.hpp>
#include <steno/core/extents.hpp>
#include <steno/core/fixed_string.hpp>
#include <steno/core/half.hpp>
#include <steno/core/thread_pool.hpp>
#include <steno/core/trace.hpp>
#include <steno/core/view.hpp>
#include <steno/core/workspace.hpp>
#include <steno/error.hpp>
#include <steno/kernels/cpu.hpp>
#include <steno/kernels/epilogue.hpp>
#include <steno/kernels/operand.hpp>
#include <steno/kernels/pack.hpp>
#include <steno/kernels/product.hpp>
#include <steno/pipelines/result.hpp>
#include <steno/tokenizers/sentencepiece_model.hpp>
#include <steno/tokenizers/vocabulary.hpp>
#include <steno/weights/blocks.hpp>
#include <steno/weights/blocks/floats.hpp>
#include <steno/weights/blocks/k.hpp>
#include <steno/weights/blocks/quantise.hpp>
#include <steno/weights/blocks/simple.hpp>
#include <steno/weights/byte_cursor.hpp>
#include <steno/weights/gguf.hpp>
#include <steno/weights/gguf_format.hpp>
#include <steno/weights/gguf_value.hpp>
#include <steno/weights/mapped_file.hpp>
#include <steno/weights/source.hpp>
#include <steno/weights/weight.hpp>
