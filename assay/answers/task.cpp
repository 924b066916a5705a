#include "assay/answers/task.h"

#include <fmt/ranges.h>

#include <assay/error.h>
#include <assay/message.h>
#include <assay/progress.h>
#include <assay/session.h>
#include "assay/task/standing.h"

namespace assay::answers {
namespace {

// Scores are those of the decision value.
void require_decision(const Session& session, const task::Task& task) {
  const std::string& name = session.graph().value(session.logits()).name;
  const std::string read = fmt::format("{}", fmt::join(task.outputs(), "+"));
  if (read.empty() || read == name) return;
  fail(Fault::unsupported,
       "the task is read from output '{}', and the decision value is '{}'; choose the output{}", read, name,
       About{"", " as {decision=" + read + "}"});
}

}  // namespace

bool may_have_items(const std::string& spec) {
  return !spec.empty() && task::tasks().find(parse_spec("task", spec).name).make;
}

Decided decided(const std::string& spec, const Session& session, const DatasetPtr& data,
                const DeclaredAccuracy& accuracy, Need need) {
  Decided found{.data = task::prepared_for(spec, data), .task = nullptr};
  found.task = task::task_of(session, found.data, spec);
  if (found.task && need == Need::scores) {
    found.task = task::settled(session, found.data, found.task, silence());
    require_decision(session, *found.task);
    found.task->leads({}, {});
  }
  if (found.task && accuracy)
    fail(Fault::usage,
         "an expected accuracy is for one class a record, but the task is {}; give a condition on one of its "
         "figures",
         found.task->describe());
  return found;
}

void require_share(const std::optional<double>& margin, const Decided& decided) {
  if (decided.task && margin && !(*margin >= 0 && *margin < 1))
    fail(Fault::usage,
         "the margin is {}; of records with many items ({}) it is the share of the items that may change, at "
         "least 0 "
         "and below 1",
         *margin, decided.task->describe());
}

void add_task(report::Document& document, const Decided& decided, std::optional<double> share) {
  if (!decided.task) return;
  document.facts.push_back({"task", "task", decided.task->describe()});
  if (share)
    document.facts.push_back({"change", "a record has changed where", task::change_in_words(*share)});
}

}  // namespace assay::answers
