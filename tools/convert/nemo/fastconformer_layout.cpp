// tools/convert/nemo/fastconformer_layout.cpp - laying out tensors of other makers' files; see fastconformer.hpp.
#include <algorithm>
#include <utility>

#include "nemo/fastconformer.hpp"

namespace steno::inline STENO_ABI::nemo {

imported_tensor lay_out(const torch::laid_out_tensor& t, imported_tensor stored, folded_norm norm) {
  imported_tensor out = std::move(stored);
  out.name = t.packed_name.empty() ? t.name : t.packed_name;
  out.shape = t.packed;
  out.product = t.product;
  if (t.made == torch::layout::same) return out;
  if (out.stored != dtype::f32 && out.stored != dtype::bf16) out.stored = dtype::f16;
  out.bytes = {};
  const auto read = std::move(out.read);
  if (t.made == torch::layout::taps_bias) {
    out.read = [read, norm = std::move(norm)](std::span<float> y) {
      std::fill(y.begin(), y.end(), 0.0f);
      if (read) read(y);
      for (std::size_t i = 0; i < norm.scale.size(); ++i) y[i] = y[i] * norm.scale[i] + norm.shift[i];
    };
  } else if (t.made == torch::layout::taps) {
    const auto d = static_cast<std::size_t>(t.packed[1]), k = static_cast<std::size_t>(t.packed[0]);
    out.read = [read, scale = std::move(norm.scale), d, k](std::span<float> y) {
      std::vector<float> x(y.size());
      read(x);
      for (std::size_t i = 0; i < d; ++i)
        for (std::size_t j = 0; j < k; ++j) y[j * d + i] = x[i * k + j] * (scale.empty() ? 1.0f : scale[i]);
    };
  } else {  // the linear behind the subsampling: bands before channels
    const auto rows = static_cast<std::size_t>(t.packed[0]), channels = static_cast<std::size_t>(t.channels);
    out.read = [read, rows, channels](std::span<float> y) {
      std::vector<float> x(y.size());
      read(x);
      const std::size_t bands = x.size() / rows / channels;
      for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t c = 0; c < channels; ++c)
          for (std::size_t b = 0; b < bands; ++b) y[(r * bands + b) * channels + c] = x[(r * channels + c) * bands + b];
    };
  }
  return out;
}

}  // namespace steno::inline STENO_ABI::nemo
