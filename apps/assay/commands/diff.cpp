// assay diff: what one state covers and another does not.

#include <fmt/format.h>

#include "apps/assay/commands/catalogue.h"
#include "apps/assay/coverage_tables.h"
#include "assay/support/error.h"

namespace assay::app {
namespace {

using Kind = Column::Kind;

class Diff final : public Command {
 public:
  void declare(CLI::App& app) override {
    app.add_option("states", files_, "two states written by `assay cover --state`: two test sets on one network, or one on two networks")->type_name("FILE");
    app.add_option("--examples", examples_, "items listed per criterion, layer and side")->check(CLI::Range(0, 10000))->capture_default_str();
  }

  Document run(Context&) override {
    if (files_.size() != 2) fail(Fault::usage, "two states are compared, {} were named", files_.size());
    const CoverageState a = CoverageState::read(files_[0]), b = CoverageState::read(files_[1]);
    Document document;
    Table table{"difference", "Items covered by one and not by the other",
                {{"criterion", "criterion"}, {"layer", "layer"}, {"both", "both", Kind::count}, {"only_a", "only first", Kind::count}, {"only_b", "only second", Kind::count},
                 {"coverage_a", "first", Kind::percent}, {"coverage_b", "second", Kind::percent}}, {}, false};
    Table items{"items", "Examples", {{"criterion", "criterion"}, {"layer", "layer"}, {"covered_by", "covered by"}, {"item", "item"}, {"record", "first record"}}, {}, false};
    std::uint64_t gained = 0, lost = 0;
    for (std::size_t c = 0; c < a.specs().size(); ++c) {
      const auto match = std::ranges::find(b.specs(), a.specs()[c]);
      if (match == b.specs().end()) {
        document.notices.push_back(fmt::format("{} was measured in the first state only", a.specs()[c].text()));
        continue;
      }
      const auto first = a.total(c), second = b.total(static_cast<std::size_t>(match - b.specs().begin()));
      const std::vector<Coverage> coverage_a = first->result(), coverage_b = second->result();
      const std::string name = a.specs()[c].text();
      const std::vector<Difference> differences = first->difference(*second, examples_);
      for (const Difference& difference : differences) {
        lost += difference.only_here;
        gained += difference.only_there;
        const auto value = [&](const std::vector<Coverage>& rows) -> Cell {
          const auto row = std::ranges::find(rows, difference.layer, &Coverage::layer);
          return row == rows.end() || row->coverable.empty() ? Cell() : Cell(row->value);
        };
        table.rows.push_back({name, difference.layer, static_cast<std::int64_t>(difference.both), static_cast<std::int64_t>(difference.only_here),
                              static_cast<std::int64_t>(difference.only_there), value(coverage_a), value(coverage_b)});
        for (const Difference::Item& item : difference.examples) {
          items.rows.push_back({name, difference.layer, std::string(item.here ? "first" : "second"), item.item,
                                item.record ? Cell(static_cast<std::int64_t>(*item.record)) : Cell()});
        }
      }
      if (differences.empty()) {
        table.rows.push_back({name, std::string("all"), {}, {}, {}, coverage_a.back().value, coverage_b.back().value});
        if (first->result().back().coverable.empty()) document.notices.push_back(fmt::format("{}: {:.6g} and {:.6g}", name, coverage_a.back().value, coverage_b.back().value));
      }
    }
    document.headline = fmt::format("{} items are covered by the first state only, {} by the second only", lost, gained);
    const bool same_network = a.profile().model_hash == b.profile().model_hash;
    document.facts = {{"records_a", "records of the first", static_cast<std::int64_t>(a.records()), Kind::count},
                      {"records_b", "records of the second", static_cast<std::int64_t>(b.records()), Kind::count},
                      {"same_network", "same network", same_network}};
    if (!same_network) document.notices.push_back("the networks differ: layers are compared where name and number of neurons agree, combinations where clusters agree");
    document.tables = {std::move(table), std::move(items)};
    document.definitions = definitions_of(a);
    document.provenance = {{"first", files_[0]}, {"second", files_[1]}, {"model_hash_a", a.profile().model_hash}, {"model_hash_b", b.profile().model_hash}};
    return document;
  }

 private:
  std::vector<std::string> files_;
  std::size_t examples_ = 3;
};

}  // namespace

CommandInfo diff_command() {
  return {"diff", "what one coverage state covers and another does not, down to neurons and records",
          "  assay diff before.cov after.cov\n"
          "  assay diff lenet4.cov lenet5.cov --examples 10 --json diff.json",
          make_command<Diff>};
}

}  // namespace assay::app
