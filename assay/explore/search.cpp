#include "assay/explore/search.h"

#include <algorithm>
#include <numeric>
#include <span>

#include <assay/extend/attack_problem.h>
#include <assay/extend/random.h>
#include <assay/relevance.h>
#include "assay/engine/elements.h"
#include "assay/engine/layers/unit_views.h"
#include "assay/explore/disagreement.h"
#include "assay/explore/joint_objective.h"
#include "assay/explore/points.h"
#include "assay/explore/shrink.h"
#include "assay/relevance/item_target.h"

namespace assay::explore {
namespace {

constexpr std::uint64_t target_stream = 0x7a67, choice_stream = 0xc401;
constexpr std::size_t most_waiting = 32;  // found and not yet shrunk

template <typename T>
std::vector<T> chosen(const std::vector<T>& from, const std::vector<std::int64_t>& rows) {
  std::vector<T> to;
  to.reserve(rows.size());
  for (const std::int64_t row : rows) to.push_back(from[row]);
  return to;
}

}  // namespace

std::string_view to_string(Ending ending) {
  switch (ending) {
    case Ending::found:
      return "found";
    case Ending::differing:
      return "networks disagree on the seed itself";
    case Ending::exhausted:
      return "as many iterations as allowed";
    case Ending::hopeless:
      return "no nearer to a disagreement for as many iterations as patience has";
    case Ending::still:
      return "nothing moves any more";
    case Ending::non_finite:
      return "a network gives no number for the seed";
  }
  return {};
}

// The searches of one thread.
class Searcher::Run {
 public:
  Run(const Searcher& searcher, const Seeds& seeds, const std::function<void(const SearchOutcome&)>& deliver)
      : networks_(searcher.networks_),
        guide_(searcher.guide_),
        constraint_(searcher.constraint_),
        units_(searcher.units_),
        options_(searcher.options_),
        attributions_(searcher.attributions_),
        seeds_(seeds),
        deliver_(deliver) {
    for (std::size_t k = 0; k < networks_.size(); ++k)
      objectives_.emplace_back(k, *networks_[k], guide_, options_);
  }

  void run(const std::function<std::optional<std::size_t>()>& next) {
    const array::Recording unrecorded(false);
    bool more = true;
    while (more || size() > 0) {
      if (more && size() <= options_.width / 2) more = refill(next);
      if (size() > 0) step();
      if (waiting_.size() >= most_waiting) settle();
    }
    settle();
  }

 private:
  struct Waiting {
    SearchRow row;
    std::size_t iterations = 0;
    Array point, record;
  };

  std::size_t size() const { return rows_.size(); }

  // Scores as objectives and judgements see them, [n, outputs].
  static Array scores_of(const attack::AttackedNetwork& network, const Array& values) {
    const Array host = in_memory(values, DType::float32);
    const Array outputs = host.reshape({host.size(0), static_cast<std::int64_t>(elements_in_row(host))});
    return network.regression() ? outputs : network.scores_of({}, outputs);
  }

  // Batches of few different sizes, since a network is prepared for each size anew: some rows are repeated.
  Answers judge(const Array& records) const {
    constexpr std::int64_t multiple = 16;
    const std::int64_t count = records.size(0), missing = (multiple - count % multiple) % multiple;
    std::vector<std::int64_t> rows(count);
    std::iota(rows.begin(), rows.end(), 0);
    std::vector<std::int64_t> filled = rows;
    filled.resize(rows.size() + static_cast<std::size_t>(missing), 0);
    const Array given = missing == 0 ? records : picked(records, filled);
    std::vector<Array> scores;
    for (const attack::AttackedNetwork* network : networks_)
      scores.push_back(picked(scores_of(*network, network->outputs(network->bind(given))), rows));
    return compare(scores, options_.disagreement);
  }

  // Starts searches until the pool is full. False when no seeds are left.
  bool refill(const std::function<std::optional<std::size_t>()>& next) {
    std::vector<std::int64_t> fresh;
    bool more = true;
    while (size() + fresh.size() < options_.width) {
      const auto seed = next();
      if (!seed) {
        more = false;
        break;
      }
      fresh.push_back(*seed);
    }
    if (fresh.empty()) return more;
    const Array points = picked(seeds_.points, fresh);
    const Answers answers = judge(points);
    std::vector<std::int64_t> started;
    for (std::size_t i = 0; i < fresh.size(); ++i) {
      const std::size_t seed = fresh[i];
      if (!answers.finite[i]) {
        deliver_({seed, Ending::non_finite, 0, 0, {}});
      } else if (answers.differ[i]) {
        deliver_({seed, Ending::differing, 0, 0, row_of(points, static_cast<std::int64_t>(i))});
      } else {
        started.push_back(i);
        rows_.push_back(begin(seed, answers, i));
        searches_.keys.push_back(seeds_.keys[seed]);
        searches_.iterations.push_back(0);
      }
    }
    if (started.empty()) return more;
    const Array begun = picked(points, started);
    const auto join = [](Array& all, const Array& more_rows) {
      const Array parts[] = {all, more_rows};
      all = all.defined() && all.size(0) > 0 ? array::cat(parts) : more_rows.clone();
    };
    join(searches_.seeds, begun);
    join(points_, begun);
    join(records_, begun);
    searches_.seed = options_.seed;
    searches_.units = &units_;
    const std::size_t first = size() - started.size();
    if (guided() && guide_.choice().needs_relevance) attribute(begun, first);
    look(first);
    return more;
  }

