// assay select: which tests to keep, or to look at first.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/assay/commands/catalogue.h"
#include "apps/assay/inputs.h"
#include "assay/coverage/learn.h"
#include "assay/coverage/measure.h"
#include "assay/data/numpy.h"
#include "assay/selection/apfd.h"
#include "assay/selection/cover.h"
#include "assay/selection/scores.h"
#include "assay/support/error.h"
#include "assay/support/file.h"
#include "assay/support/text.h"

namespace assay::app {
namespace {

using Kind = Column::Kind;

const std::vector<std::string> coverage_ways{"minimise", "budget", "additional"};
const std::vector<std::string> surprise_ways{"lsa", "dsa", "mdsa"};

std::vector<std::string> all_ways() {
  std::vector<std::string> ways = coverage_ways;
  for (const Doubt& doubt : doubts()) ways.emplace_back(doubt.name);
  ways.insert(ways.end(), surprise_ways.begin(), surprise_ways.end());
  ways.push_back("random");
  return ways;
}

bool among(const std::vector<std::string>& names, const std::string& name) { return std::ranges::find(names, name) != names.end(); }

class Select final : public Command {
 public:
  void declare(CLI::App& app) override {
    model_.declare(app);
    train_.declare(app);
    test_.declare(app);
    app.add_option("--by", by_, "minimise: the fewest that keep all coverage; budget: --size records that cover most; additional: all, by coverage they add; "
                                "deepgini, entropy, margin, max-softmax: most doubtful first; lsa, dsa, mdsa: most surprising first; random")
        ->check(CLI::IsMember(all_ways()))->capture_default_str();
    app.add_option("--criterion", criterion_, "criterion whose coverage counts for minimise, budget and additional")->type_name("SPEC")->capture_default_str();
    app.add_option("--profile", profile_, "profile of an earlier `assay cover`, instead of --train")->type_name("FILE");
    app.add_option("--layer", layers_, "subject layer of idc and the surprise criteria")->type_name("NAME");
    app.add_option("--size", size_, "records to keep; 0: all of the order")->check(CLI::NonNegativeNumber)->capture_default_str();
    app.add_option("--out", out_, "write the ids of the chosen records, one a line, in their order")->type_name("FILE.txt");
    app.add_option("--write", write_, "write the chosen records as x and y")->type_name("FILE.npz");
  }

  Document run(Context& context) override {
    const DatasetPtr test = test_.open();
    if (by_ == "budget" && size_ == 0) fail(Fault::usage, "--by budget needs --size, the number of records to choose");
    const Session session = model_.open(context, test.get());
    Document document;
    const Observations seen = look(session, test, context);
    std::vector<std::size_t> chosen = choose(seen, *test, context, document);
    add_apfd(chosen, seen, document);
    if (size_ > 0 && chosen.size() > size_) chosen.resize(size_);
    document.headline = fmt::format("{} of {} records of {} by {}", chosen.size(), test->size(), test->describe(), by_);
    document.facts.insert(document.facts.begin(), {{"records", "records", static_cast<std::int64_t>(test->size()), Kind::count},
                                                   {"chosen", "chosen", static_cast<std::int64_t>(chosen.size()), Kind::count}});
    Table table{"chosen", "Chosen records, first ten", {{"place", "place", Kind::count}, {"record", "record"}}, {}, false};
    for (std::size_t i = 0; i < std::min<std::size_t>(10, chosen.size()); ++i) table.rows.push_back({static_cast<std::int64_t>(i + 1), test->id(chosen[i])});
    document.tables.insert(document.tables.begin(), std::move(table));
    if (!out_.empty()) write_ids(chosen, *test);
    if (!write_.empty()) write_records(chosen, *test);
    add_provenance(document, session, {{"test", test}});
    return document;
  }

 private:
  // The criterion that the choice rests on; nc for those that need none, whose coverage is then not looked at.
  Spec spec() const {
    if (among(coverage_ways, by_)) return parse_spec("criterion", criterion_);
    if (by_ == "lsa") return parse_spec("criterion", "lsc");
    if (by_ == "dsa") return parse_spec("criterion", "dsc");
    return parse_spec("criterion", "mdsc");
  }

  Observations look(const Session& session, const DatasetPtr& test, Context& context) {
    const bool needs_profile = among(coverage_ways, by_) || among(surprise_ways, by_);
    if (!needs_profile) {
      state_.emplace(plain_profile(session), std::vector<Spec>{}, false);
      return measure(session, *state_, test, {.batch = context.settings.batch, .remember_records = true}, context.progress);
    }
    std::shared_ptr<const Profile> profile;
    if (train_.given()) {
      LearnOptions learn;
      learn.criteria = {spec()};
      learn.subjects = layers_;
      learn.batch = context.settings.batch;
      profile = std::make_shared<const Profile>(learn_profile(session, train_.open(), learn, context.progress).profile);
    } else {
      if (profile_.empty()) fail(Fault::usage, "--by {} compares with training data: give --train SPEC, or --profile FILE", by_);
      profile = std::make_shared<const Profile>(read_profile(profile_));
    }
    state_.emplace(profile, std::vector<Spec>{spec()}, false);
    return measure(session, *state_, test, {.batch = context.settings.batch, .remember_records = true, .remember_items = true}, context.progress);
  }

  // For choices that need no training data: a profile of the network that has learned nothing.
  static std::shared_ptr<const Profile> plain_profile(const Session& session) {
    auto profile = std::make_shared<Profile>();
    profile->model_hash = session.graph().hash();
    return profile;
  }

