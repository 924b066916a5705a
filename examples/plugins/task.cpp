// A custom task: every number of the output is right where it is near its target.
#include <assay/extend/plugin.h>
#include <assay/extend/task.h>

#include <cmath>

namespace {

using namespace assay;

class Near final : public task::Task {
 public:
  explicit Near(double tolerance) : tolerance_(tolerance) {}

  std::string describe() const override { return fmt::format("near: within {:g}", tolerance_); }
  std::vector<std::string> class_names() const override { return {"far", "near"}; }

  task::Judgement judge(const task::JudgedRecord& record) const override {
    task::Judgement judgement{.wanted = std::vector<std::int64_t>(record.targets.size(), 1),
                              .sums = {.records = 1, .items = record.targets.size()}};
    for (std::size_t i = 0; i < record.targets.size(); ++i) {
      const bool near = std::abs(record.output[i] - record.targets[i]) <= tolerance_;
      judgement.decided.push_back(near ? 1 : 0);
      judgement.sums.right += near ? 1 : 0;
    }
    judgement.sums.whole = judgement.sums.right == judgement.sums.items ? 1 : 0;
    return judgement;
  }

  std::vector<task::Figure> figures(const task::Sums& sums) const override {
    return {{.name = "near", .value = static_cast<double>(sums.right) / static_cast<double>(sums.items)}};
  }

 private:
  double tolerance_;
};

void enter() {
  task::tasks().add(
      {.name = "near",
       .summary = "numbers within a tolerance of their targets",
       .definition = "near: the share of numbers that differ from their target by at most the tolerance",
       .limits = "an example",
       .paper = "an example",
       .options = {{"tolerance", "0.1", "greatest difference of a number that is right"}},
       .fits = [](const task::TaskSubject&) { return false; },  // only where it is named
       .make = [](const SpecOptions& options, const task::TaskSubject&) -> std::unique_ptr<task::Task> {
         return std::make_unique<Near>(options.number("tolerance", 0));
       }});
}

}  // namespace

ASSAY_PLUGIN("near", enter)
