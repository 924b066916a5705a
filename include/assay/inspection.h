#pragma once

// Deep neural inspection (DeepBase, Sellam et al., SIGMOD 2019): which units of a network behave like which
// hypotheses. One pass over shuffled records serves all groups, hypotheses and measures, and ends where
// nothing is open (docs/inspection.md).

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <assay/dataset.h>
#include <assay/extend/hypothesis.h>
#include <assay/extend/measure.h>
#include <assay/progress.h>
#include <assay/session.h>

namespace assay::inspection {

// The behaviour of a unit at a symbol: its activation, its change since the symbol before (0 at the first),
// or the derivative of the greatest logit with respect to it.
enum class UnitBehaviour { activation, change, gradient };

struct InspectedModel {
  std::string name;  // unique in a query
  std::shared_ptr<const Session> session;
};

// Units that are inspected together: for joint measures they form one model.
struct UnitGroup {
  std::string name;       // unique in a query: "lstm", "lstm/forget"
  std::size_t model = 0;  // position among the models
  std::string layer;      // selector, as Session::layer() takes it
  // "input", "forget", "output", "candidate", "cell" (the cell state) of an LSTM layer, "update", "reset",
  // "candidate" of a GRU layer; empty: its activations.
  std::string gate = {};
  std::vector<std::size_t> units = {};  // ascending; empty: all
  UnitBehaviour behaviour = UnitBehaviour::activation;
  bool usual = false;  // named by no one: left out with a notice where its positions do not fit
};

// What tokens mean, so that hypotheses can read records as text.
struct Vocabulary {
  std::vector<std::string> symbols;     // by token
  std::optional<std::int64_t> padding;  // token that fills records up; its positions are left out
};
// From an .npz array of character codes or names (FILE.npz:ARRAY), a text file of one symbol a line, or JSON
// (a list, or an object from symbol to token), or from a tokenizer.json or its folder: a symbol is then what
// the token adds to a text. `padding`: a token or symbol; empty: that of the tokenizer, or none. Throws
// Error{data}.
Vocabulary read_vocabulary(const std::string& spec, const std::string& padding);

// The rows, if units and a hypothesis have different positions.
struct AlignOptions {
  // hypothesis: where the hypothesis has values; units are interpolated between the centres of their
  // receptive fields. units: where the units have; hypotheses are taken from there. record: one row a record.
  // Where one of the two has one value a record, `hypothesis` means `record` as well.
  enum class Rows { hypothesis, units, record } rows = Rows::hypothesis;
  // How several positions become one. Automatic: the mean, but for recurrent layers and for hypotheses of
  // symbols the last that is not padding. The mean of codes is the most frequent one.
  enum class Reduce { automatic, mean, max, last } reduce = Reduce::automatic;
};

struct InspectOptions {
  std::vector<MeasureChoice> measures = {"pearson"};
  bool stop_early = true;
  double tolerance = 0;  // 0: each measure's default
  double confidence = 0.95;
  std::size_t block = 512;       // records between looks
  std::size_t permutations = 0;  // of records, for p values
  std::size_t bootstrap = 0;     // replicates over records, for intervals
  std::optional<Vocabulary> vocabulary = {};
  AlignOptions align = {};
  std::size_t batch = 0;   // records per pass of a network; 0: chosen for it
  std::uint64_t seed = 1;  // of the order of records, permutations and probes
  std::size_t shard = 1, shards = 1;
  std::filesystem::path journal = {};  // progress is kept here and continued from; empty: never
  double journal_seconds = 5;          // between two entries of it
  bool keep_curve = false;             // remember scores at some looks, ever further apart
  std::filesystem::path state = {};    // what was seen goes here, to be combined; empty: nowhere
  std::filesystem::path cache = {};    // folder for behaviours of hypotheses; empty: memory only
  std::uint64_t cache_memory = std::uint64_t{1} << 30;  // bytes
  // Characteristic of the data that names the document of a record; records of one are held out and drawn
  // together. Empty: each record is a document.
  std::string documents = {};
};

// One line of the answer. DESIGN: model, layer, group, unit (none for rows of a group), hypothesis, measure.
struct ScoreRow {
  std::string model, layer, group;
  std::optional<std::size_t> unit;
  std::string hypothesis, measure;
  Score score;
  double q =
      std::numeric_limits<double>::quiet_NaN();  // p after Benjamini and Hochberg, over the whole query
};

// Units of a group and hypotheses of the same positions.
struct AlignedPair {
  std::string model, layer, group;
  std::size_t units = 0;
  Shape unit_positions, hypothesis_positions;  // of one record
  std::vector<std::string> hypotheses;
  std::string how;                 // "position by position"
  std::uint64_t rows = 0;          // that measures were given
  std::uint64_t padding = 0;       // rows left out since they are padding
  std::uint64_t not_finite = 0;    // rows left out for a unit that is not finite
  std::uint64_t records_used = 0;  // until nothing was open
};

// The values of all scores after so many records.
struct CurvePoint {
  std::size_t records = 0;
  std::vector<double> values;  // one for each of Inspection::rows
};

struct Inspection {
  std::vector<ScoreRow> rows;  // by (model, group, measure, hypothesis, unit)
  std::vector<AlignedPair> pairs;
  std::vector<Hypothesis> hypotheses;
  std::vector<std::string> measures;
  std::vector<CurvePoint> curve;  // where it was requested
  std::size_t records = 0;        // in the data set (of this shard)
  std::size_t records_read = 0;   // until nothing was open
  std::size_t settled = 0;        // scores that rest on a part of the records, since they had converged
  std::uint64_t cached = 0;       // behaviours that came from the cache, in records times annotators
  std::vector<std::string> notices;
};

// Throws Error{usage} for unknown layers, gates and units, Error{mismatch} where units and hypotheses cannot
// be aligned, naming hypothesis and record, or for the journal of other work.
Inspection inspect(const std::vector<InspectedModel>& models, const std::vector<UnitGroup>& groups,
                   const DatasetPtr& dataset, const std::vector<AnnotatorChoice>& hypotheses,
                   const InspectOptions& options, Progress& progress);

}  // namespace assay::inspection
