#pragma once

// The files of an exploration.

#include <filesystem>
#include <string>
#include <vector>

#include <assay/dataset.h>
#include <assay/explore.h>

namespace assay::explore {

struct StoredFindings {
  std::filesystem::path file;  // holds x, ids, original, majority (-1: none), classes, l0, l1, l2, linf and,
                               // where the data have them, y
  std::string data;            // the spec under which it is to be opened
  std::filesystem::path
      voted;  // those with a majority (or median) label, which is their y; empty when there are none
  std::string voted_data;
  std::size_t voted_count = 0;
  std::size_t lost = 0;  // findings on which the networks agreed when the file was read back; left out of it
};

// Names of findings: that of the seed, with ~2, ~3 ... for further findings from it.
std::vector<std::string> names_of(const std::vector<Finding>& findings, const Dataset& seeds);

// Writes findings.npz and voted.npz into the folder (each under a temporary name, renamed), reads what it
// wrote, runs it through every network (`batch` records at a time; 0: chosen by the engine) and drops
// findings that no longer disagree from `findings` and the files. Throws Error{io}.
StoredFindings store(const std::vector<ExploredNetwork>& networks, const Dataset& seeds,
                     std::vector<Finding>& findings, const ExploreOptions& options,
                     const std::filesystem::path& folder, std::size_t batch, Progress& progress);

// Positions of the findings in a file of store() for which the networks, in their order, name these classes.
// `findings`: the data set in that file. Throws Error{usage} for a file that does not say what each of so
// many networks names.
std::vector<std::size_t> findings_named(const std::filesystem::path& file, const Dataset& findings,
                                        const std::vector<std::int64_t>& classes);

}  // namespace assay::explore
