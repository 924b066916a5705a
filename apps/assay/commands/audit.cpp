// assay audit: which criterion to believe on this network.

#include "assay/results/testing/audit.h"
#include <assay/audit.h>
#include <assay/coverage.h>
#include <assay/error.h>
#include <assay/extend/criteria.h>
#include <assay/model.h>
#include "apps/assay/commands/catalogue.h"
#include "apps/assay/inputs.h"
#include "assay/audit/choices.h"
#include "assay/coverage/asked.h"
#include "assay/coverage/possible.h"
#include "assay/results/document.h"
#include "assay/results/warnings.h"
#include "assay/support/text/parse.h"

namespace assay::app {
namespace {

class Audit final : public Command {
 public:
  void declare(Flags& flags) override {
    model_.declare(flags, true);
    train_.declare(flags);
    test_.declare(flags);
    flags.add("--criterion SPEC", criteria_,
              "criterion with options, such as kmnc[sections=100]; may be repeated (default: the preset "
              "audit; `assay criteria` lists all)");
    flags.add("--preset NAME", preset_,
              "criteria of a preset (`assay criteria` lists them); those that the training traces do not "
              "allow are left out with a warning");
    flags.add("--by-layer", by_layer_, "criteria that count all layers are audited layer by layer as well");
    flags.add("--layer NAME", learn_.subjects,
              "subject layer of idc, lsc, dsc and mdsc by name or number, may be repeated (default: the "
              "layer before the last with weights)");
    flags.add("--mutants FILE", mutants_,
              "mutants that `assay mutate --state FILE` has judged by the same records (default: mutants are "
              "drawn and judged here)");
    flags.add("--findings SPEC", findings_,
              "records that `assay explore` or `assay attack --only-successful` made of test records, as "
              "further faults: those they were made of reveal them");
    flags.add("--count", count_, "mutants drawn per operator of DeepMutation; 0: none",
              CLI::Range(0, 10'000));
    flags.add("--quality", quality_, "leave out mutants that get more than this share of T' wrong",
              CLI::Range(0.0, 1.0));
    flags.add("--sampler NAME", options_.samplers,
              "how subsets are drawn: uniform, class, cluster; may be repeated (default: all)");
    flags.add("--sizes 50,100,...", sizes_, "records a subset (default: 1, 2 and 5 % of the records)");
    flags.add("--subsets", options_.subsets, "subsets of each size and kind", CLI::Range(10, 1'000'000));
    flags.add("--permutations", options_.permutations, "permutations of records at most, for p values",
              CLI::Range(19, 1'000'000));
    flags.add("--resamples", options_.resamples, "bootstrap replicates, for intervals",
              CLI::Range(20, 1'000'000));
    flags.add("--orders", options_.orders, "random orders that orders are compared with",
              CLI::Range(19, 1'000'000));
    flags.add("--level", options_.level, "false discovery rate of the verdicts", CLI::Range(0.0001, 0.5));
    flags.add("--noise FLOAT", noise_,
              "measure again on records with Gaussian noise of this deviation: does it change what the "
              "criterion says?",
              CLI::PositiveNumber);
    flags.add("--twin FILE", twins_,
              "measure again on another network for the same data, such as one trained with another seed; "
              "may be repeated");
  }

  report::Document run(Context& context) override {
    const DatasetPtr test = test_.open(), train = train_.open();
    const Session session = model_.open(context, test.get());
    if (mutants_.empty() && count_ > 0) audit::require_classes(session, *test);
    if (!sizes_.empty()) {
      for (const std::int64_t size : parse_positive(sizes_, ',', "--sizes", "6,8,10"))
        options_.sizes.push_back(static_cast<std::size_t>(std::max<std::int64_t>(size, 0)));
    }
    options_ = audit::settled(options_, test->size());
    options_.seed = context.settings.seed;
    options_.threads = static_cast<std::size_t>(context.settings.threads);
    audit::PoolOptions pooling;
    pooling.batch = context.settings.batch;
    pooling.seed = context.settings.seed;
    pooling.noise = noise_;
    std::vector<std::string> criteria = chosen();
    const auto profile = learned(session, train, criteria, context);
    std::vector<report::Warning> left_out;
    if (criteria_.empty()) left_out = keep_possible(profile, criteria);
    if (by_layer_) criteria = audit::with_layers(criteria, *profile);
    audit::Pool pool = audit::make_pool(session, profile, criteria, test, pooling, context.progress);
    for (const std::string& path : twins_) {
      const Session twin(read_model(path), session_options(context, test.get()));
      audit::measure_again(pool, twin.graph().name(), twin, learned(twin, train, criteria, context), criteria,
                           test, pooling, context.progress);
    }
    add_mutants(pool, session, test, context);
    if (!findings_.empty()) audit::add_findings(pool, open_dataset(findings_), test);
    const audit::Audit result = audit::audit(pool, options_, context.progress);
    report::Document document =
        results::document_of(result, pool, fmt::format("{} on {}", session.graph().name(), test->describe()));
    results::add_warnings(document, std::move(left_out));
    results::add_provenance(document, session.graph(), {{"test", test}, {"train", train}});
    return document;
  }

 private:
  std::vector<std::string> chosen() const {
    std::vector<std::string> texts = criteria_;
    if (!preset_.empty() || criteria_.empty()) {
      const std::vector<std::string>& preset =
          coverage::presets().find(preset_.empty() ? "audit" : preset_).specs;
      texts.insert(texts.begin(), preset.begin(), preset.end());
    }
    return texts;
  }

  // Leaves out of the preset's criteria what the profile does not allow.
  static std::vector<report::Warning> keep_possible(const std::shared_ptr<const coverage::Profile>& profile,
                                                    std::vector<std::string>& criteria) {
    std::vector<Spec> specs;
    for (const std::string& text : criteria) specs.push_back(parse_spec("criterion", text));
    const coverage::PossibleCriteria found = coverage::possible_criteria(profile, specs);
    if (found.possible.empty()) fail(Fault::mismatch, "{}", found.impossible[0].second);
    criteria.clear();
    for (const Spec& spec : found.possible) criteria.push_back(spec.text());
    return results::left_out_warnings(found);
  }

  std::shared_ptr<const coverage::Profile> learned(const Session& session, const DatasetPtr& train,
                                                   const std::vector<std::string>& criteria,
                                                   Context& context) const {
    coverage::LearnOptions learn = learn_;
    for (const std::string& text : criteria) learn.criteria.emplace_back(parse_spec("criterion", text));
    learn.batch = learn.importance.batch = context.settings.batch;
    return coverage::learned_profile(session, train, learn, context.progress);
  }

  void add_mutants(audit::Pool& pool, const Session& session, const DatasetPtr& test,
                   Context& context) const {
    if (!mutants_.empty()) {
      const mutation::MutationState state = mutation::MutationState::read(mutants_);
      if (state.model_hash() != session.graph().hash())
        fail(Fault::mismatch, "{} holds mutants of network '{}', not of '{}'", mutants_, state.model(),
             session.graph().name());
      audit::add_mutants(pool, state, quality_, test);
      return;
    }
    if (count_ == 0) return;
    const mutation::MutationState state = audit::judged_mutants(
        session, test, {count_, quality_, context.settings.seed, context.settings.batch}, context.progress);
    audit::add_mutants(pool, state, quality_, test);
  }

  ModelInput model_;
  DataInput train_{"train", "training records, which criteria compare with"},
      test_{"test", "test records, of which subsets are drawn"};
  std::vector<std::string> criteria_, twins_;
  std::string preset_, mutants_, findings_, sizes_;
  std::size_t count_ = 25;
  double quality_ = 0.2;
  bool by_layer_ = false;
  std::optional<double> noise_;
  coverage::LearnOptions learn_;
  audit::AuditOptions options_;
};

}  // namespace

CommandInfo audit_command() {
  return {"audit", "which criterion to believe: does covering more mean finding more faults?",
          "  assay audit --model net.onnx --train train.npz --test test.npz --html audit.html\n"
          "  assay audit --model net.onnx --train train.npz --test test.npz --criterion idc[m=6] --criterion "
          "nc[threshold=0.5] --by-layer\n"
          "  assay audit --model net.onnx --train train.npz --test test.npz --mutants net.mut --sizes 50,200 "
          "--twin other-seed.onnx --noise 0.05",
          make_command<Audit>};
}

}  // namespace assay::app
