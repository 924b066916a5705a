// assay mutate: which faults a test set would miss.

#include <fmt/format.h>

#include <filesystem>

#include "apps/assay/commands/catalogue.h"
#include "apps/assay/gate_options.h"
#include "apps/assay/inputs.h"
#include "apps/assay/mutation_tables.h"
#include "assay/model/model.h"
#include "assay/mutation/draw.h"
#include "assay/mutation/run.h"
#include "assay/report/renderer.h"
#include "assay/support/error.h"
#include "assay/support/file.h"

namespace assay::app {
namespace {

namespace fs = std::filesystem;
using Kind = Column::Kind;

class Mutate final : public Command {
 public:
  void declare(CLI::App& app) override {
    app.add_option("action", action_, "run: judge mutants by a test set; list: only name them; export: write one as ONNX")->type_name("ACTION")
        ->check(CLI::IsMember({"run", "list", "export"}))->capture_default_str();
    model_.declare(app);
    test_.declare(app);
    app.add_option("--operator", operators_, "operator with options, such as gf[sigma=0.5]; may be repeated (default: DeepMutation's eight; `assay operators` lists all)")->type_name("SPEC");
    app.add_option("--preset", preset_, "operators and sites of a paper: deepmutation")->type_name("NAME");
    app.add_option("--count", count_, "mutants per operator, where so many are possible (default: 50, or the preset's)")->check(CLI::Range(0, 1'000'000));
    app.add_option("--layer", draw_.layers, "layer to mutate, may be repeated (default: all with weights)")->type_name("NAME");
    app.add_flag("--whole-network", draw_.whole_network, "draw a mutant's sites over all layers together rather than in one");
    app.add_option("--mutant", mutants_, "a mutant by its text, such as gf@conv2#17 (as --list prints it); may be repeated; no others are drawn")->type_name("TEXT");
    app.add_flag("--list", list_, "the same as the action list");
    app.add_option("--out", out_, "with export: where the mutant goes")->type_name("FILE.onnx");
    app.add_option("--quality", score_.quality, "leave out mutants that get more than this share of T' wrong; 1: none")->check(CLI::Range(0.0, 1.0))->capture_default_str();
    app.add_option("--margin", margin_, "regression: a mutant is killed where its output differs by more than this")->check(CLI::PositiveNumber)->type_name("FLOAT");
    app.add_option("--state", state_, "keep results in FILE: what is known there for this network is not run again, and an interrupted run goes on from FILE.journal")->type_name("FILE");
    app.add_option("--shard", shard_, "run only this part of the mutants: 2/8 is the second of eight")->type_name("K/N");
    app.add_option("--matrix", matrix_, "write which record kills which mutant")->type_name("FILE.csv");
    app.add_option("--killing-subset", subset_, "write the ids of the smallest set of records found that keeps the score")->type_name("FILE.txt");
    app.add_option("--keep", memory_, "GiB for what the original network computes, which mutants start from")->check(CLI::PositiveNumber)->capture_default_str();
    app.add_flag("--naive", naive_, "run each mutant whole for each record: slow, the same result");
    check_.declare(app);
    gates_.declare(app);
  }

  Document run(Context& context) override {
    const DatasetPtr test = test_.given() ? test_.open() : nullptr;
    const Session session = model_.open(context, test.get());
    gates_.check();
    Document document;
    const Subject subject(session);
    for (const auto& [layer, reason] : subject.left_out()) document.notices.push_back(fmt::format("layer {} is not mutated: {}", layer, reason));
    const Drawn drawn = chosen(subject, context);
    if (action_ == "export") {
      exported(subject, drawn, document);
    } else if (action_ == "list" || list_) {
      listed(subject, drawn, document);
    } else {
      judged(session, subject, drawn, test, context, document);
    }
    add_provenance(document, session, test ? std::vector<std::pair<std::string, DatasetPtr>>{{"test", test}} : std::vector<std::pair<std::string, DatasetPtr>>{});
    return document;
  }

 private:
  Drawn chosen(const Subject& subject, Context& context) {
    if (!mutants_.empty()) {
      Drawn drawn;
      for (const std::string& text : mutants_) drawn.mutants.push_back(parse_mutant(text));
      return drawn;
    }
    const bool own = !operators_.empty() && preset_.empty();
    const MutationPreset& preset = find_mutation_preset(preset_.empty() ? "deepmutation" : preset_);
    std::vector<std::string> texts = own ? std::vector<std::string>() : preset.operators;
    texts.insert(texts.end(), operators_.begin(), operators_.end());
    for (const std::string& text : texts) {
      draw_.operators.push_back(parse_spec("operator", text));
      find_mutation_operator(draw_.operators.back().name);
    }
    draw_.per_operator = count_.value_or(preset_.empty() ? 50 : preset.per_operator);
    if (!preset_.empty()) draw_.whole_network = draw_.whole_network || preset.whole_network;
    draw_.seed = context.settings.seed;
    return draw_mutants(subject, draw_);
  }

