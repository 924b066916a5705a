// Which configurations are trained how often, and what follows.

#include <assay/statistical_killing.h>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include <assay/error.h>
#include <assay/evaluate.h>
#include <assay/task.h>
#include "assay/mutation/killing/boundary.h"
#include "assay/mutation/source/program.h"
#include "assay/support/files/binary.h"
#include "assay/support/files/hash.h"
#include "assay/support/ranks/shared_work.h"
#include "assay/support/threads.h"

namespace assay::mutation {
namespace {

// Random streams of the trainings of the original and of mutants.
constexpr std::uint64_t original_runs = 1, mutant_runs = 2;

std::uint64_t seed_of_run(std::uint64_t seed, std::uint64_t which, std::size_t run) {
  return Rng(seed, {which, run}).next() >> 1;  // recipes are hashed with signed numbers
}

// One program trained again and again; its scores by set and run.
struct Repeated {
  std::string what;
  std::optional<Mutant> mutant;
  std::function<Program()> make;
  std::string failure = {};
  std::vector<std::vector<double>> scores;
  std::vector<std::vector<std::size_t>> right = {};  // by set and record: runs that get it right
  std::size_t runs() const { return scores.front().size(); }

  void add(const std::vector<TrainedScore>& run) {
    right.resize(run.size());
    for (std::size_t s = 0; s < run.size(); ++s) {
      scores[s].push_back(run[s].value);
      right[s].resize(run[s].right.size());
      for (std::size_t r = 0; r < run[s].right.size(); ++r) right[s][r] += run[s].right[r];
    }
  }
};

class RepeatedTrainings {
 public:
  RepeatedTrainings(const Program& program, const std::vector<DatasetPtr>& tests, const StudyOptions& options,
                    const TrainingPlan& plan, Progress& progress)
      : options_(options), plan_(plan), progress_(progress), store_(plan.store), sets_{program.training} {
    sets_.insert(sets_.end(), tests.begin(), tests.end());
    for (const DatasetPtr& set : sets_) {
      hashes_.push_back(set->hash());
      if (set->has_labels() != program.training->has_labels())
        fail(Fault::mismatch, "{} and {}: one has labels and the other has none",
             program.training->describe(), set->describe());
    }
  }

  std::size_t sets() const { return sets_.size(); }
  const Dataset& set(std::size_t s) const { return *sets_[s]; }
  std::size_t trained() const { return trained_; }
  std::size_t known() const { return known_; }

  // So that each has `runs` scores for every set, or a failure.
  void train(const std::vector<Repeated*>& all, std::size_t runs) {
    std::vector<TrainingJob> jobs;
    std::vector<Repeated*> owners;
    for (Repeated* one : all) {
      for (std::size_t run = one->runs(); run < runs; ++run) {
        const std::uint64_t which = one->mutant ? mutant_runs : original_runs;
        jobs.push_back({.what = fmt::format("{}, run {}", one->what, run + 1),
                        .mutant = one->mutant,
                        .make = [make = one->make, seed = seed_of_run(options_.seed, which, run)] {
                          Program program = make();
                          program.recipe.seed = seed;
                          return program;
                        }});
        owners.push_back(one);
      }
    }
    if (jobs.empty()) return;
    const std::vector<Trained> trained = train_programs(jobs, plan_, progress_);
    trained_ += jobs.size();
    std::vector<std::vector<TrainedScore>> scores(jobs.size());
    evaluate_all(trained, scores);
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      known_ += trained[i].known;
      if (owners[i]->failure.empty()) owners[i]->failure = trained[i].failure;
      owners[i]->add(scores[i]);
    }
  }

 private:
  void evaluate_all(const std::vector<Trained>& trained, std::vector<std::vector<TrainedScore>>& scores) {
    Stage stage(progress_, "evaluating", trained.size(), "networks");
    const std::size_t threads =
        plan_.session.threads > 0 ? static_cast<std::size_t>(plan_.session.threads) : available_threads();
    do_together(
        trained.size(), threads,
        [&](std::size_t i) {
          set_engine_threads(1);
          nlohmann::json found = nlohmann::json::array();
          if (trained[i].failure.empty()) {
            for (const TrainedScore& score : scores_of(trained[i].key))
              found.push_back({score.value, std::string(score.right.begin(), score.right.end())});
          }
          return to_bytes(found);
        },
        [&](std::size_t i, std::string_view bytes) {
          for (const nlohmann::json& found : from_bytes(bytes)) {
            const auto right = found.at(1).get<std::string>();
            scores[i].push_back({found.at(0), {right.begin(), right.end()}});
          }
          stage.advance(1);
        });
    set_engine_threads(plan_.session.threads);
  }

