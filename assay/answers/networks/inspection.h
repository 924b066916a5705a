#pragma once

// What the units of networks have learned: an inspection, kept in the database of the workbench if there is
// one, verified, with close-ups; and questions to that database.

#include <string>
#include <vector>

#include <assay/inspection.h>
#include <assay/report.h>
#include <assay/workbench.h>
#include "assay/answers/setting.h"
#include "assay/engine/preparation/adaptation.h"
#include "assay/inspection/verify.h"
#include "assay/results/networks/inspection.h"

namespace assay::answers {

// A question to the database.
struct DatabaseQuestion {
  std::string file = {};                    // of the database; empty: in memory
  std::string sql = {}, sql_file = {};      // both empty: which relations documents went into
  std::vector<std::string> documents = {};  // that are put into it first: FILE or NAME=FILE
  double seconds = 0;                       // that the answer may take; 0: as many as it takes
};

struct InspectionQuestion {
  std::vector<std::string> models = {};  // as workbench::parse_model() reads them
  AdaptOptions adaptation = {};          // of all of them
  DatasetPtr data = {};                  // null: none, for questions to the database
  std::string data_spec = {};            // what it is called there
  std::vector<std::string> units = {};   // as results::parse_units() reads them; none: layers with weights
  std::vector<std::string> hypotheses = {};
  std::string measures = "pearson";
  std::string behaviour = "activation";       // or "change", "gradient"
  std::string align = "hypothesis";           // or "units", "record"
  std::string reduce = "automatic";           // or "mean", "max", "last"
  std::string vocabulary = {}, padding = {};  // as inspection::read_vocabulary() reads them
  std::string shard = {};                     // of the options, as it was requested
  std::string state = {};  // where what was seen goes, with a journal next to it; empty: nowhere
  inspection::InspectOptions options = {};  // without what stands above
  std::size_t verified = 0;                 // so many of the strongest affinities
  inspection::VerifyOptions verification = {};
  results::InspectionDetail detail = {};
  std::string scores = {};         // where all scores go; empty: nowhere
  DatabaseQuestion database = {};  // its file, where there is one, keeps what is found
};

report::Document inspect(InspectionQuestion question, const Setting& setting, Progress& progress);

// Asks about what the question names and what the database holds already.
report::Document ask_database(InspectionQuestion question, const Setting& setting, Progress& progress);

}  // namespace assay::answers