  // This shard's mutants.
  std::vector<Mutant> part_of(const Drawn& drawn) const {
    if (shard_.empty()) return drawn.mutants;
    const auto [shard, shards] = parse_shard(shard_);
    std::vector<Mutant> part;
    for (std::size_t i = shard - 1; i < drawn.mutants.size(); i += shards) part.push_back(drawn.mutants[i]);
    return part;
  }

  static Table not_applicable(const Drawn& drawn) {
    Table table{"not_applicable", "Where operators do not apply", {{"operator", "operator"}, {"layer", "layer"}, {"reason", "why"}}, {}, false};
    for (const NotApplicable& entry : drawn.not_applicable) table.rows.push_back({entry.op.text(), entry.layer, entry.reason});
    return table;
  }

  void listed(const Subject& subject, const Drawn& drawn, Document& document) const {
    Table table{"mutants", "Mutants", {{"mutant", "mutant"}, {"text", "text"}, {"sites", "sites", Kind::count}, {"summary", "what is changed"}}, {}, false};
    for (const Mutant& mutant : part_of(drawn)) {
      const Mutation made = apply(subject, mutant);
      table.rows.push_back({mutant.id(), mutant.text(), made.sites, made.summary});
    }
    document.headline = fmt::format("{} mutants of {}; --mutant TEXT names one", table.rows.size(), subject.graph().name());
    document.tables = {std::move(table)};
    if (!drawn.not_applicable.empty()) document.tables.push_back(not_applicable(drawn));
  }

  void exported(const Subject& subject, const Drawn& drawn, Document& document) const {
    if (mutants_.size() != 1 || out_.empty()) fail(Fault::usage, "export writes one mutant: name it with --mutant TEXT (assay mutate list shows them) and its file with --out FILE.onnx");
    const Mutation made = apply(subject, drawn.mutants[0]);
    write_onnx(made.graph, out_);
    document.headline = fmt::format("{}: {}", out_, made.summary);
    Table table{"changes", fmt::format("Changes ({} in all)", made.change_count),
                {{"layer", "layer"}, {"neuron", "neuron", Kind::count}, {"weight", "weight", Kind::count}, {"before", "before", Kind::number, 6}, {"after", "after", Kind::number, 6}}, {}, false};
    fill_changes(table, made, 20);
    if (!table.rows.empty()) document.tables = {std::move(table)};
  }

  static void fill_changes(Table& table, const Mutation& made, std::size_t count);

  void judged(const Session& session, const Subject& subject, const Drawn& drawn, const DatasetPtr& test, Context& context, Document& document) {
    if (!test) fail(Fault::usage, "which test set is to be judged? name it with --test SPEC");
    if (drawn.mutants.empty()) {
      fail(Fault::usage, "no mutant can be made of '{}'{}", subject.graph().name(),
           drawn.not_applicable.empty() ? std::string() : fmt::format(": {} on {}: {}", drawn.not_applicable[0].op.text(), drawn.not_applicable[0].layer, drawn.not_applicable[0].reason));
    }
    if (check_.expects()) check_.run(session, test, context, document);
    std::vector<PlannedMutant> planned;
    for (const Mutant& mutant : part_of(drawn)) {
      const Mutation made = apply(subject, mutant);
      planned.push_back({described(mutant, made), [&subject, mutant] { return apply(subject, mutant).graph; }});
    }
    RunOptions options;
    options.margin = margin_;
    options.quality = score_.quality;
    options.naive = naive_;
    options.batch = context.settings.batch;
    options.memory = memory_ * 1024 * 1024 * 1024;
    std::optional<MutationState> earlier;
    if (!state_.empty()) {
      options.journal = state_ + ".journal";
      if (fs::exists(state_)) earlier = MutationState::read(state_);
      if (earlier && earlier->model_hash() != session.graph().hash()) {
        document.notices.push_back(fmt::format("{} holds results for another network ('{}'); nothing of it was reused", state_, earlier->model()));
      }
    }
    RunFigures figures;
    MutationState state = run_mutants(session, planned, test, options, earlier ? &*earlier : nullptr, figures, context.progress);
    for (const NotApplicable& entry : drawn.not_applicable) state.not_applicable.push_back({entry.op.text(), entry.layer, entry.reason});
    state.sort();
    if (!state_.empty()) {
      state.write(state_);
      std::error_code ignored;
      fs::remove(options.journal, ignored);
    }
    report(state, figures, document);
  }

