// assay diff: what one state covers and another does not.

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

#include "apps/assay/commands/catalogue.h"
#include "apps/assay/coverage_tables.h"
#include "assay/support/error.h"

namespace assay::app {
namespace {

using Kind = Column::Kind;

const char* side_name(bool here) { return here ? "first" : "second"; }

Cell count_cell(std::uint64_t count) { return static_cast<std::int64_t>(count); }

// The tables of a comparison, filled criterion by criterion.
class Comparison {
 public:
  Comparison(const CoverageState& a, const CoverageState& b, std::size_t most) : a_(a), b_(b), most_(most) {}

  void add(std::size_t in_a, std::size_t in_b) {
    const auto first = a_.total(in_a), second = b_.total(in_b);
    const std::string name = a_.specs()[in_a].text();
    const std::vector<Coverage> before = first->result(), after = second->result();
    for (const Difference& difference : first->difference(*second, most_)) add(name, difference, before, after);
    for (const Coverage& row : before) {
      const auto match = std::ranges::find(after, row.layer, &Coverage::layer);
      if (!row.coverable.empty() || match == after.end()) continue;
      measures_.rows.push_back({name, row.layer, row.value, match->value, match->value - row.value});
    }
  }

  void write(Document& document) {
    document.headline = fmt::format("{} items are covered by the first state only, {} by the second only", only_a_, only_b_);
    list_records();
    for (Table* table : {&items_, &measures_, &neurons_, &records_, &examples_}) {
      if (!table->rows.empty() || table == &items_) document.tables.push_back(std::move(*table));
    }
  }

 private:
  void add(const std::string& name, const Difference& difference, std::span<const Coverage> before, std::span<const Coverage> after) {
    only_a_ += difference.only_here;
    only_b_ += difference.only_there;
    const auto value = [&](std::span<const Coverage> rows) -> Cell {
      const auto row = std::ranges::find(rows, difference.layer, &Coverage::layer);
      return row == rows.end() || row->coverable.empty() ? Cell() : Cell(row->value);
    };
    items_.rows.push_back({name, difference.layer, count_cell(difference.both), count_cell(difference.only_here), count_cell(difference.only_there),
                           value(before), value(after)});
    add_neurons(name, difference);
    for (const auto& [record, items] : difference.records_here) by_record_[{true, record}][name] += items;
    for (const auto& [record, items] : difference.records_there) by_record_[{false, record}][name] += items;
    for (const Difference::Item& item : difference.examples) {
      const CoverageState& state = item.here ? a_ : b_;
      examples_.rows.push_back({name, difference.layer, std::string(side_name(item.here)), item.item,
                                item.record ? Cell(state.record_name(*item.record)) : Cell()});
    }
  }

  // The neurons of a layer with most items that one side only covers.
  void add_neurons(const std::string& name, const Difference& difference) {
    using Entry = std::pair<std::size_t, Difference::Sides>;
    std::vector<Entry> order(difference.neurons.begin(), difference.neurons.end());
    std::ranges::stable_sort(order, std::greater<>(), [](const Entry& entry) { return entry.second.here + entry.second.there; });
    order.resize(std::min(order.size(), most_));
    for (const auto& [neuron, sides] : order) neurons_.rows.push_back({name, difference.layer, count_cell(neuron), count_cell(sides.here), count_cell(sides.there)});
  }

  // The records of each side that were the first to cover most of what the other side does not.
  void list_records() {
    struct Row {
      bool here;
      std::size_t record;
      std::uint64_t items;
      std::string criteria;
    };
    std::vector<Row> rows;
    for (const auto& [place, by_criterion] : by_record_) {
      Row row{place.first, place.second, 0, {}};
      for (const auto& [name, items] : by_criterion) {
        row.items += items;
        row.criteria += fmt::format("{}{} {}", row.criteria.empty() ? "" : ", ", name, items);
      }
      rows.push_back(std::move(row));
    }
    std::ranges::stable_sort(rows, std::greater<>(), &Row::items);
    for (const bool here : {true, false}) {
      std::size_t listed = 0;
      for (const Row& row : rows) {
        if (row.here != here || listed++ >= most_) continue;
        records_.rows.push_back({std::string(side_name(here)), (here ? a_ : b_).record_name(row.record), count_cell(row.items), row.criteria});
      }
    }
  }

