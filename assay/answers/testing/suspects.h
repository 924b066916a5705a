#pragma once

// Training records that look like the inputs which break a network, ranked by suspicion.

#include <string>
#include <vector>

#include <assay/dataset.h>
#include <assay/progress.h>
#include <assay/report.h>
#include "assay/answers/setting.h"
#include "assay/similarity/suspects.h"

namespace assay::answers {

struct SuspectsQuestion {
  DatasetPtr training = {};
  std::vector<std::string> findings = {};  // specs of inputs that break the network; at least one
  std::string between =
      {};                  // of these only those for which the networks name these classes: "9+1"; empty: all
  std::string label = {};  // suspected labels of training records: "1+7"; empty: all
  std::string rank = "similarity";  // as similarity::rank() takes it
  std::string truth = {};           // as similarity::polluted_ids() takes it; empty: not known
  std::size_t inspected = 0;        // suspects looked at, as results::add_truth() takes them
  std::string out = {};             // where the whole ranking goes; empty: nowhere
  std::size_t pictures = 12;        // of suspects next to the findings that they resemble
  std::string folder = {};          // for them
  similarity::SuspectOptions options = {};
};

report::Document find_suspects(const SuspectsQuestion& question, const Setting& setting, Progress& progress);

}  // namespace assay::answers
