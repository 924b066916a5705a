#pragma once

#include <memory>
#include <string>

#include <assay/extend/task.h>

namespace assay::task {

// The task that a spec names, of this subject.
inline std::unique_ptr<Task> made(const std::string& text, const TaskSubject& subject) {
  const Spec spec = parse_spec("task", text);
  const TaskInfo& info = tasks().find(spec.name);
  return info.make(SpecOptions("task", spec, info.options), subject);
}

}  // namespace assay::task
