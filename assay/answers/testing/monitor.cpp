#include "assay/answers/testing/monitor.h"

#include <algorithm>
#include <cmath>

#include <assay/attack.h>
#include <assay/error.h>
#include <assay/model.h>
#include <assay/records.h>
#include "assay/data/given.h"
#include "assay/results/document.h"
#include "assay/results/testing/monitor.h"
#include "assay/support/ascii.h"
#include "assay/support/files/file.h"

namespace assay::answers {
namespace {

DatasetPtr every_second(const DatasetPtr& data, std::size_t first) {
  std::vector<std::size_t> positions;
  for (std::size_t i = first; i < data->size(); i += 2) positions.push_back(i);
  if (positions.empty())
    fail(Fault::usage,
         "{} cannot be divided into records that set the threshold and records that test it; give {}",
         data->describe(), About{"calibration records", "{calibration=SPEC}"});
  return selected(data, positions);
}

// "monitor" of "out/monitor.hpp", as a name in C++.
std::string namespace_of(const std::string& file) {
  std::string name = std::filesystem::path(file).stem().string();
  for (char& letter : name)
    if (!is_alphanumeric(letter)) letter = '_';
  return name.empty() || is_digit(name[0]) ? "monitor_" + name : name;
}

void write_files(const monitor::Monitor& made, const MonitorQuestion& question) {
  if (!question.out.empty()) {
    FileForm form = question.form;
    form.decision = 0;  // the outputs of the monitor have no place in the file's
    write_onnx(in_form_of_file(made.graph, form), question.out);
  }
  if (!question.source.empty())
    write_file(question.source, monitor::to_source(made, namespace_of(question.source)));
}

}  // namespace

report::Document make_monitor(const Session& session, const DatasetPtr& given,
                              const MonitorQuestion& question, const Setting& setting, Progress& progress) {
  report::check(question.conditions, std::vector<std::string>{"false-alarms", "detection", "auroc"});
  const DatasetPtr test = given_data(given);
  report::check_baseline(question.conditions, session.graph().hash(), test->hash());
  for (const std::string& spec : question.attacks) attack::make_attack(parse_spec("attack", spec));
  const DatasetPtr usual = question.calibration ? test : every_second(test, 1);
  monitor::MonitorOptions options = question.options;
  options.batch = setting.batch;
  const monitor::Monitor made = monitor::make_monitor(
      session, question.training, question.calibration ? question.calibration : every_second(test, 0),
      options, progress);
  const Session with(made.graph, session.options());
  const std::vector<double> scores = monitor::scores_of(with, usual, options.batch, progress);
  const monitor::Detection false_alarms =
      monitor::detection_of("usual records", scores, scores, made.threshold);
  std::vector<monitor::Detection> found;
  for (const auto& [name, data] : question.foreign)
    found.push_back(monitor::detection_of(name, monitor::scores_of(with, data, options.batch, progress),
                                          scores, made.threshold));
  for (const std::string& spec : question.attacks)
    found.push_back(monitor::detection_of(
        spec, monitor::scores_of_attacked(session, with, usual, spec, setting.batch, setting.seed, progress),
        scores, made.threshold));
  write_files(made, question);
  report::Document document = results::document_of(made, false_alarms, found, session.graph(), *usual);
  report::apply(question.conditions, document, results::measurements_of(false_alarms, found));
  std::vector<std::pair<std::string, DatasetPtr>> data{{"test", test}};
  if (question.calibration) data.emplace_back("calibration", question.calibration);
  if (question.training) data.emplace_back("train", question.training);
  results::add_provenance(document, session, data);
  return document;
}

}  // namespace assay::answers
