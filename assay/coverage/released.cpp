#include "assay/coverage/released.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include <assay/coverage.h>
#include <assay/error.h>
#include <assay/evaluate.h>
#include <assay/model.h>
#include <assay/records.h>
#include <assay/relevance.h>

namespace assay::coverage {
namespace {

// Activations of the layer, record by record.
Activations activations_of(const Session& session, const Layer& layer, const DatasetPtr& data,
                           std::size_t batch, Progress& progress) {
  const std::vector<Tap> taps = taps_of(std::span(&layer, 1), Reduction::mean);
  Activations all;
  walk(session, data, {.batch = batch, .stage = "activations"}, progress,
       [&](const Batch&, const Tensors& given) {
         const Activations some = session.observe(given, taps, {}).layers.front();
         all.columns = some.columns;
         all.rows += some.rows;
         all.values.insert(all.values.end(), some.values.begin(), some.values.end());
       });
  return all;
}

class ReleasedCode {
 public:
  ReleasedCode(const Session& session, const Session& linear, const ReleasedOptions& options,
               Progress& progress)
      : session_(session),
        linear_(linear),
        layer_(options.layer.empty() ? session.penultimate_layer() : session.layer(options.layer)),
        options_(options),
        progress_(progress) {
    const std::int64_t most = std::ranges::max(options_.ms);
    if (layer_.neurons < most)
      fail(Fault::usage, "layer '{}' has {} neurons, and {} important ones are requested; ask for fewer{}",
           layer_.name, layer_.neurons, most, About{"", " with {neurons}"});
    if (layer_.shape.size() > 1)
      fail(Fault::unsupported,
           "layer '{}' has positions, which the released code ranks in place of channels; choose a dense "
           "layer{}",
           layer_.name, About{"", " with {layer}"});
  }

  const Layer& layer() const { return layer_; }

  // For each m, of one class.
  std::vector<ReleasedCoverage> coverages(std::int64_t class_number, const DatasetPtr& training,
                                          const DatasetPtr& test) const {
    std::vector<std::size_t> ranking = ranked(training);
    ranking.resize(std::ranges::max(options_.ms));
    const std::map<std::size_t, clustering::Clustering> clusters = clustered(ranking, training);
    const Activations values = activations_of(session_, layer_, test, options_.batch, progress_);
    std::vector<ReleasedCoverage> found;
    for (const std::size_t m : options_.ms) {
      const std::vector<std::size_t> first(ranking.begin(), ranking.begin() + m);
      found.push_back(covered(first, clusters, values));
      found.back().class_number = class_number;
      found.back().training = training->size();
      found.back().test = test->size();
    }
    return found;
  }

 private:
  // By relevance for what the linear network decides, right or wrong.
  std::vector<std::size_t> ranked(const DatasetPtr& training) const {
    std::vector<std::int64_t> decided =
        evaluate(linear_, training, {.batch = options_.batch}, progress_).predictions;
    const DatasetPtr winners = relabelled(training, std::move(decided));
    relevance::ImportanceOptions importance;
    importance.method = "lrp-0";
    importance.batch = options_.batch;
    const Layer& layer = linear_.layer(layer_.name);
    return relevance::analyse_importance(linear_, winners, std::span(&layer, 1), importance, progress_)
        .layers.front()
        .ranking();
  }

  std::map<std::size_t, clustering::Clustering> clustered(std::vector<std::size_t> neurons,
                                                          const DatasetPtr& training) const {
    std::ranges::sort(neurons);
    LearnOptions learn;
    learn.criteria = {CriterionChoice("idc[m=auto]")};
    learn.units[layer_.name] = neurons;
    learn.clusters.drop_zeros = true;
    learn.clusters.round_decimals = 2;
    learn.batch = learn.importance.batch = options_.batch;
    std::map<std::size_t, clustering::Clustering> clusters;
    const Learned learned = learn_profile(session_, training, learn, progress_);
    for (const ImportantNeuron& one : learned.profile.clusters.at(0).important)
      clusters[one.neuron] = one.clusters;
    return clusters;
  }

