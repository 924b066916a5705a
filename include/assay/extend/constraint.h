#pragma once

// Limits what a search may do to a record so that it stays in its domain (Pei et al., DeepXplore, SOSP 2017,
// section 6.2), and the catalogue of such constraints (docs/algorithms/exploration.md).

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <assay/extend/attack_problem.h>
#include <assay/extend/catalogue.h>
#include <assay/extend/random.h>
#include <assay/extend/spec.h>

namespace assay::explore {

// Searches under way, one per row. Records are in units of the valid range: every element between 0 and 1.
struct Searches {
  Array seeds;                          // [n, record...]
  std::vector<std::uint64_t> keys;      // what names each search's random streams
  std::vector<std::size_t> iterations;  // steps taken so far
  std::uint64_t seed = 1;
  const attack::InputUnits* units = nullptr;  // what the units stand for

  std::int64_t size() const { return seeds.size(0); }
  // [n, record...] bool: elements that are not the seed's, beyond what rounding does.
  Array changed(const Array& records) const;
  // Random numbers of a search that are the same in every iteration, or new in each.
  Rng constant_rng(std::size_t row, std::uint64_t purpose) const { return Rng(seed, {keys[row], purpose}); }
  Rng rng(std::size_t row, std::uint64_t purpose) const {
    return Rng(seed, {keys[row], purpose, iterations[row] + 1});
  }
};

// How a finding may be made smaller without leaving the domain: by undoing the whole change partly, and by
// undoing single elements.
struct Shrinking {
  bool scale = true, elements = true;
};

// A change of an element below this, in units of the valid range, is rounding.
constexpr double least_change = 1e-6;

// Immutable. Every search is on its own: what happens to a row depends on that row alone. Tensors are [n,
// record...], in the processor's memory wherever the networks run.
class Constraint {
 public:
  static constexpr const char* kind = "constraint";
  virtual ~Constraint() = default;
  // The allowed part of the wanted direction, whose elements have a mean square of 1.
  virtual Array direction(const Searches&, const Array& points, const Array& wanted) const {
    static_cast<void>(points);
    return wanted;
  }
  // Where the search continues after a step.
  virtual Array kept(const Searches&, const Array& points) const { return points; }
  // The record that a point of the search stands for, where they differ. What leaves [0, 1] is clipped.
  virtual Array shown(const Searches&, const Array& points) const { return points; }
  // Points lie on a line through each seed and may leave [0, 1]; only the records they stand for are clipped.
  virtual bool on_a_line() const { return false; }
  // The allowed change differs from element to element, so a line through the seed does not stay allowed.
  virtual bool by_element() const { return false; }
  // [n] bool: records, as they are stored, that are allowed; undefined: all. Constraints that are given
  // together undo each other's work, so this is asked of all before a record counts as a finding.
  virtual Array admits(const Searches&, const Array& records) const {
    static_cast<void>(records);
    return {};
  }
  virtual Shrinking shrinking() const { return {}; }
  // A search is given up after more steps than this in a row without any change.
  virtual std::size_t patience() const { return 5; }
  // [elements] bool of a record that hold integers in the data's own units; undefined: none.
  virtual Array integers(std::int64_t elements) const {
    static_cast<void>(elements);
    return {};
  }
};

struct ConstraintInfo {
  std::string name, summary;  // "light", one line
  std::string definition;     // what it does, exactly
  std::string limits;
  std::string paper;
  std::vector<SpecOption> options;
  std::function<std::unique_ptr<Constraint>(const SpecOptions& options)> make = {};
};

Catalogue<ConstraintInfo>& constraints();

// A constraint by name, or one of the caller's own that is in no catalogue.
using ConstraintChoice = Choice<Constraint>;
// All of these together, applied in their order; none: everything within the valid range is allowed. Throws
// Error{usage} for options that do not exist or make no sense, and for two that cannot hold together.
std::unique_ptr<Constraint> make_constraint(std::span<const ConstraintChoice> choices);

}  // namespace assay::explore
