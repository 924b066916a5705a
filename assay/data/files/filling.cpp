#include "assay/data/files/filling.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <assay/error.h>

namespace assay::inline data {
namespace {

constexpr float label_of_filling = -100;

void require_steps(const Array& labels, const std::string& title) {
  if (labels.rank() < 2)
    fail(Fault::data,
         "{}: the labels are {}, one a record, and not of steps, [records, steps]; leave out the option",
         title, to_string(labels.shape()));
}

// -100 would be a value among numbers that are not classes.
void require_classes(const Array& labels, const std::string& title) {
  if (is_real(labels.dtype()))
    fail(Fault::data,
         "{}: the labels are real numbers ({}); classes of steps can be left out, so store classes as "
         "integers "
         "(y.astype('int64')), and numbers that a regression is to give cannot",
         title, to_string(labels.dtype()));
}

// Steps of a record that are its own, all of them in front.
class GivenLengths {
 public:
  GivenLengths(const Array& lengths, const Shape& labels, const std::string& title)
      : lengths_(lengths.to(DType::float32).contiguous()) {
    if (lengths.count() != labels[0])
      fail(Fault::data, "{}: {} is not one length for each of {} records", title, to_string(lengths.shape()),
           labels[0]);
    const auto all = lengths_.as<float>();
    for (std::size_t r = 0; r < all.size(); ++r) {
      const bool is_count = all[r] >= 0 && all[r] <= static_cast<float>(labels[1]) &&
                            static_cast<float>(static_cast<std::int64_t>(all[r])) == all[r];
      if (!is_count)
        fail(Fault::data, "{}: record {} has length {}, and its labels have {} steps", title, r, all[r],
             labels[1]);
    }
  }
  bool holds(std::int64_t record, std::int64_t step) const {
    return static_cast<float>(step) < lengths_.as<float>()[record];
  }

 private:
  Array lengths_;
};

class StepMask {
 public:
  StepMask(const Array& mask, const Shape& labels, const std::string& title)
      : mask_(mask.to(DType::float32).contiguous()), steps_(labels[1]) {
    if (mask.shape() != Shape{labels[0], labels[1]})
      fail(Fault::data, "{}: {} does not say of [{}, {}] steps which count", title, to_string(mask.shape()),
           labels[0], labels[1]);
    const auto all = mask_.as<float>();
    const auto wrong = std::ranges::find_if(all, [](float one) { return one != 0 && one != 1; });
    if (wrong != all.end())
      fail(Fault::data, "{}: record {} has {}; 1 is a step of the record and 0 is not", title,
           (wrong - all.begin()) / steps_, *wrong);
  }
  bool holds(std::int64_t record, std::int64_t step) const {
    return mask_.as<float>()[record * steps_ + step] == 1;
  }

 private:
  Array mask_;
  std::int64_t steps_;
};

void require_class(float label, std::int64_t record, const std::string& title) {
  if (label < 0 && label != label_of_filling)
    fail(Fault::data,
         "{}: record {} has the label {}, and classes are whole numbers from 0 ({} where a step does not "
         "count); classes of steps can be left out, numbers that a regression is to give cannot",
         title, record, label, label_of_filling);
}

// Throws Error{data} where a step that counts has no class.
template <typename Told>
Array filling_left_out(const Array& labels, const Told& told, const std::string& title) {
  Array result = labels.to(DType::float32).clone();
  const std::int64_t records = labels.size(0), steps = labels.size(1),
                     width = records * steps == 0 ? 0 : labels.count() / (records * steps);
  float* next = result.elements<float>();
  for (std::int64_t r = 0; r < records; ++r) {
    for (std::int64_t s = 0; s < steps; ++s, next += width) {
      if (told.holds(r, s))
        std::for_each_n(next, width, [&](float label) { require_class(label, r, title); });
      else
        std::fill_n(next, width, label_of_filling);
    }
  }
  return result;
}

}  // namespace

Array without_filling(const Array& labels, const Array& told, bool is_mask, const std::string& title) {
  require_steps(labels, title);
  require_classes(labels, title);
  if (is_mask) return filling_left_out(labels, StepMask(told, labels.shape(), title), title);
  return filling_left_out(labels, GivenLengths(told, labels.shape(), title), title);
}

Array sampled_targets(const Dataset& data) {
  constexpr std::size_t most = 200;
  std::vector<std::size_t> records;
  const std::size_t count = std::min(most, data.size());
  for (std::size_t i = 0; i < count; ++i) records.push_back(i * data.size() / count);
  return data.read(records).targets;
}

bool may_leave_out_targets(const Dataset& data) {
  const Array sample = sampled_targets(data);
  const auto targets = sample.as<float>();
  const auto may_be_class = [](float t) { return t == label_of_filling || (t >= 0 && t == std::floor(t)); };
  return std::ranges::find(targets, label_of_filling) != targets.end() &&
         std::ranges::all_of(targets, may_be_class);
}

}  // namespace assay::inline data
