#include <assay/attack.h>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <span>

#include <assay/dataset.h>
#include <assay/error.h>
#include <assay/evaluate.h>
#include <assay/extend/attack_problem.h>
#include "assay/attack/adversarial_set.h"
#include "assay/attack/attacked_batch.h"
#include "assay/attack/attempt.h"
#include "assay/attack/outputs_of_rows.h"
#include "assay/attack/preparation.h"
#include "assay/attack/tokens/token_attack.h"
#include "assay/data/given.h"
#include "assay/engine/elements.h"
#include "assay/engine/evaluation/evaluator.h"
#include "assay/engine/shared_walk.h"
#include "assay/support/files/hash.h"
#include "assay/support/text/so_many.h"

namespace assay::attack {
namespace {

template <typename T>
std::vector<std::byte> bytes_of(const std::vector<T>& numbers) {
  const auto bytes = std::as_bytes(std::span(numbers));
  return {bytes.begin(), bytes.end()};
}

double since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Records of networks that take levels are stored as levels.
AttackOptions with_levels(AttackOptions options, const Session& session, const Dataset& dataset) {
  options.levels = options.levels || takes_levels(session, session.first_input(dataset.facts()));
  return options;
}

std::vector<std::size_t> those_not_left_out(std::size_t records, const std::set<std::size_t>& left_out) {
  std::vector<std::size_t> rest;
  for (std::size_t record = 0; record < records; ++record)
    if (!left_out.contains(record)) rest.push_back(record);
  return rest;
}

class Run {
 public:
  Run(const Session& session, DatasetPtr dataset, const AttackChoice& choice, const AttackOptions& options)
      : session_(session),
        dataset_(std::move(dataset)),
        options_(with_levels(options, session, *dataset_)),
        spec_(whole_spec(choice)),
        attack_(make_attack(choice)),
        tokens_(std::dynamic_pointer_cast<const TokenAttack>(attack_) != nullptr),
        candidates_(those_not_left_out(dataset_->size(), options.left_out)),
        preparation_(session, *dataset_,
                     {options.seed, options.margin,
                      spec_.options.contains("target") ? spec_.options.at("target") : "none", options.task,
                      options.goal, tokens_}),
        type_(tokens_           ? DType::int64
              : options_.levels ? DType::uint8
                                : DType::float32),
        set_(*dataset_, type_) {
    summary_.spec = spec_;
    summary_.levels = options_.levels;
    if (options_.batch == 0) options_.batch = attack_batch(session);
    if (tokens_ && options.levels)
      fail(Fault::usage, "attack '{}' is on tokens, which {}", spec_.name,
           About{"have no levels", "have no levels; leave out {levels}"});
  }

  AttackSummary run(const std::filesystem::path& file, Progress& progress) {
    summary_.file = file;
    summary_.data = spec_of_file(file, *dataset_, type_);
    if (!options_.journal.empty() && ranks().first()) go_on(progress);
    broadcast(summary_.walked);
    try {
      search_all({candidates_.begin() + summary_.walked, candidates_.end()}, progress);
    } catch (const Error& error) {
      if (error.fault() != Fault::interrupted || !journal_) throw;
      fail(Fault::interrupted, "{}; the same command goes on from {}", error.message(),
           options_.journal.string());
    }
    if (!ranks().first()) return summary_;
    if (set_.size() > 0) check(file, progress);
    summarise();
    if (options_.only_successful) set_.keep_successful();
    summary_.stored = set_.size();
    set_.write(file);
    summary_.records = set_.records();
    return summary_;
  }

 private:
  // Takes what an earlier run has finished.
  void go_on(Progress& progress) {
    journal_.emplace(options_.journal, journal_key(session_, *dataset_, spec_, options_));
    for (const AttackedBatch& batch : batches_of(*journal_, candidates_, set_.record_bytes())) take(batch);
    if (summary_.walked > 0)
      progress.notice(fmt::format("{}: going on from {}, {} done", spec_.name, options_.journal.string(),
                                  so_many(summary_.walked, "record")));
  }

  void take(const AttackedBatch& batch) {
    summary_.walked += batch.walked;
    summary_.seconds += batch.seconds;
    for (const auto& [ending, records] : batch.endings) summary_.endings[ending] += records;
    set_.add(batch.records, batch.inputs);
  }

  void search_all(std::vector<std::size_t> records, Progress& progress) {
    const WalkOptions walking{.batch = options_.batch, .stage = spec_.name, .records = std::move(records)};
    if (ranks().alone()) {
      walk(session_, dataset_, walking, progress,
           [&](const Batch& batch, const Tensors&) { note(search(batch)); });
      return;
    }
    walk_pieces(
        session_, dataset_, walking, progress,
        [&](const Batch& batch, const Tensors&) { return to_bytes(search(batch)); },
        [&](std::string_view bytes) { note(batch_from(bytes, set_.record_bytes())); });
  }

  void note(const AttackedBatch& attacked) {
    if (journal_) {
      journal_->append(fmt::format("to {}", summary_.walked + attacked.walked), to_bytes(attacked));
      journal_->sync();
    }
    take(attacked);
  }

