#include <assay/evaluate.h>

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include <assay/dataset.h>
#include <assay/error.h>

namespace assay {
namespace {

constexpr std::size_t most_ids = 10;  // of records with non-finite outputs that are named

class Evaluator {
 public:
  Evaluator(const Session& session, const Dataset& dataset) : session_(session), dataset_(dataset) {
    classifies_ = dataset.target_width() == 0;
    if (dataset.has_labels()) {
      result_.class_records.resize(dataset.class_count());
      result_.class_correct.resize(dataset.class_count());
    }
  }

  void observe(const Batch& batch, const Tensors& inputs) {
    const ValueId id = session_.logits();
    const Tensor logits = session_.run(inputs, std::span(&id, 1)).at(id);
    result_.records += batch.indices.size();
    note_non_finite(batch, logits);
    if (classifies_) {
      classify(batch, logits);
    } else {
      regress(batch, logits);
    }
  }

  Evaluation result() const {
    Evaluation result = result_;
    if (result.records == 0) return result;
    const auto records = static_cast<double>(result.records);
    if (classifies_ && dataset_.has_labels()) result.accuracy = static_cast<double>(correct_) / records;
    if (classifies_) return result;
    result.mean_squared_error = squared_error_ / (records * static_cast<double>(dataset_.target_width()));
    for (TargetError& target : result.targets) {
      target.mean_squared /= records;
      target.mean_absolute /= records;
    }
    return result;
  }

 private:
  void note_non_finite(const Batch& batch, const Tensor& logits) {
    const Tensor finite = at::isfinite(logits.reshape({logits.size(0), -1})).all(1).to(at::kCPU).contiguous();
    const bool* const ok = finite.data_ptr<bool>();
    for (std::size_t i = 0; i < batch.indices.size(); ++i) {
      if (ok[i]) continue;
      ++result_.non_finite;
      if (result_.non_finite_ids.size() < most_ids)
        result_.non_finite_ids.push_back(dataset_.id(batch.indices[i]));
    }
  }

  void classify(const Batch& batch, const Tensor& logits) {
    const std::vector<std::int64_t> predicted = predicted_classes(session_, logits);
    for (std::size_t i = 0; i < predicted.size(); ++i) {
      result_.predictions.push_back(predicted[i]);
      if (batch.labels.empty()) continue;
      const auto label = static_cast<std::size_t>(batch.labels[i]);
      if (label >= result_.class_records.size()) {
        fail(Fault::data, "record '{}' has label {}, but the data set has {} classes",
             dataset_.id(batch.indices[i]), batch.labels[i], result_.class_records.size());
      }
      ++result_.class_records[label];
      if (predicted[i] != batch.labels[i]) continue;
      ++result_.class_correct[label];
      ++correct_;
    }
  }

  void regress(const Batch& batch, const Tensor& output) {
    const Tensor targets = to_tensor(batch.targets);
    const Tensor values = output.to(at::kCPU).reshape({output.size(0), -1});
    if (values.sizes() != targets.sizes()) {
      fail(Fault::mismatch, "network '{}' gives {} numbers a record, but the data have {} targets",
           session_.graph().name(), values.size(1), dataset_.target_width());
    }
    const Tensor errors = (values.to(at::kDouble) - targets.to(at::kDouble)).contiguous();
    const auto width = static_cast<std::size_t>(errors.size(1));
    result_.targets.resize(width);
    const double* const error = errors.data_ptr<double>();
    for (std::size_t i = 0; i < batch.indices.size() * width; ++i) {
      TargetError& target = result_.targets[i % width];
      squared_error_ += error[i] * error[i];
      target.mean_squared += error[i] * error[i];
      target.mean_absolute += std::abs(error[i]);
      target.greatest = std::max(target.greatest, std::abs(error[i]));
    }
  }

  const Session& session_;
  const Dataset& dataset_;
  bool classifies_ = true;
  Evaluation result_;
  std::size_t correct_ = 0;
  double squared_error_ = 0;
};

}  // namespace

std::vector<std::int64_t> predicted_classes(const Session& session, const Tensor& logits) {
  const bool rows = logits.dim() >= 2 && logits.numel() == logits.size(0) * logits.size(1);
  if (!rows) {
    fail(
        Fault::unsupported,
        "network '{}' gives outputs of shape {}; a classifier gives one row of scores a record, [N, classes]",
        session.graph().name(), to_string(logits.sizes().vec()));
  }
  const Tensor scores = logits.reshape({logits.size(0), logits.size(1)});
  const double threshold = session.ends_in_sigmoid() ? 0.5 : 0.0;
  const Tensor classes = scores.size(1) == 1 ? scores.squeeze(1).gt(threshold) : scores.argmax(1);
  const Tensor host = classes.to(at::kCPU, at::kLong).contiguous();
  return {host.data_ptr<std::int64_t>(), host.data_ptr<std::int64_t>() + host.numel()};
}

Evaluation evaluate(const Session& session, DatasetPtr dataset, const WalkOptions& options,
                    Progress& progress) {
  Evaluator evaluator(session, *dataset);
  walk(session, dataset, options, progress,
       [&](const Batch& batch, const Tensors& inputs) { evaluator.observe(batch, inputs); });
  return evaluator.result();
}

}  // namespace assay
