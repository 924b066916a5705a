#include "assay/coverage/shared_measure.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>

#include "assay/coverage/measurer.h"
#include "assay/coverage/rank_journals.h"
#include "assay/support/files/binary.h"
#include "assay/support/ranks/ranks.h"
#include "assay/support/text/so_many.h"

namespace assay::coverage {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::json;

// A run by several ranks, or one that continues with what several ranks have left. Each rank keeps what it
// sees by itself, by blocks of records between which growth is noted; in the end the blocks are merged
// in a tree and put together in their order by the first rank.
class SharedRun {
 public:
  SharedRun(const Session& session, CoverageState& state, DatasetPtr test, const MeasureOptions& options,
            const JournalKey& key)
      : session_(session),
        state_(state),
        test_(std::move(test)),
        options_(options),
        key_(key),
        plan_(session, state.part(options.context, test_->hash(), test_->describe(), test_->size()), *test_,
              options),
        scratch_(fresh()) {
    options_.growth_points = 0;
  }

  // `found`: what journals hold; on the first rank.
  Observations run(const Json& found, Journal* journal, Progress& progress) {
    const RecordRanges done = go_on(found, progress);
    std::optional<Journal> own;
    if (!ranks().first() && !options_.journal.empty())
      journal = &own.emplace(journal_of_rank(options_.journal, ranks().rank()), key_);
    walk_all(done, journal, progress);
    return put_together();
  }

 private:
  struct MeasuredBlock {
    std::unique_ptr<CoverageState> state;
    std::unique_ptr<Measurer> measurer;
  };
  struct Piece {
    std::size_t block = 0;
    std::vector<std::size_t> records;
  };

  CoverageState fresh() const {
    // The profile outlives this, as the state has it.
    const std::shared_ptr<const Profile> profile(std::shared_ptr<const Profile>(), &state_.profile());
    return CoverageState(profile, state_.choices(), state_.by_class());
  }

  Measurer& block(std::size_t number) {
    MeasuredBlock& found = blocks_[number];
    if (!found.measurer) {
      found.state = std::make_unique<CoverageState>(fresh());
      found.measurer =
          std::make_unique<Measurer>(session_, *found.state, test_, options_, nullptr, std::nullopt);
    }
    return *found.measurer;
  }

  // Adds what a journal holds of one block, and its records to `done`.
  void absorb_part(const Json& part, RecordRanges& done) {
    Measurer& there = block(part.at("block").get<std::size_t>());
    there.absorb(part, scratch_);
    for (const auto& [begin, end] : there.walked().ranges()) {
      for (const std::size_t record : done.missing(begin, end)) done.add(record, record + 1);
    }
  }

  // Takes what journals hold. Returns, on all ranks, the records that need not be walked any more.
  RecordRanges go_on(const Json& found, Progress& progress) {
    RecordRanges done;
    if (ranks().first()) {
      std::optional<Json> seen;
      if (found.contains("base")) {
        base_ = found.at("base");
        state_.load(base_.at("state"));
        seen = base_.at("seen");
      }
      whole_ = std::make_unique<Measurer>(session_, state_, test_, options_, nullptr, seen);
      done = whole_->walked();
      for (const Json& part : found.value("parts", Json::array())) absorb_part(part, done);
      if (!found.empty())
        progress.notice(fmt::format("going on from {}: {} done", options_.journal.string(),
                                    so_many(done.size(), "record")));
    }
    std::string bytes = to_bytes(done.ranges());
    ranks().broadcast(bytes);
    if (ranks().first()) return done;
    for (const Json& range : from_bytes(bytes)) done.add(range.at(0), range.at(1));
    return done;
  }

