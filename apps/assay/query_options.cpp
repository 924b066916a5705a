#include "apps/assay/query_options.h"

#include <assay/error.h>
#include "assay/support/files/file.h"
#include "assay/support/text/text.h"
#include "assay/workbench/query/named_text.h"

namespace assay::app {

void QueryOptions::declare(Flags& flags) {
  const std::string group = "Questions";
  flags
      .add("sql,--sql QUERY", sql_,
           "question in SQL, with the INSPECT clause; EXPLAIN INSPECT shows the plan")
      ->group(group);
  flags.add("--sql-file FILE", sql_file_, "file that holds the question")->group(group);
  flags
      .add("--db FILE.db", database_,
           "database that keeps networks, records, hypotheses, scores and results for later questions")
      ->group(group);
  flags
      .add("--add FILE.json", documents_,
           "put a result that any command wrote with --json into the database; NAME=FILE calls it NAME; may "
           "be repeated")
      ->allow_extra_args(false)
      ->group(group);
}

report::Document QueryOptions::run(workbench::Workbench& workbench, Context& context) const {
  if (!sql_.empty() && !sql_file_.empty())
    fail(Fault::usage, "--sql and --sql-file are two questions; ask one");
  std::vector<std::string> relations;
  for (const std::string& text : documents_) {
    const auto [name, file] = workbench::named_file(text);
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