  bool guided() const { return options_.lambda2 != 0; }

  SearchRow begin(std::size_t seed, const Answers& answers, std::size_t i) const {
    SearchRow row;
    row.seed = seed;
    row.aims.resize(networks_.size());
    row.target = options_.target
                     ? *options_.target
                     : Rng(options_.seed, {seeds_.keys[seed], target_stream}).below(networks_.size());
    if (!answers.classes.empty()) {
      row.label = answers.class_of(0, i);
      return row;
    }
    if (!answers.items.empty()) {
      row.items = answers.items[i].agreed;
      return row;
    }
    // Regression: away from the rest, on the side where the target already is.
    double own = 0, rest = 0;
    for (std::size_t k = 0; k < networks_.size(); ++k) {
      const auto outputs = answers.outputs_of(k, i);
      (k == row.target ? own : rest) += std::accumulate(outputs.begin(), outputs.end(), 0.0);
    }
    rest /= networks_.size() - 1;
    row.direction = own <= rest ? 1.0F : -1.0F;
    return row;
  }

  // Relevance of the decisions on new seeds, for rows from `first` on.
  void attribute(const Array& seeds, std::size_t first) {
    for (std::size_t k = 0; k < networks_.size(); ++k) {
      const coverage::Profile& profile = guide_.profile(k);
      const Session& session = networks_[k]->session();
      std::vector<Layer> carriers;
      for (const coverage::LayerStatistics& layer : profile.statistics)
        carriers.push_back(relevance_carrier(session, session.layer(layer.layer)));
      std::vector<ValueId> wanted;
      for (const Layer& carrier : carriers) wanted.push_back(carrier.value);
      const Tensors given = networks_[k]->bind(seeds);
      const relevance::Relevance relevance =
          attributions_[k]->attribute(given, explained(*networks_[k], given, first), wanted);
      for (std::size_t r = 0; r < static_cast<std::size_t>(seeds.size(0)); ++r)
        rows_[first + r].relevance.emplace_back();
      for (std::size_t l = 0; l < profile.statistics.size(); ++l) {
        const Activations of_layer =
            on_host(reduce_to_neurons(relevance.values.at(wanted[l]), carriers[l], profile.reduction));
        for (std::size_t r = 0; r < of_layer.rows; ++r)
          rows_[first + r].relevance.back().emplace_back(of_layer.row(r).begin(), of_layer.row(r).end());
      }
    }
  }

  // The decision on each seed, or the scores of its items.
  relevance::Target explained(const attack::AttackedNetwork& network, const Tensors& given,
                              std::size_t first) const {
    if (!options_.disagreement.task) return {};
    std::vector<task::Items> items;
    for (std::size_t i = first; i < size(); ++i) items.push_back(rows_[i].items);
    return relevance::target_of_items(*options_.disagreement.task, network.outputs(given), items);
  }

  static Activations on_host(const Array& neurons) {
    return {static_cast<std::size_t>(neurons.size(0)), static_cast<std::size_t>(neurons.size(1)),
            floats_of(neurons)};
  }

  // One iteration of every search.
  void step() {
    const Array wanted = constraint_.direction(searches_, points_, normalised(gradients_));
    Array points = constraint_.kept(searches_, moved(points_, wanted, options_.step));
    if (!constraint_.on_a_line()) points = clipped(points);
    const Array records = record_of(searches_, points), before = records_;
    points_ = points;
    records_ = records;
    for (std::size_t& iterations : searches_.iterations) ++iterations;
    Answers answers = look(0);
    only_allowed(answers.differ, searches_, records);
    std::vector<std::int64_t> going_on;
    for (std::size_t i = 0; i < size(); ++i) {
      SearchRow& row = rows_[i];
      const std::size_t iterations = searches_.iterations[i];
      row.still = same_row(before, records, i) ? row.still + 1 : 0;
      row.idle = answers.closeness[i] < row.nearest ? 0 : row.idle + 1;
      row.nearest = std::min(row.nearest, answers.closeness[i]);
      const std::int64_t place = i;
      if (answers.differ[i])
        waiting_.push_back({std::move(row), iterations, row_of(points, place), row_of(records, place)});
      else if (iterations >= options_.iterations)
        deliver_({row.seed, Ending::exhausted, iterations, row.target, {}});
      else if (row.still > constraint_.patience())
        deliver_({row.seed, Ending::still, iterations, row.target, {}});
      else if (options_.patience > 0 && row.idle >= options_.patience)
        deliver_({row.seed, Ending::hopeless, iterations, row.target, {}});
      else
        going_on.push_back(place);
    }
    if (going_on.size() < size()) keep(going_on);
  }

