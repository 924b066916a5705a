#include <assay/extend/question.h>

#include <memory>

#include <assay/dataset.h>
#include <assay/model.h>
#include "apps/assay/program.h"
#include "assay/support/process.h"

namespace assay::frame {

std::vector<QuestionCommand> question_commands() { return question_commands(app::program()); }

report::Document ask(const Question& question, Progress& progress) {
  std::vector<std::unique_ptr<NamedNetwork>> networks;
  for (const auto& [name, graph] : question.networks) {
    const auto folder = question.network_folders.find(name);
    networks.push_back(std::make_unique<NamedNetwork>(
        name, graph, folder == question.network_folders.end() ? std::string() : folder->second));
  }
  std::vector<std::unique_ptr<NamedDataset>> datasets;
  for (const auto& [name, dataset] : question.datasets)
    datasets.push_back(std::make_unique<NamedDataset>(name, dataset));
  return ask(app::program(), question.command, question.flags, progress, question.folder);
}

void set_program(const std::filesystem::path& file) { set_this_program(file); }

}  // namespace assay::frame