  std::vector<TrainedScore> scores_of(const std::string& key) const {
    std::vector<TrainedScore> scores;
    std::optional<Session> session;
    for (std::size_t s = 0; s < sets_.size(); ++s) {
      std::optional<TrainedScore> score = store_.score(key, hashes_[s]);
      const bool judged = sets_[s]->has_labels() || !plan_.task.empty();
      const std::size_t records = judged ? sets_[s]->size() : 0;
      if (!score || score->right.size() != records) {
        if (!session) session.emplace(network(key));
        score = fresh_score(*session, sets_[s]);
        store_.keep_score(key, hashes_[s], *score);
      }
      scores.push_back(std::move(*score));
    }
    return scores;
  }

  TrainedScore fresh_score(const Session& session, const DatasetPtr& set) const {
    if (const auto task = task_for(plan_.task, session, set, options_.batch))
      return score_of_items(session, set, *task);
    const Evaluation result = evaluate(session, set, {.batch = options_.batch}, silence());
    if (!result.accuracy) return {result.mean_squared_error.value(), {}};
    TrainedScore score{*result.accuracy, {}};
    for (std::size_t r = 0; r < result.predictions.size(); ++r)
      score.right.push_back(result.predictions[r] == set->label(r));
    return score;
  }

  TrainedScore score_of_items(const Session& session, const DatasetPtr& set, const task::Task& task) const {
    const task::PartsItemEvaluation found =
        task::evaluate_parts(session, set, task, {}, {.batch = options_.batch}, silence());
    const task::Sums& sums = found.whole.sums;
    TrainedScore score{static_cast<double>(sums.right) / sums.items, {}};
    for (const auto& [right, items] : found.right_of) score.right.push_back(items > 0 && right == items);
    return score;
  }

  Session network(const std::string& key) const {
    std::optional<Graph> graph = store_.find(key);
    if (!graph) fail(Fault::io, "{}: a network that was just there is gone", store_.folder().string());
    SessionOptions options = plan_.session;
    options.threads = 1;
    return Session(std::move(*graph), options);
  }

  const StudyOptions& options_;
  const TrainingPlan& plan_;
  Progress& progress_;
  TrainedStore store_;
  std::vector<DatasetPtr> sets_;
  std::vector<std::string> hashes_;
  std::size_t trained_ = 0, known_ = 0;
};

// An operator at one place: its configurations.
struct Line {
  OperatorChoice op;
  std::string place;
  bool searched = false;
  std::vector<BoundarySearch> searches = {};  // by set, of those that are searched
  std::optional<double> extreme = {};
  std::vector<std::size_t> mutants = {};        // positions in the study
  std::map<double, std::size_t> by_value = {};  // of those that are searched
};

class StudyRun {
 public:
  StudyRun(const Program& program, const Subject& subject, const std::vector<DatasetPtr>& tests,
           const StudyOptions& options, const TrainingPlan& plan, Progress& progress)
      : program_(program),
        subject_(subject),
        options_(options),
        design_(options.design),
        trainings_(program, tests, options, plan, progress) {
    design_.higher_is_better = program.training->has_labels() || !plan.task.empty();
    levels_ = levels_of(design_);
    study_.sets = trainings_.sets();
  }

  KillingStudy run() {
    for (const OperatorChoice& op : options_.operators) plan_operator(op);
    original_ = repeated("original", {}, [this] { return program_; });
    // Configurations of all operators are trained side by side, wave by wave.
    while (!wave_.empty()) {
      decide(std::exchange(wave_, {}));
      for (Line& line : lines_)
        if (line.searched) go_on(line);
    }
    conclude();
    return std::move(study_);
  }

 private:
  Repeated repeated(std::string what, std::optional<Mutant> mutant, std::function<Program()> make) const {
    return {.what = std::move(what),
            .mutant = std::move(mutant),
            .make = std::move(make),
            .scores = std::vector<std::vector<double>>(trainings_.sets())};
  }

  void plan_operator(const OperatorChoice& op) {
    const OperatorInfo& info = info_of(op);
    if (!info.of_source())
      fail(Fault::usage, "mutation operator {} changes a trained network; it is not trained repeatedly",
           info.name);
    const ProgramFault& fault = info.program;
    const bool given = fault.option.empty() || op.spec().options.contains(fault.option);
    for (const std::string& place : places_of(op, given || fault.values)) {
      if (dealt_++ % options_.parts != options_.part - 1) continue;
      Line line{.op = op, .place = place};
      if (given) {
        add(line, op.spec());
      } else if (fault.values) {
        for (const std::string& value : fault.values(program_, subject_, place))
          add(line, with(op.spec(), fault.option, value));
      } else {
        const OptionRange range = fault.range(program_);
        line.searched = true;
        line.extreme = range.extreme;
        line.searches.assign(trainings_.sets(), BoundarySearch(range));
        line.by_value[range.extreme] =
            add(line, with(op.spec(), fault.option, fmt::format("{}", range.extreme)));
      }
      lines_.push_back(std::move(line));
    }
  }

