// Vectors that are near each other where records are of one class: recognition of faces, voices, products.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include <assay/array_math.h>
#include <assay/error.h>
#include <assay/evaluate.h>
#include <assay/extend/random.h>
#include "assay/engine/elements.h"
#include "assay/support/text/so_many.h"
#include "assay/task/counts.h"
#include "assay/task/ranking.h"

namespace assay::task {
namespace {

using Vector = std::vector<double>;

double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// Of unit length, unless it is 0.
void normalise(Vector& vector) {
  const double length = std::sqrt(dot(vector, vector));
  if (!(length > 0)) return;
  for (double& number : vector) number /= length;
}

struct Likeness {
  bool cosine = true;

  // Vectors as they are compared.
  Vector ready(Vector vector) const {
    if (cosine) normalise(vector);
    return vector;
  }
  // The larger, the nearer: the cosine of the angle, or the distance below 0. REQUIRES ready vectors.
  double of(std::span<const double> a, std::span<const double> b) const {
    if (cosine) return dot(a, b);
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return -std::sqrt(sum);
  }
};

struct EmbeddingOptions {
  Likeness likeness;
  std::optional<double> threshold;  // of pairs
  std::size_t pairs = 0;            // at most so many are compared
};

// All records and their classes.
struct Embedded {
  std::vector<Vector> vectors;
  std::vector<std::size_t> classes;
  std::vector<bool> finite;
};

Embedded embedded(std::span<const std::vector<float>> kept, const Likeness& likeness) {
  Embedded all;
  for (const std::vector<float>& record : kept) {
    all.vectors.push_back(likeness.ready({record.begin(), record.end() - 1}));
    all.finite.push_back(
        std::ranges::all_of(all.vectors.back(), [](double number) { return std::isfinite(number); }));
    all.classes.push_back(static_cast<std::size_t>(record.back()));
  }
  return all;
}

// The mean of each class, with and without one of its records.
class Centres {
 public:
  Centres(const Embedded& all, const Likeness& likeness) : all_(all), likeness_(likeness) {
    for (std::size_t r = 0; r < all.vectors.size(); ++r) {
      if (all.finite[r]) add(all.classes[r], all.vectors[r]);
    }
    for (const Vector& sum : sums_) means_.push_back(likeness.ready(scaled(sum, counts_[means_.size()])));
  }

  // By class; empty where no record is of it.
  std::vector<Vector> means() const {
    std::vector<Vector> all = means_;
    for (std::size_t c = 0; c < all.size(); ++c) {
      if (counts_[c] == 0) all[c].clear();
    }
    return all;
  }

  // Whether no other record is of the class.
  bool alone(std::size_t record) const { return counts_[all_.classes[record]] < 2; }

  // The class whose centre of all other records is nearest, the first among equals; no_class of a vector
  // that is not finite. REQUIRES that it is not alone.
  std::int64_t nearest(std::size_t record) const {
    if (!all_.finite[record]) return no_class;
    std::int64_t best = no_class;
    double greatest = 0;
    for (std::size_t c = 0; c < counts_.size(); ++c) {
      if (counts_[c] == 0) continue;
      const Vector others = c == all_.classes[record] ? without(c, record) : Vector();
      const double here = likeness_.of(all_.vectors[record], others.empty() ? means_[c] : others);
      if (best != no_class && here <= greatest) continue;
      greatest = here;
      best = c;
    }
    return best;
  }

 private:
  void add(std::size_t c, const Vector& vector) {
    if (c >= counts_.size()) {
      counts_.resize(c + 1);
      sums_.resize(c + 1, Vector(vector.size()));
    }
    ++counts_[c];
    for (std::size_t i = 0; i < vector.size(); ++i) sums_[c][i] += vector[i];
  }

  static Vector scaled(Vector sum, std::size_t count) {
    for (double& number : sum) number /= std::max<std::size_t>(1, count);
    return sum;
  }

  Vector without(std::size_t c, std::size_t record) const {
    Vector sum = sums_[c];
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] -= all_.vectors[record][i];
    return likeness_.ready(scaled(std::move(sum), counts_[c] - 1));
  }

