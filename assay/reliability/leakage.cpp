// Test records that are training records, or almost.

#include <algorithm>
#include <cmath>
#include <numeric>

#include <assay/array_math.h>
#include <assay/error.h>
#include <assay/reliability.h>

namespace assay::reliability {
namespace {

constexpr std::size_t together = 1024;  // records whose products are computed at a time

Array rows_of(const Dataset& data, std::size_t first) {
  std::vector<std::size_t> indices(std::min(together, data.size() - first));
  std::iota(indices.begin(), indices.end(), first);
  return data.read(indices).inputs.reshape({std::ssize(indices), -1}).to(DType::float32).contiguous();
}

// Squared distance, element by element.
double squared_distance(const float* a, const float* b, std::size_t elements) {
  double sum = 0;
  for (std::size_t i = 0; i < elements; ++i) {
    const double difference = static_cast<double>(a[i]) - b[i];
    sum += difference * difference;
  }
  return sum;
}

std::vector<double> squares_of(const Array& rows) {
  const std::size_t elements = rows.size(1);
  std::vector<double> squares;
  for (std::int64_t r = 0; r < rows.size(0); ++r) {
    const float* const row = rows.as<float>().data() + static_cast<std::size_t>(r) * elements;
    double sum = 0;
    for (std::size_t i = 0; i < elements; ++i) sum += static_cast<double>(row[i]) * row[i];
    squares.push_back(sum);
  }
  return squares;
}

// Root mean square of the elements' differences from their mean over records.
double spread_of(const Dataset& data, std::size_t elements) {
  std::vector<double> sums(elements, 0.0), squares(elements, 0.0);
  for (std::size_t first = 0; first < data.size(); first += together) {
    const Array rows = rows_of(data, first);
    const auto numbers = rows.as<float>();
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const double number = numbers[i];
      sums[i % elements] += number;
      squares[i % elements] += number * number;
    }
  }
  const double n = data.size();
  double variance = 0;
  for (std::size_t i = 0; i < elements; ++i)
    variance += std::max(0.0, squares[i] / n - sums[i] / n * (sums[i] / n));
  return std::sqrt(variance / elements);
}

// The nearest training record of each test record within a distance.
class Nearest {
 public:
  Nearest(const Dataset& test, const Dataset& training, double distance)
      : test_(test),
        training_(training),
        elements_(element_count(test.record_shape())),
        spread_(spread_of(training, elements_)),
        most_(distance * spread_ * distance * spread_ * elements_) {}

  Leakage find(Progress& progress) {
    Stage stage(progress, "nearest training records", test_.size(), "records");
    Leakage found;
    found.spread = spread_;
    for (std::size_t first = 0; first < test_.size(); first += together) {
      const Array rows = rows_of(test_, first);
      std::vector<Twin> nearest(rows.size(0), Twin{.distance = -1});
      for (std::size_t other = 0; other < training_.size(); other += together) {
        check_interrupt();
        compare(rows, first, rows_of(training_, other), other, nearest);
      }
      for (const Twin& one : nearest)
        if (one.distance >= 0) found.twins.push_back(one);
      stage.advance(nearest.size());
    }
    settle(found);
    return found;
  }

 private:
  // Products in float32 leave out what is surely too far; the others are compared element by element.
  void compare(const Array& rows, std::size_t first, const Array& others, std::size_t other,
               std::vector<Twin>& nearest) const {
    const Array products = array::matmul(rows, others.t());
    const std::vector<double> a = squares_of(rows), b = squares_of(others);
    for (std::size_t i = 0; i < a.size(); ++i) {
      const float* const product = products.as<float>().data() + i * b.size();
      for (std::size_t j = 0; j < b.size(); ++j) {
        const double rounding = 1e-4 * (a[i] + b[j]);
        if (a[i] + b[j] - 2 * static_cast<double>(product[j]) - rounding > most_) continue;
        const double squared = squared_distance(rows.as<float>().data() + i * elements_,
                                                others.as<float>().data() + j * elements_, elements_);
        if (squared > most_) continue;
        if (nearest[i].distance < 0 || squared < nearest[i].distance)
          nearest[i] = {.record = first + i, .training = other + j, .distance = squared};
      }
    }
  }

  void settle(Leakage& found) const {
    for (Twin& one : found.twins) {
      found.exact += one.distance == 0;
      if (spread_ > 0) one.distance = std::sqrt(one.distance / elements_) / spread_;
      if (test_.has_labels() && training_.has_labels())
        one.same_label = test_.label(one.record) == training_.label(one.training);
      found.contradicting += !one.same_label;
    }
    std::ranges::stable_sort(found.twins, {}, &Twin::distance);
  }

  const Dataset &test_, &training_;
  std::size_t elements_;
  double spread_, most_;
};

}  // namespace

Leakage find_leakage(const DatasetPtr& test, const DatasetPtr& training, double distance,
                     Progress& progress) {
  if (test->record_shape() != training->record_shape())
    fail(Fault::mismatch, "{} and {} have records of other shapes, so that none can be a copy of another",
         test->describe(), training->describe());
  for (const DatasetPtr& data : {test, training})
    if (!is_real(data->dtype()))
      fail(Fault::unsupported, "{} holds integers, which have no distance", data->describe());
  return Nearest(*test, *training, distance).find(progress);
}

}  // namespace assay::reliability
