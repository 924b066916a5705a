#include "assay/inspection/patching/patched_values.h"

#include <algorithm>
#include <cmath>

#include <assay/error.h>
#include "assay/engine/layers/attention.h"
#include "assay/support/numbers/distributions.h"

namespace assay::inspection {

Array PatchedValue::by_record(const Array& array) const {
  if (rows == 1) return array;
  Shape shape = array.shape();
  shape[0] /= rows;
  shape.insert(shape.begin() + 1, rows);
  return array.reshape(std::move(shape));
}

PatchedValue patched_value(const Session& session, const Layer& layer) {
  const Session::RecordAxis records = session.record_axis(layer.value);
  if (records.axis != 0 || records.rows < 1)
    fail(Fault::usage, "layer '{}' gives {}, whose records are not along its first axis; name another layer",
         layer.name, to_string(session.shape(layer.value)));
  PatchedValue value{.layer = layer.name, .value = layer.value, .rows = records.rows};
  // Rows of feature maps are channels, and rows of a record with axes of their own may be heads.
  const Shape& shape = session.shape(layer.value);
  const bool of_neurons = std::ranges::find(layer.neuron_axes, 1) != layer.neuron_axes.end();
  if (records.rows > 1 && shape.size() == 2) value.positions = records.rows;
  if (records.rows == 1 && shape.size() == 3 && !of_neurons) value.positions = shape[1];
  return value;
}

std::vector<PatchedValue> heads_of_attention(const Session& session) {
  std::vector<PatchedValue> values;
  for (const Layer& layer : layers_of_attention(session)) {
    const ValueId value =
        heads_value(session, *attention_of(session.graph(), session.graph().node(layer.node).outputs[0]));
    if (value == no_value) continue;
    const Shape& shape = session.shape(value);
    const Session::RecordAxis records = session.record_axis(value);
    if (records.axis != 0 || records.rows != 1) continue;
    values.push_back({.layer = layer.name, .value = value, .heads = shape[1], .positions = shape[2]});
  }
  return values;
}

std::vector<PatchedValue> required_heads(const Session& session) {
  std::vector<PatchedValue> values = heads_of_attention(session);
  if (values.empty())
    fail(Fault::usage,
         "network '{}' has no attention (a softmax and its product with values) of [records, heads, "
         "positions, ...]",
         session.graph().name());
  return values;
}

Array replaced(const Array& into, const Array& from, const PatchedValue& value, const PatchSite& site) {
  const Array made = into.clone();
  Array part = value.by_record(made), source = value.by_record(from.contiguous());
  const auto take = [&](std::int64_t axis, std::int64_t at) {
    part = part.narrow(axis, at, 1), source = source.narrow(axis, at, 1);
  };
  if (site.head) take(1, *site.head);
  if (site.position) take(value.heads > 0 ? 2 : 1, *site.position);
  part.copy_(source);
  return made;
}

ScoreRows::ScoreRows(const Session& session, const Tensors& values)
    : values_(values.at(session.logits()).to(DType::float32).contiguous()),
      answers_(values_.count() / std::max<std::int64_t>(values_.size(0), 1)),
      threshold_(session.ends_in_sigmoid() ? 0.5 : 0) {}

std::span<const float> ScoreRows::of(std::size_t record) const {
  return values_.as<float>().subspan(record * answers_, answers_);
}

bool ScoreRows::finite(std::size_t record) const {
  return std::ranges::all_of(of(record), [](float score) { return std::isfinite(score); });
}

std::size_t ScoreRows::decided(std::size_t record) const {
  const auto row = of(record);
  if (answers_ == 1) return row[0] > threshold_ ? 1 : 0;
  return std::ranges::max_element(row) - row.begin();
}

void require_scores(const Session& session, const Dataset& data) {
  const Shape& shape = session.shape(session.logits());
  const Session::RecordAxis records = session.record_axis(session.logits());
  const bool row = shape.size() == 1 || (shape.size() >= 2 && element_count(shape) == shape[0] * shape[1]);
  if (records.axis != 0 || records.rows != 1 || !row || data.target_width() > 0)
    fail(Fault::usage,
         "patching compares decisions for a class, and '{}' gives {} for {}; a model of language needs {}",
         session.graph().name(), to_string(shape), data.describe(),
         About{"a decision at one position", "{decision=position=last,answers=A+B}"});
}

void Ratio::add(double numerator, double denominator) {
  ++count_;
  above_ += numerator, below_ += denominator;
  above_squared_ += numerator * numerator, below_squared_ += denominator * denominator;
  product_ += numerator * denominator;
}

// Of the residuals numerator - share * denominator, whose mean is 0 (Cochran, Sampling Techniques,
// 1977, 6.4).
double Ratio::half_width() const {
  if (count_ < 2) return 0;
  const double r = share(), n = count_, squares = above_squared_ - 2 * r * product_ + r * r * below_squared_;
  return normal_quantile(0.975) * std::sqrt(std::max(0.0, squares) * n / (n - 1)) / std::abs(below_);
}

PatchEffect effect_of(PatchSite site, const Ratio& ratio, std::size_t turned) {
  const double share = ratio.share(), half = ratio.half_width();
  return {
      .site = std::move(site), .share = share, .low = share - half, .high = share + half, .turned = turned};
}

}  // namespace assay::inspection
