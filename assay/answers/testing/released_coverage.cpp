#include "assay/answers/testing/released_coverage.h"

#include <fmt/format.h>

#include <algorithm>

#include <assay/error.h>
#include "assay/coverage/released.h"
#include "assay/results/document.h"
#include "assay/results/testing/released_coverage.h"
#include "assay/support/ranks/ranks.h"
#include "assay/support/text/parse.h"

namespace assay::answers {
namespace {

std::vector<std::size_t> released_neurons(const std::string& ms) {
  const About name{"numbers of important neurons", "{neurons}"};
  if (ms == "auto")
    fail(Fault::usage, "{}: the released code has no auto; name them, such as 6,8,10,12", name);
  std::vector<std::size_t> found;
  for (const std::int64_t m : parse_positive(ms, ',', name, "6,8,10")) {
    if (std::ranges::find(found, static_cast<std::size_t>(m)) == found.end()) found.push_back(m);
  }
  return found;
}

std::string released_layer(const std::vector<std::string>& layers) {
  if (layers.size() > 1)
    fail(Fault::usage, "the released code has one subject layer, and {} are named; leave {} with one",
         layers.size(), About{"the layers", "{layer}"});
  return layers.empty() ? "" : layers.front();
}

void require_released(const CoverageQuestion& question) {
  if (!question.training)
    fail(Fault::usage, "the released code learns class by class, and from no profile; {}",
         About{"name training records", "give {train=SPEC}"});
  if (!ranks().alone())
    fail(Fault::usage, "{} computed by one process; leave the launcher out",
         About{"coverage as the released code has it is", "{preset=deepimportance-released} is"});
}

}  // namespace

report::Document released_coverage(const Session& session, const DatasetPtr& test,
                                   const CoverageQuestion& question, const Setting& setting,
                                   Progress& progress) {
  require_released(question);
  const coverage::ReleasedOptions options{.layer = released_layer(question.learn.subjects),
                                          .ms = released_neurons(question.ms),
                                          .batch = setting.batch};
  report::check(question.conditions, results::measurements_of({}, options.ms));
  report::check_baseline(question.conditions, session.graph().hash(), test->hash());
  report::Document accuracy;
  add_accuracy(accuracy, question.accuracy, session, test, setting, progress);
  const coverage::ReleasedCoverages found =
      coverage::released_coverage(session, question.training, test, options, progress);
  report::Document document = results::document_of(
      found, options.ms, fmt::format("{} on {}", session.graph().name(), test->describe()),
      test->class_names());
  document.facts.insert(document.facts.end(), accuracy.facts.begin(), accuracy.facts.end());
  report::apply(question.conditions, document, results::measurements_of(found, options.ms));
  results::add_provenance(document, session, {{"test", test}, {"train", question.training}});
  return document;
}

}  // namespace assay::answers
