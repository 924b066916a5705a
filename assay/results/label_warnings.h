#pragma once

// Warnings from labels, targets and decisions about whether data and network belong together
// (docs/warnings.md).

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <assay/dataset.h>
#include <assay/evaluate.h>
#include <assay/report.h>
#include <assay/session.h>

namespace assay::results {

// The first five, and how many more there are.
std::string first_of(const std::vector<std::string>& names);

// One answer for all records of several classes.
std::vector<report::Warning> answer_warnings(std::span<const std::int64_t> answers, const Dataset& data);
// Of so many classes those without a record.
std::vector<report::Warning> absent_class_warnings(const Dataset& data, std::size_t classes);

// Below the middle between guessing and 1. `classes`: that the network tells apart; 0: none.
bool is_low(double accuracy, std::size_t classes);
std::vector<report::Warning> training_accuracy_warnings(double accuracy, std::size_t classes,
                                                        const std::string& cause);

// Of a low accuracy: another preparation or another numbering of the classes with which it is high on a
// sample. Of any other: inputs up to 255 of a network that does as well with inputs up to 1.
std::vector<report::Warning> cause_warnings(const Session& session, const Dataset& data,
                                            const std::optional<double>& accuracy);

// Targets that are all 0 or 1; integers that are labels of a network with a single output.
std::vector<report::Warning> task_warnings(const Session& session, const Dataset& data);

// Sets whose classes have other names.
std::vector<report::Warning> class_name_warnings(const std::vector<std::string>& training,
                                                 const Dataset& data);

// Labels in words that a file brings and that are not read.
std::vector<report::Warning> text_label_warnings(const Dataset& data);

// Says how labels in words are numbered, where nothing but the alphabet orders them.
void add_numbering_notice(report::Document& document, const Dataset& data);

// All of the above that follow from one evaluation, and further warnings about classes and chance. `items`:
// records have many, so that targets are what a task says.
std::vector<report::Warning> evaluation_warnings(const Session& session, const Dataset& data,
                                                 const Evaluation& evaluation, bool items = false);

}  // namespace assay::results
