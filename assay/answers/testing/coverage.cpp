#include "assay/answers/testing/coverage.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>

#include <assay/error.h>
#include <assay/groups.h>
#include "assay/answers/task.h"
#include "assay/attack/extension.h"
#include "assay/coverage/possible.h"
#include "assay/coverage/rank_journals.h"
#include "assay/results/document.h"
#include "assay/results/kept_pairs.h"
#include "assay/results/label_warnings.h"
#include "assay/results/testing/coverage.h"
#include "assay/results/testing/extension.h"
#include "assay/results/warnings.h"
#include "assay/support/files/file_lock.h"
#include "assay/support/ranks/ranks.h"
#include "assay/support/text/text.h"

namespace assay::answers {
namespace {

class Covering {
 public:
  Covering(const Session& session, const DatasetPtr& test, CoverageQuestion question, const Setting& setting,
           Progress& progress)
      : session_(session),
        test_(question.items.empty() ? test : task::prepared_for(question.task, test)),
        question_(std::move(question)),
        setting_(setting),
        progress_(progress) {}

  CoverageAnswer answer() {
    require_classes();
    results::check_pairs(question_.pairs, *test_);
    lock_outputs();
    require_units_counted();
    specs_ = coverage::asked_criteria(question_.preset, question_.criteria, question_.ms);
    check_conditions_early();
    check_replaced_early();
    const std::vector<Spec> attacks =
        question_.attacks.empty() ? std::vector<Spec>() : attack::parse_attacks(question_.attacks);
    profile_ = question_.training ? learned_profile() : read_profile();
    report::check_baseline_profile(question_.conditions, profile_->data_hash, settings_text());
    coverage::CoverageState state =
        coverage::begin_state(profile_, specs_, question_.by_class, question_.append ? question_.state : "");
    report::check(question_.conditions, with_groups(results::measurements_of(state)));
    check_state_replaced(state);
    const coverage::Observations seen = measured(state);
    report::Document document = told(state, seen);
    if (!attacks.empty()) extend(state, attacks, document);
    report::check_baseline(question_.conditions, "", results::records_hash(state));
    std::vector<report::Measurement> measurements = results::measurements_of(state);
    std::ranges::move(add_by_group(document), std::back_inserter(measurements));
    report::apply(question_.conditions, document, measurements);
    add_provenance(state, document);
    return {std::move(document), profile_->settings, specs_};
  }

 private:
  // Before anything is read that is written back changed.
  void lock_outputs() {
    if (ranks().first()) {
      if (!question_.state.empty()) state_lock_.emplace(question_.state);
      if (question_.training && !question_.profile.file.empty())
        profile_lock_.emplace(question_.profile.file);
    }
    std::string taken;
    ranks().broadcast(taken);
  }

  std::string settings_text() const {
    return profile_->settings.empty() ? "" : coverage::text_of(profile_->settings);
  }

  // What has no classes cannot be kept apart by them.
  void require_classes() const {
    const bool named = class_count(session_) > 0 && test_->target_width() == 0;
    if (question_.by_class && question_.items.empty() && !named)
      fail(Fault::usage,
           "{} what is kept apart, and network '{}' names none for a record of these data; look at the items "
           "of records{}",
           About{"classes are", "{by-class} says"}, session_.graph().name(), About{"", " ({items=64})"});
    if (!question_.items.empty() && !question_.attacks.empty())
      fail(Fault::usage, "{} measured by records; leave out {}",
           About{"extensions by attacks are", "{extend-with} is"}, About{"the items", "{items}"});
  }

  // Units of a layer that does not count at all would have no effect.
  void require_units_counted() const {
    std::set<std::string> counted;
    for (const std::string& layer : question_.learn.layers) counted.insert(session_.layer(layer).name);
    for (const auto& [layer, numbers] : question_.learn.units) {
      if (!counted.empty() && !counted.contains(layer))
        fail(Fault::usage, "{} name neurons of layer '{}', which {} out", About{"chosen units", "{units}"},
             layer, About{"the layers that count leave", "{count-layer} leaves"});
    }
  }