  // Attacks the records of a batch that are worth it.
  AttackedBatch search(const Batch& batch) const {
    const AttackProblem all = preparation_.problem(batch);
    const std::vector<std::int64_t> rows = preparation_.attackable(batch, all, !options_.all);
    AttackedBatch result{
        .walked = batch.indices.size(), .seconds = 0, .endings = {}, .records = {}, .inputs = {}};
    if (rows.empty()) return result;
    const array::Recording unrecorded(false);
    const auto start = std::chrono::steady_clock::now();
    const auto [problem, points] = attempt(*attack_, spec_.name, preparation_.network(), all, rows);
    result.seconds = since(start);
    const Array scores = preparation_.network().scores_of(
        problem, preparation_.network().outputs(preparation_.network().bind(points, problem.held)));
    const std::vector<bool> won = truths_of(AttackedNetwork::won(problem, scores));
    const std::vector<std::int64_t> predicted = decisions(scores);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::size_t place = problem.places[i];
      result.records.push_back({.original = batch.indices[rows[i]],
                                .predicted = predicted[i],
                                .success = won[i],
                                .forward = problem.log->forward[place],
                                .backward = problem.log->backward[place]});
      const std::string_view ending = ending_of(*problem.log, place);
      if (!won[i] && !ending.empty()) ++result.endings[std::string(ending)];
    }
    const Array clean = picked(batch.inputs, rows);
    result.inputs = tokens_           ? bytes_of(preparation_.to_tokens(points))
                    : options_.levels ? bytes_of(Preparation::to_levels(points))
                                      : bytes_of(preparation_.to_records(clean, problem, points));
    return result;
  }

  // Success, predictions and distances of the records as they are read back.
  // The file gets its own name only afterwards.
  void check(const std::filesystem::path& file, Progress& progress) {
    const UncheckedFile unchecked(file);
    set_.write(unchecked.path());
    const DatasetPtr written = open_dataset(spec_of_file(unchecked.path(), *dataset_, type_));
    walk(session_, written, {.batch = options_.batch, .stage = spec_.name + " read back"}, progress,
         [&](const Batch& batch, const Tensors& inputs) { check(batch, inputs); });
  }

  void check(const Batch& batch, const Tensors& inputs) {
    std::vector<std::size_t> originals;
    for (const std::size_t i : batch.indices) originals.push_back(set_.records()[i].original);
    const Batch clean = dataset_->read(originals);
    const AttackProblem problem = preparation_.problem(clean);
    const Array scores = preparation_.network().scores_of(problem, preparation_.network().outputs(inputs));
    const std::vector<bool> won = truths_of(AttackedNetwork::won(problem, scores));
    const std::vector<std::int64_t> predicted = decisions(scores);
    const std::vector<Distance> distances = preparation_.distances(batch.inputs, clean.inputs);
    const std::vector<std::uint8_t> finite = finite_rows(scores, predicted.size());
    for (std::size_t i = 0; i < batch.indices.size(); ++i) {
      AdversarialSet::Record& record = set_.records()[batch.indices[i]];
      summary_.lost += record.success && !won[i];
      record.success = won[i];
      record.predicted = predicted[i];
      record.finite = finite[i] != 0;
      record.l0 = distances[i].l0;
      record.l2 = distances[i].l2;
      record.linf = distances[i].linf;
    }
  }

  void summarise() {
    summary_.attacked = set_.size();
    for (const AdversarialSet::Record& record : set_.records()) {
      summary_.forward += static_cast<double>(record.forward);
      summary_.backward += static_cast<double>(record.backward);
      if (!record.success) continue;
      ++summary_.succeeded;
      summary_.l0 += record.l0;
      summary_.l2 += record.l2;
      summary_.linf += record.linf;
    }
    const double attacked = std::max<std::size_t>(1, summary_.attacked);
    const double succeeded = std::max<std::size_t>(1, summary_.succeeded);
    for (double* sum : {&summary_.forward, &summary_.backward}) *sum /= attacked;
    for (double* sum : {&summary_.l0, &summary_.l2, &summary_.linf}) *sum /= succeeded;
  }

  const Session& session_;
  DatasetPtr dataset_;
  AttackOptions options_;
  Spec spec_;
  std::shared_ptr<const Attack> attack_;
  bool tokens_;
  std::vector<std::size_t> candidates_;  // records that are not left out, so that batches are full
  Preparation preparation_;
  DType type_;
  AdversarialSet set_;
  AttackSummary summary_;
  std::optional<Journal> journal_;
};

}  // namespace

AttackSummary attack_dataset(const Session& session, DatasetPtr dataset, const AttackChoice& attack,
                             const std::filesystem::path& file, const AttackOptions& options,
                             Progress& progress) {
  return Run(session, given_data(dataset), attack, options).run(file, progress);
}

std::filesystem::path journal_of(const std::filesystem::path& file) { return file.string() + ".journal"; }

std::vector<std::string> names_of(std::span<const Spec> attacks) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < attacks.size(); ++i) {
    const auto earlier = std::ranges::count(attacks.first(i), attacks[i].name, &Spec::name);
    names.push_back(earlier == 0 ? attacks[i].name : fmt::format("{}-{}", attacks[i].name, earlier + 1));
  }
  return names;
}

}  // namespace assay::attack
