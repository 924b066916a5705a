// References of distance-based surprise adequacy (Kim, Feldt and Yoo, ICSE 2019), so many of each class.

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <assay/error.h>
#include "assay/monitor/features.h"
#include "assay/surprise/neighbours.h"

namespace assay::monitor {
namespace {

constexpr float least_apart = std::numeric_limits<float>::min();  // of equal activations of two classes
constexpr std::size_t most_numbers = std::size_t{1} << 24;        // of all references

// `most` of them, evenly over their order.
std::vector<std::size_t> spread(const std::vector<std::size_t>& records, std::size_t most) {
  if (records.size() <= most) return records;
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < most; ++i) kept.push_back(records[i * records.size() / most]);
  return kept;
}

void take(Monitor& monitor, const Features& features, const std::vector<std::size_t>& records,
          std::int64_t named) {
  for (const std::size_t record : records) {
    const auto row = std::span(features.rows).subspan(record * features.width, features.width);
    monitor.references.insert(monitor.references.end(), row.begin(), row.end());
    monitor.reference_classes.push_back(named);
  }
}

// Of each reference, the distance to the nearest one of another class. References lie class by class.
std::vector<float> distances_apart(const Monitor& monitor) {
  const std::size_t width = monitor.features, all = monitor.reference_classes.size();
  const surprise::References<float> references(monitor.references, width);
  std::vector<float> apart;
  for (std::size_t begin = 0, end = 0; begin < all; begin = end) {
    while (end < all && monitor.reference_classes[end] == monitor.reference_classes[begin]) ++end;
    std::vector<const float*> rows;
    for (std::size_t i = begin; i < end; ++i) rows.push_back(monitor.references.data() + i * width);
    std::vector<surprise::Range> others;
    if (begin > 0) others.push_back({0, begin});
    if (end < all) others.push_back({end, all});
    for (const surprise::Neighbour& one : references.nearest(rows, others, {}, {}))
      apart.push_back(std::max(static_cast<float>(std::sqrt(one.squared)), least_apart));
  }
  return apart;
}

}  // namespace

void fit_references(Monitor& monitor, const Session& session, const DatasetPtr& training,
                    Progress& progress) {
  const Features features = training_features(monitor, session, training, progress);
  std::map<std::int64_t, std::vector<std::size_t>> by_class;
  for (std::size_t i = 0; i < features.classes.size(); ++i) by_class[features.classes[i]].push_back(i);
  if (by_class.size() < 2)
    fail(Fault::data,
         "the network names one class for all records of {}, and dsa compares distances to records of "
         "several; take training records of more classes",
         training->describe());
  for (const auto& [named, records] : by_class)
    take(monitor, features, spread(records, monitor.options.references), named);
  if (monitor.references.size() > most_numbers)
    fail(Fault::resources, "{} references of {} neurons are too many for a monitor; take fewer with {}",
         monitor.reference_classes.size(), features.width, About{"references", "{references=N}"});
  monitor.apart = distances_apart(monitor);
}

}  // namespace assay::monitor
