// assay mutate: which faults a test set would miss.

#include <filesystem>

#include <assay/dataset.h>
#include <assay/error.h>
#include <assay/model.h>
#include <assay/mutation.h>
#include <assay/mutation_operator.h>
#include <assay/report.h>
#include "apps/assay/commands/catalogue.h"
#include "apps/assay/gate_options.h"
#include "apps/assay/inputs.h"
#include "assay/results/document.h"
#include "assay/results/mutation.h"
#include "assay/support/file.h"
#include "assay/support/journal.h"

namespace assay::app {
namespace {

namespace fs = std::filesystem;

class Mutate final : public Command {
 public:
  void declare(CLI::App& app) override {
    app.add_option("action", action_,
                   "run: judge mutants by a test set; list: only name them; export: write one as ONNX")
        ->type_name("ACTION")
        ->check(CLI::IsMember({"run", "list", "export"}));
    model_.declare(app);
    test_.declare(app);
    app.add_option("--operator", operators_,
                   "operator with options, such as gf[sigma=0.5]; may be repeated (default: DeepMutation's "
                   "eight; `assay operators` lists all)")
        ->type_name("SPEC");
    app.add_option("--preset", preset_, "operators and sites of a paper: deepmutation")->type_name("NAME");
    app.add_option("--count", count_,
                   "mutants per operator, where so many are possible (default: 50, or the preset's)")
        ->check(CLI::Range(0, 1'000'000));
    app.add_option("--layer", draw_.layers, "layer to mutate, may be repeated (default: all with weights)")
        ->type_name("NAME");
    app.add_flag("--whole-network", draw_.whole_network,
                 "draw a mutant's sites over all layers together rather than in one");
    app.add_option("--mutant", mutants_,
                   "a mutant by its text, such as gf@conv2#17 (as --list prints it); may be repeated; no "
                   "others are drawn")
        ->type_name("TEXT");
    app.add_flag("--list", list_, "the same as the action list");
    app.add_option("--out", out_, "with export: where the mutant goes")->type_name("FILE.onnx");
    app.add_option("--quality", score_.quality,
                   "leave out mutants that get more than this share of T' wrong; 1: none")
        ->check(CLI::Range(0.0, 1.0));
    app.add_option("--margin", margin_,
                   "regression: a mutant is killed where its output differs by more than this")
        ->check(CLI::PositiveNumber)
        ->type_name("FLOAT");
    app.add_option("--state", state_,
                   "keep results in FILE: what is known there for this network is not run again, and an "
                   "interrupted run goes on from FILE.journal")
        ->type_name("FILE");
    app.add_option("--shard", shard_, "run only this part of the mutants: 2/8 is the second of eight")
        ->type_name("K/N");
    app.add_option("--matrix", matrix_, "write which record kills which mutant")->type_name("FILE.csv");
    app.add_option("--killing-subset", subset_,
                   "write the ids of the smallest set of records found that keeps the score")
        ->type_name("FILE.txt");
    app.add_option("--keep", memory_, "GiB for what the original network computes, which mutants start from")
        ->check(CLI::PositiveNumber);
    app.add_flag("--naive", naive_, "run each mutant whole for each record: slow, the same result");
    check_.declare(app);
    gates_.declare(app);
  }

  std::vector<Output> outputs() const override {
    std::vector<Output> all{{"--matrix", matrix_}, {"--killing-subset", subset_}};
    if (action_ == "export") all.push_back({"--out", out_});
    if (state_.empty()) return all;
    all.push_back({"--state", state_, Output::Kind::file, true});
    all.push_back({"the journal of --state", state_ + ".journal", Output::Kind::journal});
    return all;
  }

  report::Document run(Context& context) override {
    const DatasetPtr test = test_.given() ? test_.open() : nullptr;
    const Session session = model_.open(context, test.get());
    check_replaced(state_, "mutants of this network", context.settings, [&] {
      return mutation::MutationState::read(state_).model_hash() == session.graph().hash();
    });
    gates_.check({"mutation", "killed-mutants"});
    gates_.check_baseline(session.graph().hash(), test ? test->hash() : "");
    report::Document document;
    const mutation::Subject subject(session);
    for (const auto& [layer, reason] : subject.left_out())
      document.notices.push_back(fmt::format("layer {} is not mutated: {}", layer, reason));
    const mutation::Drawn drawn = chosen(subject, context);
    if (action_ == "export") {
      exported(subject, drawn, document);
    } else if (action_ == "list" || list_) {
      listed(subject, drawn, document);
    } else {
      judged(session, subject, drawn, test, context, document);
    }
    results::add_provenance(document, session.graph(), {});
    if (test) results::add_provenance(document, "test", *test);
    return document;
  }

