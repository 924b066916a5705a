// assay bounds: what no change within a ball or a box can do.

#include "assay/answers/testing/bounds.h"
#include "apps/assay/command.h"
#include "apps/assay/inputs.h"

namespace assay::app {
namespace {

class Bounds final : public Command {
 public:
  void declare(Flags& flags) override {
    flags.take({Shared::seed});
    model_.declare(flags, true);
    data_.declare(flags, true);
    of_records_ = {flags.add("--eps", question_.records.radius,
                             "radius around each record in the maximum norm, as a share of the valid range",
                             CLI::Range(0.0, 1.0)),
                   flags.add("--attack SPEC", question_.records.attack,
                             "attack on records that are not certified, without its eps; none: no attack"),
                   flags.add("--bisections", question_.records.bisections,
                             "halvings that look for the radius of each record between 0 and --eps; 0: none",
                             CLI::Range(0, 30)),
                   flags.add_output("--write-queries FOLDER", question_.queries,
                                    "write queries in VNN-LIB of right records, and a list of them",
                                    {.members = {"record_*.vnnlib", "instances.csv"}})};
    count_ =
        flags.add("--count", question_.count, "queries that are written at most", CLI::Range(1, 100'000));
    flags.add("--method", method_, "bounds: crown (linear functions, tight) or interval (quick)")
        ->check(CLI::IsMember({"crown", "interval"}));
    const Flags files = flags.naming(Concept::input);
    vnnlib_ = files.add("--vnnlib FILE", query_.query, "answer this query instead: unsat, sat or unknown");
    check_ = files.add("--counterexample FILE", query_.counterexample,
                       "check this counterexample to --vnnlib as the competition does");
    of_query_ = {
        flags.add_output("--out FILE", query_.out, "write a counterexample to --vnnlib that is found"),
        flags.add("--splits", query_.options.splits, "boxes that a query is divided into at most",
                  CLI::Range(1, 100'000'000)),
        flags.add("--starts", query_.options.starts,
                  "points from which counterexamples are searched in each box", CLI::Range(1, 10'000)),
        flags.add("--steps", query_.options.steps, "steps from each of them", CLI::Range(1, 100'000))};
    gates_.declare(flags);
  }

  report::Document run(Context& context) override {
    const bounds::Method method = method_ == "crown" ? bounds::Method::crown : bounds::Method::interval;
    if (query_.query.empty()) return of_records(context, method);
    if (data_.given()) refuse("records and --vnnlib are two questions; give one of them");
    refuse_without_effect(of_records_, of_flags("with --vnnlib: the query has its own boxes"));
    refuse_without_effect({count_}, of_flags("with --vnnlib"));
    if (!query_.counterexample.empty())
      refuse_without_effect(of_query_, of_flags("with --counterexample, which is only checked"));
    const Session session = model_.open(context);
    query_.options.method = method;
    query_.conditions = gates_.conditions();
    return answers::answer_query(session, query_, setting_of(context), context.progress);
  }

 private:
  report::Document of_records(Context& context, bounds::Method method) {
    if (!query_.counterexample.empty()) refuse("a counterexample to what? give its query with --vnnlib");
    refuse_without_effect(of_query_, of_flags("without --vnnlib"));
    if (question_.queries.empty()) refuse_without_effect({count_}, of_flags("without --write-queries"));
    if (!data_.given()) refuse("bounds of what? give records, or a query with --vnnlib FILE");
    const DatasetPtr data = data_.open();
    const Session session = model_.open(context, data.get());
    question_.records.method = method;
    question_.conditions = gates_.conditions();
    return answers::bounds_of_records(session, data, question_, setting_of(context), context.progress);
  }

  ModelInput model_;
  DataInput data_{
      "data",
      "records that changes are bounded of; a valid range must be known (8-bit images know theirs, others "
      "say range=0:1)",
      Concept::test_data};
  GateOptions gates_;
  std::string method_ = "crown";
  std::vector<const CLI::Option*> of_records_, of_query_;
  const CLI::Option *count_ = nullptr, *vnnlib_ = nullptr, *check_ = nullptr;
  answers::BoundsQuestion question_;
  answers::QueryQuestion query_;
};

}  // namespace

CommandInfo bounds_command() {
  return {"bounds",
          "records that no change within a radius breaks: certified, attacked or open; queries in VNN-LIB",
          "  assay bounds net.onnx test.npz,range=0:1 --eps 0.02\n"
          "  assay bounds net.onnx test.npz,range=0:1 --eps 0.1 --bisections 8 --fail-under "
          "'certified-radius[quantile=0.5]>=0.01'\n"
          "  assay bounds net.onnx --vnnlib prop_1.vnnlib --out counterexample.txt\n"
          "  assay bounds net.onnx --vnnlib prop_1.vnnlib --counterexample counterexample.txt\n"
          "  assay bounds net.onnx test.npz,range=0:1 --eps 0.02 --write-queries queries",
          make_command<Bounds>,
          assure_group,
          true};
}

}  // namespace assay::app
