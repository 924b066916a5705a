// assay explore: records on which networks disagree.

#include <algorithm>
#include <filesystem>

#include <assay/dataset.h>
#include <assay/error.h>
#include <assay/extend/constraint.h>
#include "apps/assay/commands/catalogue.h"
#include "apps/assay/networks.h"
#include "assay/explore/choice.h"
#include "assay/explore/manifest.h"
#include "assay/results/document.h"
#include "assay/results/networks/pictures.h"
#include "assay/results/testing/exploration.h"
#include "assay/support/files/file.h"
#include "assay/support/ranks/ranks.h"

namespace assay::app {
namespace {

namespace fs = std::filesystem;

class Explore final : public Command {
 public:
  void declare(Flags& flags) override {
    networks_.declare(flags);
    data_.declare(flags);
    flags.add("--constraint SPEC", constraints_,
              "what may be done to a record, such as occl[size=10x10]; several apply together (default: "
              "light; none: anything; `assay constraints` lists all)");
    flags.add("--criterion SPEC", criterion_,
              "criterion whose uncovered items are the second objective (`assay criteria` lists all)");
    units_.declare(flags);
    choice_ = flags.add("--choice NAME", options_.choice,
                        "which neuron to lift: random, rarest, nearest, relevant");
    choose_once_ =
        flags.add("--choose-once", options_.search.choose_once,
                  "choose neurons once per seed, as the released code does, not in each iteration");
    flags.add("--lambda1", options_.search.lambda1,
              "weight of the network that is pushed away from the others", CLI::NonNegativeNumber);
    flags.add("--lambda2", options_.search.lambda2, "weight of the coverage term; 0: none",
              CLI::NonNegativeNumber);
    flags.add("--step", options_.search.step,
              "step size, as a share of the valid range; gradients are divided by their root mean square",
              CLI::PositiveNumber);
    flags.add("--iterations", options_.search.iterations, "steps per seed at most", CLI::Range(1, 1'000'000));
    flags.add("--patience", options_.search.patience,
              "steps without coming nearer to a disagreement after which a seed is given up; 0: never");
    flags.add("--target N", target_, "the network pushed away, counted from 0 (default: drawn for each seed)",
              CLI::NonNegativeNumber);
    probability_ = flags.add("--probability", options_.search.probability,
                             "climb probabilities after the softmax, not the scores before it");
    margin_ = flags.add("--margin", options_.search.disagreement.margin,
                        "regression: outputs further apart than this disagree", CLI::PositiveNumber);
    opposite_signs_ = flags.add("--opposite-signs", options_.search.disagreement.opposite_signs,
                                "regression: only when the outputs do not all have one sign, too");
    only_correct_ = flags.add("--only-correct", options_.only_correct,
                              "leave out seeds that the first network names otherwise than their label");
    flags.add("--passes", options_.passes, "times that all seeds are searched from",
              CLI::Range(1, 1'000'000));
    flags.add("--round", options_.round,
              "seeds that see the same coverage, part of the definition of the result",
              CLI::Range(1, 1'000'000));
    flags
        .add("--goal SHARE", options_.goal,
             "end when the coverage of all networks together reaches this share", CLI::Range(0.0, 1.0))
        ->default_str("");
    flags
        .add("--findings N", options_.findings, "end after the round that brings so many findings",
             CLI::NonNegativeNumber)
        ->default_str("");
    flags
        .add("--time SECONDS", options_.seconds, "end after the round in which so many seconds are over",
             CLI::NonNegativeNumber)
        ->default_str("");
    baseline_.declare(flags);
    flags.add("--storage FORM", storage_,
              "levels: 8-bit levels of the valid range, as pictures have them; float: float32 (default: "
              "levels for pictures)",
              CLI::IsMember({"levels", "float"}));
    flags.add("--no-shrink", no_shrink_, "keep findings as the search left them");
    flags.add("--near-duplicate SHARE", near_duplicate_,
              "root mean square difference, as a share of the range, up to which two findings with the same "
              "answers are one (default: 0.01 for pictures, 0 for others)",
              CLI::Range(0.0, 1.0));
    flags.add("--plausibility MEASURE", plausibility_,
              "judge findings by dsa or lsa against the training records, or not: none (default: dsa, for "
              "regression lsa, with --train)",
              CLI::IsMember({"dsa", "lsa", "none"}));
    flags.add("--out FOLDER", output_,
              "folder for findings.npz, voted.npz, manifest.json, pictures and the journal");
    flags.add("--pictures", pictures_, "findings drawn as before, after and difference",
              CLI::Range(0, 100'000));
  }

  std::vector<Output> outputs() const override {
    return {{"--out", output_, Output::Kind::folder},
            {"the journal of --out", (fs::path(output_) / "journal").string(), Output::Kind::journal}};
  }

  bool shared() const override { return true; }
  report::Document run(Context& context) override {
    const DatasetPtr seeds = data_.open();
    prepare(*seeds, context);
    report::Document document;
    networks_.open(context, *seeds, document);
    networks_.learn(learning(*seeds), units_, seeds, context, document);
    explore::Exploration exploration =
        explore::explore(networks_.networks(), seeds, options_, context.progress);
    ranks().leave_to_first();
    const explore::StoredFindings stored = explore::store(networks_.networks(), *seeds, exploration.findings,
                                                          options_, output_, context.progress);
    results::ExplorationResult result{networks_.networks(), *seeds, exploration, stored, {}};
    if (const std::string measure = plausibility(*seeds);
        measure != "none" && !exploration.findings.empty()) {
      const explore::ExploredNetwork& first = networks_.networks().front();
      result.plausibility =
          explore::judge_plausibility(*first.session, *first.profile, measure, seeds,
                                      open_dataset(stored.data), 0.99, 2000, context.progress);
    }
    explore::write_manifest(networks_.networks(), *seeds, exploration.findings, stored,
                            result.plausibility ? &*result.plausibility : nullptr,
                            fs::path(output_) / "manifest.json");
    results::append(document, results::document_of(result, options_));
    document.pictures = results::draw_findings(result, pictures_, fs::path(output_) / "pictures");
    return document;
  }

 private:
  void prepare(const Dataset& seeds, const Context& context) {
    refuse_without_effect(seeds);
    if (constraints_.empty()) constraints_ = {results::is_picture(seeds) ? "light" : "none"};
    for (const std::string& text : constraints_) {
      if (text != "none") options_.constraints.emplace_back(text);
    }
    explore::make_constraint(options_.constraints);  // wrong options show before any work
    options_.criterion = parse_spec("criterion", criterion_);
    coverage::criteria().find(options_.criterion.spec().name);
    explore::neuron_choices().find(options_.choice);
    if (target_) options_.search.target = *target_;
    options_.search.shrink = !no_shrink_;
    options_.near_duplicate = near_duplicate_.value_or(results::is_picture(seeds) ? 0.01 : 0);
    options_.search.levels = storage_.empty() ? results::is_picture(seeds) : storage_ == "levels";
    options_.search.seed = context.settings.seed;
    if (context.settings.batch > 0) options_.search.width = context.settings.batch;
    if (baseline_.given()) options_.baseline = baseline_.open();
    options_.journal = fs::path(output_) / "journal";
    make_folders(output_);
  }

  void refuse_without_effect(const Dataset& seeds) const {
    if (seeds.target_width() > 0) {
      frame::refuse_without_effect({only_correct_, probability_}, "for regression: it is for classes");
    } else {
      frame::refuse_without_effect({margin_, opposite_signs_},
                                   "on classes: it is for regression (targets= of --data)");
      if (!seeds.has_labels())
        frame::refuse_without_effect(
            {only_correct_}, "without labels: --data say no classes that the first network could name");
    }
    if (options_.search.lambda2 == 0)
      frame::refuse_without_effect({choice_, choose_once_}, "with --lambda2 0: no neuron is lifted");
    if (constraints_.size() > 1 && std::ranges::count(constraints_, "none") > 0)
      fail(Fault::usage, "--constraint none has no effect beside others: leave it out, or the others");
  }

  std::string plausibility(const Dataset& seeds) const {
    if (!plausibility_.empty()) return plausibility_;
    if (!networks_.has_training()) return "none";
    return seeds.target_width() > 0 ? "lsa" : "dsa";
  }

  coverage::LearnOptions learning(const Dataset& seeds) const {
    coverage::LearnOptions options;
    options.criteria = {options_.criterion};
    if (const std::string measure = plausibility(seeds); measure != "none")
      options.criteria.push_back({measure == "dsa" ? "dsc" : "lsc", {}});
    return options;
  }

  NetworksInput networks_;
  UnitsInput units_{"units of each network that are lifted, in place of all neurons"};
  DataInput data_{"data",
                  "seeds; a valid range must be known (8-bit images know theirs, others say range=0:1)"};
  DataInput baseline_{"baseline",
                      "records whose coverage counts as reached before the first seed (default: none)"};
  const CLI::Option *choice_ = nullptr, *choose_once_ = nullptr, *probability_ = nullptr, *margin_ = nullptr,
                    *opposite_signs_ = nullptr, *only_correct_ = nullptr;
  std::vector<std::string> constraints_;
  std::string criterion_ = "nc[threshold=0.25]", storage_, plausibility_, output_ = "assay-explore";
  std::optional<std::size_t> target_;
  std::optional<double> near_duplicate_;
  bool no_shrink_ = false;
  std::size_t pictures_ = 24;
  explore::ExploreOptions options_;
};

}  // namespace

CommandInfo explore_command() {
  return {"explore",
          "records on which networks disagree, found by gradient ascent under constraints of the domain, "
          "with coverage as a second goal",
          "  assay explore lenet1.onnx lenet4.onnx lenet5.onnx --data t10k-images-idx3-ubyte.gz --constraint "
          "'occl[size=10x10]'\n"
          "  assay explore net.onnx --mutant int8@all --data test.npz,range=0:1 --constraint 'linf[eps=0.1]' "
          "--criterion 'idc[m=6]' --train train.npz,range=0:1\n"
          "  assay explore a.onnx b.onnx c.onnx --data frames.tar,targets=steering.csv --constraint light "
          "--margin 0.2",
          make_command<Explore>};
}

}  // namespace assay::app
