// assay cover: what a test set exercises.

#include <algorithm>
#include <set>

#include <assay/coverage.h>
#include <assay/error.h>
#include "apps/assay/commands/catalogue.h"
#include "apps/assay/inputs.h"
#include "apps/assay/unit_choice.h"
#include "assay/attack/extension.h"
#include "assay/coverage/asked.h"
#include "assay/coverage/possible.h"
#include "assay/coverage/rank_journals.h"
#include "assay/results/document.h"
#include "assay/results/testing/coverage.h"
#include "assay/results/testing/extension.h"
#include "assay/results/warnings.h"
#include "assay/support/ranks/ranks.h"
#include "assay/support/text/parse.h"
#include "assay/support/text/text.h"

namespace assay::app {
namespace {

class Cover final : public Command {
 public:
  void declare(Flags& flags) override {
    model_.declare(flags, true);
    train_.declare(flags);
    test_.declare(flags);
    reached_.declare(flags);
    flags.add("--criterion SPEC", criteria_,
              "criterion with options, such as kmnc[sections=100]; may be repeated (default: idc for each m; "
              "`assay criteria` lists all)");
    flags.add("--preset NAME", preset_,
              "criteria and options of a paper, or a choice: " + joined(coverage::presets().names()) +
                  "; those that network and data do not allow are left out with a warning");
    units_.declare(flags);
    flags.add("--layer NAME", learn_.subjects,
              "subject layer of idc, lsc, dsc and mdsc by name or number, may be repeated (default: the "
              "layer before the last with weights)");
    flags.add("--count-layer NAME", learn_.layers,
              "layer whose neurons the other criteria count, may be repeated (default: all)");
    neurons_ = flags.add("-m,--neurons 6,8,...", ms_, "numbers of important neurons of idc, or auto");
    flags.add("--share", learn_.share, "with -m auto: share of the relevance that the neurons hold",
              CLI::Range(0.0, 1.0));
    flags.add("--cap", learn_.cap, "with -m auto: at most so many neurons", CLI::Range(1, 250));
    flags.add("--profile FILE", profile_, "read the profile from FILE, or write it there with --train");
    flags.add("--method", learn_.importance.method, "attribution (assay importance --help lists them)");
    flags.add("--absolute", learn_.importance.absolute, "rank neurons by absolute relevance");
    flags.add("--normalised", learn_.importance.normalised,
              "divide each record's relevance by its decision value");
    flags.add("--clusterer NAME", clusterer_, "what clusters the activations of important neurons");
    flags.add("--min-k", learn_.clusters.min_k, "fewest clusters tried", CLI::Range(1, 200));
    flags.add("--max-k", learn_.clusters.max_k, "most clusters tried", CLI::Range(1, 200));
    flags.add("--drop-zeros", learn_.clusters.drop_zeros,
              "leave zero activations out of the clustering, as the released code does");
    flags.add("--round", learn_.clusters.round_decimals,
              "round centroids to so many decimals, as the released code does with 2", CLI::Range(-1, 12));
    flags.add("--reduction", reduction_,
              "activation of a channel: mean or max of its positions, or every-position for one neuron each",
              CLI::IsMember({"mean", "max", "every-position"}));
    flags.add("--by-class", by_class_, "keep criteria apart by the class that the network names");
    flags.add("--context NAME", measure_.context, "label of this test set in the state (night, supplier-B)");
    shard_.declare(flags);
    flags.add("--carry-over", carry_over_,
              "the profile is that of another form of this network, such as the one before quantisation: "
              "layers are matched by name and number of neurons");
    flags.add("--state FILE", state_,
              "write the coverage state to FILE; an interrupted run goes on from FILE.journal");
    flags.add("--journal-every", measure_.journal_seconds, "seconds between two entries of the journal",
              CLI::NonNegativeNumber);
    flags.add("--append", append_, "add to the state in FILE rather than begin anew");
    flags.add("--top", top_, "rows of the tables of combinations, per layer and m", CLI::Range(0, 1000));
    flags.add("--records", records_,
              "misclassified and most surprising records in JSON and report, of each kind",
              CLI::Range(0, 1000));
    flags.add("--extend-with SPEC,...", attacks_,
              "attack all test records and show the coverage of the test set extended by each kind: "
              "fgsm,bim,'pgd[eps=0.1,steps=5]', or a preset: deepimportance (`assay attacks` lists all)");
    flags.add("--made-dir FOLDER", folder_, "folder for the attacked records");
    check_.declare(flags);
    gates_.declare(flags);
    learning_ =
        flags.named({"--units", "--layer", "--count-layer", "--share", "--cap", "--method", "--absolute",
                     "--normalised", "--min-k", "--max-k", "--drop-zeros", "--round", "--reduction"});
  }

