// assay cover: what a test set exercises.

#include <algorithm>
#include <filesystem>

#include <assay/error.h>
#include "apps/assay/command.h"
#include "apps/assay/inputs.h"
#include "apps/assay/unit_choice.h"
#include "assay/answers/testing/attack.h"
#include "assay/answers/testing/coverage.h"
#include "assay/answers/testing/released_coverage.h"
#include "assay/coverage/released.h"
#include "assay/coverage/settings.h"
#include "assay/support/files/input_file.h"
#include "assay/support/text/text.h"
#include "assay/task/threshold.h"

namespace assay::app {
namespace {

class Cover final : public Command {
 public:
  void declare(Flags& flags) override {
    flags.take({Shared::seed});
    model_.declare(flags, true);
    model_.declare_views(flags);
    train_.declare(flags.leading());
    test_.declare(flags, true);
    reached_.declare(flags);
    flags.add_list(
        "--criterion SPEC,...", question_.criteria,
        "criterion with options, such as kmnc[sections=100]; may be repeated (default: idc for each m; "
        "`assay criteria` lists all)");
    flags.add("--preset NAME", question_.preset,
              "criteria and options of a paper, or a choice: " + joined(coverage::presets().names()) +
                  "; those that network and data do not allow are left out with a warning");
    units_.declare(flags);
    flags.add_list(
        "--layer NAME,...", question_.learn.subjects,
        "subject layer of idc, lsc, dsc, mdsc and scc by name or number, may be repeated (default: the "
        "layer before the last with weights)");
    flags.add_list("--count-layer NAME,...", question_.learn.layers,
                   "layer whose neurons the other criteria count, may be repeated (default: all)");
    neurons_ =
        flags.add_list("-m,--neurons 6,8,...", question_.ms, "numbers of important neurons of idc, or auto");
    flags.add("--share", question_.learn.share, "with -m auto: share of the relevance that the neurons hold",
              CLI::Range(0.0, 1.0));
    flags.add("--cap", question_.learn.cap, "with -m auto: at most this many neurons", CLI::Range(1, 250));
    profile_option_ = flags.naming(Concept::profile)
                          .add_output("--profile FILE", profile_,
                                      "read the profile from FILE; with --train it is learned and written "
                                      "there, unless FILE is another profile already",
                                      {.when = [this] { return learns(); }, .guarded = true});
    flags.add("--method", question_.learn.importance.method,
              "attribution (assay importance --help lists them)");
    flags.add("--absolute", question_.learn.importance.absolute, "rank neurons by absolute relevance");
    flags.add("--normalised", question_.learn.importance.normalised,
              "divide each record's relevance by its decision value");
    task_ = model_.declare_task(flags, question_.task);
    flags.add("--clusterer NAME", clusterer_, "what clusters the activations of important neurons");
    flags.add("--min-k", question_.learn.clusters.min_k, "fewest clusters tried", CLI::Range(1, 200));
    flags.add("--max-k", question_.learn.clusters.max_k, "most clusters tried", CLI::Range(1, 200));
    flags.add("--drop-zeros", question_.learn.clusters.drop_zeros,
              "leave zero activations out of the clustering, as the released code does");
    flags.add("--round", question_.learn.clusters.round_decimals,
              "round centroids to this many decimals; the released code uses 2", CLI::Range(-1, 12));
    flags.add("--reduction", reduction_,
              "activation of a channel: mean or max of its positions, or every-position for one neuron each",
              CLI::IsMember({"mean", "max", "every-position"}));
    flags.add("--items N|all", question_.items,
              "look at items (pixels, tokens, boxes, labels) in place of records: N of each, drawn at "
              "random, or all");
    flags.add("--by-class", question_.by_class,
              "keep criteria apart by the class that the network names; of items with --items");
    flags.add("--context NAME", question_.measure.context,
              "label of this test set in the state (night, supplier-B)");
    shard_.declare(flags);
    flags.add("--carry-over", question_.profile.carried_over,
              "use the profile of another form of this network, such as the one before quantisation; layers "
              "are matched by name and number of neurons");
    flags.naming(Concept::state)
        .add_output("--state FILE", question_.state,
                    "write the coverage state to FILE; an interrupted run goes on from FILE.journal",
                    {.journal = frame::journal_beside,
                     .goes_on = [this] { return question_.append; },
                     .guarded = true});
    of_state_ = {flags.of_the_run().add("--journal-every", question_.measure.journal_seconds,
                                        "seconds between two entries of the journal",
                                        CLI::NonNegativeNumber)};
    flags.of_the_run().add("--append", question_.append,
                           "add to the state in FILE instead of starting from scratch");
    top_ = flags.add("--top", question_.combinations, "rows of the tables of combinations, per layer and m",
                     CLI::Range(0, 1000));
    of_details_ = {flags.add("--records", question_.records,
                             "misclassified and most surprising records in JSON, report and with -v, of each "
                             "kind",
                             CLI::Range(0, 1000))};
    flags.acting().add_list(
        "--extend-with SPEC,...", question_.attacks,
        "attack all test records and show the coverage of the test set extended by each kind: "
        "fgsm,bim,'pgd[eps=0.1,steps=5]', or a preset: deepimportance (`assay attacks` lists all)");
    of_extension_ = {flags.add_output(
        "--made-dir FOLDER", question_.made, "folder for the attacked records",
        {.when = [this] { return !question_.attacks.empty(); },
         .instead =
             [this] { return answers::outputs_of(question_.attacks, question_.made, "--made-dir"); }})};
    check_.declare(flags);
    gates_.declare(flags);
    pairs_ = add_pairs(flags, question_.pairs);
    learning_ = flags.named({"--units", "--layer", "--count-layer", "--share", "--cap", "--method",
                             "--absolute", "--normalised", "--min-k", "--max-k", "--drop-zeros", "--round",
                             "--reduction", "--items"});
    not_released_ = flags.named(
        {"--pairs",    "--criterion", "--units",      "--count-layer", "--share",     "--cap",
         "--profile",  "--method",    "--absolute",   "--normalised",  "--task",      "--clusterer",
         "--min-k",    "--max-k",     "--drop-zeros", "--round",       "--reduction", "--items",
         "--by-class", "--context",   "--shard",      "--carry-over",  "--state",     "--journal-every",
         "--append",   "--top",       "--records",    "--extend-with", "--made-dir",  "--reached"});
    not_released_.push_back(model_.views());
    of_subjects_ = flags.named({"--layer"});
    of_layers_ = flags.named({"--count-layer"});
    of_share_ = flags.named({"--share", "--cap"});
    of_clusters_ = flags.named({"--method", "--absolute", "--normalised", "--clusterer", "--min-k", "--max-k",
                                "--drop-zeros", "--round"});
  }

