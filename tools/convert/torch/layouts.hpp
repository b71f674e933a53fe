// tools/convert/torch/layouts.hpp - what importers of conformers do with the tensors of a torch checkpoint.
//
// A list of names and shapes is compared with the checkpoint and complained about as a whole; values are laid out as
// the kernels read them, and a batch norm goes into the depthwise convolution before it. Tested in
// tests/convert/wenet_test.cpp and nemo_test.cpp.
#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "imported_model.hpp"
#include "torch/checkpoint.hpp"

namespace steno::inline STENO_ABI::torch {

/// How the values of a tensor are made from the checkpoint's.
enum class layout {
  same,         ///< perhaps with axes of size 1 taken away
  taps,         ///< depthwise [D, 1, K] (or [D, 1, K, K]) -> [K, D], times the scale of a folded batch norm
  taps_bias,    ///< its bias after the batch norm; without a bias in the checkpoint, zeros before it
  kernel,       ///< conv2d [out, in, time, frequency] -> [out, time, frequency, in]
  bands_first,  ///< linear [out, in = channel, band] -> [out, band, channel]
};

struct laid_out_tensor {
  std::string name;
  std::vector<extent> shape;   ///< in the checkpoint
  std::vector<extent> packed;  ///< in the packaged file
  bool product = false;
  layout made = layout::same;
  extent channels = 0;           ///< bands_first: channels; 0: as many as rows
  std::string packed_name = {};  ///< in the packaged file; empty: the same
};

/// The four vectors of a batch norm and what it does to the convolution before it.
struct batch_norm {
  const checkpoint::entry *weight, *bias, *mean, *variance;

  bool complete() const { return weight != nullptr && bias != nullptr && mean != nullptr && variance != nullptr; }
  std::vector<double> scale(checkpoint& c) const;
};

/// Values of `t` from `e` (null: a bias the checkpoint has not) into `out`.
void read_laid_out(checkpoint& c, const checkpoint::entry* e, const laid_out_tensor& t,
                   const std::optional<batch_norm>& norm, std::span<float> out);

/// Names and shapes of the checkpoint against what the settings promise; complains about everything at once.
class inventory {
 public:
  explicit inventory(const checkpoint& c);
  /// The tensor, or null with a note that it is missing or has another shape.
  const checkpoint::entry* take(const std::string& name, const std::vector<extent>& shape);
  bool has(const std::string& name) const { return left_.contains(name); }
  /// Throws steno::error with all notes and what is left; names that end in one of `unused`, or go on below it, may be
  /// left.
  void finish(std::string_view described_by, std::span<const std::string_view> unused);

 private:
  void note(const std::string& what);
  const checkpoint& checkpoint_;
  std::map<std::string, const checkpoint::entry*> left_;
  std::string problems_;
  std::size_t count_ = 0;
};

/// Takes `list` from the stock into `model`, whose source is `weights`; `folded` says where a depthwise convolution's
/// batch norm is ("...conv_module." -> "norm."); empty when there is none. Throws steno::error when the tensors claim
/// far more than the file holds.
void add_laid_out(imported_model& model, inventory& stock, checkpoint& weights, std::vector<laid_out_tensor> list,
                  const std::string& folded);

}  // namespace steno::inline STENO_ABI::torch
