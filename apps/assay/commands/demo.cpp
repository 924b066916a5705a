// assay demo: the whole journey on data that need no download.

#include "apps/assay/command.h"
#include "apps/assay/inputs.h"
#include "assay/answers/demonstration.h"

namespace assay::app {
namespace {

class Demo final : public Command {
 public:
  void declare(Flags& flags) override {
    flags.take({Shared::seed, Shared::threads, Shared::device, Shared::engine, Shared::memory});
    flags.add("--records", demonstration_.records, "training digits; a third as many test digits",
              CLI::Range(500, 10'000'000));
    flags.add("--epochs", demonstration_.epochs, "passes over the training digits", CLI::Range(1, 1000));
    flags.add("--method", demonstration_.method,
              "attribution by which neurons are ranked and pictures are explained (assay importance --help "
              "lists them)");
    flags.add_output("--out FOLDER", out_, "folder for network, profile, pictures and result",
                     {.product = Product::network});
  }

  report::Document run(Context& context) override {
    demonstration_.folder = out_;
    demonstration_.next = fmt::format(
        "next: assay importance --model {0}/lenet5.onnx --data digits:{1},seed=2 (and open {0}/report.html "
        "in "
        "a browser; the network, its profile and result.json are in the same folder)",
        out_, demonstration_.records);
    return answers::demonstrate(demonstration_, setting_of(context), context.progress);
  }

 private:
  std::string out_ = "assay-demo";
  answers::Demonstration demonstration_;
};

}  // namespace

CommandInfo demo_command() {
  return {"demo", "a complete example on digits that are drawn on the fly; no download",
          "  assay demo\n"
          "  assay demo --records 5000 --epochs 1 --out quick",
          make_command<Demo>, begin_group};
}

}  // namespace assay::app
