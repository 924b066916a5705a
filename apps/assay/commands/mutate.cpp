// assay mutate: which faults a test set would miss.

#include <assay/dataset.h>
#include <assay/error.h>
#include <assay/extend/mutation_operator.h>
#include <assay/model.h>
#include <assay/mutation.h>
#include <assay/report.h>
#include "apps/assay/commands/catalogue.h"
#include "apps/assay/commands/source_mutants.h"
#include "apps/assay/inputs.h"
#include "apps/assay/unit_choice.h"
#include "assay/data/files/records_file.h"
#include "assay/mutation/choice.h"
#include "assay/mutation/kept_run.h"
#include "assay/results/document.h"
#include "assay/results/testing/killing.h"
#include "assay/results/testing/mutation.h"
#include "assay/results/testing/trained_mutants.h"
#include "assay/support/files/file.h"
#include "assay/support/ranks/ranks.h"
#include "assay/support/text/parse.h"
#include "assay/support/text/text.h"

namespace assay::app {
namespace {

class Mutate final : public Command {
 public:
  void declare(Flags& flags) override {
    flags.add("action ACTION", action_,
              "run: judge mutants by a test set; list: only name them; export: write one as ONNX; store: "
              "list and check what is in --store",
              CLI::IsMember({"run", "list", "export", "store"}));
    flags.skip_other_words();  // what is no action is the network
    model_.declare(flags, true);
    flags.add("--test SPEC", tests_,
              "test records to be judged; of mutants that are trained it may be repeated, and the others are "
              "compared with the first");
    flags.add("--operator SPEC", operators_,
              "operator with options, such as gf[sigma=0.5]; may be repeated (default: DeepMutation's; "
              "`assay operators` lists all)");
    flags.add("--preset NAME", preset_,
              "operators and sites of a paper: deepmutation (the default), deepmutation-source, ...");
    flags.add("--count", count_,
              "mutants per operator, where so many are possible (default: 50, or the preset's)",
              CLI::Range(0, 1'000'000));
    flags.add("--layer NAME", draw_.layers, "layer to mutate, may be repeated (default: all with weights)");
    edits_.push_back(units_.declare(flags));
    edits_.push_back(flags.add("--whole-network", draw_.whole_network,
                               "draw a mutant's sites over all layers together rather than in one"));
    flags.add("--mutant TEXT", mutants_,
              "a mutant by its text, such as gf@conv2#17 (as --list prints it); may be repeated; no others "
              "are drawn");
    flags.add("--list", list_, "the same as the action list");
    flags.add("--out FILE.onnx", out_, "with export: where the mutant goes");
    flags.add("--quality", score_.quality,
              "leave out mutants that get more than this share of T' wrong; 1: none", CLI::Range(0.0, 1.0));
    flags.add("--margin FLOAT", margin_,
              "regression: a mutant is killed where its output differs by more than this",
              CLI::PositiveNumber);
    flags.add("--state FILE", state_,
              "keep results in FILE: what is known there for this network is not run again, and an "
              "interrupted run goes on from FILE.journal");
    shard_.declare(flags);
    flags.add("--matrix FILE.csv", matrix_, "write which record kills which mutant");
    flags.add("--killing-subset FILE.txt", subset_,
              "write the ids of the smallest set of records found that keeps the score");
    flags.add("--keep", memory_, "GiB for what the original network computes, which mutants start from",
              CLI::PositiveNumber);
    edits_.push_back(
        flags.add("--naive", naive_, "run each mutant whole for each record: slow, the same result"));
    single_ = flags.named({"--count", "--mutant", "--quality", "--margin", "--state", "--matrix",
                           "--killing-subset", "--keep"});
    source_.declare(flags);
    check_.declare(flags);
    gates_.declare(flags);
    judging_ = flags.named({"--matrix", "--killing-subset", "--fail-under", "--no-worse-than"});
    drawing_ = flags.named({"--operator", "--preset", "--count", "--layer", "--whole-network"});
  }

  std::vector<Output> outputs() const override {
    std::vector<Output> all{{"--matrix", matrix_}, {"--killing-subset", subset_}};
    if (action_ == "export") all.push_back({"--out", out_});
    for (Output& output : source_.outputs()) all.push_back(std::move(output));
    if (state_.empty()) return all;
    all.push_back({"--state", state_, Output::Kind::file, true});
    all.push_back({"the journal of --state", mutation::journal_of(state_).string(), Output::Kind::journal});
    return all;
  }

