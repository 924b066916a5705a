#pragma once

// Running a network over a data set, its decisions, and the check that comes before every analysis: does this
// network do what it should on these data?

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <assay/dataset.h>
#include <assay/progress.h>
#include <assay/session.h>

namespace assay::inline engine {

struct WalkOptions {
  std::size_t batch = 0;  // 0: chosen by the engine for this network
  std::string stage = "evaluating";
  // Positions in the data set to walk, ascending; all if not given.
  std::optional<std::vector<std::size_t>> records = {};
  bool keeps_values = false;  // visits go back through the network: see Session::preferred_batch()
};

// Calls visit(batch, bound inputs) for consecutive batches; reading runs ahead on other threads.
void walk(const Session& session, DatasetPtr dataset, const WalkOptions& options, Progress& progress,
          const std::function<void(const Batch&, const Tensors&)>& visit);

// Errors of one target of a regression network.
struct TargetError {
  double mean_squared = 0, mean_absolute = 0, greatest = 0;
};

// How far the probabilities of a classifier can be believed, over records with finite scores and a label
// among its classes. Probabilities are the softmax of the scores; of a single score its sigmoid.
struct Calibration {
  static constexpr std::size_t bin_count = 15;
  // Records by the probability of the class named, in (b / 15, (b + 1) / 15].
  struct Bin {
    std::size_t records = 0, correct = 0;
    double confidence = 0;  // sum of these probabilities
  };
  std::vector<Bin> bins = std::vector<Bin>(bin_count);
  std::size_t records = 0;
  double squared = 0, surprise = 0;  // sums of |p - e_label|^2 and of -ln p_label

  // Expected calibration error (Naeini et al., AAAI 2015; Guo et al., ICML 2017): the mean over records of
  // how far confidence and accuracy of their bin are apart; and that of the worst bin. 0 without records.
  double expected_error() const;
  double greatest_error() const;
  // Brier score (Brier 1950), in [0, 2], and negative log-likelihood in nats, means over records.
  double brier() const;
  double negative_log_likelihood() const;
};

struct Evaluation {
  std::size_t records = 0;
  std::vector<std::int64_t> predictions;                  // per record, or no_class; empty for regression
  std::optional<double> accuracy;                         // classification with labels
  std::optional<double> mean_squared_error;               // regression with targets
  std::vector<TargetError> targets;                       // the same by target
  std::vector<std::size_t> class_records, class_correct;  // per class
  std::optional<Calibration> calibration = {};            // classification with labels
  std::size_t non_finite = 0;                             // records with a NaN or infinity in the output
  std::vector<std::string> non_finite_ids;                // the first few
};

Evaluation evaluate(const Session& session, DatasetPtr dataset, const WalkOptions& options,
                    Progress& progress);

// Evaluations of all records and of parts of them, from one pass.
struct PartsEvaluation {
  Evaluation whole;
  std::vector<Evaluation> parts;
  std::vector<double> squared_errors;  // per record of a regression, mean over its targets
};
// `parts`: positions in the data set.
PartsEvaluation evaluate_parts(const Session& session, const DatasetPtr& dataset,
                               const std::vector<std::vector<std::size_t>>& parts, const WalkOptions& options,
                               Progress& progress);

// The accepted accuracies: at least `expected` less `below`, at most `expected` plus `above`.
struct AccuracyBounds {
  double expected = 0, below = 0, above = 1;
};

// Throws Error{mismatch} when the accuracy is not within the bounds; the message names the likely
// preprocessing cause, found by trying the usual suspects (scale, inversion, channel order, layout) on a
// sample.
void require_accuracy(const Session& session, DatasetPtr dataset, const Evaluation& evaluation,
                      const AccuracyBounds& bounds);

// Stands for no class.
constexpr std::int64_t no_class = -1;

// How many classes the decision value tells apart, two for a single score; 0: it is not a row of class
// scores.
std::size_t class_count(const Session& session);
// The class that a classifier's decision value, [N, classes] or [N], names for each record: the largest score
// (the first among equals), or with a single one whether it says yes (a probability above one half, a logit
// above zero). Scores with a NaN among them name none (no_class). Throws Error{unsupported} for other shapes,
// and as require_rows().
std::vector<std::int64_t> predicted_classes(const Session& session, const Array& logits, std::size_t records);
// Throws Error{mismatch} unless the decision value of so many records holds one row for each, along its first
// axis.
void require_rows(const Session& session, const Array& logits, std::size_t records);

// Outputs and decisions of a network for each record.
struct Predictions {
  Evaluation evaluation;  // of the same records, with the classes that the network names
  std::vector<std::string> ids;
  Array outputs;                     // [records, outputs...] float32: the network's first output
  std::vector<std::int64_t> labels;  // [records]; empty without labels
  Array targets;                     // [records, t] regression targets; 0 elements without
};

// One pass for evaluation and outputs. Throws Error{unsupported} when the output does not hold its records
// along an axis.
Predictions predict(const Session& session, DatasetPtr dataset, const WalkOptions& options,
                    Progress& progress);

// As .npz (ids, outputs, predicted, y) or, by any other ending, as a table (.csv): id, label, predicted,
// score of each output. Throws Error{io}, Error{usage} for a table of outputs of more than 1,000 numbers a
// record.
void write_predictions(const std::filesystem::path& path, const Predictions& predictions);

}  // namespace assay::inline engine
