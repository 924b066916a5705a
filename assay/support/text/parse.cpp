#include "assay/support/text/parse.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include <assay/error.h>

namespace assay::inline support {
namespace {

// How a scheduler numbers the tasks of one job: the task's number, the first number, the step from one to the
// next and how many there are.
struct TaskNumbers {
  const char *task, *first, *step, *count;
};

// The part of the work that is this task's, as the scheduler that started it says.
std::pair<std::size_t, std::size_t> scheduled_shard(const Message& name) {
  constexpr std::array<TaskNumbers, 3> schedulers{
      {{"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_STEP", "SLURM_ARRAY_TASK_COUNT"},
       {"SLURM_PROCID", nullptr, nullptr, "SLURM_STEP_NUM_TASKS"},  // srun
       {"JOB_COMPLETION_INDEX", nullptr, nullptr, nullptr}}};       // Kubernetes, which tells no count
  for (const TaskNumbers& names : schedulers) {
    const auto task = variable_number(names.task);
    if (!task) continue;
    const std::size_t first = variable_number(names.first).value_or(0),
                      step = std::max<std::size_t>(1, variable_number(names.step).value_or(1));
    const auto told = variable_number("ASSAY_SHARDS"), count = told ? told : variable_number(names.count);
    if (!count)
      fail(Fault::usage, "{} auto: {} is {}, but of how many? set ASSAY_SHARDS to the number of tasks", name,
           names.task, *task);
    const std::size_t shard = (*task - std::min(*task, first)) / step + 1;
    if (*task < first || shard > *count)
      fail(Fault::usage, "{} auto: {} is {}, which is not one of {} tasks counted from {}", name, names.task,
           *task, *count, first);
    return {shard, *count};
  }
  fail(Fault::usage,
       "{} auto: no scheduler has numbered this process (SLURM_ARRAY_TASK_ID, SLURM_PROCID, "
       "JOB_COMPLETION_INDEX); give {} K/N",
       name, name);
}

}  // namespace

std::vector<std::string> parts_of(std::string_view text, std::string_view separators) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find_first_of(separators, begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::optional<std::string> take_part(std::string_view& rest, std::string_view stops) {
  if (!rest.starts_with('"')) {
    const std::size_t end = std::min(rest.find_first_of(stops), rest.size());
    std::string part(rest.substr(0, end));
    rest.remove_prefix(end);
    return part;
  }
  std::string part;
  for (std::size_t at = 1; at < rest.size(); ++at) {
    if (rest[at] != '"') {
      part += rest[at];
    } else if (at + 1 < rest.size() && rest[at + 1] == '"') {
      part += rest[at++];
    } else {
      rest.remove_prefix(at + 1);
      if (!rest.empty() && stops.find(rest[0]) == std::string_view::npos) return std::nullopt;
      return part;
    }
  }
  return std::nullopt;
}

std::vector<std::string> joined_specs(const std::string& text) {
  constexpr std::string_view plus = " + ";
  std::vector<std::string> specs(1);
  bool quoted = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool opens = at == 0 || text[at - 1] == ',' || text[at - 1] == '=' || text[at - 1] == ' ';
    if (text[at] == '"' && (quoted || opens)) quoted = !quoted;
    if (!quoted && std::string_view(text).substr(at).starts_with(plus)) {
      specs.emplace_back();
      at += plus.size() - 1;
    } else {
      specs.back() += text[at];
    }
  }
  return specs;
}

std::string part_in_quotes(const std::string& text, std::string_view stops) {
  if (text.find_first_of(stops) == std::string::npos && !text.starts_with('"')) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

std::optional<std::size_t> variable_number(const char* variable) {
  const char* const text = variable == nullptr ? nullptr : std::getenv(variable);
  return text == nullptr ? std::nullopt : number_of<std::size_t>(text);
}

std::vector<std::int64_t> parse_positive(std::string_view text, char separator, const Message& name,
                                         std::string_view example) {
  std::vector<std::int64_t> numbers;
  for (const std::string& part : parts_of(text, std::string_view(&separator, 1))) {
    const auto number = number_of<std::int64_t>(part);
    if (!number || *number <= 0)
      fail(Fault::usage, "{} '{}' is not a list of positive numbers such as {}", name, text, example);
    numbers.push_back(*number);
  }
  return numbers;
}

std::vector<std::size_t> parse_counts(std::string_view text, const Message& name, std::string_view example) {
  std::vector<std::size_t> counts;
  for (const std::int64_t count : parse_positive(text, ',', name, example))
    counts.push_back(static_cast<std::size_t>(count));
  return counts;
}

std::pair<std::size_t, std::size_t> parse_shard(const std::string& text, const Message& name) {
  if (text == "auto") return scheduled_shard(name);
  const std::size_t slash = std::min(text.find('/'), text.size());
  const auto shard = number_of<std::size_t>(std::string_view(text).substr(0, slash)),
             shards = number_of<std::size_t>(std::string_view(text).substr(std::min(slash + 1, text.size())));
  if (!shard || !shards || *shard < 1 || *shard > *shards)
    fail(Fault::usage, "{} '{}' is not of the form 2/8, the second of eight parts, nor auto", name, text);
  return {*shard, *shards};
}

std::vector<std::filesystem::path> paths_beside(const std::filesystem::path& path) {
  std::vector<std::filesystem::path> beside{path.string() + ".data"};
  if (path.extension() == ".h5" || path.extension() == ".hdf5")
    beside.push_back(std::filesystem::path(path).replace_extension(".json"));
  constexpr std::string_view images = "images-idx3";
  std::string name = path.filename().string();
  const std::size_t at = name.find(images);
  if (at != std::string::npos)
    beside.push_back(path.parent_path() / name.replace(at, images.size(), "labels-idx1"));
  return beside;
}

std::vector<std::filesystem::path> paths_in(const std::string& text) {
  std::vector<std::filesystem::path> paths;
  const auto add = [&](const std::string& part) {
    if (part.empty()) return;
    const std::filesystem::path path(part);
    paths.push_back(path);
    const std::vector<std::filesystem::path> beside = paths_beside(path);
    paths.insert(paths.end(), beside.begin(), beside.end());
  };
  add(text);
  for (const std::string& spec : joined_specs(text)) {
    std::string_view whole = spec;  // a name may have = in it
    if (auto path = take_part(whole, ",[")) add(*path);
    for (std::string_view rest = spec; !rest.empty();
         rest.remove_prefix(std::min<std::size_t>(1, rest.size()))) {
      auto part = take_part(rest, ",[]=");
      if (!part) break;
      add(*part);
    }
  }
  // A spec with its options, an array in a file, several files, words of a command.
  for (const char* separators : {",[]=:", ",[]=+", " \t'\""}) {
    const std::vector<std::string> parts = parts_of(text, separators);
    if (parts.size() > 1) std::ranges::for_each(parts, add);
  }
  return paths;
}

}  // namespace assay::inline support
