// assay evaluate: accuracy or mean squared error of a network on data, per class, with a confusion summary.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "apps/assay/commands/catalogue.h"
#include "apps/assay/inputs.h"

namespace assay::app {
namespace {

// How often class `expected` was taken for another one, most frequent first.
Table confusion_table(const Evaluation& evaluation, const Dataset& data, std::size_t rows) {
  std::map<std::pair<std::int64_t, std::int64_t>, std::pair<std::int64_t, std::size_t>> pairs;  // count, first record
  for (std::size_t i = 0; i < evaluation.predictions.size(); ++i) {
    const std::int64_t expected = data.label(i), got = evaluation.predictions[i];
    if (expected == got) continue;
    auto& [count, first] = pairs[{expected, got}];
    if (count++ == 0) first = i;
  }
  std::vector<std::pair<std::pair<std::int64_t, std::int64_t>, std::pair<std::int64_t, std::size_t>>> sorted(
      pairs.begin(), pairs.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second.first > b.second.first; });
  sorted.resize(std::min(sorted.size(), rows));
  const std::vector<std::string> names = data.class_names();
  const auto name_of = [&](std::int64_t c) {
    return c >= 0 && static_cast<std::size_t>(c) < names.size() ? names[static_cast<std::size_t>(c)] : std::to_string(c);
  };
  Table table{"confusions", "Most frequent confusions",
              {{"expected", "expected"}, {"predicted", "predicted"}, {"records", "records", Column::Kind::count},
               {"first", "first record"}}, {}};
  for (const auto& [pair, found] : sorted) {
    table.rows.push_back({name_of(pair.first), name_of(pair.second), found.first, data.id(found.second)});
  }
  return table;
}

Table class_table(const Evaluation& evaluation, const Dataset& data) {
  Table table{"classes", "By class",
              {{"class", "class"}, {"records", "records", Column::Kind::count}, {"correct", "correct", Column::Kind::count},
               {"accuracy", "accuracy", Column::Kind::percent}}, {}};
  const std::vector<std::string> names = data.class_names();
  for (std::size_t c = 0; c < evaluation.class_records.size(); ++c) {
    const std::size_t records = evaluation.class_records[c], correct = evaluation.class_correct[c];
    const Cell accuracy = records == 0 ? Cell{} : Cell{static_cast<double>(correct) / static_cast<double>(records)};
    table.rows.push_back({c < names.size() ? names[c] : std::to_string(c), static_cast<std::int64_t>(records),
                          static_cast<std::int64_t>(correct), accuracy});
  }
  return table;
}

class Evaluate final : public Command {
 public:
  void declare(CLI::App& app) override {
    model_.declare(app);
    data_.declare(app);
    check_.declare(app);
  }

  Document run(Context& context) override {
    const DatasetPtr data = data_.open();
    const Session session = model_.open(context, data.get());
    Document document;
    document.facts.push_back({"records", "records", static_cast<std::int64_t>(data->size()), Column::Kind::count});
    const Evaluation evaluation = check_.run(session, data, context, document);
    if (evaluation.accuracy) {
      document.headline = fmt::format("{} classifies {} correctly: {}", session.graph().name(), data->describe(),
                                      percent(*evaluation.accuracy));
      document.tables = {class_table(evaluation, *data), confusion_table(evaluation, *data, 10)};
    } else if (evaluation.mean_squared_error) {
      document.headline = fmt::format("{} on {}: mean squared error {:.6f}", session.graph().name(), data->describe(),
                                      *evaluation.mean_squared_error);
    } else {
      document.headline = fmt::format("{} ran on {}; without labels or targets there is no score",
                                      session.graph().name(), data->describe());
    }
    add_provenance(document, session, {{"data", data}});
    return document;
  }

 private:
  ModelInput model_;
  DataInput data_{"data", "records to evaluate on"};
  AccuracyCheck check_;
};

}  // namespace

CommandInfo evaluate_command() {
  return {"evaluate", "accuracy or mean squared error of a network on data",
          "  assay evaluate --model lenet5.onnx --data t10k-images-idx3-ubyte.gz\n"
          "  assay evaluate --model net.h5 --data digits:1000 --expect-accuracy 0.98\n"
          "There is no --shard: counts of slices ('test.npz[:5000]') can be added up.",
          make_command<Evaluate>};
}

}  // namespace assay::app