  bool shared() const override { return true; }
  report::Document run(Context& context) override {
    if (action_ != "run" || list_) ranks().leave_to_first();
    if (action_ == "store") return source_.store();
    gates_.check({"mutation", "killed-mutants"});
    check_.refuse_without_effect();
    if (action_ != "run" || list_) refuse_given(judging_, "unless mutants are judged");
    if (!mutants_.empty()) refuse_given(drawing_, "on mutants that are named");
    if (action_ != "export" && !out_.empty())
      fail(Fault::usage,
           "--out is where one mutant goes: `assay mutate export --mutant TEXT --out FILE.onnx`");
    choose_operators();
    part_ = shard_.part(context);
    return mutation::need_training(draw_.operators) ? run_source(context) : run_edits(context);
  }

 private:
  // Mutants are edits of a trained network.
  report::Document run_edits(Context& context) {
    report::Document document;
    source_.refuse_without_training(document);
    source_.leave_out(false, context.effective);
    if (tests_.size() > 1)
      fail(Fault::usage, "--test is repeated: only mutants that are trained are judged by several test sets");
    const DatasetPtr test = tests_.empty() ? nullptr : open_dataset(tests_[0]);
    const auto opened = std::make_shared<const Session>(model_.open(context, test.get()));
    const Session& session = *opened;
    if (!named_.empty() && units_.given())
      fail(Fault::usage, "mutants that are named say themselves what they change; leave out --units");
    draw_.units = units_.of(opened);
    check_state(session, context);
    gates_.check_baseline(session.graph().hash(), test ? test->hash() : "");
    const mutation::Subject subject(session);
    for (const auto& [layer, reason] : subject.left_out())
      document.notices.push_back(fmt::format("layer {} is not mutated: {}", layer, reason));
    const mutation::Drawn drawn = drawn_by(context, [&] { return mutation::draw_mutants(subject, draw_); });
    if (action_ == "export") {
      exported(subject, drawn, document);
    } else if (action_ == "list" || list_) {
      results::append(document, results::document_of(subject, part_of(drawn), drawn.not_applicable));
      document.headline += "; --mutant TEXT names one";
    } else {
      require_judgeable(drawn, session.graph());
      check_.run_if_asked(session, test, context, document);
      std::vector<mutation::PlannedMutant> planned;
      for (const mutation::Mutant& mutant : part_of(drawn))
        planned.push_back(mutation::planned(subject, mutant));
      judged(session, planned, drawn, test, context, document);
    }
    results::add_provenance(document, session.graph(), {});
    if (test) results::add_provenance(document, "test", *test);
    return document;
  }

  // Mutants are networks trained with a fault.
  report::Document run_source(Context& context) {
    refuse_given(edits_, "on mutants that are trained");
    source_.take_runs(mutants_.empty() && !preset_.empty() ? mutation::presets().find(preset_).runs
                                                           : std::vector<std::size_t>());
    for (const CLI::Option* option : edits_) context.effective[option->get_lnames().front()] = {};
    if (source_.repeated()) {
      for (const CLI::Option* option : single_) context.effective[option->get_lnames().front()] = {};
    }
    source_.leave_out(true, context.effective);
    const SourceStudy study = source_.open(model_, context);
    report::Document document;
    if (source_.repeated()) return run_repeated(study, context);
    const mutation::Drawn drawn =
        drawn_by(context, [&] { return mutation::draw_mutants(study.program, study.subject, draw_); });
    if (action_ == "list" || list_) {
      results::append(
          document, results::document_of(study.program, study.subject, part_of(drawn), drawn.not_applicable));
      document.headline += "; --mutant TEXT names one";
    } else if (action_ == "export") {
      const mutation::Mutant& mutant = exported_mutant(drawn);
      write_onnx(in_form_of_file(mutation::train_mutant(study.program, study.subject, mutant,
                                                        source_.plan(context), context.progress),
                                 model_.form()),
                 out_);
      document.headline =
          fmt::format("{}: {}", out_, mutation::apply(study.program, study.subject, mutant).summary);
    } else {
      judged_by_all(study, drawn, context, document);
    }
    results::add_provenance(document, study.program.graph, {});
    results::add_provenance(document, "training", *study.program.training);
    return document;
  }

  // Mutants are trained several times.
  report::Document run_repeated(const SourceStudy& study, Context& context) const {
    if (action_ != "run" || list_)
      fail(Fault::usage,
           "trained several times (--runs, or a preset that has runs), mutants are only judged");
    refuse_given(single_, "on mutants that are trained several times");
    if (tests_.empty()) fail(Fault::usage, "which test set is to be judged? name it with --test SPEC");
    const std::vector<DatasetPtr> tests = open_tests(study);
    const mutation::KillingStudy found = source_.studied(study, tests, draw_, part_, context);
    ranks().leave_to_first();
    report::Document document =
        results::document_of(found, source_.design(), study.program.graph.name(), tests_);
    if (part_.second > 1) {
      document.notices.push_back(
          fmt::format("part {} of {}: when all parts have run, the same command without --shard makes the "
                      "whole result from the store",
                      part_.first, part_.second));
    }
    gates_.apply(document, results::measurements_of(found));
    results::add_provenance(document, study.program.graph, {});
    results::add_provenance(document, "training", *study.program.training);
    add_tests(document, tests);
    return document;
  }

