// assay attack: inputs that break a network.

#include "assay/results/testing/attack.h"
#include <assay/attack.h>
#include <assay/error.h>
#include "apps/assay/commands/catalogue.h"
#include "apps/assay/inputs.h"
#include "assay/results/document.h"
#include "assay/support/ranks/ranks.h"
#include "assay/support/text/text.h"

namespace assay::app {
namespace {

class AttackCommand final : public Command {
 public:
  void declare(Flags& flags) override {
    model_.declare(flags, true);
    data_.declare(flags, true);
    flags.add(
        "--attack SPEC", attacks_,
        "attack with options, such as pgd[eps=0.1,starts=5]; may be repeated (`assay attacks` lists all)");
    flags.add("--preset NAME", preset_,
              "attacks and options of a paper: " + joined(attack::presets().names()));
    flags.add("--out FOLDER", output_, "folder for the attacked records, one .npz per attack");
    flags.add("--all", options_.all,
              "attack also records that the network gets wrong; they are to leave the class that it names");
    flags.add("--only-successful", options_.only_successful, "store only records that succeed");
    flags.add("--levels", options_.levels,
              "store 8-bit levels of the valid range, as pictures have them; success is judged after "
              "rounding, by which an element may leave its bound by half a level");
    flags.add("--pictures", pictures_,
              "draw so many records of each attack: before, after, difference (records of pictures only)",
              CLI::Range(0, 1000));
    flags.add("--margin", options_.margin,
              "regression: an output that moves by more than this away from its target is a success",
              CLI::PositiveNumber);
    check_.declare(flags);
  }

  std::vector<Output> outputs() const override {
    std::vector<Output> all{{"--out", output_, Output::Kind::folder}};
    for (const std::string& name : attack::names_of(chosen_specs())) {
      const std::filesystem::path file = std::filesystem::path(output_) / (name + ".npz");
      all.push_back({"--out", file.string()});
      all.push_back({"the journal of --out", attack::journal_of(file).string(), Output::Kind::journal});
    }
    return all;
  }

  bool shared() const override { return true; }
  report::Document run(Context& context) override {
    const DatasetPtr data = data_.open();
    const Session session = model_.open(context, data.get());
    const std::vector<Spec> specs = chosen_specs();
    options_.batch = context.settings.batch;
    options_.seed = context.settings.seed;
    report::Document document;
    check_.run_if_asked(session, data, context, document);
    std::vector<attack::AttackSummary> summaries;
    const std::vector<std::string> names = attack::names_of(specs);
    for (std::size_t i = 0; i < specs.size(); ++i) {
      const std::filesystem::path file = std::filesystem::path(output_) / (names[i] + ".npz");
      options_.journal = attack::journal_of(file);
      summaries.push_back(attack::attack_dataset(session, data, specs[i], file, options_, context.progress));
    }
    ranks().leave_to_first();
    if (summaries.front().levels) context.effective["levels"] = {"true"};
    for (const attack::AttackSummary& summary : summaries)
      std::filesystem::remove(attack::journal_of(summary.file));
    results::append(document, results::document_of(summaries, options_, session.graph(), *data));
    for (const attack::AttackSummary& summary : summaries) {
      for (report::Picture& picture : results::draw_attacked(summary, *data, pictures_, output_))
        document.pictures.push_back(std::move(picture));
    }
    results::add_provenance(document, session.graph(), {{"data", data}});
    return document;
  }

 private:
  std::vector<Spec> chosen_specs() const {
    std::vector<Spec> specs;
    if (!preset_.empty()) {
      for (const std::string& text : attack::presets().find(preset_).specs)
        specs.push_back(parse_spec("attack", text));
    }
    for (const std::string& text : attacks_) specs.push_back(parse_spec("attack", text));
    if (specs.empty())
      fail(Fault::usage,
           "which attack? give --attack NAME[option=value,...] or --preset NAME; `assay attacks` lists them");
    for (const Spec& spec : specs) attack::make_attack(spec);  // wrong options show before any work
    return specs;
  }

  ModelInput model_;
  DataInput data_{
      "data",
      "records to attack; a valid range must be known (8-bit images know theirs, others say range=0:1)"};
  AccuracyCheck check_;
  std::vector<std::string> attacks_;
  std::string preset_, output_ = "assay-attack";
  std::size_t pictures_ = 4;
  attack::AttackOptions options_;
};

}  // namespace

CommandInfo attack_command() {
  return {
      "attack",
      "records changed so that the network gets them wrong: adversarial attacks, noise, natural corruptions",
      "  assay attack net.onnx test.npz,range=0:1 --attack 'fgsm[eps=0.1]' --attack 'pgd[eps=0.1,starts=3]' "
      "--out attacked\n"
      "  assay attack lenet5.onnx t10k-images-idx3-ubyte.gz --preset deepimportance --levels",
      make_command<AttackCommand>};
}

}  // namespace assay::app
