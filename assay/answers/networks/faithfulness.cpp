#include "assay/answers/networks/faithfulness.h"

#include <set>

#include <assay/error.h>
#include "assay/results/document.h"
#include "assay/results/networks/faithfulness.h"

namespace assay::answers {
namespace {

void require_distinct(const std::vector<std::string>& names, const About& about) {
  std::set<std::string> seen;
  for (const std::string& name : names)
    if (!seen.insert(name).second) fail(Fault::usage, "{}: '{}' is named twice", about, name);
}

}  // namespace

report::Document faithfulness(const Session& session, const DatasetPtr& data,
                              const FaithfulnessQuestion& question, const Setting& setting,
                              Progress& progress) {
  require_distinct(question.options.methods, About{"methods", "{method}"});
  require_distinct(question.options.measures, About{"measures", "{measure}"});
  report::check(question.conditions,
                results::measurements_of(relevance::expected_faithfulness(question.options)));
  report::check_baseline(question.conditions, session.graph().hash(), data->hash());
  if (data->target_width() > 0)
    fail(Fault::unsupported,
         "explanations are measured for networks that name classes, and the data have targets; leave out "
         "targets= to take them as records without labels");
  relevance::FaithfulnessOptions options = question.options;
  options.batch = setting.batch;
  options.seed = setting.seed;
  report::Document document;
  add_accuracy(document, question.accuracy, session, data, setting, progress);
  const relevance::Faithfulness found = relevance::measure_faithfulness(session, data, options, progress);
  results::append(document, results::document_of(found, session.graph(), *data));
  report::apply(question.conditions, document, results::measurements_of(found));
  results::add_provenance(document, session, {{"data", data}});
  return document;
}

}  // namespace assay::answers