  // A profile on the command line that is there is read, even if a file names training records.
  void configured(const Configured& from_file, const Settings& settings) override {
    std::error_code code;
    reads_ = from_file.contains(train_.option()) && profile_option_->count() > 0 &&
             !from_file.contains(profile_option_) && !settings.force &&
             std::filesystem::exists(profile_, code);
  }

  bool shared() const override { return true; }
  report::Document run(Context& context) override {
    if (question_.preset == coverage::released_preset) return run_released(context);
    require_kept("--state", question_.state);
    if (train_.given()) require_kept("--profile", profile_);
    const DatasetPtr test = test_.open();
    const auto session = std::make_shared<const Session>(model_.open(context, test.get()));
    if (!question_.learn.subjects.empty() && !question_.learn.layers.empty()) {
      std::vector<std::string> named = question_.learn.subjects;
      named.insert(named.end(), question_.learn.layers.begin(), question_.learn.layers.end());
      model_.refuse_idle_views(*session, named);
    }
    question_.learn.units = units_.of(session);
    std::tie(question_.measure.shard, question_.measure.shards) = shard_.part(context);
    if (question_.append && question_.state.empty())
      refuse("--append adds to a state; name it with --state FILE");
    set_profile();
    if (units_.given() && neurons_->count() == 0) question_.ms = "auto";
    question_.accuracy = check_.declared();
    question_.conditions = gates_.conditions();
    refuse_idle(context.settings);
    answers::CoverageAnswer answer =
        answers::cover(*session, test, question_, setting_of(context), context.progress);
    tell_effective(answer, context);
    if (reads_)
      answer.document.notices.push_back(fmt::format(
          "the profile in {} was read; training records that the configuration file names were not "
          "used",
          profile_));
    return std::move(answer.document);
  }