  // A record that one of the constraints forbids is not a finding.
  void only_allowed(std::vector<bool>& differ, const Searches& searches, const Array& records) const {
    if (std::ranges::count(differ, true) == 0) return;
    const Array admitted = constraint_.admits(searches, records);
    if (!admitted.defined()) return;
    const std::vector<bool> allowed = truths_of(admitted);
    for (std::size_t i = 0; i < differ.size(); ++i) differ[i] = differ[i] && allowed[i];
  }

  void keep(const std::vector<std::int64_t>& going_on) {
    std::vector<SearchRow> rows;
    for (const std::int64_t i : going_on) rows.push_back(std::move(rows_[i]));
    rows_ = std::move(rows);
    searches_.keys = chosen(searches_.keys, going_on);
    searches_.iterations = chosen(searches_.iterations, going_on);
    for (Array* tensor : {&searches_.seeds, &points_, &records_, &gradients_})
      *tensor = picked(*tensor, going_on);
  }

  // The record a point stands for: admissible, valid, in the precision of the file.
  Array record_of(const Searches& searches, const Array& points) const {
    const Array shown = clipped(constraint_.shown(searches, points));
    return options_.levels ? on_levels(shown, searches.seeds) : shown;
  }

  // What networks say of the records of searches from `first` on; the gradients of the joint objective there,
  // summed over networks, become their gradients.
  Answers look(std::size_t first) {
    const Array records = rows_from(records_, first);
    Array gradients = array::zeros(records.shape());
    std::vector<Array> scores;
    for (std::size_t k = 0; k < networks_.size(); ++k) {
      const auto climb_at = [&](std::size_t row, std::span<const float> elements,
                                std::span<float> gradients_at) {
        if (first + row < size())
          objectives_[k].climb(rows_[first + row], elements, gradients_at,
                               searches_.rng(first + row, choice_stream + k));
      };
      const auto found = networks_[k]->gradients(
          records, {}, {.read = objectives_[k].values(), .numbers = 1, .gradients = climb_at});
      gradients = gradients + in_memory(found.gradients[0], DType::float32);
      scores.push_back(scores_of(*networks_[k], found.scores));
    }
    const Array parts[] = {gradients_, gradients};
    gradients_ = first == 0 ? gradients : array::cat(parts);
    return compare(scores, options_.disagreement);
  }

  // Shrinks and delivers what has been found.
  void settle() {
    if (waiting_.empty()) return;
    Searches searches{.seeds = {}, .keys = {}, .iterations = {}, .seed = options_.seed, .units = &units_};
    std::vector<std::int64_t> seeds;
    std::vector<Array> points, records;
    for (const Waiting& found : waiting_) {
      seeds.push_back(found.row.seed);
      searches.keys.push_back(seeds_.keys[found.row.seed]);
      searches.iterations.push_back(found.iterations);
      points.push_back(found.point);
      records.push_back(found.record);
    }
    searches.seeds = picked(seeds_.points, seeds);
    Array all = array::stack(records);
    if (options_.shrink) {
      all = explore::shrink(
          searches, {array::stack(points), all}, constraint_.shrinking(),
          [this](const Searches& at, const Array& moved) { return record_of(at, moved); },
          [&](const Array& candidates) {
            std::vector<bool> differ = judge(candidates).differ;
            only_allowed(differ, searches, candidates);
            return differ;
          });
    }
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      deliver_({waiting_[i].row.seed, Ending::found, waiting_[i].iterations, waiting_[i].row.target,
                row_of(all, static_cast<std::int64_t>(i))});
    }
    waiting_.clear();
  }

  const std::vector<const attack::AttackedNetwork*>& networks_;
  const Guide& guide_;
  const Constraint& constraint_;
  const attack::InputUnits& units_;
  const SearchOptions& options_;
  const std::vector<std::unique_ptr<relevance::Attribution>>& attributions_;
  const Seeds& seeds_;
  const std::function<void(const SearchOutcome&)>& deliver_;
  std::vector<JointObjective> objectives_;  // per network
  std::vector<SearchRow> rows_;
  Searches searches_;
  // [n, record...]: where searches are, the records these stand for, and the gradient there.
  Array points_, records_, gradients_;
  std::vector<Waiting> waiting_;
};

Searcher::Searcher(std::vector<const attack::AttackedNetwork*> networks, const Guide& guide,
                   const Constraint& constraint, const attack::InputUnits& units,
                   const SearchOptions& options)
    : networks_(std::move(networks)),
      guide_(guide),
      constraint_(constraint),
      units_(units),
      options_(options) {
  for (Array* numbers : {&units_.low, &units_.span}) {
    if (numbers->defined()) *numbers = in_memory(*numbers, DType::float32);
  }
  if (options.lambda2 == 0 || !guide.choice().needs_relevance) return;
  for (const attack::AttackedNetwork* network : networks_)
    attributions_.push_back(
        relevance::make_attribution(options.method, network->session(), {.outputs = network->regression()}));
}

Searcher::~Searcher() = default;

void Searcher::run(const Seeds& seeds, const std::function<std::optional<std::size_t>()>& next,
                   const std::function<void(const SearchOutcome&)>& deliver) {
  Run(*this, seeds, deliver).run(next);
}

}  // namespace assay::explore