  std::vector<DatasetPtr> open_tests(const SourceStudy& study) const {
    std::vector<DatasetPtr> tests;
    for (const std::string& spec : tests_) tests.push_back(open_dataset(spec));
    gates_.check_baseline(study.program.graph.hash(), tests[0]->hash());
    return tests;
  }

  static void add_tests(report::Document& document, const std::vector<DatasetPtr>& tests) {
    for (std::size_t t = 0; t < tests.size(); ++t)
      results::add_provenance(document, t == 0 ? "test" : fmt::format("test_{}", t + 1), *tests[t]);
  }

  void judged_by_all(const SourceStudy& study, const mutation::Drawn& drawn, Context& context,
                     report::Document& document) {
    require_judgeable(drawn, study.program.graph);
    const std::vector<DatasetPtr> tests = open_tests(study);
    if (!margin_ && tests[0]->target_width() > 0)  // before anything is trained
      fail(Fault::usage,
           "the records have regression targets: --margin is needed, by which a mutant's output has to "
           "differ to be killed");
    const mutation::TrainingPlan plan = source_.plan(context);
    const Session original(mutation::train_original(study.program, plan, context.progress),
                           study.session.options());
    check_state(original, context);
    check_.run_if_asked(original, tests[0], context, document);
    const std::vector<mutation::Mutant> mutants = part_of(drawn);
    mutation::TrainedMutants trained =
        mutation::train_mutants(study.program, study.subject, mutants, plan, context.progress);
    source_.mark_killable(study, original, trained.planned, margin_, context);
    results::append(document, results::document_of(mutants, trained.trained));
    if (trained.planned.empty() && !mutants.empty())
      fail(Fault::data, "none of the mutants could be trained");
    std::vector<mutation::MutationState> others;  // of all test sets but the first
    for (std::size_t t = 1; t < tests.size(); ++t) {
      mutation::RunFigures figures;
      others.push_back(mutation::run_mutants(original, trained.planned, tests[t], run_options(context),
                                             nullptr, figures, context.progress));
    }
    const mutation::MutationState first =
        judged(original, trained.planned, drawn, tests[0], context, document);
    std::vector<results::ComparedTests> compared{{tests_[0], mutation::score(first, score_)}};
    if (report::Table redundant = results::redundant_table(first, compared[0].score); !redundant.rows.empty())
      document.tables.push_back(std::move(redundant));
    for (std::size_t t = 1; t < tests.size(); ++t)
      compared.push_back({tests_[t], mutation::score(others[t - 1], score_)});
    if (tests.size() > 1) document.tables.insert(document.tables.begin(), results::compared_table(compared));
    document.provenance.emplace_back("trained_hash", original.graph().hash());
    add_tests(document, tests);
  }

  void check_state(const Session& original, Context& context) const {
    check_replaced(state_, "mutants of this network", context.settings, [&] {
      return mutation::MutationState::read(state_).model_hash() == original.graph().hash();
    });
  }

  // Operators of preset and flags, or those of the mutants that are named.
  void choose_operators() {
    for (const std::string& text : mutants_) {
      named_.push_back(mutation::parse_mutant(text));
      draw_.operators.emplace_back(named_.back().op);
    }
    if (named_.empty()) mutation::choose_operators(draw_, preset_, operators_, count_);
  }

  mutation::Drawn drawn_by(Context& context, const std::function<mutation::Drawn()>& draw) {
    if (!named_.empty()) return {.mutants = named_, .not_applicable = {}};
    draw_.seed = context.settings.seed;
    return draw();
  }

  // This shard's mutants.
  std::vector<mutation::Mutant> part_of(const mutation::Drawn& drawn) const {
    return mutation::part_of(drawn.mutants, part_.first, part_.second);
  }

  // The one that --mutant names.
  const mutation::Mutant& exported_mutant(const mutation::Drawn& drawn) const {
    if (mutants_.size() != 1 || out_.empty())
      fail(Fault::usage,
           "export writes one mutant: name it with --mutant TEXT (assay mutate list shows them) and its file "
           "with --out FILE.onnx");
    return drawn.mutants[0];
  }

  void exported(const mutation::Subject& subject, const mutation::Drawn& drawn,
                report::Document& document) const {
    const mutation::Mutation made = mutation::apply(subject, exported_mutant(drawn));
    write_onnx(in_form_of_file(made.graph, model_.form()), out_);
    results::append(document, results::document_of(made, 20));
    document.headline = fmt::format("{}: {}", out_, made.summary);
  }