  std::vector<Output> outputs() const override {
    std::vector<Output> all;
    if (train_.given()) all.push_back({"--profile", profile_});
    if (!attacks_.empty()) all.push_back({"--made-dir", folder_, Output::Kind::folder});
    if (state_.empty()) return all;
    all.push_back({"--state", state_, Output::Kind::file, append_});
    all.push_back({"the journal of --state", state_ + ".journal", Output::Kind::journal});
    return all;
  }

  bool shared() const override { return true; }
  report::Document run(Context& context) override {
    const DatasetPtr test = test_.open();
    const auto opened = std::make_shared<const Session>(model_.open(context, test.get()));
    const Session& session = *opened;
    learn_.units = units_.of(opened);
    require_units_counted(session);
    std::tie(measure_.shard, measure_.shards) = shard_.part(context);
    if (append_ && state_.empty()) fail(Fault::usage, "--append adds to a state; name it with --state FILE");
    if (train_.given()) training_ = train_.open();
    if (reached_.given()) {
      if (!training_) fail(Fault::usage, "--reached is part of learning a profile; give --train, too");
      learn_.reached = reached_.open();
    }
    learn_.reduction = reduction_ == "max"    ? Reduction::max
                       : reduction_ == "mean" ? Reduction::mean
                                              : Reduction::every_position;
    std::vector<Spec> specs = chosen_specs();
    check_gates_early(session, specs, *test);
    check_replaced(session, context.settings);
    const std::vector<Spec> extending =
        attacks_.empty() ? std::vector<Spec>() : attack::parse_attacks(attacks_);
    report::Document learning;
    const auto profile = obtain_profile(session, specs, context, learning);
    tell_effective(*profile, specs, context);
    const std::string settings = profile->settings.empty() ? "" : coverage::text_of(profile->settings);
    gates_.check_baseline_profile(profile->data_hash, settings);
    coverage::CoverageState state = coverage::begin_state(profile, specs, by_class_, append_ ? state_ : "");
    gates_.check(results::measurements_of(state));
    check_state_replaced(state, *test, context.settings);
    const bool detailed = !context.settings.json.empty() || !context.settings.renderings.at("html").empty();
    measure_.batch = context.settings.batch;
    measure_.growth_points = detailed ? 25 : 0;
    measure_.remember_records = detailed && records_ > 0;
    if (!state_.empty()) measure_.journal = state_ + ".journal";
    const coverage::Observations seen = coverage::measure(session, state, test, measure_, context.progress);
    ranks().leave_to_first();
    if (!state_.empty()) {
      state.write(state_);
      coverage::remove_journals(measure_.journal);
    }
    Evaluation evaluation;
    evaluation.accuracy = coverage::accuracy_on(state, *test);
    check_.apply(evaluation, session, test);
    const std::string measured_records = results::records_text(state, *test);
    report::Document document =
        results::document_of(state, fmt::format("{} on {}", session.graph().name(), measured_records),
                             {test.get(), detailed ? &seen : nullptr, top_, top_, records_});
    document.facts.insert(document.facts.end(), learning.facts.begin(), learning.facts.end());
    document.notices.insert(document.notices.begin(), learning.notices.begin(), learning.notices.end());
    results::add_warnings(document, std::move(learning.warnings));
    results::add_warnings(document, results::data_warnings(*profile, seen, *test));
    results::add_warnings(document, results::class_warnings(session, *test));
    for (const report::Fact& fact : document.facts) {
      if (fact.id == "test_accuracy")
        results::add_warnings(document,
                              results::accuracy_warnings(std::get<double>(fact.value), class_count(session)));
    }
    if (seen.in_training > 0)
      document.facts.push_back({"in_training", "of them training records, too",
                                report::count_cell(seen.in_training), report::Column::Kind::count});
    if (!extending.empty()) extend(session, profile, state, test, extending, context, document);
    gates_.check_baseline("", results::records_hash(state));
    gates_.apply(document, results::measurements_of(state));
    results::add_provenance(document, session.graph(), {});
    document.provenance.emplace_back("test", measured_records);
    document.provenance.emplace_back("test_hash", results::records_hash(state));
    document.provenance.emplace_back("criteria", coverage::whole_text(specs));
    document.provenance.emplace_back("train", profile->data);
    document.provenance.emplace_back("train_hash", profile->data_hash);
    document.provenance.emplace_back("profile_hash", state.profile_hash());
    if (!settings.empty()) document.provenance.emplace_back("profile_settings", settings);
    return document;
  }

