#include <assay/explore.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <numeric>
#include <set>
#include <span>

#include <assay/dataset.h>
#include <assay/error.h>
#include <assay/evaluate.h>
#include <assay/extend/constraint.h>
#include "assay/attack/preparation.h"
#include "assay/coverage/learning/profile_json.h"
#include "assay/data/given.h"
#include "assay/engine/elements.h"
#include "assay/engine/shared_walk.h"
#include "assay/engine/threads/session_pool.h"
#include "assay/explore/choice.h"
#include "assay/explore/comparable.h"
#include "assay/explore/description.h"
#include "assay/explore/duplicates.h"
#include "assay/explore/guide.h"
#include "assay/explore/points.h"
#include "assay/explore/search.h"
#include "assay/explore/search_journal.h"
#include "assay/support/files/binary.h"

namespace assay::explore {
namespace {

using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

class Explorer {
 public:
  Explorer(const std::vector<ExploredNetwork>& networks, DatasetPtr seeds, const ExploreOptions& options)
      : explored_(networks),
        dataset_(std::move(seeds)),
        options_(with_task(options, *dataset_)),
        constraint_(make_constraint(options.constraints)),
        preparation_(*comparable(networks, options).front().session, *dataset_,
                     {options.search.seed, options.search.disagreement.margin, "none"}),
        networks_(networks_of(networks)),
        guide_(pointers(), profiles(networks), options.criterion, neuron_choices().find(options.choice)),
        seen_(options.near_duplicate) {}

  Exploration run(Progress& progress) {
    if (options_.search.levels)
      require_levels_of_whole_numbers(*constraint_, preparation_.network().units(), dataset_->record_shape());
    cover_baseline(progress);
    for (std::size_t k = 0; k < networks_.size(); ++k) result_.before.push_back(guide_.coverage(k));
    result_.share_before = guide_.share();
    journal_.emplace(explored_, *dataset_, options_, progress);
    const std::size_t size = dataset_->size(), rounds = (size + options_.round - 1) / options_.round;
    Stage stage(progress, "exploring", size * options_.passes, "seeds");
    SessionPool pool(sessions());
    const auto start = Clock::now();
    result_.ended_by = "all seeds have been searched";
    for (std::size_t pass = 0; pass < options_.passes; ++pass) {
      for (std::size_t r = 0; r < rounds; ++r) {
        try {
          explore_round(pass, r, pool, stage);
        } catch (const Error& error) {
          if (error.fault() != Fault::interrupted || !journal_->is_kept()) throw;
          fail(Fault::interrupted,
               "interrupted; {} holds every search that has ended, the same command goes on from there",
               options_.journal.string());
        }
        result_.seconds = since(start);
        result_.rounds.push_back(
            {result_.searched, result_.findings.size(), result_.seconds, guide_.share()});
        bool over = ended();
        broadcast(over);  // clocks differ
        if (over) {
          finish();
          return std::move(result_);
        }
      }
    }
    finish();
    return std::move(result_);
  }

 private:
  static ExploreOptions with_task(ExploreOptions options, const Dataset& dataset) {
    options.search.disagreement.regression = dataset.target_width() > 0;
    return options;
  }

  std::vector<std::unique_ptr<attack::AttackedNetwork>> networks_of(
      const std::vector<ExploredNetwork>& networks) const {
    std::vector<std::unique_ptr<attack::AttackedNetwork>> all;
    if (!dataset_->facts().others.empty())
      fail(Fault::unsupported, "data '{}' have {} inputs a record; exploration changes records with one",
           dataset_->describe(), dataset_->facts().others.size() + 1);
    for (const ExploredNetwork& network : networks) {
      const ValueId input = network.session->first_input(dataset_->facts());
      attack::require_attackable(*network.session, input);
      if (attack::takes_levels(*network.session, input) && !options_.search.levels)
        fail(Fault::usage,
             "network '{}' takes levels from 0 to 255; findings have to be stored as such, not as float32",
             network.name);
      all.push_back(std::make_unique<attack::AttackedNetwork>(
          *network.session, preparation_.network().units(), dataset_->target_width() > 0));
      require_same_task(networks.front(), network, *dataset_, options_);
    }
    return all;
  }

  static std::vector<std::shared_ptr<const coverage::Profile>> profiles(
      const std::vector<ExploredNetwork>& networks) {
    std::vector<std::shared_ptr<const coverage::Profile>> all;
    for (const ExploredNetwork& network : networks) {
      coverage::require_profile_fits(*network.profile, network.session->graph().hash(), network.name);
      all.push_back(network.profile);
    }
    return all;
  }

  std::vector<const attack::AttackedNetwork*> pointers() const {
    std::vector<const attack::AttackedNetwork*> all;
    for (const auto& network : networks_) all.push_back(network.get());
    return all;
  }

