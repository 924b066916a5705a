#include <assay/faithfulness.h>

#include <assay/array_math.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include <assay/error.h>
#include <assay/evaluate.h>
#include "assay/engine/elements.h"
#include "assay/relevance/ablation.h"
#include "assay/relevance/methods.h"
#include "assay/support/numbers/mean.h"

namespace assay::relevance {
namespace {

class Explained final : public ExplainedBatch {
 public:
  Explained(const Session& session, const Start& start, const Attribution& method,
            const AttributionOptions& options, ValueId input, const Tensors& inputs, const Target& target)
      : start_(start),
        method_(method),
        input_(input),
        inputs_(inputs),
        target_(target),
        ablation_(session, start, options, inputs, target, input, inputs.at(input)),
        parts_(windows_of(ablation_.layout().record(), 1, 1)),
        relevance_(explained(inputs)) {}

  std::size_t positions() const override { return parts_.size(); }
  std::size_t elements() const override { return ablation_.width(); }
  const Rows& relevance() const override { return relevance_; }

  Rows relevance_moved(std::span<const float> change) const override {
    const Array& rows = ablation_.rows();
    const Array spread = rows.amax(1, true) - rows.amin(1, true);
    const Array moved = rows + Array::of<float>({1, ablation_.width()}, change) * spread;
    Tensors near = inputs_;
    near[input_] = ablation_.layout().value(moved);
    return explained(near);
  }

  std::vector<double> scores(const Marks& kept) const override {
    return ablation_.numbers(elements_of(kept));
  }

  std::vector<double> probabilities(const Marks& kept) const override {
    const std::vector<double> decisions = doubles_of(ablation_.decisions(elements_of(kept)));
    const std::size_t records = ablation_.records();
    const std::size_t width = decisions.size() / std::max<std::size_t>(1, records);
    std::vector<double> found;
    for (std::size_t r = 0; r < records; ++r)
      found.push_back(probability({decisions.data() + r * width, width}, target_.classes[r]));
    return found;
  }

 private:
  double probability(std::span<const double> scores, std::int64_t named) const {
    if (named == Target::no_class) return std::numeric_limits<double>::quiet_NaN();
    if (start_.single()) {
      const double over = scores[0] - start_.threshold();
      return 1 / (1 + std::exp(named == 1 ? -over : over));
    }
    const double most = *std::ranges::max_element(scores);
    double sum = 0;
    for (const double score : scores) sum += std::exp(score - most);
    return std::exp(scores[named] - most) / sum;
  }

  Rows explained(const Tensors& inputs) const {
    const Relevance found = method_.attribute(inputs, target_, std::span(&input_, 1));
    const Array rows = ablation_.layout().rows(found.values.at(input_));
    Rows by_position(ablation_.records());
    for (std::size_t r = 0; r < by_position.size(); ++r) {
      const float* const row = rows.elements<float>() + r * elements();
      for (const Part& part : parts_) {
        double sum = 0;
        for (const std::int64_t element : part) sum += double{row[element]};
        by_position[r].push_back(sum);
      }
    }
    return by_position;
  }

  Array elements_of(const Marks& kept) const {
    const Array marks = array::ones({std::ssize(kept), ablation_.width()}, DType::boolean);
    for (std::size_t r = 0; r < kept.size(); ++r) {
      for (std::size_t part = 0; part < parts_.size(); ++part) {
        if (kept[r][part]) continue;
        for (const std::int64_t element : parts_[part])
          marks.elements<bool>()[r * elements() + element] = false;
      }
    }
    return marks;
  }

