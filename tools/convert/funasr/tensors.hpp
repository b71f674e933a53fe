// tools/convert/funasr/tensors.hpp - what a FunASR model has, compared with its checkpoint and taken from it.
//
// Tested in tests/convert/funasr_test.cpp.
#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "imported_model.hpp"

namespace steno::inline STENO_ABI::funasr {

/// How a tensor of the checkpoint is laid out in the packaged file.
enum class layout {
  same,
  memory,      ///< a depthwise kernel [D, 1, K] becomes [K, D]
  convolution  ///< a kernel [O, I, K] becomes the matrix [O, K I], tap by tap
};

/// What the model has: a name and the shape in the checkpoint.
struct expected_tensor {
  std::string name;
  std::vector<extent> shape;
  bool product = false;  ///< a matrix that only products read
  layout stored = layout::same;

  std::vector<extent> packaged_shape() const;
};

/// Names and shapes of the parts that FunASR's models share.
class tensor_list {
 public:
  std::vector<expected_tensor> all;

  void linear(const std::string& name, extent out, extent in, bool bias = true);
  void norm(const std::string& name, extent n);
  /// Self-attention and feed-forward of `EncoderLayerSANM` from `in` to `d` values.
  void sanm_layer(const std::string& name, extent in, extent d, extent units, extent taps);
};

/// Compares what is there with what is expected and throws one error that names everything missing, unexpected or of
/// another shape. `present` has names and shapes; cmvn.* must not be among them.
void check_tensors(const std::vector<expected_tensor>& expected,
                   const std::vector<std::pair<std::string, std::vector<extent>>>& present, const std::string& where,
                   const char* model);

/// Checks the torch file `weights` and adds its tensors; `unused` may be there and are left out. Throws steno::error.
void take_tensors(imported_model& model, const std::filesystem::path& weights,
                  const std::vector<expected_tensor>& expected, const char* name,
                  const std::vector<std::string>& unused = {});

/// Adds cmvn.shift and cmvn.scale from an am.mvn file, in place of any there; they must have the model's input size.
void add_cmvn(imported_model& model, const std::filesystem::path& am_mvn, std::size_t input_size);

}  // namespace steno::inline STENO_ABI::funasr
