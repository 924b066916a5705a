// assay polluted: which training records look like the inputs that break the network?

#include <assay/error.h>
#include "apps/assay/command.h"
#include "apps/assay/inputs.h"
#include "assay/answers/testing/suspects.h"

namespace assay::app {
namespace {

class Polluted final : public Command {
 public:
  void declare(Flags& flags) override {
    flags.take({Shared::threads});
    data_.declare(flags, true);
    flags.naming(Concept::input)
        .leading()
        .add("--findings SPEC", question_.findings,
             "inputs that break the network, as `assay explore` and `assay attack` write them; may be "
             "repeated");
    flags.add("--between A+B", question_.between,
              "of the findings only those for which the networks name these classes, in their order: 9+1 "
              "(findings.npz of `assay explore`)");
    flags.add("--label A+B", question_.label,
              "suspect only training records with these labels, such as 1 or 1+7");
    flags.add("--by", by_, "what similar means: ssim, structural similarity", CLI::IsMember({"ssim"}));
    flags.add("--window", question_.options.ssim.window, "gaussian, or uniform",
              CLI::IsMember({"gaussian", "uniform"}));
    flags.add("--window-size", question_.options.ssim.size, "pixels, odd");
    sigma_ = flags.add("--window-sigma", question_.options.ssim.sigma, "of the gaussian window, in pixels",
                       CLI::PositiveNumber);
    flags.add("--nearest", question_.options.nearest, "most similar records that each finding votes for",
              CLI::Range(1, 1'000'000));
    flags.add("--rank", question_.rank,
              "most suspicious first by: similarity to the most similar finding, mean similarity, or votes",
              CLI::IsMember({"similarity", "mean", "votes"}));
    flags.naming(Concept::input)
        .add("--truth SPEC", question_.truth,
             "which records are polluted, to see how many are found: ids, one a line (.txt), or the same "
             "records with right labels");
    inspect_ =
        flags.add("--inspect", question_.inspected,
                  "suspects that are inspected when counting what is found; 0: as many as are polluted");
    flags.add_output("--out FILE.csv", question_.out, "write the whole ranking", {.product = Product::ids});
    flags.add("--pictures", question_.pictures,
              "draw this many suspects next to the finding that they resemble", CLI::Range(0, 1000));
    folder_ =
        flags.add_output("--out-dir FOLDER", question_.folder, "folder for pictures",
                         {.members = {"*-[0-9]*.png"}, .when = [this] { return question_.pictures > 0; }});
  }

  report::Document run(Context& context) override {
    if (question_.options.ssim.window != "gaussian") refuse_without_effect({sigma_}, "on a uniform window");
    if (question_.truth.empty()) refuse_without_effect({inspect_}, of_flags("without --truth"));
    if (question_.pictures == 0) refuse_without_effect({folder_}, of_flags("without --pictures"));
    question_.training = data_.open();
    if (question_.findings.empty())
      refuse(
          "which findings? give --findings SPEC, inputs that break the network (of `assay explore` or "
          "`assay attack`)");
    return answers::find_suspects(question_, setting_of(context), context.progress);
  }

 private:
  DataInput data_{"data", "training records", Concept::training_data};
  std::string by_ = "ssim";
  const CLI::Option *sigma_ = nullptr, *inspect_ = nullptr, *folder_ = nullptr;
  answers::SuspectsQuestion question_{.folder = "assay-polluted"};
};

}  // namespace

CommandInfo polluted_command() {
  return {"polluted",
          "training records that may be mislabelled or planted: they resemble inputs that break the network",
          "  assay polluted train-images-idx3-ubyte.gz --findings found/findings.npz --label 1 --out "
          "suspects.csv\n"
          "  assay polluted 'train-images-idx3-ubyte.gz,relabel=9>1:0.3' --findings found/findings.npz "
          "--between 9+1 --label 1 --truth train-images-idx3-ubyte.gz",
          make_command<Polluted>, break_group};
}

}  // namespace assay::app
