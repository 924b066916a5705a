#pragma once

// Hypotheses: functions that annotate records, symbol by symbol or as a whole. Their values are hypothesis
// behaviours, which inspection compares with the behaviours of units (docs/algorithms/inspection.md).
//
// An annotator brings one hypothesis or many (a grammar brings two for each non-terminal). Annotators are
// pure: the same record always has the same behaviours, so these are cached by version() and data hash.

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <assay/dataset.h>
#include <assay/extend/catalogue.h>
#include <assay/session.h>

namespace assay::inspection {

enum class BehaviourKind { binary, categorical, numeric };

// One function of records, as results name it.
struct Hypothesis {
  std::string name;                            // "where_clause:time"; unique in a query
  BehaviourKind kind = BehaviourKind::binary;  // values 0 and 1; codes 0, 1, ...; any finite number
  std::vector<std::string> classes = {};       // of a categorical one: what its codes mean
};

// A record of tokens as text: symbol k covers the bytes begins[k] up to begins[k + 1]; padding covers none.
struct RecordText {
  std::string text;
  std::vector<std::size_t> begins;  // [symbols + 1], ascending
};

// Some records of a data set, as annotators see them.
struct RecordBlock {
  const Dataset& dataset;
  const Batch& batch;                 // as the network takes them; batch.indices: where in the data set
  std::span<const RecordText> texts;  // one per record where the query has a vocabulary, else empty
  std::size_t size() const { return batch.indices.size(); }
};

struct Behaviours {
  // Of one record: {} for one value, {symbols}, or {height, width}. The same for all records.
  Shape positions;
  std::vector<float> values;  // [records, hypotheses, positions...]; NaN: don't care
};

class Annotator {
 public:
  static constexpr const char* kind = "hypothesis";
  virtual ~Annotator() = default;
  virtual const std::vector<Hypothesis>& hypotheses() const = 0;
  // Thread-safe. Throws Error{data} naming hypothesis and record where a record cannot be annotated.
  virtual Behaviours annotate(const RecordBlock& records) const = 0;
  // Changes whenever behaviours may: a hash of everything they depend on apart from the records (the text of
  // the grammar, the contents of the file). Empty: never cached.
  virtual std::string version() const = 0;
  // A notice about the records annotated so far: "3 records do not parse".
  virtual std::vector<std::string> notices() const { return {}; }
};

// The setup of an annotator.
struct AnnotatorSetup {
  const Spec& spec;
  const SpecOptions& options;
  DatasetPtr dataset;      // the records of the query
  SessionOptions session;  // for annotators that run networks
};

struct AnnotatorInfo {
  static constexpr const char* kind = "hypothesis";
  std::string name, summary;  // "grammar", one line
  std::string definition;     // what is annotated, exactly
  std::string limits;         // what it does not tell
  std::string paper;
  std::vector<SpecOption> options;
  // A bare file name with one of these endings stands for NAME[file=...]: ".grammar".
  std::vector<std::string> endings = {};
  std::function<std::unique_ptr<Annotator>(const AnnotatorSetup&)> make;
};

// All kinds of hypotheses. Throws as every catalogue.
Catalogue<AnnotatorInfo>& annotators();

// A kind by name with options, a bare file name with a known ending, or an object of the caller's own.
using AnnotatorChoice = Choice<Annotator>;
// "sql.grammar" -> grammar[file=sql.grammar]. Throws Error{usage} when nothing fits.
AnnotatorChoice annotator_choice(const std::string& text);
// Throws Error{usage} for options that do not exist, Error{data} for files that cannot be read.
std::shared_ptr<const Annotator> make_annotator(const AnnotatorChoice& choice, const DatasetPtr& dataset,
                                                const SessionOptions& session);

}  // namespace assay::inspection
