// assay model: what a network consists of, as the analyses see it.

#include "assay/results/networks/model.h"
#include <assay/error.h>
#include <assay/model.h>
#include "apps/assay/command.h"
#include "apps/assay/inputs.h"
#include "assay/engine/layers/dead_neurons.h"

namespace assay::app {
namespace {

class Model final : public Command {
 public:
  void declare(Flags& flags) override {
    model_.declare(flags, true);
    model_.declare_views(flags);
    data_.declare(flags, true);
    flags.add("--plan", plan_, "what runs each segment of nodes, and how long it is expected to take");
    flags.add("--measure", measure_, "with --plan: how long it takes, measured now");
    flags.add_output("--write FILE.onnx", write_, "write the network as ONNX, whatever it was read from");
  }

  report::Document run(Context& context) override {
    const DatasetPtr data = data_.open_if_given();
    const Session session = model_.open(context, data.get());
    std::optional<std::vector<std::vector<std::size_t>>> dead;
    if (data)
      dead = find_dead_neurons(session, session.layers(), data,
                               {.batch = setting_of(context).batch, .stage = "looking for dead neurons"},
                               context.progress);
    if (measure_ && !plan_) refuse("--measure times the segments of --plan; give both");
    report::Document document = results::document_of(session, dead);
    if (plan_) results::add_plan(document, session, measure_);
    // The output that decides stays in front, for programs that take the first one.
    if (!write_.empty())
      write_onnx(in_form_of_file(session.graph(), {.channels_last = model_.form().channels_last}), write_);
    if (data) document.provenance.emplace_back("data_hash", data->hash());
    return document;
  }

 private:
  ModelInput model_;
  DataInput data_{"data", "records on which to look for dead neurons"};
  std::string write_;
  bool plan_ = false, measure_ = false;
};

}  // namespace

CommandInfo model_command() {
  return {"model",
          "layers, neurons and parameters of a network, with warnings",
          "  assay model lenet5.onnx\n"
          "  assay model lenet5.onnx t10k-images-idx3-ubyte.gz\n"
          "  assay model lenet5.h5 --write lenet5.onnx\n"
          "  assay model lenet5.onnx --plan --measure",
          make_command<Model>,
          begin_group,
          true};
}

}  // namespace assay::app
