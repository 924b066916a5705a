// assay audit: which criterion to believe on this network.

#include "assay/answers/testing/audit.h"
#include "apps/assay/command.h"
#include "apps/assay/inputs.h"
#include "assay/support/text/parse.h"

namespace assay::app {
namespace {

class Audit final : public Command {
 public:
  void declare(Flags& flags) override {
    flags.take({Shared::seed});
    model_.declare(flags, true);
    model_.declare_views(flags);
    train_.declare(flags.leading());
    test_.declare(flags, true);
    flags.add_list("--criterion SPEC,...", question_.criteria,
                   "criterion with options, such as kmnc[sections=100]; may be repeated (default: the preset "
                   "audit; `assay criteria` lists all)");
    flags.add("--preset NAME", question_.preset,
              "criteria of a preset (`assay criteria` lists them); those that the training traces do not "
              "allow are left out with a warning");
    flags.add("--by-layer", question_.by_layer,
              "criteria that count all layers are audited layer by layer as well");
    flags.add_list(
        "--layer NAME,...", question_.learn.subjects,
        "subject layer of idc, lsc, dsc, mdsc and scc by name or number, may be repeated (default: the "
        "layer before the last with weights)");
    flags.add("--method", question_.learn.importance.method,
              "attribution by which idc ranks neurons (assay importance --help lists them)");
    model_.declare_task(flags, question_.task);
    flags.add(
        "--items N|all", question_.items,
        "look at items (pixels, tokens, boxes, labels) in place of records: N of each, drawn at random, or "
        "all; a record covers what its items cover");
    flags.naming(Concept::input)
        .add(
            "--mutants FILE", question_.mutants,
            "mutants that `assay mutate --state FILE` has judged with the same records (default: mutants are "
            "drawn and judged here)");
    flags.naming(Concept::input)
        .add("--findings SPEC", question_.findings,
             "records that `assay explore` or `assay attack --only-successful` made of test records, as "
             "further faults: those they were made of reveal them");
    count_ = flags.add("--count", question_.count, "mutants drawn per operator of DeepMutation; 0: none",
                       CLI::Range(0, 10'000));
    flags.add("--quality", question_.quality, "leave out mutants that misclassify more than this share of T'",
              CLI::Range(0.0, 1.0));
    flags.add_list("--sampler NAME,...", question_.options.samplers,
                   "how subsets are drawn: uniform, class, cluster; may be repeated (default: all)");
    flags.add_list("--sizes 50,100,...", sizes_, "records a subset (default: 1, 2 and 5 % of the records)");
    flags.add("--subsets", question_.options.subsets, "subsets of each size and kind",
              CLI::Range(10, 1'000'000));
    flags.add("--permutations", question_.options.permutations,
              "permutations of records at most, for p values", CLI::Range(19, 1'000'000));
    flags.add("--resamples", question_.options.resamples, "bootstrap replicates, for intervals",
              CLI::Range(20, 1'000'000));
    flags.add("--orders", question_.options.orders, "random orders that orders are compared with",
              CLI::Range(19, 1'000'000));
    flags.add("--level", question_.options.level, "false discovery rate of the verdicts",
              CLI::Range(0.0001, 0.5));
    flags.add("--noise FLOAT", question_.noise,
              "measure again on records with Gaussian noise of this deviation: does it change what the "
              "criterion says?",
              CLI::PositiveNumber);
    flags.naming(Concept::other_network)
        .add("--twin FILE", question_.twins,
             "measure again on another network for the same data, such as one trained with another seed; "
             "may be repeated");
    predict_.declare(flags);
    add_pairs(flags, question_.pairs);
  }

  report::Document run(Context& context) override {
    if (!question_.mutants.empty())
      refuse_without_effect({count_}, of_flags("with --mutants: none are drawn"));
    question_.test = test_.open();
    question_.training = train_.open();
    question_.predicted = predict_.open_if_given();
    question_.reading = model_.reading();
    const Session session = model_.open(context, question_.test.get());
    if (!sizes_.empty()) question_.options.sizes = parse_counts(sizes_, of_flags("--sizes"), "6,8,10");
    return answers::audit_criteria(session, question_, setting_of(context), context.progress);
  }

 private:
  ModelInput model_;
  DataInput train_{"train", "training records, which criteria compare with", Concept::training_data},
      test_{"test", "test records, of which subsets are drawn", Concept::test_data},
      predict_{
          "predict",
          "other records: which share of the faults do they find, by what they cover? predicted from the "
          "subsets of --test",
          Concept::data};
  std::string sizes_;
  const CLI::Option* count_ = nullptr;
  answers::AuditQuestion question_;
};

}  // namespace

CommandInfo audit_command() {
  return {"audit", "which criterion to believe: does covering more mean finding more faults?",
          "  assay audit net.onnx test.npz --train train.npz --html audit.html\n"
          "  assay audit net.onnx test.npz --train train.npz --criterion idc[m=6] --criterion "
          "nc[threshold=0.5] --by-layer\n"
          "  assay audit net.onnx test.npz --train train.npz --mutants net.mut --sizes 50,200 --twin "
          "other-seed.onnx --noise 0.05",
          make_command<Audit>, test_group};
}

}  // namespace assay::app
