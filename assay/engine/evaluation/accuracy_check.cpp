// require_accuracy(): when a network does not reach the accuracy that was declared, the preprocessing is the
// likely cause. Tries the usual mistakes on a sample and names the one that explains it.

#include "assay/engine/evaluation/accuracy_check.h"

#include <assay/array_math.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>

#include <assay/dataset.h>
#include <assay/error.h>
#include "assay/data/given.h"
#include "assay/engine/elements.h"

namespace assay::inline engine {
namespace {

struct Suspect {
  std::string remedy;
  std::function<Array(const Array&)> repair;    // of a batch of records
  std::shared_ptr<const Session> session = {};  // for repaired records of another shape; null: the same
};

std::vector<std::int64_t> answers_to(const Session& session, const Array& inputs) {
  const ValueId id = session.logits();
  const std::size_t count = inputs.size(0), batch = session.preferred_batch();
  std::vector<std::int64_t> all;
  for (std::size_t begin = 0; begin < count; begin += batch) {
    const std::size_t rows = std::min(batch, count - begin);
    const Array part = inputs.narrow(0, begin, rows);
    const auto some =
        predicted_classes(session, session.run(session.bind(part), std::span(&id, 1)).at(id), rows);
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

Array with_swapped_sides(const Array& pictures) { return pictures.transpose(2, 3); }

// The network for pictures whose sides are swapped; nothing where it takes no such pictures.
std::shared_ptr<const Session> for_swapped_sides(const Session& session, const Array& pictures) {
  const Graph& graph = session.graph();
  const Shape& declared = graph.value(graph.inputs()[0]).shape;
  if (declared.size() != 4 || declared[2] != -1 || declared[3] != -1) return nullptr;
  SessionOptions options = session.options();
  options.record_shape = {pictures.size(1), pictures.size(3), pictures.size(2)};
  options.record_shapes.clear();
  try {
    auto other = std::make_shared<const Session>(graph, options);
    answers_to(*other, with_swapped_sides(pictures.narrow(0, 0, 1)));
    return other;
  } catch (const Error& error) {
    if (error.fault() == Fault::interrupted) throw;
    return nullptr;  // later layers take one size
  }
}

// The usual differences between given data and the data of training.
std::vector<Suspect> suspects(const Session& session, const Array& sample) {
  const double low = sample.min().item<double>(), high = sample.max().item<double>();
  std::vector<Suspect> list{
      {"divide the values by 255 (scale 1/255)", [](const Array& x) { return x / 255; }},
      {"multiply the values by 255 (scale 255)", [](const Array& x) { return x * 255; }},
      {"invert the values (dark for bright)", [=](const Array& x) { return high + low - x; }},
      {"centre the values: mean 0.5 and standard deviation 0.5",
       [](const Array& x) { return (x - 0.5) / 0.5; }},
      {"subtract 0.5 (mean 0.5)", [](const Array& x) { return x - 0.5; }},
      {"do not centre the values: they should lie in [0, 1], not [-1, 1]",
       [](const Array& x) { return (x + 1) / 2; }},
      {"add 0.5: the values should not be centred", [](const Array& x) { return x + 0.5; }},
      {"divide the values by 255, then centre them: mean 0.5 and standard deviation 0.5",
       [](const Array& x) { return (x / 255 - 0.5) / 0.5; }},
      {"standardise the values to mean 0 and standard deviation 1",
       [mean = sample.mean(), deviation = array::var(sample, {}, false, true).sqrt()](const Array& x) {
         return (x - mean) / deviation;
       }},
  };
  if (sample.rank() != 4) return list;
  const bool square = sample.size(2) == sample.size(3);
  const auto swapped = square ? nullptr : for_swapped_sides(session, sample);
  if (square || swapped) list.push_back({"swap height and width", with_swapped_sides, swapped});
  if (sample.size(1) == 1) return list;
  list.push_back({"reverse the order of the channels (RGB for BGR)",
                  [](const Array& x) { return array::flip(x, {1}); }});
  list.push_back(
      {"read the channels last (layout height, width, channel)", [](const Array& x) {
         return x.reshape({x.size(0), x.size(2), x.size(3), x.size(1)}).permute({0, 3, 1, 2}).contiguous();
       }});
  return list;
}

// The records of a sample, their labels and what the network says of them.
struct Sample {
  std::vector<std::size_t> records;
  std::vector<std::int64_t> labels, predicted;
};

std::vector<std::size_t> spread_records(const Dataset& dataset, std::size_t most) {
  const std::size_t count = std::min(most, dataset.size());
  std::vector<std::size_t> records;
  for (std::size_t i = 0; i < count; ++i) records.push_back(i * dataset.size() / count);
  return records;
}

Sample sample_of(const Session& session, const Dataset& dataset, std::size_t most) {
  Sample sample{.records = spread_records(dataset, most), .labels = {}, .predicted = {}};
  const std::size_t count = sample.records.size(), step = session.preferred_batch();
  const ValueId id = session.logits();
  for (std::size_t begin = 0; begin < count; begin += step) {
    const auto part = std::span(sample.records).subspan(begin, std::min(step, count - begin));
    const Batch batch = dataset.read(part);
    const auto predicted =
        predicted_classes(session, session.run(session.bind(batch), std::span(&id, 1)).at(id), part.size());
    sample.labels.insert(sample.labels.end(), batch.labels.begin(), batch.labels.end());
    sample.predicted.insert(sample.predicted.end(), predicted.begin(), predicted.end());
  }
  return sample;
}

double share_equal(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
  std::size_t equal = 0;
  for (std::size_t i = 0; i < a.size(); ++i) equal += a[i] == b[i];
  return static_cast<double>(equal) / a.size();
}

// Another numbering of the classes: what the network calls the class of a label.
struct Renumbering {
  std::string remedy;
  std::vector<std::int64_t> names;
};

// Folders "0", "1", "10", "2" sort as texts; the position of each number among them.
std::vector<std::int64_t> sorted_as_texts(std::size_t classes) {
  std::vector<std::string> texts;
  for (std::size_t c = 0; c < classes; ++c) texts.push_back(std::to_string(c));
  std::ranges::sort(texts);
  std::vector<std::int64_t> numbers;
  for (const std::string& text : texts) numbers.push_back(std::stoll(text));
  return numbers;
}

std::string renumbering_text(const std::vector<std::size_t>& names) {
  constexpr std::size_t most_named = 5;
  std::string text;
  std::size_t moved = 0;
  for (std::size_t c = 0; c < names.size(); ++c) {
    if (names[c] == c || ++moved > most_named) continue;
    text += fmt::format("{}{} is the network's {}", text.empty() ? "" : ", ", c, names[c]);
  }
  return moved > most_named ? fmt::format("{} and {} more", text, moved - most_named) : text;
}

std::vector<Renumbering> renumberings(const Sample& sample, std::size_t classes) {
  std::vector<std::int64_t> same(classes);
  std::iota(same.begin(), same.end(), std::int64_t{0});
  const auto moved = [&](std::int64_t by) {
    std::vector<std::int64_t> names = same;
    for (std::int64_t& name : names) name += by;
    return names;
  };
  std::vector<Renumbering> list{
      {"labels count from 1: subtract 1", moved(-1)},
      {"labels leave out the first class of the network: add 1", moved(1)},
      {"classes are in the reverse order", {same.rbegin(), same.rend()}},
      {"classes are in the order of their numbers as texts (0, 1, 10, 2)", sorted_as_texts(classes)}};
  constexpr std::size_t most_classes = 64, records_of_each = 5;
  if (classes > most_classes || sample.labels.size() < records_of_each * classes) return list;
  std::vector<std::vector<double>> counts(classes, std::vector<double>(classes));
  for (std::size_t i = 0; i < sample.labels.size(); ++i) {
    const std::size_t label = sample.labels[i];
    if (sample.predicted[i] != no_class && label < classes) ++counts[label][sample.predicted[i]];
  }
  const std::vector<std::size_t> best = best_renumbering(counts);
  list.push_back({fmt::format("classes are numbered differently: {}", renumbering_text(best)),
                  {best.begin(), best.end()}});
  return list;
}

double agreement(const Sample& sample, const std::vector<std::int64_t>& names) {
  std::size_t correct = 0;
  for (std::size_t i = 0; i < sample.labels.size(); ++i) {
    const std::size_t label = sample.labels[i];
    correct += label < names.size() && sample.predicted[i] != no_class && names[label] == sample.predicted[i];
  }
  return static_cast<double>(correct) / sample.labels.size();
}

// Some of a sample, on which what does not help is passed over.
struct Few {
  Array inputs;
  std::vector<std::int64_t> labels;
  double now = 0;  // share that is right
};

Few few_of(const Sample& sample, const Array& inputs) {
  constexpr std::size_t least = 4, most = 32;
  const std::size_t count = sample.labels.size(), few = std::min(count, std::clamp(count / 4, least, most));
  std::vector<std::int64_t> rows, labels, predicted;
  for (std::size_t i = 0; i < few; ++i) {
    const std::size_t row = i * count / few;
    rows.push_back(row);
    labels.push_back(sample.labels[row]);
    predicted.push_back(sample.predicted[row]);
  }
  return {.inputs = picked(inputs, rows, 0), .labels = labels, .now = share_equal(labels, predicted)};
}

// Networks of whole numbers take no fractions.
bool may_be_changed(const Session& session, const Batch& batch) {
  const Graph& graph = session.graph();
  return batch.inputs.dtype() == DType::float32 && batch.others.empty() &&
         is_real(graph.value(graph.inputs()[0]).dtype);
}

}  // namespace

// Kuhn 1955 with potentials: rows are assigned one after the other along the shortest augmenting path.
std::vector<std::size_t> best_renumbering(const std::vector<std::vector<double>>& counts) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const std::size_t n = counts.size();
  std::vector<double> of_row(n + 1), of_column(n + 1);
  std::vector<std::size_t> row_of(n + 1), way(n + 1);  // by column, from 1; 0: none
  for (std::size_t row = 1; row <= n; ++row) {
    std::vector<double> least(n + 1, infinity);
    std::vector<char> used(n + 1);
    std::size_t column = 0;
    row_of[0] = row;
    while (row_of[column] != 0) {
      used[column] = 1;
      std::size_t next = 0;
      double step = infinity;
      for (std::size_t c = 1; c <= n; ++c) {
        if (used[c] != 0) continue;
        const double cost = -counts[row_of[column] - 1][c - 1] - of_row[row_of[column]] - of_column[c];
        if (cost < least[c]) least[c] = cost, way[c] = column;
        if (least[c] < step) step = least[c], next = c;
      }
      for (std::size_t c = 0; c <= n; ++c) {
        if (used[c] != 0)
          of_row[row_of[c]] += step, of_column[c] -= step;
        else
          least[c] -= step;
      }
      column = next;
    }
    for (; column != 0; column = way[column]) row_of[column] = row_of[way[column]];
  }
  std::vector<std::size_t> names(n);
  for (std::size_t c = 1; c <= n; ++c) names[row_of[c] - 1] = c - 1;
  return names;
}

std::optional<LikelyCause> likely_cause(const Session& session, const Dataset& dataset,
                                        const AccuracyBounds& bounds, std::size_t most) {
  const double expected = bounds.expected;
  const Sample sample = sample_of(session, dataset, most);
  const std::size_t count = sample.labels.size();
  if (count == 0) return std::nullopt;
  std::vector<std::int64_t> same(std::max(class_count(session), dataset.class_count()));
  std::iota(same.begin(), same.end(), std::int64_t{0});
  LikelyCause best{.now = agreement(sample, same), .records = count};
  best.then = best.now;
  const auto distance = [&](double accuracy) { return std::abs(accuracy - expected); };
  const double open = count == dataset.size() ? 1e-12 : 3 * std::sqrt(expected * (1 - expected) / count);
  const auto consider = [&](const std::string& remedy, bool of_labels, double accuracy) {
    const bool declared = bounds.above >= 1 || (accuracy >= expected - bounds.below - open &&
                                                accuracy <= expected + bounds.above + open);
    if (!declared || distance(accuracy) >= distance(best.then)) return;
    best.remedy = remedy, best.of_labels = of_labels, best.then = accuracy;
  };
  for (const Renumbering& one : renumberings(sample, same.size()))
    consider(one.remedy, true, agreement(sample, one.names));
  const Batch batch = dataset.read(sample.records);
  if (may_be_changed(session, batch)) {
    const Array inputs = batch.inputs;
    const Few few = few_of(sample, inputs);
    const auto right = [&](const Suspect& suspect, const Array& some,
                           const std::vector<std::int64_t>& labels) {
      return share_equal(labels,
                         answers_to(suspect.session ? *suspect.session : session, suspect.repair(some)));
    };
    const double chance = 3 * std::sqrt(std::max(expected * (1 - expected), 0.05) / few.labels.size());
    for (const Suspect& suspect : suspects(session, inputs)) {
      const double then = right(suspect, few.inputs, few.labels);
      if (then > few.now || distance(then) <= distance(few.now) - chance)
        consider(suspect.remedy, false, right(suspect, inputs, batch.labels));
    }
  }
  if (best.remedy.empty() || distance(best.then) > distance(best.now) / 2) return std::nullopt;
  return best;
}

std::optional<LikelyCause> divided_by_255(const Session& session, const Dataset& dataset, std::size_t most) {
  constexpr float least = 100, greatest = 256;  // of what comes from 8 bits
  constexpr double same = 0.9;
  if (class_count(session) == 0 || dataset.size() == 0) return std::nullopt;
  const Batch batch = dataset.read(spread_records(dataset, most));
  if (!may_be_changed(session, batch)) return std::nullopt;
  const auto [low, high] = std::ranges::minmax(batch.inputs.as<float>());
  if (low < 0 || high < least || high > greatest) return std::nullopt;
  const Sample sample = sample_of(session, dataset, most);
  const std::vector<std::int64_t> divided = answers_to(session, batch.inputs / 255);
  const bool labelled = !sample.labels.empty();
  LikelyCause cause{.remedy = "divide the values by 255 (scale 1/255)", .now = 1, .records = divided.size()};
  if (labelled) cause.now = share_equal(sample.labels, sample.predicted);
  cause.then = share_equal(labelled ? sample.labels : sample.predicted, divided);
  // A network for 0 to 255 gives one answer to inputs that are nearly 0.
  const bool one_answer = std::ranges::adjacent_find(divided, std::not_equal_to()) == divided.end();
  if (one_answer || cause.then == 0 || cause.then < same * cause.now) return std::nullopt;
  return cause;
}

void require_accuracy(const Session& session, DatasetPtr dataset, const Evaluation& evaluation,
                      const AccuracyBounds& bounds) {
  const double expected = bounds.expected;
  if (!evaluation.accuracy) {
    fail(Fault::usage, "an accuracy of {:.2f} % was declared, but '{}' has no labels to compare with",
         expected * 100, given_data(dataset)->describe());
  }
  constexpr double rounding = 1e-12;  // of a decimal as a double
  const double least = expected - bounds.below, most = expected + bounds.above;
  if (*evaluation.accuracy >= least - rounding && *evaluation.accuracy <= most + rounding) return;
  const std::string declared = bounds.above < 1
                                   ? fmt::format("{:.2f} % to {:.2f} % was declared", least * 100, most * 100)
                                   : fmt::format("at least {:.2f} % was declared", least * 100);
  constexpr std::size_t sample_size = 500;
  const std::optional<LikelyCause> found = likely_cause(session, *dataset, bounds, sample_size);
  const std::string cause =
      found
          ? fmt::format("; likely cause: {}; on {} records the accuracy is then {:.2f} % instead of {:.2f} %",
                        found->remedy, found->records, found->then * 100, found->now * 100)
          : "; neither the usual preprocessing mistakes nor another numbering of the classes explains it: "
            "are "
            "these the network's data?";
  fail(Fault::mismatch, "network '{}' reaches an accuracy of {:.2f} % on {}, but {}{}",
       session.graph().name(), *evaluation.accuracy * 100, dataset->describe(), declared, cause);
}

}  // namespace assay::inline engine
