#pragma once

// Behaviours of the units of one network at each position of a record.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <assay/inspection.h>

namespace assay::inspection {

// Positions of the units of a group, before any record is read.
struct UnitMap {
  std::string layer;               // its name
  std::vector<std::size_t> units;  // of the layer, ascending
  Shape positions;                 // of one record: {} one value, {symbols}, {height, width}
  ValueId value = no_value;        // that holds them; of a recurrent layer its whole sequence
  bool recurrent = false;          // the last position has seen all of the record
};

// Not thread-safe, as the session.
class UnitSource {
 public:
  // `groups`: those of this network, all others are left alone. Throws Error{usage} for layers, gates and
  // units that there are not, and for behaviours that a layer has not.
  UnitSource(const InspectedModel& model, std::vector<UnitGroup> groups);
  ~UnitSource();
  UnitSource(UnitSource&&) noexcept;

  std::size_t groups() const;
  const UnitMap& map(std::size_t group) const;
  // [records, positions, units] of each of these groups, float32, contiguous, on the host. One pass of the
  // network up to the deepest layer that is needed.
  std::vector<Array> behaviours(const Batch& batch, std::span<const std::size_t> groups) const;

  // The network, in which recurrent layers have their whole sequence as a value.
  const Session& session() const;
  // As behaviours(), of values of that network; gradients go back through it. REQUIRES activations of a
  // layer.
  Array activations(std::size_t group, const Tensors& values) const;

 private:
  struct Network;
  std::unique_ptr<Network> network_;
};

}  // namespace assay::inspection