  // Figures that there will be of groups as well.
  std::vector<report::Measurement> with_groups(std::vector<report::Measurement> measured) const {
    const std::vector<report::Measurement> whole = measured;
    for (const groups::Group& group : groups::groups_of(*test_)) {
      for (const report::Measurement& figure : whole) {
        if (figure.layer != "all" || !figure.class_name.empty() || !figure.context.empty()) continue;
        measured.push_back(figure);
        measured.back().context = group.name();
      }
    }
    return measured;
  }

  // Checks before anything is learned: criteria and layers.
  void check_conditions_early() const {
    std::vector<std::string> names;
    std::vector<report::Measurement> measured;
    for (const Spec& spec : specs_) {
      names.push_back(spec.name);
      report::Measurement figure;
      figure.criterion = spec.text();
      measured.push_back(figure);
      for (const Layer& layer : session_.layers()) {
        figure.layer = layer.name;
        measured.push_back(figure);
      }
    }
    report::check(question_.conditions, names);
    report::check(question_.conditions, with_groups(std::move(measured)));
    // Of a state that is added to, and of a part, the records are known when they are measured.
    const bool of_test = !question_.append && question_.measure.shards == 1;
    report::check_baseline(question_.conditions, session_.graph().hash(), of_test ? test_->hash() : "");
  }

  // A profile of another network, of other data or learned in another way, or another kind of file, stays.
  void check_replaced_early() const {
    const std::string network = session_.graph().hash();
    check_replaced(question_.state, "coverage of this network", setting_, [&] {
      return coverage::CoverageState::read(question_.state).profile().model_hash == network;
    });
    if (!question_.training) return;
    check_replaced(question_.profile.file, "a profile of this network and these training records", setting_,
                   [&] {
                     const coverage::Profile found = coverage::read_profile(question_.profile.file);
                     return found.model_hash == network && found.data_hash == question_.training->hash() &&
                            learned_alike(found);
                   });
  }

  // Criteria that a preset leaves out are known only when the profile is learned; they may affect the layers.
  bool learned_alike(const coverage::Profile& found) const {
    coverage::LearnOptions learn = question_.learn;
    learn.criteria = choices_of<coverage::CriterionInfo>(specs_);
    return only_preset() || found.settings.empty() ||
           found.settings == coverage::settings_of(session_, learn);
  }

  // A profile that is there stays, unless it is the same or to be replaced.
  void keep(const coverage::Profile& profile) const {
    const std::string& file = question_.profile.file;
    check_replaced(file, "the profile that these training records and criteria give", setting_,
                   [&] { return coverage::read_profile(file).hash() == profile.hash(); });
    coverage::write_profile(profile, file);
  }

  // A state of another profile, of other criteria or of another test set stays, unless it is added to.
  void check_state_replaced(const coverage::CoverageState& state) const {
    if (question_.append) return;
    check_replaced(question_.state, "coverage of this test set by these criteria", setting_, [&] {
      const coverage::CoverageState found = coverage::CoverageState::read(question_.state);
      return found.profile_hash() == state.profile_hash() && found.specs() == state.specs() &&
             std::ranges::all_of(found.parts(), [&](const auto& part) {
               return part->data_hash == test_->hash() && part->context == question_.measure.context;
             });
    });
  }

  // Of criteria that a preset alone names, those that cannot be measured are left out.
  bool only_preset() const { return !question_.preset.empty() && question_.criteria.empty(); }
  void keep_possible(const coverage::PossibleCriteria& found) {
    if (found.impossible.empty()) return;
    if (found.possible.empty())
      fail(Fault::mismatch, "{} {}: {}", About{"criteria of preset", "{preset}"}, question_.preset,
           found.impossible[0].second);
    results::add_warnings(learning_, results::left_out_warnings(found));
    specs_ = found.possible;
  }