  SessionPool::Sessions sessions() const {
    SessionPool::Sessions all;
    for (const ExploredNetwork& network : explored_) all.push_back(network.session);
    return all;
  }

  std::size_t batch() const { return options_.search.width; }

  void cover_baseline(Progress& progress) {
    if (!options_.baseline) return;
    // As the baseline has its records: nothing in them is changed, so no range of theirs matters.
    walk(*explored_.front().session, options_.baseline, {.batch = batch(), .stage = "covering the baseline"},
         progress, [&](const Batch& given, const Tensors&) { guide_.add(given); });
  }

  // The seeds of a round, ready to be searched from.
  struct Round {
    std::vector<std::size_t> positions;  // in the data set
    Seeds seeds;
  };

  Round load(std::size_t pass, std::size_t r) {
    Round round;
    std::vector<Array> points;
    const std::size_t begin = r * options_.round, end = std::min(dataset_->size(), begin + options_.round);
    for (std::size_t first = begin; first < end; first += batch()) {
      std::vector<std::size_t> positions(std::min(batch(), end - first));
      std::iota(positions.begin(), positions.end(), first);
      const Batch given = dataset_->read(positions);
      const attack::AttackProblem problem = preparation_.problem(given);
      points.push_back(in_memory(problem.inputs, DType::float32));
      const std::vector<std::int64_t> labels = attack::numbers(problem.labels);
      for (std::size_t i = 0; i < positions.size(); ++i) {
        round.positions.push_back(positions[i]);
        round.seeds.keys.push_back(problem.keys[i] + pass * 0x9E3779B97F4A7C15ULL);
        const bool wrong = options_.only_correct && !given.labels.empty() && given.labels[i] != labels[i];
        round.seeds.skip.push_back(wrong || (pass > 0 && differing_.contains(positions[i])));
        result_.left_out += wrong && pass == 0;
      }
    }
    round.seeds.points = array::cat(points);
    if (options_.search.levels) round.seeds.points = on_levels(round.seeds.points);
    return round;
  }

  void explore_round(std::size_t pass, std::size_t r, SessionPool& pool, Stage& stage) {
    const Round round = load(pass, r);
    const std::size_t size = round.positions.size();
    std::vector<std::optional<SearchOutcome>> outcomes(size);
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < size; ++i) {
      if (round.seeds.skip[i]) continue;
      outcomes[i] =
          journal_->known(pass, round.positions[i], row_of(round.seeds.points, static_cast<std::int64_t>(i)));
      if (outcomes[i])
        ++result_.resumed;
      else
        open.push_back(i);
    }
    stage.advance(size - open.size());
    if (!open.empty()) search(pass, round, open, outcomes, pool, stage);
    take_in(pass, r, round, outcomes);
  }

  // Searches from the seeds of a round that are named by `open`. All ranks end up with all outcomes.
  void search(std::size_t pass, const Round& round, const std::vector<std::size_t>& open,
              std::vector<std::optional<SearchOutcome>>& outcomes, SessionPool& pool, Stage& stage) {
    std::mutex mutex;  // over what end_of() changes where there is one rank
    std::size_t found = 0;
    Json told = Json::array();
    const auto end_of = [&](SearchOutcome outcome, std::size_t place) {
      journal_->note(pass, outcome);
      found += outcome.point.defined();
      outcomes[place] = std::move(outcome);
      stage.advance(1, fmt::format("{} findings", result_.findings.size() + found));
    };
    const auto like = [&](std::size_t place) {
      return row_of(round.seeds.points, static_cast<std::int64_t>(place));
    };
    SharedLoop loop(
        ranks_of_run_, open.size(),
        [&](std::size_t turn, std::string_view bytes) {
          if (ranks_of_run_.alone()) return;
          told.push_back({turn, from_bytes(bytes)});
          end_of(outcome_from(told.back().at(1), like(open[turn]), options_.search.levels), open[turn]);
        },
        SharedLoop::Order::as_they_come);
    std::map<std::size_t, std::size_t> turns;  // by place in the round
    for (std::size_t turn = 0; turn < open.size(); ++turn) turns.emplace(open[turn], turn);
    const auto deliver = [&](const SearchOutcome& outcome) {
      SearchOutcome named = outcome;
      named.seed = round.positions[outcome.seed];
      if (!ranks_of_run_.alone()) {
        loop.give(turns.at(outcome.seed), to_bytes(json_of(pass, named, options_.search.levels)));
        return;
      }
      {
        const std::lock_guard lock(mutex);
        end_of(std::move(named), outcome.seed);
      }
      loop.give(turns.at(outcome.seed), {});
    };
    pool.run(std::min(pool.size(), open.size()), [&](const SessionPool::Sessions& sessions, std::size_t) {
      search_with(sessions, round, open, loop, deliver);
    });
    loop.finish();
    broadcast(told);
    if (ranks_of_run_.first()) return;
    for (const Json& entry : told) {
      const std::size_t place = open.at(entry.at(0).get<std::size_t>());
      outcomes[place] = outcome_from(entry.at(1), like(place), options_.search.levels);
    }
  }