  // `neurons`: by relevance. The centroids that they meet are in the order of their numbers.
  static ReleasedCoverage covered(const std::vector<std::size_t>& neurons,
                                  const std::map<std::size_t, clustering::Clustering>& clusters,
                                  const Activations& values) {
    std::vector<std::size_t> met = neurons;
    std::ranges::sort(met);
    ReleasedCoverage found{.m = neurons.size()};
    for (const std::size_t neuron : neurons) found.coverable *= clusters.at(neuron).centroids.size();
    std::set<std::vector<std::size_t>> combinations;
    for (std::size_t r = 0; r < values.rows; ++r) {
      std::vector<std::size_t> combination;
      for (std::size_t i = 0; i < neurons.size(); ++i)
        combination.push_back(clusters.at(met[i]).nearest(static_cast<double>(values.row(r)[neurons[i]])));
      combinations.insert(std::move(combination));
    }
    found.covered = combinations.size();
    return found;
  }

  const Session &session_, &linear_;
  const Layer& layer_;
  const ReleasedOptions& options_;
  Progress& progress_;
};

// Positions of the records by class; of those alone that `kept` has.
std::map<std::int64_t, std::vector<std::size_t>> by_class(const Dataset& data,
                                                          const std::vector<std::int64_t>* decided) {
  std::map<std::int64_t, std::vector<std::size_t>> found;
  for (std::size_t i = 0; i < data.size(); ++i)
    if (decided == nullptr || (*decided)[i] == data.label(i)) found[data.label(i)].push_back(i);
  return found;
}

void require_labels(const Dataset& data) {
  if (!data.has_labels())
    fail(Fault::usage,
         "{} has no labels, and the released code takes the records of each class alone; name "
         "labels with labels=",
         data.describe());
}

}  // namespace

std::vector<double> ReleasedCoverages::values(std::size_t m) const {
  std::vector<double> found;
  for (const ReleasedCoverage& one : each)
    if (one.m == m) found.push_back(one.value());
  return found;
}

Graph without_convolution_activations(const Session& session) {
  GraphBuilder edit(session.graph());
  for (const Layer& layer : session.layers()) {
    if (layer.kind == OperatorKind::convolution && layer.value != layer.linear_value)
      edit.redirect(layer.value, layer.linear_value);
  }
  return edit.build();
}

ReleasedCoverages released_coverage(const Session& session, const DatasetPtr& training,
                                    const DatasetPtr& test, const ReleasedOptions& options,
                                    Progress& progress) {
  if (class_count(session) == 0)
    fail(Fault::unsupported,
         "the released code takes the records of each class alone, and network '{}' names no classes",
         session.graph().name());
  require_labels(*training);
  require_labels(*test);
  const Session linear(without_convolution_activations(session), session.options());
  const ReleasedCode code(session, linear, options, progress);
  const Evaluation evaluation =
      evaluate(session, training, {.batch = options.batch, .stage = "training records"}, progress);
  ReleasedCoverages found;
  found.layer = code.layer().name;
  found.neurons = code.layer().neurons;
  found.linear_accuracy =
      evaluate(linear, training, {.batch = options.batch, .stage = "without activation functions"}, progress)
          .accuracy.value_or(0);
  const auto right = by_class(*training, &evaluation.predictions);
  const auto tested = by_class(*test, nullptr);
  for (std::size_t c = 0; c < class_count(session); ++c) {
    const std::int64_t number = c;
    const auto learned_from = right.find(number), measured_on = tested.find(number);
    if (learned_from == right.end() || measured_on == tested.end()) {
      found.left_out.push_back(number);
      continue;
    }
    std::ranges::move(
        code.coverages(number, selected(training, learned_from->second), selected(test, measured_on->second)),
        std::back_inserter(found.each));
  }
  if (found.each.empty())
    fail(Fault::data, "no class has both training records that the network gets right and test records");
  return found;
}

}  // namespace assay::coverage