  const Embedded& all_;
  Likeness likeness_;
  std::vector<Vector> sums_, means_;
  std::vector<std::size_t> counts_;
};

// Pairs of records, all of them or so many at random, the seed being fixed.
std::vector<RankedItem> pairs_of(const Embedded& all, const EmbeddingOptions& options) {
  std::vector<std::uint32_t> usable;
  for (std::size_t r = 0; r < all.vectors.size(); ++r) {
    if (all.finite[r]) usable.push_back(static_cast<std::uint32_t>(r));
  }
  std::vector<RankedItem> items;
  const auto add = [&](std::uint32_t a, std::uint32_t b) {
    items.push_back({.score = static_cast<float>(options.likeness.of(all.vectors[a], all.vectors[b])),
                     .record = a,
                     .right = all.classes[a] == all.classes[b] ? 1U : 0U,
                     .partner = b});
  };
  const std::size_t n = usable.size();
  if (n * (n - std::min<std::size_t>(n, 1)) / 2 <= options.pairs) {
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t b = a + 1; b < n; ++b) add(usable[a], usable[b]);
    }
    return items;
  }
  Rng rng(1);
  while (items.size() < options.pairs) {
    const std::uint64_t a = rng.below(n), b = rng.below(n);
    if (a != b) add(usable[a], usable[b]);
  }
  return items;
}

// Whose centre is nearest, the centres being given: those of the records that have been seen.
class NearestCentre final : public Task {
 public:
  NearestCentre(std::string about, std::vector<std::string> names, Likeness likeness,
                std::vector<Vector> centres)
      : about_(std::move(about)),
        names_(std::move(names)),
        likeness_(likeness),
        centres_(std::move(centres)) {}

  std::string describe() const override { return about_ + ", nearest centre of those of the data"; }
  std::vector<std::string> class_names() const override { return names_; }

  Judgement judge(const JudgedRecord& record) const override {
    Judgement judgement{.decided = decide(record.output).classes,
                        .wanted = {class_in(record.targets[0], names_.size())}};
    judgement.sums = sums_of(judgement, names_.size());
    return judgement;
  }
  std::vector<Figure> figures(const Sums& sums) const override {
    return {{.name = "nearest-centre-accuracy", .value = share(sums.right, sums.items).value_or(0)}};
  }

  Items decide(std::span<const float> output) const override {
    const Vector vector = ready(output);
    return {{finite(vector) ? nearest(vector) : no_class}};
  }

  std::vector<Lead> leads(std::span<const float> output, const Items& items) const override {
    if (items.classes.empty() || items.classes[0] == no_class) return std::vector<Lead>(items.classes.size());
    const Vector vector = ready(output);
    const std::size_t own = items.classes[0];
    Lead lead{.own = items.classes[0], .rival = nearest(vector, own)};
    const double here = likeness(own, vector), there = likeness(lead.rival, vector);
    lead.value = static_cast<float>(here - there);
    lead.scale = static_cast<float>(std::max(std::abs(here), std::abs(there)));
    lead.holds = finite(vector) && nearest(vector) == lead.own;
    return {lead};
  }

  void differentiate(std::span<const float> output, const Lead& lead, float weight,
                     std::span<float> gradients) const override {
    add_gradient(output, lead.own, weight, gradients);
    add_gradient(output, lead.rival, -weight, gradients);
  }

  // Of the likeness to the own centre, which is linear but for the vector's length; of distances of the
  // difference of their squares, which is linear but for a constant.
  void explain(std::span<const float> output, const Lead& lead, std::span<float> weights) const override {
    const Vector &own = centres_[lead.own], &rival = centres_[lead.rival];
    const double length = likeness_.cosine ? length_of(output) : 1;
    for (std::size_t i = 0; i < weights.size(); ++i)
      weights[i] += static_cast<float>(likeness_.cosine ? own[i] / length : own[i] - rival[i]);
  }

  // The negative squared distances from the centres, as prototypical networks have them.
  ItemRows rows(const Array& outputs, const Array& targets) const override {
    Array vectors = outputs.reshape({outputs.size(0), 1, -1});
    if (likeness_.cosine) vectors = vectors / vectors.square().sum({2}, true).sqrt().clamp_min(1e-12F);
    std::vector<float> centres;
    for (const Vector& centre : centres_) centres.insert(centres.end(), centre.begin(), centre.end());
    const std::int64_t count = centres_.size();
    const Array differences = vectors - array::tensor(centres).reshape({1, count, -1});
    std::vector<std::int64_t> labels;
    for (const float target : floats_of(targets)) labels.push_back(class_in(target, names_.size()));
    return {.scores = differences.square().sum({2}).neg(), .labels = array::tensor(labels)};
  }

