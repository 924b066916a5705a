#pragma once

// Walking a data set with a network, what a classifier says, and the check that comes before every analysis:
// does this network, on these data, do what it is supposed to do?

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <assay/dataset.h>
#include <assay/progress.h>
#include <assay/session.h>

namespace assay {

struct WalkOptions {
  std::size_t batch = 0;  // 0: chosen by the engine for this network
  std::string stage = "evaluating";
  std::optional<std::vector<std::size_t>> records =
      {};  // positions in the data set to walk, ascending; all if not given
};

// Calls visit(batch, bound inputs) for consecutive batches; reading runs ahead on other threads.
void walk(const Session& session, DatasetPtr dataset, const WalkOptions& options, Progress& progress,
          const std::function<void(const Batch&, const Tensors&)>& visit);

struct Evaluation {
  std::size_t records = 0;
  std::vector<std::int64_t> predictions;                  // per record; empty for regression
  std::optional<double> accuracy;                         // classification with labels
  std::optional<double> mean_squared_error;               // regression with targets
  std::vector<std::size_t> class_records, class_correct;  // per class
  std::size_t non_finite = 0;                             // records with a NaN or infinity in the output
  std::vector<std::string> non_finite_ids;                // the first few
};

Evaluation evaluate(const Session& session, DatasetPtr dataset, const WalkOptions& options,
                    Progress& progress);

// Throws Error{mismatch} when the accuracy is off by more than `tolerance`; the message names the likely
// preprocessing cause, found by trying the usual suspects (scale, inversion, channel order, layout) on a
// sample.
void require_accuracy(const Session& session, DatasetPtr dataset, const Evaluation& evaluation,
                      double expected, double tolerance);

// The class that a classifier's decision value [N, classes] names for each record: the largest score (the
// first among equals), or with a single column whether it says yes (a probability above one half, a logit
// above zero). Throws Error{unsupported} for other shapes.
std::vector<std::int64_t> predicted_classes(const Session& session, const Tensor& logits);

}  // namespace assay
