#include "apps/assay/inputs.h"

#include <assay/error.h>
#include <assay/model.h>
#include "assay/results/networks/evaluation.h"
#include "assay/support/text/parse.h"

namespace assay::app {
namespace {

// 3x32x32, or picture=3x32x32,table=7.
void take_shapes(const std::string& text, SessionOptions& options) {
  constexpr std::string_view flag = "--input-shape", example = "3x32x32";
  if (text.find('=') == std::string::npos) {
    options.record_shape = parse_positive(text, 'x', flag, example);
    return;
  }
  for (const std::string& part : parts_of(text, ",")) {
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos)
      fail(Fault::usage, "{} '{}': each of several inputs needs its name, as in picture=3x32x32,table=7",
           flag, text);
    options.record_shapes[part.substr(0, equals)] =
        parse_positive(std::string_view(part).substr(equals + 1), 'x', flag, example);
  }
}

}  // namespace

SessionOptions session_options(const Context& context, const Dataset* dataset) {
  SessionOptions options;
  options.threads = context.settings.threads;
  options.device = context.settings.device;
  options.engine = context.settings.engine;
  options.memory_limit = context.settings.memory_limit();
  if (dataset != nullptr) set_record_shapes(options, dataset->facts());
  return options;
}

WalkOptions walk_options(const Context& context, std::string stage) {
  return {.batch = context.settings.batch, .stage = std::move(stage)};
}

Graph read_network(const std::string& file, Context& context) {
  Graph graph = read_model(file);
  for (const std::string& notice : graph.notices()) context.progress.notice(notice);
  return graph;
}

void ModelInput::declare(Flags& flags, bool positional) {
  flags.add(positional ? "model,--model FILE" : "--model FILE", path_,
            "network: .onnx, Keras .h5 (with its .json if it holds weights only) or .keras");
  flags.add("--input-shape CxHxW", input_shape_,
            "shape of one record, where neither network nor data tell it; NAME=SHAPE,... of several inputs");
  adaptation_.declare(flags);
}

Session ModelInput::open(Context& context, const Dataset* dataset) {
  if (path_.empty())
    fail(Fault::usage, "which network? give --model FILE (or model = \"FILE\" in assay.toml)");
  const Graph graph = read_network(path_, context);
  const AdaptOptions adaptation = adaptation_.options();
  SessionOptions options = session_options(context, dataset);
  if (!input_shape_.empty()) take_shapes(input_shape_, options);
  auto [network, form] = adapted(graph, adaptation, dataset, context.progress);
  form_ = form;
  check_result_replaced(network.hash(), context.settings);
  Session session(std::move(network), std::move(options));
  for (const std::string& notice : session.notices()) context.progress.notice(notice);
  tell_rounding(graph, session, adaptation, dataset, context.progress);
  return session;
}

void DataInput::declare(Flags& flags, bool positional) {
  flags.add((positional ? flag_ + "," : "") + "--" + flag_ + " SPEC", spec_, help_);
}

DatasetPtr DataInput::open() const {
  if (spec_.empty()) {
    fail(Fault::usage,
         "which data? give --{} SPEC (or {} = \"SPEC\" in assay.toml); `assay data --help` shows specs",
         flag_, flag_);
  }
  return open_dataset(spec_);
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

void AccuracyCheck::refuse_without_effect() const {
  if (expected_ < 0) frame::refuse_without_effect(tolerances_, "without --expect-accuracy");
}

Evaluation AccuracyCheck::run(const Session& session, const DatasetPtr& dataset, Context& context) const {
  Evaluation evaluation = evaluate(session, dataset, walk_options(context, "evaluating"), context.progress);
  apply(evaluation, session, dataset);
  return evaluation;
}

void AccuracyCheck::run_if_asked(const Session& session, const DatasetPtr& dataset, Context& context,
                                 report::Document& document) const {
  if (expected_ >= 0) results::add_scores(document, run(session, dataset, context), "test");
}

void AccuracyCheck::apply(const Evaluation& evaluation, const Session& session,
                          const DatasetPtr& dataset) const {
  if (expected_ >= 0) require_accuracy(session, dataset, evaluation, {expected_, tolerance_, above_});
}

std::pair<std::size_t, std::size_t> ShardInput::part(Context& context) const {
  if (text_.empty()) return {1, 1};
  const auto part = parse_shard(text_, "--shard");
  if (text_ == "auto") context.effective["shard"] = {fmt::format("{}/{}", part.first, part.second)};
  return part;
}

}  // namespace assay::app
