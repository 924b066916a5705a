#pragma once

// What the decision would be without parts of a value: the ground of methods that use no gradients, and of
// measures of how far explanations can be believed.

#include <memory>
#include <vector>

#include <assay/extend/spec.h>
#include <assay/relevance.h>
#include "assay/relevance/parts.h"
#include "assay/relevance/start.h"

namespace assay::relevance {

// Elements of an input are replaced by those of the baseline, elements of any other value by 0.
class Ablation {
 public:
  // What it is made of must outlive it. `target` names a class for each record.
  Ablation(const Session& session, const Start& start, const AttributionOptions& options,
           const Tensors& inputs, const Target& target, ValueId id, const Array& value);

  const RecordRows& layout() const { return layout_; }
  const Array& rows() const { return rows_; }            // [n, width], as they are
  const Array& reference() const { return reference_; }  // [n, width], what they are replaced by
  std::int64_t records() const { return rows_.size(0); }
  std::int64_t width() const { return rows_.size(1); }
  // Decision values where `kept` (truth values, [1 or n, width]) is false for what is replaced.
  Array decisions(const Array& kept) const;
  // The explained number of each record.
  std::vector<double> numbers(const Array& kept) const;
  // The same with whole parts replaced.
  std::vector<double> numbers(const std::vector<Part>& parts, const std::vector<bool>& kept) const;

 private:
  const Session& session_;
  const Start& start_;
  const Tensors& inputs_;
  const Target& target_;
  ValueId id_;
  RecordRows layout_;
  Array rows_, reference_;
};

// Methods that compare the decision with and without parts.
class OfParts : public Attribution {
 public:
  OfParts(const Session& session, const AttributionOptions& options, std::int64_t patch, std::int64_t stride);
  // The share of a part is the same for all of its elements; an element of several parts has the mean.
  Relevance attribute(const Tensors& given, const Target& target,
                      std::span<const ValueId> wanted) const final;
  std::vector<ValueId> reads(std::span<const ValueId>) const final { return {start_.value()}; }

 protected:
  // Relevance of each part, [records][parts].
  virtual std::vector<std::vector<double>> of_parts(const Ablation& ablation,
                                                    const std::vector<Part>& parts) const = 0;

 private:
  Array spread(const Ablation& ablation, const std::vector<Part>& parts) const;

  const Session& session_;
  Start start_;
  AttributionOptions options_;
  std::int64_t patch_, stride_;
};

}  // namespace assay::relevance