  std::shared_ptr<const coverage::Profile> read_profile() {
    if (question_.profile.file.empty())
      fail(Fault::usage, "what was the network trained on? {}, or {} of an earlier run",
           About{"name training records", "give {train=SPEC}"}, About{"the profile", "{profile=FILE}"});
    auto profile = coverage::profile_in(question_.profile, session_);
    coverage::LearnOptions asked = question_.learn;
    if (!question_.items.empty()) {
      const Decided decision = decided(question_.task, session_, test_, question_.accuracy, setting_.batch);
      items_ = chosen_items(question_.items, decision, setting_);
      if (!decision.inferred.empty()) learning_.notices.emplace_back(decision.inferred);
    }
    asked.items = items_;
    asked.criteria = choices_of<coverage::CriterionInfo>(specs_);
    coverage::require_settings(*profile, coverage::settings_of(session_, asked), question_.said,
                               question_.profile.file);
    if (only_preset()) keep_possible(coverage::possible_criteria(profile, specs_));
    return profile;
  }

  std::shared_ptr<const coverage::Profile> learned_profile() {
    if (question_.profile.carried_over)
      fail(Fault::usage, "{} read; leave out {}",
           About{"a profile is carried over where one is", "{carry-over} is about a profile that is"},
           About{"the training records", "{train}"});
    coverage::LearnOptions learn = question_.learn;
    learn.batch = learn.importance.batch = setting_.batch;
    const Decided decision = decided(question_.task, session_, question_.training, question_.accuracy,
                                     setting_.batch, Need::scores, test_);
    learn.importance.task = task_ = decision.task;
    if (learn.units.empty())
      learn.subjects = layers_for(learn.subjects, session_, decision, setting_.batch, progress_);
    learn.items = items_ = chosen_items(question_.items, decision, setting_);
    if (only_preset()) keep_possible(coverage::possible_criteria(session_, decision.data, specs_, learn));
    learn.criteria = choices_of<coverage::CriterionInfo>(specs_);
    coverage::Learned learned = coverage::learn_profile(session_, decision.data, learn, progress_);
    add_task(learning_, decision);
    results::append(learning_, results::document_of(learned));
    if (const auto accuracy = learned.importance.evaluation.accuracy)
      results::add_warnings(learning_, results::training_accuracy_warnings(
                                           *accuracy, class_count(session_),
                                           "these are not the data that the network was trained on, or not "
                                           "prepared as they were; importance rests on the few that it "
                                           "classifies correctly"));
    if (!question_.profile.file.empty() && ranks().first()) keep(learned.profile);
    auto profile = std::make_shared<const coverage::Profile>(std::move(learned.profile));
    if (only_preset()) keep_possible(coverage::possible_criteria(profile, specs_));
    return profile;
  }

  coverage::Observations measured(coverage::CoverageState& state) const {
    coverage::MeasureOptions options = question_.measure;
    options.batch = setting_.batch;
    options.items = items_;
    options.growth_points = setting_.detailed ? 25 : 0;
    options.remember_records = setting_.detailed && question_.records > 0;
    if (!question_.state.empty()) options.journal = question_.state + ".journal";
    coverage::Observations seen = coverage::measure(session_, state, test_, options, progress_);
    ranks().leave_to_first();
    if (!question_.state.empty()) {
      state.write(question_.state);
      coverage::remove_journals(options.journal);
    }
    return seen;
  }

  report::Document told(const coverage::CoverageState& state, const coverage::Observations& seen) {
    Evaluation evaluation;
    evaluation.accuracy = coverage::accuracy_on(state, *test_);
    for (const coverage::RecordFacts& record : seen.records)
      evaluation.predictions.push_back(record.predicted);
    check_accuracy(question_.accuracy, session_, test_, evaluation);
    report::Document document = results::document_of(
        state, fmt::format("{} on {}", session_.graph().name(), results::records_text(state, *test_)),
        {test_.get(), setting_.detailed ? &seen : nullptr, question_.combinations, question_.combinations,
         question_.records});
    document.facts.insert(document.facts.end(), learning_.facts.begin(), learning_.facts.end());
    document.notices.insert(document.notices.begin(), learning_.notices.begin(), learning_.notices.end());
    results::add_warnings(document, std::move(learning_.warnings));
    results::add_warnings(document, results::data_warnings(*profile_, seen, *test_));
    results::add_warnings(document,
                          results::evaluation_warnings(session_, *test_, evaluation, task_ != nullptr));
    if (question_.training)
      results::add_warnings(document,
                            results::class_name_warnings(question_.training->class_names(), *test_));
    if (items_) document.facts.push_back({"items", "what is looked at", items_text()});
    if (seen.in_training > 0)
      document.facts.push_back({"in_training", "of them also training records",
                                report::count_cell(seen.in_training), report::Column::Kind::count});
    return document;
  }

