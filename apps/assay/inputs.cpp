#include "apps/assay/inputs.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include <assay/error.h>
#include <assay/model.h>
#include "assay/results/evaluation.h"

namespace assay::app {
namespace {

std::vector<std::int64_t> parse_list(const std::string& text, char separator, std::string_view flag,
                                     std::string_view example) {
  std::vector<std::int64_t> numbers;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (;;) {
    std::int64_t number = 0;
    const auto [stop, code] = std::from_chars(at, end, number);
    const bool ok = code == std::errc() && number > 0 && (stop == end || *stop == separator);
    if (!ok) fail(Fault::usage, "{} '{}' is not a list of positive numbers such as {}", flag, text, example);
    numbers.push_back(number);
    if (stop == end) return numbers;
    at = stop + 1;
  }
}

// 3x32x32, or picture=3x32x32,table=7.
void take_shapes(const std::string& text, SessionOptions& options) {
  constexpr std::string_view flag = "--input-shape";
  if (text.find('=') == std::string::npos) {
    options.record_shape = parse_shape(text, flag);
    return;
  }
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size()), equals = text.find('=', begin);
    if (equals >= end)
      fail(Fault::usage, "{} '{}': each of several inputs needs its name, as in picture=3x32x32,table=7",
           flag, text);
    options.record_shapes[text.substr(begin, equals - begin)] =
        parse_shape(text.substr(equals + 1, end - equals - 1), flag);
    begin = end + 1;
  }
}

// How a scheduler numbers the tasks of one job: the task's number, the first number, the step from one to the
// next and how many there are.
struct TaskNumbers {
  const char *task, *first, *step, *count;
};

std::optional<std::size_t> number_in(const char* variable) {
  const char* const text = variable == nullptr ? nullptr : std::getenv(variable);
  std::size_t number = 0;
  if (text == nullptr) return std::nullopt;
  const char* const end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

// The part of the work that is this task's, as the scheduler that started it says.
std::pair<std::size_t, std::size_t> scheduled_shard() {
  constexpr std::array<TaskNumbers, 3> schedulers{
      {{"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_STEP", "SLURM_ARRAY_TASK_COUNT"},
       {"SLURM_PROCID", nullptr, nullptr, "SLURM_STEP_NUM_TASKS"},  // srun
       {"JOB_COMPLETION_INDEX", nullptr, nullptr, nullptr}}};       // Kubernetes, which tells no count
  for (const TaskNumbers& names : schedulers) {
    const auto task = number_in(names.task);
    if (!task) continue;
    const std::size_t first = number_in(names.first).value_or(0),
                      step = std::max<std::size_t>(1, number_in(names.step).value_or(1));
    const auto told = number_in("ASSAY_SHARDS"), count = told ? told : number_in(names.count);
    if (!count)
      fail(Fault::usage, "--shard auto: {} is {}, but of how many? set ASSAY_SHARDS to the number of tasks",
           names.task, *task);
    const std::size_t shard = (*task - std::min(*task, first)) / step + 1;
    if (*task < first || shard > *count)
      fail(Fault::usage, "--shard auto: {} is {}, which is none of {} tasks that count from {}", names.task,
           *task, *count, first);
    return {shard, *count};
  }
  fail(Fault::usage,
       "--shard auto: no scheduler has numbered this process (SLURM_ARRAY_TASK_ID, SLURM_PROCID, "
       "JOB_COMPLETION_INDEX); give --shard K/N");
}

}  // namespace

Shape parse_shape(const std::string& text, std::string_view flag) {
  return parse_list(text, 'x', flag, "3x32x32");
}

std::vector<std::int64_t> parse_integers(const std::string& text, std::string_view flag) {
  return parse_list(text, ',', flag, "6,8,10");
}

SessionOptions session_options(const Context& context, const Dataset* dataset) {
  SessionOptions options;
  options.threads = context.settings.threads;
  options.device = context.settings.device;
  options.engine = context.settings.engine;
  options.memory_limit = static_cast<std::uint64_t>(context.settings.memory_gib * 1024.0 * 1024.0 * 1024.0);
  if (dataset != nullptr) set_record_shapes(options, dataset->facts());
  return options;
}

WalkOptions walk_options(const Context& context, std::string stage) {
  return {.batch = context.settings.batch, .stage = std::move(stage)};
}

void ModelInput::declare(CLI::App& app, bool positional) {
  app.add_option(positional ? "model,--model" : "--model", path_,
                 "network: .onnx, Keras .h5 (with its .json if it holds weights only) or .keras")
      ->type_name("FILE");
  app.add_option(
         "--input-shape", input_shape_,
         "shape of one record, where neither network nor data tell it; NAME=SHAPE,... of several inputs")
      ->type_name("CxHxW");
  adaptation_.declare(app);
}

Session ModelInput::open(Context& context, const Dataset* dataset) const {
  if (path_.empty())
    fail(Fault::usage, "which network? give --model FILE (or model = \"FILE\" in assay.toml)");
  Graph graph = read_model(path_);
  for (const std::string& notice : graph.notices()) context.progress.notice(notice);
  SessionOptions options = session_options(context, dataset);
  if (!input_shape_.empty()) take_shapes(input_shape_, options);
  Graph adapted = adaptation_.apply(graph, dataset, context);
  check_result_replaced(adapted.hash(), context.settings);
  Session session(std::move(adapted), std::move(options));
  for (const std::string& notice : session.notices()) context.progress.notice(notice);
  adaptation_.compare(graph, session, dataset, context);
  return session;
}

void DataInput::declare(CLI::App& app, bool positional) {
  app.add_option((positional ? flag_ + "," : "") + "--" + flag_, spec_, help_)->type_name("SPEC");
}

DatasetPtr DataInput::open() const {
  if (spec_.empty()) {
    fail(Fault::usage,
         "which data? give --{} SPEC (or {} = \"SPEC\" in assay.toml); `assay data --help` shows specs",
         flag_, flag_);
  }
  return open_dataset(spec_);
}

void AccuracyCheck::declare(CLI::App& app) {
  app.add_option("--expect-accuracy", expected_,
                 "stop unless the network reaches at least this accuracy (0.9879) on the data")
      ->default_str("")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--tolerance", tolerance_, "how far below the accuracy may be")->check(CLI::Range(0.0, 1.0));
  app.add_option("--tolerance-above", above_, "how far above it may be; 1: any")->check(CLI::Range(0.0, 1.0));
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

std::pair<std::size_t, std::size_t> parse_shard(const std::string& text) {
  if (text == "auto") return scheduled_shard();
  const std::size_t slash = text.find('/');
  std::size_t shard = 0, shards = 0;
  const auto read = [&](std::size_t begin, std::size_t end, std::size_t& out) {
    const auto [stop, error] = std::from_chars(text.data() + begin, text.data() + end, out);
    return error == std::errc() && stop == text.data() + end;
  };
  const bool sound =
      slash != std::string::npos && read(0, slash, shard) && read(slash + 1, text.size(), shards);
  if (!sound || shard < 1 || shard > shards)
    fail(Fault::usage, "--shard '{}' is not of the form 2/8, the second of eight parts, nor auto", text);
  return {shard, shards};
}

void tell_shard(const std::string& text, Context& context) {
  if (text != "auto") return;
  const auto [shard, shards] = parse_shard(text);
  context.effective["shard"] = {fmt::format("{}/{}", shard, shards)};
}

}  // namespace assay::app