 private:
  mutation::Drawn chosen(const mutation::Subject& subject, Context& context) {
    if (!mutants_.empty()) {
      mutation::Drawn drawn;
      for (const std::string& text : mutants_) drawn.mutants.push_back(mutation::parse_mutant(text));
      return drawn;
    }
    const bool own = !operators_.empty() && preset_.empty();
    const mutation::MutationPreset& preset =
        mutation::presets().find(preset_.empty() ? "deepmutation" : preset_);
    std::vector<std::string> texts = own ? std::vector<std::string>() : preset.specs;
    texts.insert(texts.end(), operators_.begin(), operators_.end());
    for (const std::string& text : texts) {
      draw_.operators.emplace_back(text);
      mutation::info_of(draw_.operators.back());
    }
    draw_.per_operator = count_.value_or(preset_.empty() ? 50 : preset.per_operator);
    if (!preset_.empty()) draw_.whole_network = draw_.whole_network || preset.whole_network;
    draw_.seed = context.settings.seed;
    return mutation::draw_mutants(subject, draw_);
  }

  // This shard's mutants.
  std::vector<mutation::Mutant> part_of(const mutation::Drawn& drawn) const {
    if (shard_.empty()) return drawn.mutants;
    const auto [shard, shards] = parse_shard(shard_);
    std::vector<mutation::Mutant> part;
    for (std::size_t i = shard - 1; i < drawn.mutants.size(); i += shards) part.push_back(drawn.mutants[i]);
    return part;
  }

  void listed(const mutation::Subject& subject, const mutation::Drawn& drawn,
              report::Document& document) const {
    results::append(document, results::document_of(subject, part_of(drawn), drawn.not_applicable));
    document.headline += "; --mutant TEXT names one";
  }

  void exported(const mutation::Subject& subject, const mutation::Drawn& drawn,
                report::Document& document) const {
    if (mutants_.size() != 1 || out_.empty())
      fail(Fault::usage,
           "export writes one mutant: name it with --mutant TEXT (assay mutate list shows them) and its file "
           "with --out FILE.onnx");
    const mutation::Mutation made = mutation::apply(subject, drawn.mutants[0]);
    write_onnx(made.graph, out_);
    results::append(document, results::document_of(made, 20));
    document.headline = fmt::format("{}: {}", out_, made.summary);
  }

  void judged(const Session& session, const mutation::Subject& subject, const mutation::Drawn& drawn,
              const DatasetPtr& test, Context& context, report::Document& document) {
    if (!test) fail(Fault::usage, "which test set is to be judged? name it with --test SPEC");
    if (drawn.mutants.empty()) {
      fail(Fault::usage, "no mutant can be made of '{}'{}", subject.graph().name(),
           drawn.not_applicable.empty()
               ? std::string()
               : fmt::format(": {} on {}: {}", drawn.not_applicable[0].op.text(),
                             drawn.not_applicable[0].layer, drawn.not_applicable[0].reason));
    }
    check_.run_if_asked(session, test, context, document);
    std::vector<mutation::PlannedMutant> planned;
    for (const mutation::Mutant& mutant : part_of(drawn))
      planned.push_back(mutation::planned(subject, mutant));
    mutation::RunOptions options;
    options.margin = margin_;
    options.quality = score_.quality;
    options.naive = naive_;
    options.batch = context.settings.batch;
    options.memory = memory_ * 1024 * 1024 * 1024;
    std::optional<mutation::MutationState> earlier;
    if (!state_.empty()) {
      options.journal = state_ + ".journal";
      if (fs::exists(state_) && !context.settings.force) earlier = mutation::MutationState::read(state_);
    }
    mutation::RunFigures figures;
    mutation::MutationState state = mutation::run_mutants(
        session, planned, test, options, earlier ? &*earlier : nullptr, figures, context.progress);
    for (const mutation::NotApplicable& entry : drawn.not_applicable)
      state.not_applicable.push_back({entry.op.text(), entry.layer, entry.reason});
    state.sort();
    if (!state_.empty()) {
      state.write(state_);
      Journal::remove(options.journal);
    }
    report(state, figures, document);
  }

  void report(const mutation::MutationState& state, const mutation::RunFigures& figures,
              report::Document& document) const {
    const mutation::MutationScore result = mutation::score(state, score_);
    results::append(document, results::document_of(state, result, score_, &figures));
    if (!matrix_.empty()) write_file(matrix_, report::to_csv(results::matrix_table(state, result)));
    if (!subset_.empty()) {
      const selection::Cover subset = mutation::killing_subset(state, result);
      std::string ids;
      for (const std::size_t r : subset.records) ids += state.records()[r].id + "\n";
      write_file(subset_, ids);
      document.facts.push_back(results::subset_fact(subset));
    }
    gates_.apply(document, results::measurements_of(state, result));
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
  mutation::DrawOptions draw_;
  mutation::ScoreOptions score_;
};

}  // namespace

CommandInfo mutate_command() {
  return {"mutate", "which faults in the network the test set would notice: mutation score and error rate",
          "  assay mutate --model lenet5.onnx --test t10k-images-idx3-ubyte.gz --state lenet5.mut\n"
          "  assay mutate --model net.onnx --test test.npz --operator 'gf[sigma=0.5]' --operator neb --count "
          "20 --fail-under mutation=0.7\n"
          "  assay mutate list --model net.onnx --operator ns --layer conv2\n"
          "  assay mutate export --model net.onnx --mutant 'gf@conv2#17' --out mutant.onnx",
          make_command<Mutate>};
}

}  // namespace assay::app