 private:
  // Another computation than that of criteria, with options of its own.
  report::Document run_released(Context& context) {
    refuse_without_effect(
        not_released_,
        of_flags("with --preset {}, which computes what the released code does", coverage::released_preset));
    const DatasetPtr test = test_.open();
    const Session session = model_.open(context, test.get());
    question_.training = train_.given() ? train_.open() : nullptr;
    question_.accuracy = check_.declared();
    question_.conditions = gates_.conditions();
    return answers::released_coverage(session, test, question_, setting_of(context), context.progress);
  }

  bool learns() const { return train_.given() && !reads_; }

  // Options about a file or an extension that was not requested, and options that no criterion uses.
  void refuse_idle(const Settings& settings) const {
    if (question_.measure.shards > 1)
      refuse_without_effect({pairs_}, of_flags("with --shard: a part has no figures by characteristic"));
    if (!learns() && question_.items.empty() && !shifts_the_score())
      refuse_without_effect({task_}, of_flags("without --train: the profile says what importance is of"));
    if (question_.state.empty())
      refuse_without_effect(of_state_, of_flags("without --state: no journal is kept"));
    if (question_.attacks.empty()) refuse_without_effect(of_extension_, of_flags("without --extend-with"));
    if (!settings.detailed())
      refuse_without_effect(of_details_, of_flags("without --json, --html or -v, which show single records"));
    const auto criteria = [&](const std::string& ms) {
      return coverage::asked_criteria(question_.preset, question_.criteria, ms);
    };
    const std::vector<Spec> asked = criteria(question_.ms);
    const std::string on = "on " + named(asked) + ": ";
    if (criteria("1") == criteria("2"))
      refuse_without_effect(
          {neurons_},
          of_flags("{}-m says how many neurons idc takes, but no idc without m is requested", on));
    if (!coverage::heeded_by(asked).named)
      refuse_without_effect({top_}, on + "it is for combinations of clusters, as of idc");
    // Profiles and earlier results hold all settings, and are compared by them.
    if (learns() && profile_.empty() && question_.conditions.baseline.empty())
      refuse_idle_learning(asked, on);
  }

  void refuse_idle_learning(const std::vector<Spec>& asked, const std::string& on) const {
    const coverage::Heeded heeded = coverage::heeded_by(asked);
    if (!heeded.subjects)
      refuse_without_effect(of_subjects_, of_flags("{}they count all layers (--count-layer)", on));
    if (!heeded.layers)
      refuse_without_effect(of_layers_, of_flags("{}they look at a subject layer (--layer)", on));
    if (!heeded.share) refuse_without_effect(of_share_, on + "it is for -m auto");
    if (!heeded.clusters)
      refuse_without_effect(of_clusters_, on + "it is for important neurons and clusters");
    if (!heeded.clusters && question_.items.empty() && !shifts_the_score())
      refuse_without_effect({task_}, of_flags("{}it is for important neurons and for items (--items)", on));
    if (!heeded.combinations) refuse_without_effect({reached_.option()}, on + "it is for aidc");
  }

  // A threshold says which class a record is of, for every criterion.
  bool shifts_the_score() const { return task::threshold_of(question_.task).has_value(); }

  static std::string named(const std::vector<Spec>& criteria) {
    std::vector<std::string> names;
    for (const Spec& spec : criteria) {
      if (std::ranges::find(names, spec.name) == names.end()) names.push_back(spec.name);
    }
    return joined(names);
  }