  // Where the operator can act. Where it is sought over a range, what stands in its way is found out with
  // each value (not `conclusive`).
  std::vector<std::string> places_of(const OperatorChoice& op, bool conclusive) {
    const OperatorInfo& info = info_of(op);
    std::vector<std::string> names;
    for (const Place& place : info.program.places(program_, subject_, options_of(op))) {
      if (!options_.places.empty() && std::ranges::count(options_.places, place.name) == 0) continue;
      if (conclusive && !place.refusal.empty())
        study_.not_applicable.push_back({op.spec(), place.name, place.refusal});
      else
        names.push_back(place.name);
    }
    return names;
  }

  // Once, however many values are refused for the same reason.
  void note_refusal(NotApplicable refusal) {
    const bool known = std::ranges::any_of(study_.not_applicable, [&](const NotApplicable& one) {
      return one.op == refusal.op && one.layer == refusal.layer && one.reason == refusal.reason;
    });
    if (!known) study_.not_applicable.push_back(std::move(refusal));
  }

  static Spec with(Spec spec, const std::string& option, const std::string& value) {
    spec.options[option] = value;
    return spec;
  }

  // A configuration of a line, which is trained in the next wave. Its position; that of none where the
  // operator changes nothing.
  std::size_t add(Line& line, Spec spec) {
    const Mutant mutant{
        .op = std::move(spec), .layer = line.place, .seed = options_.seed, .own = line.op.object()};
    const Struck struck = strike_program(program_, subject_, mutant);
    if (!struck.mutation) {
      note_refusal({line.op.spec(), mutant.layer, struck.reason});
      return nothing;
    }
    study_.mutants.push_back(
        {.mutant = mutant, .summary = struck.mutation->summary, .failure = {}, .verdicts = {}});
    runs_.push_back(repeated(mutant.text(), mutant,
                             [this, mutant] { return apply(program_, subject_, mutant).program; }));
    line.mutants.push_back(runs_.size() - 1);
    wave_.push_back(runs_.size() - 1);
    return runs_.size() - 1;
  }

  // Verdicts over these mutants, look by look.
  void decide(std::vector<std::size_t> open) {
    for (std::size_t look = 0; look < design_.looks.size() && !open.empty(); ++look) {
      std::vector<Repeated*> all{&original_};
      for (const std::size_t m : open) all.push_back(&runs_[m]);
      trainings_.train(all, design_.looks[look]);
      if (!original_.failure.empty())
        fail(Fault::data, "the network without a fault cannot be trained: {}", original_.failure);
      std::erase_if(open, [&](std::size_t m) { return judged(m, look); });
    }
  }

  // Whether no set could decide otherwise with more runs.
  bool judged(std::size_t m, std::size_t look) {
    TestedMutant& tested = study_.mutants[m];
    tested.failure = runs_[m].failure;
    if (!tested.failure.empty()) return true;
    bool closed = true;
    // A set that has decided keeps its verdict.
    const std::vector<KillVerdict> before = std::exchange(tested.verdicts, {});
    for (std::size_t s = 0; s < trainings_.sets(); ++s) {
      const bool decided = !before.empty() && before[s].status != KillStatus::open;
      tested.verdicts.push_back(decided ? before[s]
                                        : judge(design_, levels_, look, original_.scores[s],
                                                runs_[m].scores[s], trainings_.set(s).size()));
      closed = closed && tested.verdicts.back().status != KillStatus::open;
    }
    return closed;
  }

  bool killed(std::size_t m, std::size_t set) const {
    if (m == nothing) return false;
    const TestedMutant& tested = study_.mutants[m];
    // A mutant that cannot be trained counts as killed.
    return !tested.failure.empty() || tested.verdicts[set].status == KillStatus::killed;
  }

  // Tells searches what is known, and asks for the values that they want next.
  void go_on(Line& line) {
    std::set<double> wanted;
    for (std::size_t s = 0; s < line.searches.size(); ++s) {
      BoundarySearch& search = line.searches[s];
      for (auto value = search.next(); value; value = search.next()) {
        const auto known = line.by_value.find(*value);
        if (known == line.by_value.end()) {
          wanted.insert(*value);
          break;
        }
        search.tell(killed(known->second, s));
      }
    }
    const std::string& option = info_of(line.op).program.option;
    for (const double value : wanted)
      line.by_value[value] = add(line, with(line.op.spec(), option, fmt::format("{:.10g}", value)));
  }