  // Whole batches of one block each.
  std::vector<Piece> pieces(const RecordRanges& done) const {
    constexpr std::size_t pieces_per_rank = 16, most = 16;
    const std::size_t longest =
        std::clamp<std::size_t>(plan_.batches() / (pieces_per_rank * ranks().size()), 1, most) * plan_.step;
    std::vector<Piece> all;
    for (std::size_t b = 0; b < plan_.batches(); ++b) {
      const auto records = plan_.batch(b);
      if (done.missing(records.front(), records.front() + 1).empty()) continue;
      const std::size_t number = plan_.block(b);
      if (all.empty() || all.back().block != number || all.back().records.size() >= longest)
        all.push_back({number, {}});
      all.back().records.insert(all.back().records.end(), records.begin(), records.end());
    }
    return all;
  }

  void walk_all(const RecordRanges& done, Journal* journal, Progress& progress) {
    const std::vector<Piece> all = pieces(done);
    std::size_t records = 0;
    for (const Piece& piece : all) records += piece.records.size();
    Stage stage(progress, "measuring coverage", records, "records");
    SharedLoop loop(
        ranks(), all.size(),
        [&](std::size_t piece, std::string_view) { stage.advance(all[piece].records.size()); },
        SharedLoop::Order::as_they_come);
    Clock::time_point last_written = Clock::now();
    while (const auto piece = loop.next()) {
      block(all[*piece].block).walk_part(all[*piece].records, plan_.step);
      if (journal != nullptr &&
          std::chrono::duration<double>(Clock::now() - last_written).count() > options_.journal_seconds) {
        journal->replace("parts", to_bytes(noted()));
        last_written = Clock::now();
      }
      loop.give(*piece, {});
    }
    loop.finish();
  }

  // For the journal of this rank.
  Json noted() const {
    Json json = {{"parts", Json::array()}};
    if (!base_.empty()) json["base"] = base_;
    for (const auto& [number, block] : blocks_) {
      json["parts"].push_back(block.measurer->part());
      json["parts"].back()["block"] = number;
    }
    return json;
  }

  Observations put_together() {
    std::optional<std::size_t> last;
    for (std::size_t b = 0; b < plan_.batches(); ++b) {
      const std::size_t number = plan_.block(b);
      if (number == last) continue;
      last = number;
      gather(number);
      const auto found = blocks_.find(number);
      if (!ranks().first() || found == blocks_.end()) continue;
      whole_->take(*found->second.measurer);
      blocks_.erase(found);
      if (plan_.growth_step > 0 && ends_in_growth(b)) whole_->note_growth();
    }
    return ranks().first() ? whole_->finish(plan_.growth_step > 0) : Observations();
  }

  // Whether growth is noted after the block that begins with this batch.
  bool ends_in_growth(std::size_t b) const {
    const std::size_t number = plan_.block(b);
    while (b < plan_.batches() && plan_.block(b) == number) ++b;
    return plan_.block(b) != number;
  }

  // Sends all parts of a block to the first rank.
  void gather(std::size_t number) {
    ranks().gather(
        [&](std::string_view bytes) {
          if (!bytes.empty()) block(number).absorb(from_bytes(bytes), scratch_);
        },
        [&] {
          const auto found = blocks_.find(number);
          return found == blocks_.end() ? std::string() : to_bytes(found->second.measurer->part());
        });
  }

  const Session& session_;
  CoverageState& state_;
  DatasetPtr test_;
  MeasureOptions options_;  // of a block
  const JournalKey& key_;
  MeasurePlan plan_;
  CoverageState scratch_;
  Json base_ = Json::object();       // of the journal of a single process, which this run goes on from
  std::unique_ptr<Measurer> whole_;  // on the first rank
  std::map<std::size_t, MeasuredBlock> blocks_;
};

}  // namespace

Observations measure_shared(const Session& session, CoverageState& state, DatasetPtr test,
                            const MeasureOptions& options, const JournalKey& key, const nlohmann::json& found,
                            Journal* journal, Progress& progress) {
  return SharedRun(session, state, std::move(test), options, key).run(found, journal, progress);
}

}  // namespace assay::coverage