  // Throws Error{data} for what is not the number of a class.
  static std::int64_t class_in(float label, std::size_t classes) {
    if (!(label >= 0 && label < static_cast<float>(classes)))
      fail(Fault::data, "label {} is not the number of one of {} classes", label, classes);
    return static_cast<std::int64_t>(label);
  }

 private:
  static bool finite(const Vector& vector) {
    return std::ranges::all_of(vector, [](double number) { return std::isfinite(number); });
  }
  static double length_of(std::span<const float> output) {
    double sum = 0;
    for (const float number : output) sum += static_cast<double>(number) * number;
    return sum > 0 ? std::sqrt(sum) : 1;
  }
  Vector ready(std::span<const float> output) const {
    return likeness_.ready({output.begin(), output.end()});
  }
  double likeness(std::size_t c, const Vector& vector) const { return likeness_.of(vector, centres_[c]); }

  // The first among equals; but for `other`.
  std::int64_t nearest(const Vector& vector, std::optional<std::size_t> other = {}) const {
    std::size_t best = other == 0 ? 1 : 0;
    for (std::size_t c = best + 1; c < centres_.size(); ++c) {
      if (c != other && likeness(c, vector) > likeness(best, vector)) best = c;
    }
    return best;
  }

  void add_gradient(std::span<const float> output, std::int64_t c, float weight,
                    std::span<float> gradients) const {
    const Vector& centre = centres_[c];
    const Vector vector = ready(output);
    const double like = likeness(c, vector);
    const double length = likeness_.cosine ? length_of(output) : std::max(-like, 1e-12);
    for (std::size_t i = 0; i < vector.size(); ++i) {
      const double way = likeness_.cosine ? centre[i] - like * vector[i] : centre[i] - vector[i];
      gradients[i] += weight * static_cast<float>(way / length);
    }
  }

  std::string about_;
  std::vector<std::string> names_;
  Likeness likeness_;
  std::vector<Vector> centres_;  // by class
};

class Embedding final : public Task {
 public:
  Embedding(const SpecOptions& options, const TaskSubject& subject)
      : width_(element_count(subject.output)), names_(subject.class_names) {
    if (subject.targets != 1)
      fail(Fault::mismatch, "{}: a record has {} targets, and one is needed, its class", options.owner(),
           subject.targets);
    static const std::vector<std::string> distances = {"cosine", "euclidean"};
    options_.likeness.cosine = options.word("distance", distances) == "cosine";
    if (!options.text("threshold").empty()) options_.threshold = options.number("threshold");
    if (!options_.likeness.cosine && options_.threshold) options_.threshold = -*options_.threshold;
    options_.pairs = options.count("pairs", 1);
  }

  std::string describe() const override {
    return fmt::format("embedding: {}, {}, {}", so_many(width_, "number"),
                       options_.likeness.cosine ? "cosine similarity" : "Euclidean distance",
                       so_many(names_.size(), "class", "classes"));
  }
  std::vector<std::string> class_names() const override { return names_; }
  std::vector<std::string> overall_figures() const override {
    std::vector<std::string> names = {"pair-roc-auc", "pair-equal-error-rate"};
    if (options_.threshold) names.emplace_back("pair-accuracy");
    return names;
  }

  Judgement judge(const JudgedRecord& record) const override {
    Judgement judgement{.kept = {record.output.begin(), record.output.end()}};
    judgement.kept.push_back(static_cast<float>(NearestCentre::class_in(record.targets[0], names_.size())));
    return judgement;
  }

  std::vector<Figure> figures(const Sums& sums) const override {
    std::vector<Figure> all = {
        {.name = "nearest-centre-accuracy", .value = share(sums.right, sums.items).value_or(0)}};
    add_by_class(all, "recall", sums, recall);
    add_by_class(all, "precision", sums, precision);
    return all;
  }

  std::unique_ptr<Overall> overall(std::vector<std::vector<float>> kept) const override;

