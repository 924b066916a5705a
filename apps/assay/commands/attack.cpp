// assay attack: inputs that break a network.

#include "assay/answers/testing/attack.h"
#include <assay/error.h>
#include "apps/assay/command.h"
#include "apps/assay/inputs.h"
#include "assay/answers/task.h"
#include "assay/answers/tokenizer.h"
#include "assay/results/networks/text_map.h"
#include "assay/support/text/text.h"

namespace assay::app {
namespace {

class AttackCommand final : public Command {
 public:
  void declare(Flags& flags) override {
    flags.take({Shared::seed});
    model_.declare(flags, true);
    data_.declare(flags, true);
    flags.add_list(
        "--attack SPEC,...", question_.attacks,
        "attack with options, such as pgd[eps=0.1,starts=5]; may be repeated (`assay attacks` lists all)");
    flags.add("--preset NAME", question_.preset,
              "attacks and options of a paper: " + joined(attack::presets().names()));
    flags.add_output(
        "--out FOLDER", question_.folder, "folder for the attacked records, one .npz per attack",
        {.instead = [this] { return answers::outputs_of(question_, "--out"); }, .product = Product::records});
    flags.add("--all", question_.options.all,
              "also attack records that the network gets wrong, to change the class that it names");
    flags.add("--only-successful", question_.options.only_successful, "store only records that succeed");
    flags.add("--standing", question_.standing,
              "each attack sees only records that no earlier attack fooled: quicker, with the same robust "
              "accuracy, but rates of what is left; always so for the preset autoattack");
    flags.add("--levels", question_.options.levels,
              "store 8-bit levels of the valid range, as pictures have them; success is judged after "
              "rounding, which may move an element half a level beyond its bound");
    pictures_ = flags.add(
        "--pictures", question_.pictures,
        "show so many records of each attack: pictures before, after and their difference; of other records "
        "what they are taken for, and which values changed most",
        CLI::Range(0, 1000));
    texts_ =
        flags.add("--texts", question_.texts, "show so many texts of each attack on tokens, before and after",
                  CLI::Range(0, 100'000));
    margin_ = flags.add("--margin", question_.options.margin,
                        "regression: an output that moves by more than this away from its target is a "
                        "success; of records with many items: this share of them, decided differently",
                        CLI::NonNegativeNumber);
    model_.declare_task(flags, question_.task);
    flags.add("--hide CLASS", question_.hide,
              "of records with many items: a success is when every item of this class is decided otherwise");
    flags.add("--appear CLASS", question_.appear,
              "of records with many items: a success is when more than --margin (default 0) of the items "
              "become this class "
              "(of boxes: where none was)");
    check_.declare(flags);
    pairs_ = add_pairs(flags, question_.pairs);
  }

  bool shared() const override { return true; }
  report::Document run(Context& context) override {
    if (question_.attacks.empty() && question_.preset.empty())
      refuse(
          "which attack? give --attack NAME[option=value,...] or --preset NAME; `assay attacks` lists them");
    const DatasetPtr data = data_.open();
    if (data->target_width() == 0 && !answers::may_have_items(question_.task))
      refuse_without_effect(
          {margin_},
          of_flags("on classes: it is for regression and tasks of many items (targets= of --data)"));
    if (!question_.hide.empty())
      refuse_without_effect({margin_}, of_flags("with --hide: every item of the class has to change"));
    if (!question_.appear.empty() && margin_->count() == 0) question_.options.margin = 0;
    if (results::is_text(*data))
      refuse_without_effect({pictures_}, of_flags("on texts: --texts says how many are shown"));
    else
      refuse_without_effect({texts_}, "where records are not texts");
    if (question_.options.only_successful)
      refuse_without_effect({pairs_},
                            of_flags("with --only-successful, which leaves no figures by characteristic"));
    const Session session = model_.open(context, data.get());
    question_.accuracy = check_.declared();
    question_.tokenizer = answers::tokenizer_for(data_.spec(), model_.path());
    answers::AttackAnswer answer =
        answers::attack(session, data, question_, setting_of(context), context.progress);
    if (answer.levels) context.effective["levels"] = {"true"};
    return std::move(answer.document);
  }

 private:
  const CLI::Option *pictures_ = nullptr, *texts_ = nullptr, *pairs_ = nullptr;
  ModelInput model_;
  DataInput data_{
      "data",
      "records to attack; their valid range must be known (8-bit images have one, for others add range=0:1)",
      Concept::test_data};
  AccuracyCheck check_;
  const CLI::Option* margin_ = nullptr;
  answers::AttackQuestion question_{.folder = "assay-attack"};
};

}  // namespace

CommandInfo attack_command() {
  return {
      "attack",
      "records changed so that the network gets them wrong: adversarial attacks, noise, natural corruptions",
      "  assay attack net.onnx test.npz,range=0:1 --attack 'fgsm[eps=0.1]' --attack 'pgd[eps=0.1,starts=3]' "
      "--out attacked\n"
      "  assay attack lenet5.onnx t10k-images-idx3-ubyte.gz --preset deepimportance --levels",
      make_command<AttackCommand>, break_group};
}

}  // namespace assay::app