  // How the profile is learned, or which one is read.
  void set_profile() {
    question_.training = learns() ? train_.open() : nullptr;
    if (reached_.given()) {
      if (!learns()) refuse("--reached is part of learning a profile; also give --train");
      question_.learn.reached = reached_.open();
    }
    question_.profile.file = profile_;
    question_.learn.clusterer = clusterer_;
    question_.learn.reduction = coverage::reduction_named(reduction_);
    for (const CLI::Option* option : learning_)
      if (option->count() > 0) question_.said.emplace_back(profile_setting(*option), frame::named(*option));
  }

  // The name under which a profile keeps what the flag says.
  static std::string profile_setting(const CLI::Option& option) {
    std::string name = frame::name_of(option);
    if (name == "layer") return "subjects";
    if (name == "count-layer") return "layers";
    std::ranges::replace(name, '-', '_');
    return name;
  }

  // Options that the command line left open, with the values found.
  void tell_effective(const answers::CoverageAnswer& answer, Context& context) const {
    for (const CLI::Option* option : learning_) {
      const auto known = answer.settings.find(profile_setting(*option));
      if (known != answer.settings.end()) context.effective[frame::name_of(*option)] = known->second;
    }
    for (const Spec& spec : answer.criteria) context.effective["criterion"].push_back(spec.text());
    // What only criteria heed that the preset left out would be refused when the record is run again.
    const coverage::Heeded heeded = coverage::heeded_by(answer.criteria);
    if (!heeded.named) frame::leave_out({top_}, context.effective);
    if (!heeded.clusters) frame::leave_out(of_clusters_, context.effective);
    if (reads_) context.effective["train"] = {};
    context.effective["preset"] = {};
    context.effective["neurons"] = {};  // now part of the criteria
  }

  const CLI::Option* task_ = nullptr;
  std::vector<const CLI::Option*> learning_;  // flags about learning
  std::vector<const CLI::Option*> not_released_, of_subjects_, of_layers_, of_share_, of_clusters_, of_state_,
      of_details_, of_extension_;
  const CLI::Option *neurons_ = nullptr, *profile_option_ = nullptr, *pairs_ = nullptr, *top_ = nullptr;
  bool reads_ = false;  // the profile, though a configuration file names training records
  ModelInput model_;
  DataInput train_{"train", "training records, from which the profile is learned", Concept::training_data},
      test_{"test", "test records whose coverage is measured", Concept::test_data},
      reached_{"reached",
               "further records, such as those that `assay explore` has found: their combinations of "
               "clusters count as reachable for aidc"};
  UnitsInput units_{"units that count, instead of all neurons; for idc instead of the most important ones"};
  ShardInput shard_{
      "measure only this part of the test set: 2/8 is the second of eight, auto the one that the scheduler "
      "names, for `assay combine`; the profile always needs the whole training set"};
  AccuracyCheck check_;
  GateOptions gates_;
  std::string profile_, clusterer_ = "kmeans", reduction_ = "mean";
  answers::CoverageQuestion question_{.made = "assay-attack"};
};

}  // namespace

CommandInfo cover_command() {
  return {
      "cover",
      "how well a test set exercises a network, by importance-driven coverage and every other criterion",
      "  assay cover lenet5.onnx t10k-images-idx3-ubyte.gz --train train-images-idx3-ubyte.gz -m 6,8,10,12\n"
      "  assay cover net.onnx test.npz --train train.npz --preset deepimportance --profile net.profile\n"
      "  assay cover net.onnx test.npz,range=0:1 --profile net.profile --extend-with noise,fgsm,bim\n"
      "  assay cover net.onnx test.npz --train train.npz --units from=seen.json,hypothesis=label:7,top=5 "
      "--criterion idc --criterion kmnc\n"
      "  assay cover net.onnx night.tar --profile net.profile --criterion nc --criterion "
      "'kmnc[sections=100]' --context night --state all.cov --append",
      make_command<Cover>,
      test_group,
      true};
}

}  // namespace assay::app
