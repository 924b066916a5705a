#pragma once

// The workbench: networks, units, records, hypotheses, scores and the results of all analyses as relations of
// one SQLite database, asked in SQL with the INSPECT clause (docs/inspect-sql.md).
//
//   Workbench workbench("study.db");
//   workbench.add_model({.name = "lenet5", .session = session, .attributes = {{"epoch", std::int64_t{3}}}});
//   workbench.add_records("test", open_dataset("test.npz"));
//   workbench.add_hypotheses({"label"});
//   const report::Document answer = workbench.ask("SELECT ... INSPECT ...", silence());

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <assay/inspection.h>
#include <assay/report.h>

namespace assay::workbench {

// As inspection::inspect.
using Inspector = std::function<inspection::Inspection(
    const std::vector<inspection::InspectedModel>&, const std::vector<inspection::UnitGroup>&,
    const DatasetPtr&, const std::vector<inspection::AnnotatorChoice>&, const inspection::InspectOptions&,
    Progress&)>;

struct WorkbenchModel {
  std::string name;  // `mid`; unique in the database
  std::shared_ptr<const Session> session;
  std::string path = {};                                // of its file, for people
  std::map<std::string, report::Cell> attributes = {};  // columns of `models`: epoch = 3
};

// Not thread-safe.
class Workbench {
 public:
  // Opens the database, or makes it; an empty path is one in memory. However the process ends, the file stays
  // a valid database that holds everything that was added before. Throws Error{data} for the file of another
  // program, Error{mismatch} for a database of another version, Error{io}.
  explicit Workbench(const std::filesystem::path& file = {}, Inspector inspector = inspection::inspect);
  ~Workbench();

  // What queries run on. What is added stays in the database; to be inspected again it is added again. Throw
  // Error{mismatch} where the database holds something else under the same name.
  void add_model(const WorkbenchModel& model);
  // The records last added are those that a query means when it chooses none.
  void add_records(const std::string& name, const DatasetPtr& records);
  // Throws Error{usage} for a hypothesis that two of them have, and what making an annotator throws. REQUIRES
  // records.
  void add_hypotheses(const std::vector<inspection::AnnotatorChoice>& hypotheses);
  // How inspections are made; the measures are those of each query. To be set before records are added, whose
  // text the vocabulary gives.
  void set_options(inspection::InspectOptions options, inspection::UnitBehaviour behaviour = {});

  // Adds scores to the relation `scores`, instead of those that had the same key. `groups`: those that were
  // inspected. `key`: a hash of all that the scores depend on; empty: none.
  void keep(const inspection::Inspection& seen, const std::vector<inspection::UnitGroup>& groups,
            const std::string& key = {});

  // Puts the result of any analysis into the database under a name, instead of one that had it. Returns the
  // relations that its tables went into.
  std::vector<std::string> add_document(const std::string& name, const report::Document& document);

  // Runs SQL, one or more statements. The answers are tables of the document. Throws Error{usage} with line
  // and column for what cannot be read, does not exist or is not allowed, Error{resources} after so many
  // seconds (0: never).
  report::Document ask(const std::string& sql, Progress& progress, double seconds = 0);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace assay::workbench
