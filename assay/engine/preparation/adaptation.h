#pragma once

// Changes of a network before it runs: fixed inputs, the deciding output, another precision, gradients
// through steps, channels in the order of the records.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <assay/adapt.h>
#include <assay/dataset.h>
#include <assay/progress.h>
#include <assay/session.h>
#include <assay/threshold.h>

namespace assay::inline engine {

struct AdaptOptions {
  std::vector<std::pair<std::string, double>> fixed = {};  // inputs that are one number for all records
  // Name or number of an output, or what a token decision says; empty: the default.
  std::string decision = {};
  Precision precision = Precision::float32;
  bool straight_through = false;
  std::string folder = {};  // with tokenizer.json and config.json of a network of language; empty: none
  std::vector<std::string> views = {};      // of units, as parse_view() reads them
  std::optional<Threshold> threshold = {};  // where class 1 begins; nothing: as the network has it
};

// The same for the network that is named so.
AdaptOptions adapt_options_of(AdaptOptions options, const std::string& network);

struct AdaptedNetwork {
  Graph graph;
  FileForm form;                        // for in_form_of_file()
  std::vector<std::string> views = {};  // that session_of() adds
  std::string folder = {};
  std::optional<Threshold> threshold = {};  // which it shifts the score to
};

// Where records are pictures and the network takes their channels last, it is transposed to take them first,
// with a notice. `data`: may be null. Throws Error{usage} for an output that is not there, and for steps that
// are not there.
AdaptedNetwork adapted(Graph graph, const AdaptOptions& options, const Dataset* data, Progress& progress);

// A session of the network. Where the data have several labels a record and records of the first output lie
// along another axis, as those of scores [steps, records, classes], a transposed output is put in front, with
// a notice, and so is a score that is shifted. The notices of the session are given as well. Views of units
// are added last (unit_views.h); throws Error{unsupported} for one that does not hold its records along its
// first axis. `data`: null if not there.
Session session_of(AdaptedNetwork& network, const SessionOptions& options, const Dataset* data,
                   Progress& progress);

// With another precision: how far the decisions on the first records are from those in float32, as a notice.
// `plain`: the network before adapted(); `session`: of the one after.
void tell_rounding(const Graph& plain, const Session& session, const AdaptOptions& options,
                   const Dataset* data, Progress& progress);

}  // namespace assay::inline engine