  // One thread's searches, from seeds that the loop hands out, in these sessions of the networks.
  void search_with(const SessionPool::Sessions& sessions, const Round& round,
                   const std::vector<std::size_t>& open, SharedLoop& loop,
                   const std::function<void(const SearchOutcome&)>& deliver) const {
    std::vector<std::unique_ptr<attack::AttackedNetwork>> own;
    std::vector<const attack::AttackedNetwork*> networks;
    for (const Session* session : sessions) {
      own.push_back(std::make_unique<attack::AttackedNetwork>(*session, preparation_.network().units(),
                                                              dataset_->target_width() > 0));
      networks.push_back(own.back().get());
    }
    Searcher searcher(networks, guide_, *constraint_, preparation_.network().units(), options_.search);
    try {
      searcher.run(
          round.seeds,
          [&]() -> std::optional<std::size_t> {
            const auto turn = loop.next();
            return turn ? std::optional(open[*turn]) : std::nullopt;
          },
          deliver);
    } catch (...) {
      loop.stop();
      throw;
    }
  }

  // In the order of the seeds, so that nothing depends on which search ended first.
  void take_in(std::size_t pass, std::size_t r, const Round& round,
               const std::vector<std::optional<SearchOutcome>>& outcomes) {
    std::vector<Array> points, seeds;
    std::vector<Finding> findings;
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      if (!outcomes[i]) continue;
      const SearchOutcome& outcome = *outcomes[i];
      ++result_.searched;
      result_.seeds += pass == 0;
      ++result_.endings[outcome.ending];
      result_.iterations += outcome.iterations;
      if (!outcome.point.defined()) continue;
      if (outcome.ending == Ending::differing) differing_.insert(outcome.seed);
      findings.push_back({.seed = outcome.seed,
                          .pass = pass,
                          .round = r,
                          .differing = outcome.ending == Ending::differing,
                          .iterations = outcome.iterations,
                          .target = outcome.target,
                          .point = outcome.point,
                          .classes = {},
                          .outputs = {},
                          .items = {},
                          .majority = {},
                          .median = {},
                          .gained = {}});
      points.push_back(outcome.point);
      seeds.push_back(row_of(round.seeds.points, static_cast<std::int64_t>(i)));
    }
    std::vector<Array> kept;
    for (std::size_t begin = 0; begin < findings.size(); begin += batch()) {
      const std::size_t end = std::min(findings.size(), begin + batch());
      const std::span part = std::span(findings).subspan(begin, end - begin);
      const auto stack = [&](const std::vector<Array>& rows) {
        return array::stack(std::span(rows).subspan(begin, end - begin));
      };
      describe(part, stack(points), stack(seeds), pointers(), options_.search.disagreement);
      std::vector<Array> fresh;
      const std::size_t first = result_.findings.size();
      for (Finding& finding : part) {
        if (!seen_.add(answers_of(finding, options_.search.disagreement.margin), finding.point)) {
          ++result_.duplicates;
          continue;
        }
        fresh.push_back(finding.point);
        result_.findings.push_back(std::move(finding));
      }
      if (fresh.empty()) continue;
      const auto gained = guide_.add(array::stack(fresh));
      for (std::size_t i = 0; i < gained.size(); ++i) result_.findings[first + i].gained = gained[i];
    }
  }

  bool ended() {
    if (options_.goal > 0 && guide_.share() && *guide_.share() >= options_.goal)
      result_.ended_by = "the coverage goal is reached";
    else if (options_.findings > 0 && result_.findings.size() >= options_.findings)
      result_.ended_by = "there are as many findings as asked for";
    else if (options_.seconds > 0 && result_.seconds >= options_.seconds)
      result_.ended_by = "the time is up";
    else
      return false;
    return true;
  }

  void finish() {
    for (std::size_t k = 0; k < networks_.size(); ++k) result_.after.push_back(guide_.coverage(k));
    result_.share_after = guide_.share();
  }

  const std::vector<ExploredNetwork>& explored_;
  DatasetPtr dataset_;
  ExploreOptions options_;
  std::unique_ptr<Constraint> constraint_;
  attack::Preparation preparation_;
  std::vector<std::unique_ptr<attack::AttackedNetwork>> networks_;
  Guide guide_;
  Seen seen_;
  Ranks& ranks_of_run_ = ranks();  // other threads have none
  std::optional<SearchJournal> journal_;
  std::set<std::size_t> differing_;  // seeds on which networks disagree
  Exploration result_;
};

}  // namespace

Exploration explore(const std::vector<ExploredNetwork>& networks, DatasetPtr seeds,
                    const ExploreOptions& options, Progress& progress) {
  return Explorer(networks, given_data(seeds), options).run(progress);
}

}  // namespace assay::explore