  bool needs_all_records() const override { return true; }
  std::shared_ptr<const Task> settled(std::span<const std::vector<float>> kept) const override {
    const Embedded all = embedded(kept, options_.likeness);
    std::vector<Vector> centres = Centres(all, options_.likeness).means();
    if (centres.size() < 2 || centres.size() < names_.size() || std::ranges::any_of(centres, &Vector::empty))
      fail(Fault::data,
           "records of {} of {} classes are there; the nearest centre needs records of each class, and two "
           "classes",
           centres.size() - static_cast<std::size_t>(std::ranges::count_if(centres, &Vector::empty)),
           names_.size());
    return std::make_shared<NearestCentre>(describe(), names_, options_.likeness, std::move(centres));
  }

  const EmbeddingOptions& options() const { return options_; }

 private:
  std::size_t width_;
  std::vector<std::string> names_;
  EmbeddingOptions options_;
};

class ComparedEmbeddings final : public Overall {
 public:
  ComparedEmbeddings(const Embedding& task, std::span<const std::vector<float>> kept)
      : task_(task),
        all_(embedded(kept, task.options().likeness)),
        centres_(all_, task.options().likeness),
        pairs_(pairs_of(all_, task.options())) {}

  std::optional<Judgement> judgement(std::size_t record) const override {
    const std::int64_t wanted = all_.classes[record];
    const bool counts = !all_.finite[record] || !centres_.alone(record);
    Judgement judgement{.decided = {counts ? centres_.nearest(record) : no_class},
                        .wanted = {counts ? wanted : no_class}};
    judgement.sums = sums_of(judgement, task_.class_names().size());
    return judgement;
  }

  std::vector<Figure> figures(const Sums& sums, std::span<const std::uint32_t> times) const override {
    std::vector<Figure> all = task_.figures(sums);
    std::vector<Figure> of_pairs;
    if (const auto roc = pairs_.roc(times)) {
      of_pairs = {{.name = "pair-roc-auc", .value = roc->area},
                  {.name = "pair-equal-error-rate", .value = roc->equal_error, .higher_is_better = false}};
    }
    const std::optional<double> threshold = task_.options().threshold;
    const auto right = threshold ? pairs_.accuracy(*threshold, times) : std::nullopt;
    if (right) of_pairs.push_back({.name = "pair-accuracy", .value = *right});
    all.insert(all.begin() + 1, of_pairs.begin(), of_pairs.end());
    return all;
  }

 private:
  const Embedding& task_;
  Embedded all_;
  Centres centres_;
  Ranking pairs_;
};

std::unique_ptr<Overall> Embedding::overall(std::vector<std::vector<float>> kept) const {
  return std::make_unique<ComparedEmbeddings>(*this, kept);
}

}  // namespace

TaskInfo embedding_task() {
  return {
      .name = "embedding",
      .summary = "vectors that are near each other where records are of one class (faces, voices, products)",
      .definition =
          "nearest-centre-accuracy: records whose class has the nearest mean vector, the record itself left "
          "out of the mean of its class; of cosine similarity vectors have length 1 before. pair-roc-auc: "
          "how "
          "often two records of one class are nearer than two of different classes, of all pairs, equal ones "
          "counted half. pair-equal-error-rate: where as many pairs of one class are refused as pairs of two "
          "are accepted, on straight lines between points of the curve. pair-accuracy: pairs that are "
          "rightly "
          "of one class, or of two, at the threshold. recall and precision are those of the nearest centre",
      .limits =
          "a record whose class no other record has does not count among centres. Pairs are those of the "
          "data "
          "set, all or so many at random; there are mostly more of two classes than of one",
      .paper = "Huang et al., LFW, 2007, for pairs; Fawcett, 2006, for the curve",
      .options =
          {{"distance", "cosine", "cosine or euclidean"},
           {"threshold", "",
            "cosine similarity from which on, or Euclidean distance up to which, two records are of one "
            "class; empty: no pair-accuracy"},
           {"pairs", "1000000", "at most so many pairs are compared; where there are more, at random"}},
      .fits = [](const TaskSubject&) { return false; },
      .make = [](const SpecOptions& options, const TaskSubject& subject) -> std::unique_ptr<Task> {
        return std::make_unique<Embedding>(options, subject);
      },
      .record_labels = true};
}

}  // namespace assay::task
