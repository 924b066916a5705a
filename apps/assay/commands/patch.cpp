// assay patch: what activations cause.

#include "apps/assay/command.h"
#include "apps/assay/inputs.h"
#include "assay/answers/networks/patching.h"

namespace assay::app {
namespace {

class Patch final : public Command {
 public:
  void declare(Flags& flags) override {
    flags.take({Shared::seed});
    model_.declare(flags, true);
    clean_.declare(flags, true);
    corrupted_.declare(flags, true);
    of_pairs_ = {
        flags.add_list(
            "--layer NAME,...", question_.patching.layers,
            "layers that are patched, by name or number (default: sums of the residual stream, and heads)"),
        flags.add("--heads", question_.patching.heads, "patch each head of every attention"),
        flags.add("--positions", question_.patching.positions,
                  "patch each position by itself, not all at once"),
        flags.add("--into-clean", question_.patching.into_clean,
                  "put corrupted activations into clean runs, instead of clean ones into corrupted runs"),
        flags.add("--top", question_.top, "strongest sites listed", CLI::Range(1, 100'000)),
        flags.add_output("--out FOLDER", question_.folder, "folder for maps of layers and heads",
                         {.members = {"patched-layers.svg", "patched-heads.svg"}})};
    flags.add(
        "--ablate WITH", question_.ablate,
        "take each head of attention out, in clean records: it gives zero, or its mean over the records",
        CLI::IsMember({"zero", "mean"}));
    controls_ =
        flags.add("--controls", question_.ablation.controls,
                  "random choices of as many numbers as a head has, to compare with", CLI::Range(0, 10'000));
    check_.declare(flags);
    gates_.declare(flags);
  }

  report::Document run(Context& context) override {
    if (!corrupted_.given() && question_.ablate.empty())
      refuse(
          "clean activations go into which runs? give --corrupted SPEC, or take heads out with --ablate "
          "zero");
    if (!corrupted_.given()) refuse_without_effect(of_pairs_, of_flags("without --corrupted"));
    if (question_.ablate.empty()) refuse_without_effect({controls_}, of_flags("without --ablate"));
    const DatasetPtr clean = clean_.open();
    question_.corrupted = corrupted_.open_if_given();
    const Session session = model_.open(context, clean.get());
    question_.accuracy = check_.declared();
    question_.conditions = gates_.conditions();
    return answers::patching(session, clean, question_, setting_of(context), context.progress);
  }

 private:
  ModelInput model_;
  DataInput clean_{"clean", "records whose activations are put into others, or whose heads are taken out",
                   Concept::test_data},
      corrupted_{"corrupted", "the same records with what is in question changed, in the same order",
                 Concept::input};
  AccuracyCheck check_;
  GateOptions gates_;
  std::vector<const CLI::Option*> of_pairs_;
  const CLI::Option* controls_ = nullptr;
  answers::PatchingQuestion question_;
};

}  // namespace

CommandInfo patch_command() {
  return {"patch",
          "which layers, heads and positions cause a decision: activations of one run put into another",
          "  assay patch net.onnx clean.npz corrupted.npz --positions --out maps\n"
          "  assay patch exported 'asked.csv,text=clean,tokenizer=exported,length=16' "
          "'asked.csv,text=corrupted,tokenizer=exported,length=16' --heads --decision "
          "'position=last,answers= no+ yes'\n"
          "  assay patch net.onnx clean.npz --ablate mean --controls 99\n"
          "  assay patch exported asked.npz changed.npz --positions --fail-under "
          "'made-good[layer=norm,position=3]<=0.2'",
          make_command<Patch>, files_group};
}

}  // namespace assay::app
