// A network of your own from steno's layers: a type whose widths are checked by the compiler, with your own Eigen
// matrices as weights and as input and output.
#include <steno/layers/feed_forward.hpp>
#include <steno/layers/layer_norm.hpp>
#include <steno/layers/sequence.hpp>

#include <cstdio>

// Joining layers of different widths does not compile; the message names both.
using stack = steno::sequence<steno::linear<4, 8>, steno::at<"norm", steno::layer_norm<8>>,
                              steno::at<"out", steno::linear<8, 2>>>;

int main() {
  stack net;

  // Every weight is visited with its name: fill them from wherever you keep them. steno::bind does this for GGUF files.
  std::vector<Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>> values;
  values.reserve(8);
  steno::walk(net, [&](const std::string& name, auto& weight, bool) {
    if constexpr (steno::weight_leaf<std::remove_reference_t<decltype(weight)>>) {
      values.emplace_back(weight.rows(), weight.cols()).setConstant(name.ends_with("bias") ? 0.5f : 0.25f);
      weight.assign(values.back());
      std::printf("%-12s %td x %td\n", name.c_str(), weight.rows(), weight.cols());
    }
  });

  Eigen::Matrix<float, 3, 4, Eigen::RowMajor> x;
  x << 1, 2, 3, 4, 0, 0, 0, 0, -1, 1, -1, 1;
  Eigen::Matrix<float, 3, 2, Eigen::RowMajor> y;
  steno::context context;
  net(x, y, context);
  for (int t = 0; t < 3; ++t) std::printf("%g %g\n", static_cast<double>(y(t, 0)), static_cast<double>(y(t, 1)));
}
