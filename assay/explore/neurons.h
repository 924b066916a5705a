#pragma once

// The neurons of a layer in what its value holds for one record, as objectives of records read it
// (RecordObjective).

#include <span>
#include <vector>

#include <assay/session.h>

namespace assay::explore {

class RecordNeurons {
 public:
  RecordNeurons(const Session& session, const Layer& layer, Reduction reduction);

  std::size_t elements() const { return starts_.size() * run_; }
  std::size_t size() const { return starts_.size() / runs_; }

  // As reduce_to_neurons() has them.
  float activation(std::span<const float> elements, std::size_t neuron) const;
  std::vector<float> activations(std::span<const float> elements) const;
  // Adds to the gradients of elements how they change a neuron's activation, times `factor`. Elements that
  // are the least or the greatest together share.
  void lift(std::span<const float> elements, std::size_t neuron, float factor,
            std::span<float> gradients) const;

 private:
  std::span<const std::uint32_t> starts_of(std::size_t neuron) const {
    return std::span(starts_).subspan(neuron * runs_, runs_);
  }

  bool averages() const { return reduction_ == Reduction::mean || reduction_ == Reduction::every_position; }

  Reduction reduction_;
  std::size_t run_ = 1, runs_ = 1;     // neighbouring elements of a neuron, and how often there are so many
  std::vector<std::uint32_t> starts_;  // of every run, neuron by neuron
};

}  // namespace assay::explore