 private:
  // Units of a layer that does not count at all would have no effect.
  void require_units_counted(const Session& session) const {
    std::set<std::string> counted;
    for (const std::string& layer : learn_.layers) counted.insert(session.layer(layer).name);
    for (const auto& [layer, numbers] : learn_.units) {
      if (!counted.empty() && !counted.contains(layer))
        fail(Fault::usage, "--units name neurons of layer '{}', which --count-layer leaves out", layer);
    }
  }

  // A profile of another network, of other data or learned in another way, or another kind of file, stays.
  void check_replaced(const Session& session, const Settings& settings) const {
    frame::check_replaced(state_, "coverage of this network", settings, [&] {
      return coverage::CoverageState::read(state_).profile().model_hash == session.graph().hash();
    });
    if (!training_) return;
    frame::check_replaced(profile_, "a profile of this network and these training records", settings, [&] {
      const coverage::Profile found = coverage::read_profile(profile_);
      return found.model_hash == session.graph().hash() && found.data_hash == training_->hash();
    });
  }

  // A state of another profile, of other criteria or of another test set stays, unless it is added to.
  void check_state_replaced(const coverage::CoverageState& state, const Dataset& test,
                            const Settings& settings) const {
    if (append_) return;
    frame::check_replaced(state_, "coverage of this test set by these criteria", settings, [&] {
      const coverage::CoverageState found = coverage::CoverageState::read(state_);
      return found.profile_hash() == state.profile_hash() && found.specs() == state.specs() &&
             std::ranges::all_of(found.parts(),
                                 [&](const auto& part) { return part->data_hash == test.hash(); });
    });
  }

  // What can be known before anything is learned: criteria and layers.
  void check_gates_early(const Session& session, const std::vector<Spec>& specs, const Dataset& test) const {
    std::vector<std::string> names;
    std::vector<report::Measurement> measured;
    for (const Spec& spec : specs) {
      names.push_back(spec.name);
      report::Measurement figure;
      figure.criterion = spec.text();
      measured.push_back(figure);
      for (const Layer& layer : session.layers()) {
        figure.layer = layer.name;
        measured.push_back(figure);
      }
    }
    gates_.check(names);
    gates_.check(measured);
    // Of a state that is added to, and of a part, the records are known when they are measured.
    gates_.check_baseline(session.graph().hash(), append_ || shard_.given() ? "" : test.hash());
  }

  // The name under which a profile keeps what the flag says.
  static std::string setting_of(const CLI::Option& option) {
    std::string name = frame::name_of(option);
    if (name == "layer") return "subjects";
    if (name == "count-layer") return "layers";
    std::ranges::replace(name, '-', '_');
    return name;
  }

  // A profile was learned in one way; flags that say another would have no effect.
  void check_contradictions(const Session& session, const coverage::Profile& profile,
                            const std::vector<Spec>& specs) {
    coverage::LearnOptions asked = learn_;
    asked.criteria = choices_of<coverage::CriterionInfo>(specs);
    std::map<std::string, std::string> flags;  // that are given, by setting
    std::vector<std::string> given;
    for (const CLI::Option* option : learning_) {
      if (option->count() == 0) continue;
      if (profile.settings.empty())
        fail(Fault::mismatch,
             "{} has no effect with --profile {}, which does not tell what it was learned with; leave it "
             "out, or learn anew with --train",
             frame::flag_of(*option), profile_);
      given.push_back(setting_of(*option));
      flags[given.back()] = frame::flag_of(*option);
    }
    const auto found = coverage::contradiction(profile, coverage::settings_of(session, asked), given);
    if (found)
      fail(Fault::mismatch,
           "{} {} contradicts --profile {}, which was learned with {}; leave the flag out, or learn anew "
           "with --train",
           flags.at(std::string(found->setting)), found->asked, profile_, found->learned);
  }

  // What the command line leaves open, as it came out.
  void tell_effective(const coverage::Profile& profile, const std::vector<Spec>& specs,
                      Context& context) const {
    for (const CLI::Option* option : learning_) {
      const auto known = profile.settings.find(setting_of(*option));
      if (known != profile.settings.end()) context.effective[frame::name_of(*option)] = known->second;
    }
    for (const Spec& spec : specs) context.effective["criterion"].push_back(spec.text());
    context.effective["preset"] = {};
    context.effective["neurons"] = {};  // now part of the criteria
  }

  std::vector<Spec> chosen_specs() const {
    const bool all_units = units_.given() && neurons_->count() == 0;
    return coverage::asked_criteria(preset_, criteria_, all_units ? "auto" : ms_);
  }