  std::string items_text() const {
    const std::string which =
        items_->most == 0 ? "all items" : fmt::format("{} items, drawn at random,", items_->most);
    return which + " of each record; of layers without their positions, its activations";
  }

  // What the records of each group cover, by a separate pass: states do not say which record covers what.
  std::vector<report::Measurement> add_by_group(report::Document& document) const {
    const std::vector<groups::Group> groups = groups::groups_of(*test_);
    if (question_.measure.shards > 1) return {};
    if (groups.empty()) {
      results::add_groups(document, *test_, groups, {});
      return {};
    }
    coverage::CoverageState state(profile_, choices_of<coverage::CriterionInfo>(specs_), false);
    const coverage::Observations seen =
        coverage::measure(session_, state, test_,
                          {.batch = setting_.batch, .remember_items = true, .items = items_}, progress_);
    ranks().leave_to_first();
    const std::vector<results::FigureByGroup> figures = results::covered_by_group(state, seen.items, groups);
    const results::KeptGroups kept = results::kept_groups(groups, figures, question_.pairs);
    results::add_groups(document, *test_, kept.groups, kept.figures);
    std::vector<report::Measurement> measured;
    for (const results::FigureByGroup& figure : figures)
      std::ranges::move(results::measurements_of(groups, figure), std::back_inserter(measured));
    results::add_group_figures(document, results::kept_figures(measured, groups, question_.pairs), "");
    if (!figures.empty()) results::tell_left_out(document, groups, question_.pairs);
    return measured;
  }

  void extend(const coverage::CoverageState& state, const std::vector<Spec>& attacks,
              report::Document& document) const {
    const std::vector<attack::Extension> extensions =
        attack::extend(session_, profile_, state.specs(), test_, attacks,
                       {question_.made, setting_.batch, setting_.seed, task_}, progress_);
    report::Document more = results::document_of(state, extensions);
    document.tables.insert(document.tables.begin(), std::move(more.tables.front()));
    more.tables.clear();
    results::append(document, std::move(more));
  }

  void add_provenance(const coverage::CoverageState& state, report::Document& document) const {
    results::add_provenance(document, session_, {});
    document.provenance.emplace_back("test", results::records_text(state, *test_));
    document.provenance.emplace_back("test_hash", results::records_hash(state));
    results::add_numbering_notice(document, *test_);
    document.provenance.emplace_back("criteria", coverage::whole_text(specs_));
    document.provenance.emplace_back("train", profile_->data);
    document.provenance.emplace_back("train_hash", profile_->data_hash);
    document.provenance.emplace_back("profile_hash", state.profile_hash());
    if (const std::string settings = settings_text(); !settings.empty())
      document.provenance.emplace_back("profile_settings", settings);
  }

  const Session& session_;
  DatasetPtr test_;
  const CoverageQuestion question_;
  const Setting& setting_;
  Progress& progress_;
  std::optional<FileLock> state_lock_, profile_lock_;
  std::vector<Spec> specs_;
  std::shared_ptr<const task::Task> task_;     // of records with many items, where a profile is learned
  std::optional<coverage::ItemChoice> items_;  // nothing: records
  std::shared_ptr<const coverage::Profile> profile_;
  report::Document learning_;  // what learning found
};

}  // namespace

CoverageAnswer cover(const Session& session, const DatasetPtr& test, CoverageQuestion question,
                     const Setting& setting, Progress& progress) {
  return Covering(session, test, std::move(question), setting, progress).answer();
}

}  // namespace assay::answers