  std::vector<std::size_t> choose(const Observations& seen, const Dataset& test, Context& context, Document& document) {
    if (by_ == "random") return order_random(test.size(), context.settings.seed);
    if (among(surprise_ways, by_)) {
      const auto values = state_->total(0)->values();
      std::vector<double> scores(test.size(), std::nan(""));
      for (const auto& [record, value] : values->values) scores[record] = value;
      return ordered(scores, document);
    }
    if (!among(coverage_ways, by_)) {
      if (seen.records.size() != test.size()) fail(Fault::usage, "--by {} needs a classifier", by_);
      std::vector<double> scores(test.size());
      for (const RecordFacts& record : seen.records) scores[record.record] = record.doubt(by_);
      return ordered(scores, document);
    }
    return by_coverage(seen, document);
  }

  static std::vector<std::size_t> ordered(const std::vector<double>& scores, Document& document) {
    const ScoreOrder order = order_by_score(scores);
    if (order.undefined > 0) document.notices.push_back(fmt::format("{} records have no score and come first", order.undefined));
    return order.order;
  }

  std::vector<std::size_t> by_coverage(const Observations& seen, Document& document) const {
    CoveredRows rows;
    std::map<std::uint64_t, std::uint32_t> dense;
    std::vector<std::uint32_t> row;
    for (const auto& items : seen.items.at(0)) {
      row.clear();
      for (const std::uint64_t item : items) row.push_back(dense.emplace(item, static_cast<std::uint32_t>(dense.size())).first->second);
      rows.add(row);
    }
    if (dense.empty()) fail(Fault::usage, "{} has no items that records cover one by one; choose another criterion", criterion_);
    if (by_ == "additional") return order_additional(rows);
    const Cover cover = by_ == "minimise" ? minimise(rows) : budgeted(rows, size_);
    document.facts.push_back({"covered", "items covered", static_cast<std::int64_t>(cover.covered), Kind::count});
    document.facts.push_back({"coverable", "items that all records cover", static_cast<std::int64_t>(cover.coverable), Kind::count});
    if (by_ == "minimise") {
      document.facts.push_back({"optimal", "proven to be the smallest", cover.optimal});
      document.facts.push_back({"lower_bound", "no subset is smaller than", static_cast<std::int64_t>(cover.lower_bound), Kind::count});
    }
    document.facts.push_back({"factor", by_ == "minimise" ? "at most so many times the smallest" : "at least this share of the best", cover.factor, Kind::number, 3});
    document.definitions.push_back({"choice", by_ == "minimise" ? "greedy cover with lazy evaluation, then branch and bound where the problem is small"
                                                                : "greedy choice with lazy evaluation", "docs/algorithms/selection.md"});
    return cover.records;
  }

  // How early an order of all records finds those that the network gets wrong.
  void add_apfd(const std::vector<std::size_t>& order, const Observations& seen, Document& document) const {
    if (order.size() != seen.records.size()) return;
    std::vector<bool> fault(order.size(), false);
    bool labelled = false;
    for (const RecordFacts& record : seen.records) {
      labelled |= record.label >= 0;
      fault[record.record] = record.label >= 0 && record.label != record.predicted;
    }
    if (!labelled) return;
    const Apfd result = apfd(order, fault);
    document.facts.push_back({"faults", "misclassified records", static_cast<std::int64_t>(result.faults), Kind::count});
    document.facts.push_back({"apfd", "APFD", result.value ? Cell(*result.value) : Cell(), Kind::number, 4});
    Table curve{"apfd", "Misclassified records found", {{"order", "order"}, {"records", "share of records", Kind::percent}, {"found", "share found", Kind::percent}}, {}, true};
    for (const auto& [records, found] : result.curve) curve.rows.push_back({by_, records, found});
    document.tables.push_back(std::move(curve));
    document.definitions.push_back({"APFD", "1 - (sum of the 1-based places of the misclassified records) / (faults * records) + 1 / (2 * records)",
                                    "Rothermel et al. 2001; docs/algorithms/selection.md"});
  }

  void write_ids(const std::vector<std::size_t>& chosen, const Dataset& test) const {
    std::string text;
    for (const std::size_t record : chosen) text += test.id(record) + "\n";
    write_file(out_, text);
  }

  void write_records(const std::vector<std::size_t>& chosen, const Dataset& test) const {
    const Batch batch = test.read(chosen);
    std::map<std::string, Array> arrays{{"x", batch.inputs}};
    if (test.has_labels()) arrays.emplace("y", Array::of<std::int64_t>({static_cast<std::int64_t>(batch.labels.size())}, batch.labels));
    else if (test.target_width() > 0) arrays.emplace("y", batch.targets);
    write_npz(write_, arrays);
  }

  ModelInput model_;
  DataInput train_{"train", "training records, where the choice compares with them"}, test_{"test", "test records to choose from"};
  std::string by_ = "deepgini", criterion_ = "kmnc[sections=100]", profile_, out_, write_;
  std::vector<std::string> layers_;
  std::size_t size_ = 0;
  std::optional<CoverageState> state_;
};

}  // namespace

CommandInfo select_command() {
  return {"select", "the smallest test set that covers as much, or the tests to look at first",
          "  assay select --model net.onnx --test test.npz --by deepgini --out order.txt\n"
          "  assay select --model net.onnx --train train.npz --test test.npz --by minimise --criterion nc --write small.npz\n"
          "  assay select --model net.onnx --profile net.profile --test unlabelled.tar --by dsa --size 500 --out label-these.txt\n"
          "There is no --shard: records are chosen among all of them.",
          make_command<Select>};
}

}  // namespace assay::app
