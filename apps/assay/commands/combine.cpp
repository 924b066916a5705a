// assay combine: coverage states of several runs as one.

#include <fmt/format.h>

#include <optional>

#include "apps/assay/commands/catalogue.h"
#include "apps/assay/coverage_tables.h"
#include "apps/assay/gate_options.h"
#include "assay/support/error.h"

namespace assay::app {
namespace {

class Combine final : public Command {
 public:
  void declare(CLI::App& app) override {
    app.add_option("states", files_, "states written by `assay cover --state`")->type_name("FILE");
    app.add_option("--out", out_, "where the combined state goes")->type_name("FILE");
    gates_.declare(app);
    app.add_flag("--skip-unreadable", skip_, "combine what can be read and name what cannot, rather than stop");
  }

  Document run(Context& context) override {
    if (files_.empty()) fail(Fault::usage, "which states? name files that `assay cover --state FILE` wrote");
    gates_.check();
    Document document;
    std::optional<CoverageState> all;
    Stage stage(context.progress, "combining", files_.size(), "states");
    for (const std::string& file : files_) {
      try {
        CoverageState state = CoverageState::read(file);
        if (all) all->merge(state);
        else all.emplace(std::move(state));
      } catch (const Error& error) {
        const bool unreadable = error.fault() == Fault::data || error.fault() == Fault::io;
        if (!skip_ || !unreadable) {
          if (error.fault() == Fault::mismatch) fail(Fault::mismatch, "{}: {}", file, error.what());
          throw;
        }
        document.notices.push_back(fmt::format("left out: {}", error.what()));
      }
      stage.advance(1);
    }
    if (!all) fail(Fault::data, "none of the {} states could be read", files_.size());
    if (!out_.empty()) all->write(out_);
    document.headline = headline_of(*all, fmt::format("{} states, {} records", files_.size() - document.notices.size(), all->records()));
    add_facts(document, *all);
    document.tables = {criteria_table(*all)};
    if (!all->contexts().empty()) document.tables.push_back(context_table(*all));
    document.tables.push_back(layer_table(*all));
    Table neurons = neuron_table(*all, nullptr);
    document.tables.push_back(std::move(neurons));
    document.definitions = definitions_of(*all);
    gates_.apply(document, measurements_of(*all));
    document.provenance = {{"model_hash", all->profile().model_hash}, {"profile_hash", all->profile_hash()}, {"train", all->profile().data}};
    for (const auto& part : all->parts()) {
      document.provenance.emplace_back("data" + (part->context.empty() ? "" : " " + part->context), part->data + " (" + part->data_hash + ")");
    }
    return document;
  }

 private:
  std::vector<std::string> files_;
  std::string out_;
  GateOptions gates_;
  bool skip_ = false;
};

}  // namespace

CommandInfo combine_command() {
  return {"combine", "coverage states of several machines, days or contexts as one",
          "  assay combine shard-*.cov --out all.cov\n"
          "  assay combine day.cov night.cov --json both.json",
          make_command<Combine>};
}

}  // namespace assay::app
