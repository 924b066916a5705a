#pragma once

// All hypotheses of a query, asked of the records that an inspection reads.

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <assay/inspection.h>
#include "assay/inspection/units/behaviour_cache.h"

namespace assay::inspection {

// "label,regex[a+]" and more texts like it. Throws Error{usage}.
std::vector<AnnotatorChoice> annotator_choices(std::span<const std::string> texts);

class RequestedHypotheses {
 public:
  // Throws what making an annotator throws, Error{usage} for two hypotheses of one name or a vocabulary for
  // records that are not tokens. `options` must stay.
  RequestedHypotheses(DatasetPtr dataset, const std::vector<AnnotatorChoice>& choices,
                      const InspectOptions& options, const SessionOptions& session, std::size_t threads);

  std::size_t size() const { return annotators_.size(); }
  const std::vector<Hypothesis>& hypotheses() const { return hypotheses_; }
  std::size_t annotator_of(std::size_t hypothesis) const { return owners_[hypothesis].annotator; }
  // Of all that behaviours depend on apart from the records.
  std::string version() const;
  // Symbols of a record of tokens, 0 for other records.
  std::size_t symbols() const { return symbols_; }
  // [records, symbols]: 1 where a symbol is padding; empty where none can be.
  std::vector<char> padding(const Batch& batch) const;

  // Finds out what positions the hypotheses have.
  void probe(const Batch& batch);
  const std::vector<Shape>& positions() const { return positions_; }  // by annotator
  const Shape& positions_of(std::size_t hypothesis) const { return positions_[annotator_of(hypothesis)]; }

  // Behaviours of some records.
  class Values {
   public:
    // Those of one hypothesis in one record; NaN where its annotator was not asked.
    std::span<const float> of(std::size_t record, std::size_t hypothesis) const;

   private:
    friend class RequestedHypotheses;
    const RequestedHypotheses* all_ = nullptr;
    std::vector<std::vector<float>> by_annotator_;  // [records, hypotheses, positions], or empty
  };
  // Of the annotators that are not 0. Throws Error{mismatch} for a behaviour that is not as long as the
  // record.
  Values annotate(const Batch& batch, const std::vector<char>& annotators) const;

  std::uint64_t cached() const;
  std::vector<std::string> notices() const;

 private:
  struct Owner {
    std::size_t annotator, place;  // which of its hypotheses
  };
  std::string records_hash() const;
  std::vector<float> ask(std::size_t annotator, const RecordBlock& records) const;
  void check_positions(std::size_t annotator, const Batch& batch) const;

  DatasetPtr dataset_;
  const InspectOptions& options_;
  std::vector<AnnotatorChoice> choices_;
  SessionOptions session_;
  std::size_t threads_, symbols_ = 0;
  std::vector<std::string> specs_, keys_;  // keys: in the cache
  mutable BehaviourCache cache_;
  std::vector<std::shared_ptr<const Annotator>> annotators_;
  std::vector<Hypothesis> hypotheses_;
  std::vector<Owner> owners_;  // of each hypothesis
  std::vector<Shape> positions_;
  std::vector<float> unknown_;  // NaN, as many as any hypothesis has positions
};

}  // namespace assay::inspection