  void require_judgeable(const mutation::Drawn& drawn, const Graph& graph) const {
    if (tests_.empty()) fail(Fault::usage, "which test set is to be judged? name it with --test SPEC");
    if (!drawn.mutants.empty()) return;
    if (drawn.not_applicable.empty() && !draw_.layers.empty())
      fail(Fault::usage,
           "no mutant can be made of '{}': none of the operators has a place at --layer {}; leave it out "
           "(`assay mutate list` shows the places)",
           graph.name(), joined(draw_.layers));
    fail(Fault::usage, "no mutant can be made of '{}'{}", graph.name(),
         drawn.not_applicable.empty()
             ? std::string()
             : fmt::format(": {} on {}: {}", drawn.not_applicable[0].op.text(), drawn.not_applicable[0].layer,
                           drawn.not_applicable[0].reason));
  }

  mutation::RunOptions run_options(const Context& context) const {
    mutation::RunOptions options;
    options.margin = margin_;
    options.quality = score_.quality;
    options.naive = naive_;
    options.batch = context.settings.batch;
    options.memory = memory_ * 1024 * 1024 * 1024;
    return options;
  }

  mutation::MutationState judged(const Session& session, const std::vector<mutation::PlannedMutant>& planned,
                                 const mutation::Drawn& drawn, const DatasetPtr& test, Context& context,
                                 report::Document& document) {
    mutation::RunFigures figures;
    mutation::MutationState state =
        mutation::run_kept(session, planned, drawn.not_applicable, test, run_options(context),
                           {state_, context.settings.force}, figures, context.progress);
    describe(state, figures, document);
    return state;
  }

  void describe(const mutation::MutationState& state, const mutation::RunFigures& figures,
                report::Document& document) const {
    const mutation::MutationScore result = mutation::score(state, score_);
    results::append(document, results::document_of(state, result, score_, &figures));
    if (!matrix_.empty()) write_file(matrix_, report::to_csv(results::matrix_table(state, result)));
    if (!subset_.empty()) {
      const selection::Cover subset = mutation::killing_subset(state, result);
      std::string ids;
      for (const std::size_t r : subset.records) ids += id_line(state.records()[r].id) + "\n";
      write_file(subset_, ids);
      document.facts.push_back(results::subset_fact(subset));
    }
    const std::string records = results::records_hash(state);
    gates_.check_baseline_records(records, true);
    gates_.apply(document, results::measurements_of(state, result));
    document.provenance.emplace_back("records_hash", records);
  }

  ModelInput model_;
  UnitsInput units_{"units whose neurons, or weights of theirs, are mutated, in place of all"};
  SourceMutants source_;
  ShardInput shard_{
      "run only this part of the mutants: 2/8 is the second of eight, auto the one that the scheduler names"};
  std::pair<std::size_t, std::size_t> part_{1, 1};     // of the work
  std::vector<const CLI::Option*> edits_;              // that matter to edits of a trained network only
  std::vector<const CLI::Option*> single_;             // that matter to mutants that are trained once only
  std::vector<const CLI::Option*> judging_, drawing_;  // that matter where mutants are judged, and drawn
  AccuracyCheck check_;
  GateOptions gates_;
  std::string action_ = "run", preset_, out_, state_, matrix_, subset_;
  std::vector<std::string> tests_, operators_, mutants_;
  std::vector<mutation::Mutant> named_;  // of mutants_
  std::optional<std::size_t> count_;
  std::optional<double> margin_;
  double memory_ = 1;
  bool list_ = false, naive_ = false;
  mutation::DrawOptions draw_;
  mutation::ScoreOptions score_;
};

}  // namespace

CommandInfo mutate_command() {
  return {
      "mutate",
      "which faults in the network or its training the test set would notice: mutation score and error rate",
      "  assay mutate --model lenet5.onnx --test t10k-images-idx3-ubyte.gz --state lenet5.mut\n"
      "  assay mutate --model net.onnx --test test.npz --operator 'gf[sigma=0.5]' --operator neb --count 20 "
      "--fail-under mutation=0.7\n"
      "  assay mutate --model net.onnx --test test.npz --operator neb --operator gf --units "
      "from=seen.json,hypothesis=label:7,top=5\n"
      "  assay mutate --train train.npz --test test.npz --model net.onnx --operator 'le[ratio=0.1]' --count "
      "5 --store trained\n"
      "  assay mutate list --model net.onnx --operator ns --layer conv2\n"
      "  assay mutate export --model net.onnx --mutant 'gf@conv2#17' --out mutant.onnx",
      make_command<Mutate>};
}

}  // namespace assay::app