  static MutantOutcome described(const Mutant& mutant, const Mutation& made) {
    MutantOutcome outcome;
    outcome.id = mutant.id();
    outcome.op = mutant.op.text();
    outcome.operator_name = mutant.op.name;
    outcome.layer = mutant.layer;
    outcome.seed = mutant.seed;
    outcome.sites = made.sites;
    outcome.summary = made.summary;
    outcome.changes = first_changes(made);
    return outcome;
  }

  // "neuron 3: weight 17 0.12 -> -0.5; ..."
  static std::string first_changes(const Mutation& made) {
    constexpr std::size_t shown = 3;
    std::string text;
    for (const Change& change : std::span(made.changes).first(std::min(shown, made.changes.size()))) {
      if (!text.empty()) text += "; ";
      if (change.neuron >= 0) text += fmt::format("neuron {}: ", change.neuron);
      text += change.constant.empty() ? change.what : fmt::format("{}[{}] {:.4g} -> {:.4g}", change.constant, change.index, change.before, change.after);
    }
    const auto all = static_cast<std::size_t>(made.change_count);
    return all > shown ? fmt::format("{}; {} in all", text, all) : text;
  }

  void report(const MutationState& state, const RunFigures& figures, Document& document) const {
    const MutationScore result = score(state, score_);
    describe(document, state, result, score_);
    document.facts.push_back({"ran", "verdicts found now", static_cast<std::int64_t>(figures.ran), Kind::count});
    if (figures.reused > 0) document.facts.push_back({"reused", "verdicts known before", static_cast<std::int64_t>(figures.reused), Kind::count});
    if (figures.unlabelled > 0) document.notices.push_back("the records have no labels: what the original answers counts as right");
    if (figures.non_finite > 0) document.notices.push_back(fmt::format("{} records were left out: the original answers them with a NaN or infinity", figures.non_finite));
    for (const ClassScore& one : result.by_class) {
      if (one.records == 0) {
        document.notices.push_back("some classes have no record in T', so the score cannot reach 100 %");
        break;
      }
    }
    if (!matrix_.empty()) write_file(matrix_, to_csv(matrix_table(state, result)));
    if (!subset_.empty()) {
      const Cover subset = killing_subset(state, result);
      std::string ids;
      for (const std::size_t r : subset.records) ids += state.records()[r].id + "\n";
      write_file(subset_, ids);
      document.facts.push_back({"killing_subset", fmt::format("records that keep the score{}", subset.optimal ? " (the fewest possible)" : ""), static_cast<std::int64_t>(subset.records.size()), Kind::count});
    }
    gates_.apply(document, measurements_of(state, result));
  }

  ModelInput model_;
  DataInput test_{"test", "test records to be judged"};
  AccuracyCheck check_;
  GateOptions gates_;
  std::string action_ = "run", preset_, out_, state_, shard_, matrix_, subset_;
  std::vector<std::string> operators_, mutants_;
  std::optional<std::size_t> count_;
  std::optional<double> margin_;
  double memory_ = 1;
  bool list_ = false, naive_ = false;
  DrawOptions draw_;
  ScoreOptions score_;
};

void Mutate::fill_changes(Table& table, const Mutation& made, std::size_t count) {
  for (const Change& change : std::span(made.changes).first(std::min(count, made.changes.size()))) {
    table.rows.push_back({change.layer, change.neuron < 0 ? Cell() : Cell(change.neuron), change.index < 0 ? Cell() : Cell(change.index),
                          static_cast<double>(change.before), static_cast<double>(change.after)});
  }
}

}  // namespace

CommandInfo mutate_command() {
  return {"mutate", "which faults in the network the test set would notice: mutation score and error rate",
          "  assay mutate --model lenet5.onnx --test t10k-images-idx3-ubyte.gz --state lenet5.mut\n"
          "  assay mutate --model net.onnx --test test.npz --operator 'gf[sigma=0.5]' --operator neb --count 20 --fail-under mutation=0.7\n"
          "  assay mutate list --model net.onnx --operator ns --layer conv2\n"
          "  assay mutate export --model net.onnx --mutant 'gf@conv2#17' --out mutant.onnx",
          make_command<Mutate>};
}

}  // namespace assay::app
