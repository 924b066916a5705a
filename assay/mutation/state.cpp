#include <assay/mutation_state.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <stdexcept>

#include <fmt/format.h>

#include <assay/error.h>
#include "assay/engine/preparation/other_threshold.h"

namespace assay::mutation {
namespace {

template <typename T>
std::vector<std::size_t> order_by(const std::vector<T>& items, const auto& key) {
  std::vector<std::size_t> order(items.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return key(items[i]); });
  return order;
}

Bits rearranged(const Bits& bits, const std::vector<std::size_t>& order) {
  Bits result;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (bits[order[i]]) result.set(i);
  }
  return result;
}

}  // namespace

void Bits::set(std::size_t i) {
  if (i / 64 >= words_.size()) words_.resize(i / 64 + 1);
  words_[i / 64] |= std::uint64_t{1} << (i % 64);
}

std::size_t Bits::count() const {
  return std::accumulate(words_.begin(), words_.end(), std::size_t{0},
                         [](std::size_t sum, std::uint64_t word) { return sum + std::popcount(word); });
}

Bits Bits::from(std::vector<std::uint64_t> words, std::size_t size) {
  while (!words.empty() && words.back() == 0) words.pop_back();
  const std::size_t bits = words.empty() ? 0 : words.size() * 64 - std::countl_zero(words.back());
  if (bits > size) throw std::runtime_error(fmt::format("it speaks of record {} of {}", bits, size));
  Bits result;
  result.words_ = std::move(words);
  return result;
}

void MutantOutcome::note_miss(NearMiss miss) {
  const auto before = [](const NearMiss& a, const NearMiss& b) {
    return std::pair(a.slack, a.record) < std::pair(b.slack, b.record);
  };
  if (nearest.size() >= nearest_kept && !before(miss, nearest.back())) return;
  nearest.insert(std::ranges::upper_bound(nearest, miss, before), miss);
  if (nearest.size() > nearest_kept) nearest.pop_back();
}

std::string MutantOutcome::key() const { return fmt::format("{}@{}#{}", op, layer, seed); }

std::size_t MutationState::judged() const { return std::ranges::count_if(records_, &MutationRecord::judged); }

std::size_t MutationState::add(const MutationRecord& record) {
  const auto [at, is_new] = record_at_.emplace(record.key, records_.size());
  if (is_new) {
    records_.push_back(record);
  } else {
    MutationRecord& known = records_[at->second];
    if (known.expected != record.expected || known.judged != record.judged ||
        known.item_classes != record.item_classes) {
      fail(Fault::mismatch,
           "record '{}' is known with another label (as '{}'); results for other labels cannot be put "
           "together",
           record.id, known.id);
    }
    known.id = std::min(known.id, record.id);
  }
  return at->second;
}

std::size_t MutationState::add(const MutantOutcome& mutant) {
  const auto [at, is_new] = mutant_at_.emplace(mutant.key(), mutants_.size());
  if (is_new) mutants_.push_back(mutant);
  return at->second;
}

void MutationState::reorder(const std::vector<std::size_t>& order) {
  std::vector<std::size_t> now(records_.size(), records_.size());
  std::vector<MutationRecord> records;
  record_at_.clear();
  for (const std::size_t old : order) {
    now[old] = records.size();
    record_at_.emplace(records_[old].key, records.size());
    records.push_back(records_[old]);
  }
  for (MutantOutcome& mutant : mutants_) {
    mutant.known = rearranged(mutant.known, order);
    mutant.killed = rearranged(mutant.killed, order);
    mutant.non_finite = rearranged(mutant.non_finite, order);
    for (auto& [of_class, killed] : mutant.killed_of) killed = rearranged(killed, order);
    std::vector<NearMiss> nearest;
    std::swap(nearest, mutant.nearest);
    for (const NearMiss& miss : nearest) {
      if (now[miss.record] < records_.size()) mutant.note_miss({miss.slack, now[miss.record]});
    }
  }
  records_ = std::move(records);
}

void MutationState::keep_records(const std::vector<bool>& keep) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < records_.size(); ++i) {
    if (keep[i]) order.push_back(i);
  }
  reorder(order);
}

void MutationState::keep_mutants(const std::vector<bool>& keep) {
  std::vector<MutantOutcome> kept;
  mutant_at_.clear();
  for (std::size_t i = 0; i < mutants_.size(); ++i) {
    if (!keep[i]) continue;
    mutant_at_.emplace(mutants_[i].key(), kept.size());
    kept.push_back(std::move(mutants_[i]));
  }
  mutants_ = std::move(kept);
}

