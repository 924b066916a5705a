#include "apps/assay/query_options.h"

#include <charconv>
#include <filesystem>

#include <assay/error.h>
#include "assay/support/file.h"
#include "assay/support/text.h"

namespace assay::app {
namespace {

// A number where the text is one.
report::Cell value_of(const std::string& text) {
  const char* const end = text.data() + text.size();
  std::int64_t whole = 0;
  if (const auto [at, error] = std::from_chars(text.data(), end, whole); error == std::errc() && at == end)
    return whole;
  double real = 0;
  if (const auto [at, error] = std::from_chars(text.data(), end, real); error == std::errc() && at == end)
    return real;
  return text;
}

// "NAME=FILE" or "FILE", which is then called by its stem.
std::pair<std::string, std::string> named_file(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals != std::string::npos) return {text.substr(0, equals), text.substr(equals + 1)};
  // One in memory is "@net".
  return {std::filesystem::path(text.substr(text.starts_with('@') ? 1 : 0)).stem().string(), text};
}

}  // namespace

ModelText parse_model(const std::string& text) {
  const std::size_t comma = std::min(text.find(','), text.size());
  ModelText model;
  std::tie(model.name, model.file) = named_file(text.substr(0, comma));
  for (std::size_t begin = comma; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin + 1), text.size());
    const std::string part = text.substr(begin + 1, end - begin - 1);
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos || equals == 0)
      fail(Fault::usage, "--model {}: '{}' is no attribute such as epoch=3", text, part);
    if (part.starts_with("weights="))
      model.file += "," + part;
    else
      model.attributes[part.substr(0, equals)] = value_of(part.substr(equals + 1));
    begin = end;
  }
  return model;
}

void QueryOptions::declare(CLI::App& app) {
  const std::string group = "Questions";
  app.add_option("sql,--sql", sql_,
                 "question in SQL, with the INSPECT clause; EXPLAIN INSPECT shows the plan")
      ->type_name("QUERY")
      ->group(group);
  app.add_option("--sql-file", sql_file_, "file that holds the question")->type_name("FILE")->group(group);
  app.add_option("--db", database_,
                 "database that keeps networks, records, hypotheses, scores and results for later questions")
      ->type_name("FILE.db")
      ->group(group);
  app.add_option(
         "--add", documents_,
         "put a result that any command wrote with --json into the database; NAME=FILE calls it NAME; "
         "may be repeated")
      ->type_name("FILE.json")
      ->allow_extra_args(false)
      ->group(group);
}

report::Document QueryOptions::run(workbench::Workbench& workbench, Context& context) const {
  if (!sql_.empty() && !sql_file_.empty())
    fail(Fault::usage, "--sql and --sql-file are two questions; ask one");
  std::vector<std::string> relations;
  for (const std::string& text : documents_) {
    const auto [name, file] = named_file(text);
    for (std::string& relation : workbench.add_document(name, report::read_document(read_file(file), file)))
      relations.push_back(std::move(relation));
  }
  const std::string sql = sql_file_.empty() ? sql_ : read_file(sql_file_);
  if (!sql.empty()) return workbench.ask(sql, context.progress);
  report::Document document =
      workbench.ask("SELECT relation, document, title, rows FROM document_tables ORDER BY relation, document",
                    context.progress);
  document.headline =
      fmt::format("{} {} in the database: {}", documents_.size(),
                  documents_.size() == 1 ? "document is" : "documents are", joined(relations));
  return document;
}

}  // namespace assay::app