  // By set: records that most originals get right and most mutants wrong kill the mutant.
  void compare_records() {
    std::map<std::string, std::vector<std::size_t>> by_operator;
    for (std::size_t m = 0; m < study_.mutants.size(); ++m) {
      if (study_.mutants[m].verdicts.empty()) continue;
      by_operator[study_.mutants[m].mutant.op.name].push_back(m);
      study_.mutants[m].trivial.resize(study_.sets);
      study_.mutants[m].redundant.resize(study_.sets);
    }
    for (std::size_t s = 0; s < study_.sets; ++s) {
      for (const auto& [op, members] : by_operator) {
        std::vector<std::vector<bool>> kills;
        for (const std::size_t m : members) kills.push_back(killing_records(m, s));
        for (const std::size_t i : redundant(kills)) study_.mutants[members[i]].redundant[s] = true;
      }
    }
  }

  std::vector<bool> killing_records(std::size_t m, std::size_t set) {
    const std::vector<std::size_t>&originals = original_.right[set], &mutants = runs_[m].right[set];
    std::vector<bool> kills(originals.size());
    std::size_t right = 0, killing = 0;
    for (std::size_t r = 0; r < kills.size(); ++r) {
      const bool known = 2 * originals[r] > original_.runs();
      kills[r] = known && 2 * mutants[r] < runs_[m].runs();
      right += known;
      killing += kills[r];
    }
    study_.mutants[m].trivial[set] = right > 0 && killing >= options_.trivial * right;
    return kills;
  }

  void conclude() {
    study_.originals = original_.scores;
    compare_records();
    study_.trained = trainings_.trained();
    study_.known = trainings_.known();
    for (std::size_t set = 1; set < trainings_.sets(); ++set) {
      std::vector<OperatorKilling> operators;
      for (const OperatorChoice& op : options_.operators) operators.push_back(concluded(op, set));
      study_.scores.push_back(overall_score(operators));
      study_.operators.push_back(std::move(operators));
    }
  }

  OperatorKilling concluded(const OperatorChoice& op, std::size_t set) const {
    OperatorKilling result;
    result.op = op.spec().text();
    std::vector<KillVerdict> by_training, by_test;
    std::vector<double> scores;
    for (const Line& line : lines_) {
      if (line.op.spec() != op.spec()) continue;
      for (const std::size_t m : line.mutants) {
        count(result, study_.mutants[m], set, by_training, by_test);
        // Of those that are sought, only the mildest one killed has to be sure.
        if (!line.searched && killed(m, 0)) result.unstable += is_unstable(m, set);
      }
      if (!line.searched) continue;
      result.boundary = line.searches[set].boundary();
      if (result.boundary) result.unstable += is_unstable(line.by_value.at(*result.boundary), set);
      result.training_boundary = line.searches[0].boundary();
      if (const auto score = range_score(*line.extreme, result.training_boundary, result.boundary))
        scores.push_back(*score);
    }
    if (!scores.empty()) {
      double sum = 0;
      for (const double score : scores) sum += score;
      result.score = sum / scores.size();
    } else if (std::ranges::none_of(
                   lines_, [&](const Line& line) { return line.op.spec() == op.spec() && line.searched; })) {
      result.score = exhaustive_score(by_training, by_test, design_.power);
    }
    return result;
  }

  bool is_unstable(std::size_t m, std::size_t set) const {
    if (m == nothing || !study_.mutants[m].failure.empty()) return false;
    const KillVerdict& verdict = study_.mutants[m].verdicts[set];
    return verdict.status == KillStatus::killed && !is_stable(verdict, design_.power);
  }

  void count(OperatorKilling& result, const TestedMutant& tested, std::size_t set,
             std::vector<KillVerdict>& by_training, std::vector<KillVerdict>& by_test) const {
    ++result.mutants;
    if (!tested.failure.empty()) return;
    const KillVerdict &training = tested.verdicts[0], &test = tested.verdicts[set];
    result.killed += test.status == KillStatus::killed;
    result.by_training += training.status == KillStatus::killed;
    result.too_few_runs += test.status == KillStatus::too_few_runs;
    by_training.push_back(training);
    by_test.push_back(test);
  }

  static constexpr std::size_t nothing = -1;

  const Program& program_;
  const Subject& subject_;
  const StudyOptions& options_;
  KillDesign design_;
  RepeatedTrainings trainings_;
  std::vector<double> levels_;
  std::vector<Line> lines_;
  std::size_t dealt_ = 0;          // operators at places, of all parts
  std::vector<std::size_t> wave_;  // mutants to be trained next
  Repeated original_;
  std::vector<Repeated> runs_;  // as study_.mutants
  KillingStudy study_;
};

}  // namespace

KillingStudy study_killing(const Program& program, const Subject& subject,
                           const std::vector<DatasetPtr>& tests, const StudyOptions& options,
                           const TrainingPlan& plan, Progress& progress) {
  if (options.part < 1 || options.part > options.parts)
    fail(Fault::usage, "part {} of {}: parts count from 1", options.part, options.parts);
  return StudyRun(program, subject, tests, options, plan, progress).run();
}

}  // namespace assay::mutation
