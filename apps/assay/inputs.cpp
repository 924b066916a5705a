#include "apps/assay/inputs.h"

#include <algorithm>

#include <assay/error.h>
#include "assay/answers/networks/network.h"
#include "assay/engine/layers/unit_views.h"
#include "assay/results/warnings.h"
#include "assay/support/text/parse.h"
#include "assay/task/threshold.h"

namespace assay::app {

answers::Setting setting_of(const Context& context) {
  const Settings& settings = context.settings;
  answers::Setting setting{.batch = settings.batch, .seed = settings.seed, .replace = settings.force};
  setting.session.threads = settings.threads;
  setting.session.device = settings.device;
  setting.session.engine = settings.engine;
  setting.session.memory_limit = settings.memory_limit();
  setting.detailed = settings.detailed();
  if (context.effective.contains("batch")) setting.batch = 1;
  return setting;
}

void run_alone(Context& context) {
  if (context.settings.batch != 0) return;
  context.effective["batch"] = {"1"};
  context.progress.notice(
      "records run one at a time, as they change each other's results: figures are of each record alone, "
      "unless a size of batches is given");
}

report::Document told_alone(report::Document document, Context& context) {
  if (std::ranges::find(document.warnings, "records-interact", &report::Warning::id) !=
      document.warnings.end())
    run_alone(context);
  return document;
}

void ModelInput::declare(Flags& flags, bool positional) {
  flags.take_those_of_networks();
  flags.take({Shared::force});  // open() guards the result of another network
  flags.naming(Concept::network)
      .add(positional ? "model,--model FILE" : "--model FILE", path_,
           "network: .onnx, Keras .h5 (with its .json if it holds weights only) or .keras, or a folder "
           "with model.onnx and its config.json and tokenizer.json");
  flags.add("--input-shape CxHxW", input_shape_,
            "shape of one record, if neither network nor data tell it; NAME=SHAPE,... for several inputs");
  adaptation_.declare(flags);
}

void ModelInput::refuse_idle_views(const Session& session, const std::vector<std::string>& layers) const {
  const std::vector<Layer> all = unit_view_layers(session);
  const bool looked_at =
      layers.empty() || std::ranges::any_of(layers, [&](const std::string& name) {
        return std::ranges::find(all, session.layer(name).value, &Layer::value) != all.end();
      });
  if (!looked_at && views_ != nullptr)
    refuse_without_effect({views_}, "where other layers are named, and none of the views is");
}

Session ModelInput::open(Context& context, const Dataset* dataset) {
  if (path_.empty()) refuse("which network? give --model FILE (or model = \"FILE\" in assay.toml)");
  const Graph graph = answers::read_network(path_, context.progress);
  const AdaptOptions adaptation = adapt_options_of(adapt_options(), path_);
  SessionOptions options = setting_of(context).session_for(dataset);
  if (!input_shape_.empty()) answers::take_record_shapes(options, input_shape_, of_flags("--input-shape"));
  AdaptedNetwork network = adapted(graph, adaptation, dataset, context.progress);
  Session session = session_of(network, options, dataset, context.progress);
  check_result_replaced(session.graph().hash(), context.settings);
  form_ = network.form;
  tell_rounding(graph, session, adaptation, dataset, context.progress);
  std::vector<report::Warning> influences = results::influence_warnings(session, dataset);
  if (!influences.empty()) run_alone(context);
  results::add(context.warnings, std::move(influences));
  return session;
}

const CLI::Option* ModelInput::declare_task(Flags& flags, std::string& task) {
  task_ = &task;
  return add_task(flags, task);
}

AdaptOptions ModelInput::adapt_options() const {
  AdaptOptions options = adaptation_.options();
  if (task_ != nullptr) options.threshold = task::threshold_of(*task_);
  return options;
}

CLI::Option* DataInput::declare(const Flags& flags, bool positional) {
  flags.take({Shared::memory});
  CLI::Option* const option =
      flags.naming(files_).add((positional ? flag_ + "," : "") + "--" + flag_ + " SPEC", spec_, help_);
  option_ = option;
  return option;
}

DatasetPtr DataInput::open() const {
  if (spec_.empty()) {
    fail(Fault::usage,
         "which data? give {} (or {} = \"SPEC\" in assay.toml); `assay data --help` shows specs",
         About{"--" + flag_ + " SPEC", "{" + flag_ + "=SPEC}"}, flag_);
  }
  return open_dataset(spec_);
}

const CLI::Option* add_task(Flags& flags, std::string& task) {
  return flags.naming(Concept::input)
      .add("--task SPEC", task,
           "what the output means: classes, binary, regression, embedding, or of many decisions a "
           "record pixels, tokens, "
           "labels, boxes, text, with options as pixels[ignore=0] (default: the one that output and "
           "labels fit; see `assay "
           "tasks`)");
}

const CLI::Option* add_pairs(Flags& flags, std::optional<std::size_t>& pairs) {
  return flags.add(
      "--pairs", pairs,
      "keep the worst so many pairs of characteristics (meta= of the data) by each figure; 0: all "
      "(default: 100)",
      CLI::Range(0, 1'000'000));
}

void AccuracyCheck::declare(Flags& flags) {
  flags
      .add("--expect-accuracy", expected_,
           "stop unless the network reaches at least this accuracy (0.9879) on the data",
           CLI::Range(0.0, 1.0))
      ->default_str("");
  tolerances_ = {
      flags.add("--tolerance", tolerance_, "how far below the accuracy may be", CLI::Range(0.0, 1.0)),
      flags.add("--tolerance-above", above_, "how far above it may be; 1: any", CLI::Range(0.0, 1.0))};
}

answers::DeclaredAccuracy AccuracyCheck::declared() const {
  if (expected_ < 0) {
    refuse_without_effect(tolerances_, of_flags("without --expect-accuracy"));
    return std::nullopt;
  }
  return AccuracyBounds{expected_, tolerance_, above_};
}

std::pair<std::size_t, std::size_t> ShardInput::part(Context& context) const {
  if (text_.empty()) return {1, 1};
  const auto part = parse_shard(text_, of_flags("--shard"));
  if (text_ == "auto") context.effective["shard"] = {fmt::format("{}/{}", part.first, part.second)};
  return part;
}

}  // namespace assay::app
