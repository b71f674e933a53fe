// steno/models/parakeet_beam.hpp - what a beam search needs of a transducer: prediction networks behind many
// hypotheses, and their scores at a frame in one product.
//
// A node is the network behind a row of labels; equal labels share one (NeMo's cache in `batch_score_hypothesis`).
// Nodes no hypothesis uses are forgotten after each frame. Tested in tests/models/parakeet_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/context.hpp>

#include <algorithm>
#include <span>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace nemo {

/// The network of transducer_beam for one recording. The model must outlive it.
template <class Model>
class parakeet_beam_network {
 public:
  using prediction = typename Model::prediction;  ///< the prediction network behind a row of labels

  /// A new recording: only the root, node 0, at which there is no label yet. Behind the label `forget` the prediction
  /// network starts anew.
  parakeet_beam_network(const Model& m, context& c, int forget = -1) : model_(&m), context_(&c), forget_(forget) {
    nodes_.push_back({-1, -1, true, m.empty_prediction()});
    m.predict(nodes_[0].predicted, -1, c);
  }
  /// Rows of joint.enc for frames first .. that follow; valid until the next call.
  void set_rows(const view<const float>& projected, extent first, context& c) {
    projected_ = projected.data();
    stride_ = projected.outerStride();
    first_ = first;
    context_ = &c;
  }

  /// The node behind one more label; the one there is, where another hypothesis came the same way.
  int extend(int node, int label) {
    for (std::size_t i = 1; i < nodes_.size(); ++i)
      if (nodes_[i].used && nodes_[i].parent == node && nodes_[i].label == label) return static_cast<int>(i);
    const auto unused = std::find_if(nodes_.begin(), nodes_.end(), [](const node_type& n) { return !n.used; });
    const auto at = static_cast<std::size_t>(unused - nodes_.begin());
    if (unused == nodes_.end()) nodes_.emplace_back();
    node_type& n = nodes_[at];
    n.parent = node;
    n.label = label;
    n.used = true;
    const bool anew = label == forget_ && forget_ >= 0;
    n.predicted = nodes_[anew ? 0 : static_cast<std::size_t>(node)].predicted;
    if (!anew) model_->predict(n.predicted, label, *context_);
    return static_cast<int>(at);
  }
  /// Scores [nodes, labels, blank, durations] at a frame among set_rows(), not normalised; valid until the next call.
  view<const float> joint(extent frame, std::span<const int> nodes) {
    const auto count = static_cast<extent>(nodes.size());
    const extent width = model_->enc.output_size(), outputs = model_->out.output_size();
    scores_.resize(static_cast<std::size_t>(count * outputs));
    core::workspace::frame scratch(context_->scratch);
    auto sum = scratch.matrix(count, width);
    for (extent i = 0; i < count; ++i) {
      const prediction& p = nodes_[static_cast<std::size_t>(nodes[static_cast<std::size_t>(i)])].predicted;
      Model::join(projected_ + (frame - first_) * stride_, p.projected.data(), sum.middleRows(i, 1));
    }
    const view<float> y = core::make_view(scores_.data(), count, outputs);
    model_->score(core::read(sum), y, *context_);
    return core::read(y);
  }
  /// Only these nodes and the root are used any more.
  void keep(std::span<const int> nodes) {
    for (std::size_t i = 1; i < nodes_.size(); ++i)
      nodes_[i].used = nodes_[i].used && std::find(nodes.begin(), nodes.end(), static_cast<int>(i)) != nodes.end();
    for (node_type& n : nodes_)  // a place may be given to other labels
      if (n.parent > 0 && !nodes_[static_cast<std::size_t>(n.parent)].used) n.parent = -1;
  }

 private:
  struct node_type {
    int parent = -1, label = -1;
    bool used = false;
    prediction predicted = {};
  };
  const Model* model_;
  context* context_;
  int forget_;
  std::vector<node_type> nodes_;
  std::vector<float> scores_;
  const float* projected_ = nullptr;
  extent stride_ = 0, first_ = 0;
};

}  // namespace nemo
}  // namespace STENO_ABI
}  // namespace steno
