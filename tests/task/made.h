#pragma once

// Tasks by their names, and what they make of single records.

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <assay/error.h>
#include <assay/extend/task.h>

namespace assay::task {

inline std::unique_ptr<Task> made(const std::string& text, const TaskSubject& subject) {
  const Spec spec = parse_spec("task", text);
  const TaskInfo& info = tasks().find(spec.name);
  return info.make(SpecOptions("task", spec, info.options), subject);
}

inline Sums judged(const Task& task, const std::vector<float>& output, const std::vector<float>& targets) {
  return task.judge({output, targets}).sums;
}

// NaN where there is none.
inline double value_of(const std::vector<Figure>& figures, const std::string& name,
                       std::optional<std::int64_t> of_class = {}) {
  for (const Figure& one : figures) {
    if (one.name == name && one.of_class == of_class) return one.value;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

inline double figure(const Task& task, const Sums& sums, const std::string& name,
                     std::optional<std::int64_t> of_class = {}) {
  return value_of(task.figures(sums), name, of_class);
}

// What the task says of all these records, each counted once.
inline std::vector<Figure> overall(const Task& task, const std::vector<JudgedRecord>& records) {
  Sums sums;
  std::vector<std::vector<float>> kept;
  for (const JudgedRecord& record : records) {
    Judgement judgement = task.judge(record);
    sums += judgement.sums;
    kept.push_back(std::move(judgement.kept));
  }
  return task.overall(std::move(kept))->figures(sums, std::vector<std::uint32_t>(records.size(), 1));
}

inline std::string fault_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing";
}

}  // namespace assay::task