void MutationState::merge(const MutationState& other) {
  if (other.model_hash_ != model_hash_)
    fail(Fault::mismatch, "results of mutating '{}' cannot be added to those of '{}': the networks differ{}",
         other.model_, model_, other_threshold);
  if (other.task_ != task_)
    fail(Fault::mismatch,
         "results for network '{}' were judged by different tasks ({} and {}) and cannot be put together; "
         "name "
         "the task in both, such as pixels[foreground=255]",
         model_, task_.empty() ? "one decision a record" : task_,
         other.task_.empty() ? "one decision a record" : other.task_);
  if (other.margin_ != margin_)
    fail(Fault::mismatch,
         "results for network '{}' were judged by different margins and cannot be put together", model_);
  if (other.divergence != divergence)
    fail(Fault::mismatch,
         "results for network '{}' were judged by different divergences ({} and {}) and cannot be put "
         "together; "
         "give the bound to all parts{}",
         model_, divergence.empty() ? "none" : divergence,
         other.divergence.empty() ? "none" : other.divergence, About{"", " ({divergence=js[above=NATS]})"});
  const auto any = [](const std::vector<MutantOutcome>& mutants, bool known) {
    return std::ranges::any_of(
        mutants, [&](const MutantOutcome& mutant) { return mutant.killable.has_value() == known; });
  };
  if ((any(mutants_, true) && any(other.mutants_, false)) ||
      (any(mutants_, false) && any(other.mutants_, true)))
    fail(Fault::mismatch,
         "results for network '{}' that leave out what the training data do not kill cannot be put together "
         "with results that do not; {} none",
         model_, About{"leave it out in all parts, or in", "run all parts with {killable}, or"});
  std::vector<std::size_t> place;
  for (const MutationRecord& record : other.records_) place.push_back(add(record));
  if (class_names.empty()) class_names = other.class_names;
  for (const MutantOutcome& theirs : other.mutants_) {
    MutantOutcome fresh = theirs;
    fresh.known = fresh.killed = fresh.non_finite = {};
    fresh.killed_of.clear();
    fresh.nearest.clear();
    fresh.change = fresh.decisiveness = 0;
    MutantOutcome& mine = mutants_[add(fresh)];
    for (std::size_t r = 0; r < place.size(); ++r) {
      if (!theirs.known[r]) continue;
      if (!mine.known[place[r]]) {
        mine.known.set(place[r]);
        if (theirs.killed[r]) mine.killed.set(place[r]);
        if (theirs.non_finite[r]) mine.non_finite.set(place[r]);
        for (const auto& [of_class, killed] : theirs.killed_of) {
          if (killed[r]) mine.killed_of[of_class].set(place[r]);
        }
      } else if (mine.killed[place[r]] != theirs.killed[r]) {
        fail(Fault::mismatch,
             "mutant {}: one result says that record '{}' kills it, another that it does not; one of the "
             "files is not of this network",
             theirs.id, other.records_[r].id);
      }
    }
    mine.id = std::min(mine.id, theirs.id);
    mine.change = std::max(mine.change, theirs.change);
    mine.decisiveness = std::max(mine.decisiveness, theirs.decisiveness);
    for (const NearMiss& miss : theirs.nearest) {
      const NearMiss here{miss.slack, place[miss.record]};
      if (std::ranges::none_of(mine.nearest, [&](const NearMiss& m) { return m.record == here.record; }))
        mine.note_miss(here);
    }
  }
  not_applicable.insert(not_applicable.end(), other.not_applicable.begin(), other.not_applicable.end());
  std::ranges::sort(not_applicable);
  not_applicable.erase(std::ranges::unique(not_applicable).begin(), not_applicable.end());
}

void MutationState::sort() {
  reorder(order_by(records_, [](const MutationRecord& record) { return record.key; }));
  std::vector<MutantOutcome> sorted;
  mutant_at_.clear();
  for (const std::size_t old : order_by(mutants_, [](const MutantOutcome& mutant) { return mutant.key(); })) {
    mutant_at_.emplace(mutants_[old].key(), sorted.size());
    sorted.push_back(mutants_[old]);
  }
  mutants_ = std::move(sorted);
  std::ranges::sort(not_applicable);
}

}  // namespace assay::mutation
