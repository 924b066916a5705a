#include <assay/extend/task.h>

namespace assay::task {

// One line for each: NAME_task() is defined in the file of that name.
#define ASSAY_TASKS(X) \
  X(classes)           \
  X(binary)            \
  X(regression)        \
  X(pixels)            \
  X(tokens)            \
  X(labels)            \
  X(boxes)             \
  X(text)              \
  X(embedding)

#define DECLARE(name) TaskInfo name##_task();
ASSAY_TASKS(DECLARE)
#undef DECLARE
#define LIST(name) name##_task(),

Catalogue<TaskInfo>& tasks() {
  static Catalogue<TaskInfo> all({"task", "`assay tasks` explains them"}, {ASSAY_TASKS(LIST)});
  return all;
}
#undef LIST

}  // namespace assay::task
