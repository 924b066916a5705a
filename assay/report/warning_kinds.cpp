#include "assay/report/warning_kinds.h"

#include <algorithm>
#include <set>

namespace assay::report {

const std::vector<WarningKind>& warning_kinds() {
  static const std::vector<WarningKind> all{
      {"records-interact",
       "records change each other's results, so that figures depend on the batch size",
       {}},
      {"no-gradient",
       "for some attacked records every gradient was 0, so the attack had no direction",
       {"attack", "robust"}},
      {"same-data", "the test set is the training set, by its content hash", {"cover"}},
      {"overlap", "test records are training records, element by element after preprocessing", {"cover"}},
      {"scale",
       "test inputs are 4 times as far from 0 as training inputs, or a quarter; or only one of them is "
       "centred",
       {"cover"}},
      {"one-combination",
       "every important neuron of a layer has one cluster: the only combination is always covered",
       {"cover"}},
      {"too-many-combinations",
       "idc has more combinations than there are records, so that it cannot come near 100 %",
       {"cover"}},
      {"collapsed-layers",
       "more than half of a layer's neurons are constant over the training set or the same as another",
       {"cover"}},
      {"singular-covariance", "training traces of a class have a singular covariance", {"cover", "select"}},
      {"left-out",
       "a criterion of a preset does not fit this network or these data, or would take more memory than its "
       "cap",
       {"cover", "audit"}},
      {"more-classes",
       "the data have more classes than the network has outputs",
       {"evaluate", "importance", "cover"}},
      {"class-folders",
       "named classes are fewer than the outputs: numbers follow the order of names, so labels may be "
       "shifted",
       {"evaluate", "importance", "cover"}},
      {"leakage", "test records are training records, or almost", {"reliability"}},
      {"chance",
       "the accuracy is at most one and a half times that of guessing, with three classes or more",
       {"evaluate", "importance", "cover"}},
      {"preparation",
       "the accuracy is low, and one usual change of the inputs at least halves the errors",
       {"evaluate", "importance", "cover"}},
      {"class-order",
       "the accuracy is low, and another numbering of the classes at least halves the errors",
       {"evaluate", "importance", "cover"}},
      {"class-names",
       "a class has different names in the training set and in the evaluated set: a folder is missing or "
       "renamed",
       {"cover", "train"}},
      {"absent-classes",
       "a class has no record, or is not in the labels of items, so figures say nothing about it",
       {"evaluate", "importance", "cover"}},
      {"no-counted-items",
       "records have no item that counts: their labels only hold what is left out",
       {"evaluate"}},
      {"outside-alphabet",
       "labels have characters that are not in the alphabet, so that the network cannot write them",
       {"evaluate"}},
      {"empty-labels",
       "records have an empty text as label, so that whatever the network writes there is wrong",
       {"evaluate"}},
      {"one-answer",
       "ten records or more, of two classes or more, all get the same decision",
       {"evaluate", "importance", "cover"}},
      {"training-accuracy",
       "the network classifies the training records less often correctly than the middle between guessing "
       "and 1",
       {"cover", "train"}},
      {"binary-targets",
       "all targets of a sample are 0 or 1, some of each, and errors are measured as for a regression",
       {"evaluate", "importance", "cover"}},
      {"left-out-targets",
       "targets of a sample are whole numbers from 0 and -100, the mark of labels that do not count, and "
       "errors are "
       "measured as for a regression",
       {"evaluate", "importance", "cover"}},
      {"numbers-as-classes",
       "labels have more than two classes, and the network gives one number a record that is not a "
       "probability",
       {"evaluate", "importance", "cover"}},
      {"text-labels",
       "labels in an archive are texts, which are not read, so there are no labels",
       {"data", "evaluate", "importance", "cover"}},
      {"contradicting-labels", "records that repeat an earlier one have another label", {"data"}},
      {"batch-of-one",
       "the last batch of an epoch has one record, and the network normalises over batches",
       {"train"}},
      {"left-out-records",
       "at least a tenth of the records or rows are left out of an inspection: they do not parse, or units "
       "are not finite",
       {"inspect"}},
      {"unrelated-networks",
       "two networks that are compared have fewer than half of their layers in common, by name and number of "
       "neurons",
       {"diff"}},
      {"no-record-used", "importance has nothing to rest on", {"importance"}},
      {"no-relevance", "importance has nothing to rest on", {"importance"}},
      {"conservation",
       "the relevance that arrives at a layer is negative, or more than twice the relevance that started at "
       "the output",
       {"importance"}},
      {"cap",
       "where the number of important neurons is found out, their share of relevance needs more than the cap "
       "allows",
       {"cover"}},
      {"non-finite", "records give a NaN or an infinity", {"evaluate"}},
      {"dropped-records", "records give a NaN or an infinity and were left out", {"importance", "cover"}},
      {"empty-cases",
       "cases of a VNN-LIB query hold no input, as bounds on an input contradict each other",
       {"bounds"}},
      {"fewer-neurons", "a layer has fewer neurons that count than the m of idc", {"cover"}},
      {"one-value",
       "a characteristic has one value in all records, or none in any",
       {"evaluate", "cover", "mutate", "attack", "audit"}},
      {"outside-domain", "records have a value that the declared operational domain does not have", {"data"}},
      {"one-class", "all records have the same label", {"data"}},
      {"unreadable",
       "where unreadable states are skipped, one was: the figures describe the others",
       {"combine"}},
  };
  return all;
}

bool looks_for(const std::string& command, const WarningKind& kind) {
  static const std::set<std::string> without_network{"combine", "data",   "diff",    "evidence",
                                                     "report",  "verify", "criteria"};
  if (kind.looked_for_by.empty()) return !without_network.contains(command);
  return std::ranges::find(kind.looked_for_by, command) != kind.looked_for_by.end();
}

}  // namespace assay::report
