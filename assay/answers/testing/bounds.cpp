#include "assay/answers/testing/bounds.h"

#include <fmt/format.h>

#include <assay/error.h>
#include "assay/data/given.h"
#include "assay/results/document.h"
#include "assay/results/testing/bounds.h"
#include "assay/support/files/file.h"
#include "assay/support/files/input_file.h"
#include "assay/support/text/text.h"

namespace assay::answers {
namespace {

// A query for each of the first right records, and a list as benchmarks have it: network, query, seconds.
std::size_t write_queries(const Session& session, const DatasetPtr& data, const BoundsQuestion& question,
                          std::span<const bounds::RecordBounds> found) {
  constexpr int seconds = 120;
  const std::filesystem::path folder = question.queries;
  std::string instances;
  std::size_t written = 0;
  for (const bounds::RecordBounds& one : found) {
    if (written == question.count) break;
    if (one.outcome == bounds::Outcome::wrong) continue;
    const std::string name = fmt::format("record_{}.vnnlib", one.record);
    const bounds::Query query = bounds::query_of(session, data, one.record, question.records.radius);
    write_file(folder / name,
               bounds::to_vnnlib(query, fmt::format("network {}\nrecord {} of the data, class {}, radius "
                                                    "{}\na counterexample is an input with another class",
                                                    session.graph().hash(), one.record, one.label,
                                                    question.records.radius)));
    instances += fmt::format("network.onnx,{},{}\n", name, seconds);
    ++written;
  }
  write_file(folder / "instances.csv", instances);
  return written;
}

}  // namespace

report::Document bounds_of_records(const Session& session, const DatasetPtr& given,
                                   const BoundsQuestion& question, const Setting& setting,
                                   Progress& progress) {
  report::check(question.conditions,
                results::measurements_of(std::span<const bounds::RecordBounds>(), question.records));
  const DatasetPtr data = given_data(given);
  report::check_baseline(question.conditions, session.graph().hash(), data->hash());
  bounds::CertifyOptions options = question.records;
  options.batch = setting.batch;
  options.seed = setting.seed;
  const std::vector<bounds::RecordBounds> found = bounds::certify(session, data, options, progress);
  report::Document document = results::document_of(found, options, session.graph(), *data, setting.detailed);
  if (!question.queries.empty())
    document.facts.push_back(
        results::count_fact("queries", "queries written", write_queries(session, data, question, found)));
  report::apply(question.conditions, document, results::measurements_of(found, options));
  results::add_provenance(document, session, {{"data", data}});
  return document;
}

report::Document answer_query(const Session& session, const QueryQuestion& question, const Setting& setting,
                              Progress& progress) {
  constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30;
  const bounds::Query query = bounds::parse_vnnlib(read_file(question.query, most_bytes), question.query);
  report::Document document;
  if (!question.counterexample.empty()) {
    const bounds::Witness witness =
        bounds::parse_witness(read_file(question.counterexample, most_bytes), query, question.counterexample);
    const bounds::WitnessCheck check = bounds::check_witness(session, query, witness);
    document = results::document_of(check, query, session.graph());
    report::apply(question.conditions, document, results::measurements_of(check));
  } else {
    bounds::SolveOptions options = question.options;
    options.seed = setting.seed;
    const bounds::Answer answer = bounds::solve(session, query, options, progress);
    document = results::document_of(answer, query, options, session.graph());
    if (answer.witness && !question.out.empty()) write_file(question.out, bounds::to_text(*answer.witness));
    report::apply(question.conditions, document, results::measurements_of(answer));
  }
  results::add_provenance(document, session, {});
  return document;
}

}  // namespace assay::answers
