// assay select: which tests to keep, or to look at first.

#include <algorithm>

#include <assay/coverage.h>
#include <assay/error.h>
#include "apps/assay/commands/catalogue.h"
#include "apps/assay/inputs.h"
#include "assay/coverage/asked.h"
#include "assay/data/files/records_file.h"
#include "assay/results/document.h"
#include "assay/results/testing/selection.h"
#include "assay/support/text/text.h"

namespace assay::app {
namespace {

class Select final : public Command {
 public:
  void declare(Flags& flags) override {
    model_.declare(flags, true);
    train_.declare(flags);
    test_.declare(flags);
    flags.add("--by", options_.by,
              "minimise: the fewest that keep all coverage, without --size; budget: --size records that "
              "cover most; additional: all, by coverage they add; deepgini, entropy, margin, max-softmax: "
              "most doubtful first; lsa, dsa, mdsa: most surprising first; random",
              CLI::IsMember(coverage::selection_ways()));
    flags.add("--criterion SPEC", criterion_,
              "criterion whose coverage counts for minimise, budget and additional");
    flags.add("--profile FILE", profile_, "profile of an earlier `assay cover`, instead of --train");
    flags.add("--layer NAME", layers_, "subject layer of idc and the surprise criteria");
    flags.add("--size", options_.size, "records to keep; 0: all of the order", CLI::NonNegativeNumber);
    flags.add("--out FILE.txt", out_, "write the ids of the chosen records, one a line, in their order");
    flags.add("--write FILE.npz", write_, "write the chosen records as x and y");
  }

  std::vector<Output> outputs() const override { return {{"--out", out_}, {"--write", write_}}; }

  bool shared() const override { return true; }
  report::Document run(Context& context) override {
    const DatasetPtr test = test_.open();
    coverage::check_size(options_);
    const Session session = model_.open(context, test.get());
    options_.criterion = parse_spec("criterion", criterion_);
    options_.seed = context.settings.seed;
    options_.batch = context.settings.batch;
    const coverage::Selection chosen =
        coverage::select_records(session, profile(session, context), test, options_, context.progress);
    report::Document document = results::document_of(chosen, options_, *test);
    if (!out_.empty()) write_ids(out_, *test, chosen.records);
    if (!write_.empty()) write_records(write_, *test, chosen.records);
    results::add_provenance(document, session.graph(), {{"test", test}});
    return document;
  }

 private:
  // What the choice compares with; null for choices that need no training data.
  std::shared_ptr<const coverage::Profile> profile(const Session& session, Context& context) const {
    const std::optional<Spec> criterion = coverage::criterion_of(options_);
    if (!criterion) return nullptr;
    if (train_.given() && !profile_.empty())
      fail(Fault::usage, "--train learns what --profile {} would hold; give one of them", profile_);
    if (train_.given()) {
      coverage::LearnOptions learn;
      learn.criteria = {*criterion};
      learn.subjects = layers_;
      learn.batch = context.settings.batch;
      return coverage::learned_profile(session, train_.open(), learn, context.progress);
    }
    if (profile_.empty())
      fail(Fault::usage, "--by {} compares with training data: give --train SPEC, or --profile FILE",
           options_.by);
    auto known = std::make_shared<const coverage::Profile>(coverage::read_profile(profile_));
    for (const std::string& name : layers_) {
      const auto subjects = known->settings.find("subjects");
      const std::string layer = session.layer(name).name;
      if (subjects != known->settings.end() &&
          std::ranges::find(subjects->second, layer) != subjects->second.end())
        continue;
      fail(Fault::mismatch,
           "--layer {} contradicts --profile {}, which was learned with {}; learn anew with --train", layer,
           profile_, subjects == known->settings.end() ? "no subject layer" : joined(subjects->second));
    }
    return known;
  }

  ModelInput model_;
  DataInput train_{"train", "training records, where the choice compares with them"},
      test_{"test", "test records to choose from"};
  std::string criterion_ = "kmnc[sections=100]", profile_, out_, write_;
  std::vector<std::string> layers_;
  coverage::SelectOptions options_;
};

}  // namespace

CommandInfo select_command() {
  return {"select", "the smallest test set that covers as much, or the tests to look at first",
          "  assay select --model net.onnx --test test.npz --by deepgini --out order.txt\n"
          "  assay select --model net.onnx --train train.npz --test test.npz --by minimise --criterion nc "
          "--write small.npz\n"
          "  assay select --model net.onnx --profile net.profile --test unlabelled.tar --by dsa --size 500 "
          "--out label-these.txt\n"
          "There is no --shard: records are chosen among all of them.",
          make_command<Select>};
}

}  // namespace assay::app