  const CoverageState &a_, &b_;
  std::size_t most_;
  std::uint64_t only_a_ = 0, only_b_ = 0;
  std::map<std::pair<bool, std::size_t>, std::map<std::string, std::uint64_t>> by_record_;  // (first state, record) -> items by criterion
  Table items_{"difference", "Items covered by one and not by the other",
               {{"criterion", "criterion"}, {"layer", "layer"}, {"both", "both", Kind::count}, {"only_a", "only first", Kind::count}, {"only_b", "only second", Kind::count},
                {"coverage_a", "first", Kind::percent}, {"coverage_b", "second", Kind::percent}}, {}, false};
  Table measures_{"measures", "Measures without a greatest value",
                  {{"criterion", "criterion"}, {"layer", "layer"}, {"value_a", "first", Kind::number, 6}, {"value_b", "second", Kind::number, 6},
                   {"change", "change", Kind::number, 6}}, {}, false};
  Table neurons_{"changed_neurons", "Neurons whose items changed most",
                 {{"criterion", "criterion"}, {"layer", "layer"}, {"neuron", "neuron", Kind::count}, {"only_a", "only first", Kind::count},
                  {"only_b", "only second", Kind::count}}, {}, false};
  Table records_{"changed_records", "Records that were first to cover what the other state does not",
                 {{"state", "state"}, {"record", "record"}, {"items", "items", Kind::count}, {"criteria", "by criterion"}}, {}, false};
  Table examples_{"items", "Examples", {{"criterion", "criterion"}, {"layer", "layer"}, {"covered_by", "covered by"}, {"item", "item"}, {"record", "first record"}}, {}, false};
};

bool several_data_sets(const CoverageState& state) {
  return std::ranges::any_of(state.parts(), [&](const auto& part) { return part->data_hash != state.parts().front()->data_hash; });
}

class Diff final : public Command {
 public:
  void declare(CLI::App& app) override {
    app.add_option("states", files_, "two states written by `assay cover --state`: two test sets on one network, or one on two networks")->type_name("FILE");
    app.add_option("--examples", examples_, "items and neurons listed per criterion and layer, and records per state")->check(CLI::Range(0, 1000000))->capture_default_str();
  }

  Document run(Context&) override {
    if (files_.size() != 2) fail(Fault::usage, "two states are compared, {} were named", files_.size());
    const CoverageState a = CoverageState::read(files_[0]), b = CoverageState::read(files_[1]);
    Document document;
    Comparison comparison(a, b, examples_);
    for (std::size_t c = 0; c < a.specs().size(); ++c) {
      const auto match = std::ranges::find(b.specs(), a.specs()[c]);
      if (match == b.specs().end()) {
        document.notices.push_back(fmt::format("{} was measured in the first state only", a.specs()[c].text()));
        continue;
      }
      comparison.add(c, static_cast<std::size_t>(match - b.specs().begin()));
    }
    for (const Spec& spec : b.specs()) {
      if (std::ranges::find(a.specs(), spec) == a.specs().end()) document.notices.push_back(fmt::format("{} was measured in the second state only", spec.text()));
    }
    comparison.write(document);
    for (const CoverageState* state : {&a, &b}) {
      if (several_data_sets(*state)) document.notices.push_back(fmt::format("the {} state holds several data sets: its records are positions in their own", side_name(state == &a)));
    }
    const bool same_network = a.profile().model_hash == b.profile().model_hash;
    document.facts = {{"records_a", "records of the first", count_cell(a.records()), Kind::count},
                      {"records_b", "records of the second", count_cell(b.records()), Kind::count},
                      {"same_network", "same network", same_network}};
    if (!same_network) document.notices.push_back("the networks differ: layers are compared where name and number of neurons agree, combinations where clusters agree");
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