  // Leaves out of the preset's criteria what cannot be measured.
  void keep_possible(std::vector<Spec>& specs, const coverage::PossibleCriteria& found,
                     report::Document& learning) const {
    if (found.impossible.empty()) return;
    if (found.possible.empty()) fail(Fault::mismatch, "--preset {}: {}", preset_, found.impossible[0].second);
    results::add_warnings(learning, results::left_out_warnings(found));
    specs = found.possible;
  }

  std::shared_ptr<const coverage::Profile> obtain_profile(const Session& session, std::vector<Spec>& specs,
                                                          Context& context, report::Document& learning) {
    const bool only_preset = !preset_.empty() && criteria_.empty();
    if (carry_over_ && training_)
      fail(Fault::usage, "--carry-over is about a profile that is read; leave out --train");
    if (!training_) {
      if (profile_.empty())
        fail(Fault::usage,
             "what was the network trained on? give --train SPEC, or --profile FILE of an earlier run");
      const auto profile = coverage::profile_in({profile_, carry_over_}, session);
      check_contradictions(session, *profile, specs);
      if (only_preset) keep_possible(specs, coverage::possible_criteria(profile, specs), learning);
      return profile;
    }
    learn_.clusterer = clusterer_;
    learn_.batch = learn_.importance.batch = context.settings.batch;
    if (only_preset)
      keep_possible(specs, coverage::possible_criteria(session, training_, specs, learn_), learning);
    learn_.criteria = choices_of<coverage::CriterionInfo>(specs);
    coverage::Learned learned = coverage::learn_profile(session, training_, learn_, context.progress);
    results::append(learning, results::document_of(learned));
    if (!profile_.empty() && ranks().first()) coverage::write_profile(learned.profile, profile_);
    auto profile = std::make_shared<const coverage::Profile>(std::move(learned.profile));
    if (only_preset) keep_possible(specs, coverage::possible_criteria(profile, specs), learning);
    return profile;
  }

  void extend(const Session& session, const std::shared_ptr<const coverage::Profile>& profile,
              const coverage::CoverageState& state, const DatasetPtr& test,
              const std::vector<Spec>& extending, Context& context, report::Document& document) const {
    const std::vector<attack::Extension> extensions =
        attack::extend(session, profile, state.specs(), test, extending,
                       {folder_, context.settings.batch, context.settings.seed}, context.progress);
    report::Document more = results::document_of(state, extensions);
    document.tables.insert(document.tables.begin(), std::move(more.tables.front()));
    more.tables.clear();
    results::append(document, std::move(more));
  }

  std::vector<const CLI::Option*> learning_;  // flags about learning
  const CLI::Option* neurons_ = nullptr;
  DatasetPtr training_;  // null: a profile is read instead
  ModelInput model_;
  DataInput train_{"train", "training records, from which the profile is learned"},
      test_{"test", "test records whose coverage is measured"},
      reached_{"reached",
               "further records, such as those that `assay explore` has found: their combinations of "
               "clusters count as reachable for aidc"};
  UnitsInput units_{"units that count, in place of all neurons; of idc in place of the most important ones"};
  ShardInput shard_{
      "measure only this part of the test set: 2/8 is the second of eight, auto the one that the scheduler "
      "names, for `assay combine`; the profile always needs the whole training set"};
  AccuracyCheck check_;
  GateOptions gates_;
  std::vector<std::string> criteria_;
  std::string preset_, ms_ = "6,8,10,12", profile_, clusterer_ = "kmeans", reduction_ = "mean", state_,
                       attacks_, folder_ = "assay-attack";
  bool by_class_ = false, append_ = false, carry_over_ = false;
  std::size_t top_ = 5, records_ = 12;
  coverage::LearnOptions learn_;
  coverage::MeasureOptions measure_;
};

}  // namespace

CommandInfo cover_command() {
  return {"cover",
          "how well a test set exercises a network, by importance-driven coverage and every other criterion",
          "  assay cover --model lenet5.onnx --train train-images-idx3-ubyte.gz --test "
          "t10k-images-idx3-ubyte.gz -m 6,8,10,12\n"
          "  assay cover --model net.onnx --train train.npz --test test.npz --preset deepimportance "
          "--profile net.profile\n"
          "  assay cover --model net.onnx --profile net.profile --test test.npz,range=0:1 --extend-with "
          "noise,fgsm,bim\n"
          "  assay cover --model net.onnx --train train.npz --test test.npz --units "
          "from=seen.json,hypothesis=label:7,top=5 --criterion idc --criterion kmnc\n"
          "  assay cover --model net.onnx --profile net.profile --test night.tar --criterion nc --criterion "
          "'kmnc[sections=100]' --context night --state all.cov --append",
          make_command<Cover>};
}

}  // namespace assay::app