  const Start& start_;
  const Attribution& method_;
  ValueId input_;
  const Tensors& inputs_;
  const Target& target_;
  Ablation ablation_;
  std::vector<Part> parts_;
  Rows relevance_;
};

ValueId input_of(const Session& session) {
  const std::span<const ValueId> inputs = session.graph().inputs();
  if (inputs.size() != 1 || !is_real(session.graph().value(inputs[0]).dtype)) {
    fail(Fault::unsupported,
         "explanations are measured for networks with one input of real numbers, and '{}' has {}",
         session.graph().name(),
         inputs.size() == 1 ? "one of another kind" : std::to_string(inputs.size()) + " inputs");
  }
  return inputs[0];
}

bool has_open_seed(const Spec& spec, const std::vector<SpecOption>& options) {
  return !spec.options.contains("seed") &&
         std::ranges::find(options, "seed", &SpecOption::name) != options.end();
}

// With the seed of the run where it has one and names none.
Spec with_seed(Spec spec, const std::vector<SpecOption>& options, std::uint64_t seed) {
  if (has_open_seed(spec, options)) spec.options["seed"] = std::to_string(seed);
  return spec;
}

Spec measure_spec(const std::string& name) { return parse_spec("measure of explanations", name); }
Spec method_spec(const std::string& name) { return parse_spec("attribution", name); }

std::vector<std::string> measures_of(const FaithfulnessOptions& options) {
  return options.measures.empty() ? qualities().names() : options.measures;
}

struct NamedQuality {
  std::string name;
  const QualityInfo* info;
  std::unique_ptr<Quality> quality;
};

std::vector<NamedQuality> make_qualities(const FaithfulnessOptions& options) {
  std::vector<NamedQuality> all;
  for (const std::string& name : measures_of(options)) {
    const Spec spec = measure_spec(name);
    const QualityInfo& info = qualities().find(spec.name);
    const Spec seeded = with_seed(spec, info.options, options.seed);
    all.push_back({spec.text(), &info, info.make(SpecOptions("measure", seeded, info.options))});
  }
  return all;
}

// Leaves out records for which the measure is not defined.
void add_values(const QualityValues& values, const Target& target, QualityFigures& figures) {
  figures.shares = values.shares;
  figures.curve.resize(values.shares.size());
  for (std::size_t r = 0; r < values.values.size(); ++r) {
    if (target.classes[r] == Target::no_class || !std::isfinite(values.values[r])) continue;
    figures.values.push_back(values.values[r]);
    for (std::size_t i = 0; i < figures.curve.size(); ++i) figures.curve[i] += values.curves[r][i];
  }
}

// The class that each record names; none where a score is not finite.
Target named_classes(const Start& start, const Array& scores) {
  Target target = start.settled(scores, {});
  const std::vector<double> all = doubles_of(scores);
  const std::size_t width = all.size() / std::max<std::size_t>(1, target.classes.size());
  for (std::size_t r = 0; r < target.classes.size(); ++r) {
    const std::span row(all.data() + r * width, width);
    if (!std::ranges::all_of(row, [](double score) { return std::isfinite(score); }))
      target.classes[r] = Target::no_class;
  }
  return target;
}

}  // namespace

double QualityFigures::mean() const { return mean_of(values); }

double QualityFigures::deviation() const {
  if (values.size() < 2) return 0;
  const double middle = mean();
  double squares = 0;
  for (const double value : values) squares += (value - middle) * (value - middle);
  return std::sqrt(squares / (values.size() - 1));
}

bool heeds_seed(const FaithfulnessOptions& options) {
  return std::ranges::any_of(measures_of(options),
                             [](const std::string& name) {
                               const Spec spec = measure_spec(name);
                               return has_open_seed(spec, qualities().find(spec.name).options);
                             }) ||
         std::ranges::any_of(options.methods, [](const std::string& name) {
           return has_open_seed(method_spec(name), attribution_named(name).options);
         });
}

Faithfulness expected_faithfulness(const FaithfulnessOptions& options) {
  Faithfulness found;
  for (const std::string& method : options.methods) {
    attribution_named(method);
    for (const NamedQuality& measure : make_qualities(options))
      found.figures.push_back({.method = method,
                               .measure = measure.name,
                               .higher_is_better = measure.info->higher_is_better,
                               .values = {},
                               .shares = {},
                               .curve = {}});
  }
  return found;
}

Faithfulness measure_faithfulness(const Session& session, const DatasetPtr& data,
                                  const FaithfulnessOptions& options, Progress& progress) {
  Faithfulness found = expected_faithfulness(options);
  const std::vector<NamedQuality> measures = make_qualities(options);
  const ValueId input = input_of(session);
  const Start start(session, false);
  AttributionOptions attribution = options.attribution;
  attribution.wanted = {input};
  if (!attribution.range) attribution.range = data->valid_range();
  std::vector<std::unique_ptr<Attribution>> methods;
  for (const std::string& method : options.methods)
    methods.push_back(make_attribution(
        with_seed(method_spec(method), attribution_named(method).options, options.seed).text(), session,
        attribution));
  walk(session, data, {.batch = options.batch, .stage = "explanations", .keeps_values = true}, progress,
       [&](const Batch& batch, const Tensors& inputs) {
         const ValueId read = start.value();
         const Array scores = session.run(inputs, std::span(&read, 1)).at(read);
         require_rows(session, scores, batch.indices.size());
         const Target target = named_classes(start, scores);
         found.records += batch.indices.size();
         found.used += batch.indices.size() - std::ranges::count(target.classes, Target::no_class);
         for (std::size_t m = 0; m < methods.size(); ++m) {
           const Explained explained(session, start, *methods[m], attribution, input, inputs, target);
           for (std::size_t q = 0; q < measures.size(); ++q)
             add_values(measures[q].quality->of(explained), target, found.figures[m * measures.size() + q]);
         }
       });
  for (QualityFigures& figures : found.figures) {
    for (double& point : figures.curve) point /= std::max<std::size_t>(1, figures.values.size());
  }
  return found;
}

}  // namespace assay::relevance
