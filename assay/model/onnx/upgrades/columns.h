#pragma once

// What the rules of operators of classical machine learning share.

#include <string>
#include <vector>

#include "assay/model/onnx/upgrades/upgrade.h"

namespace assay::onnx_format {

// Input `i` as real numbers; whole ones are taken as well.
ValueId real_input(Upgrade& u, std::size_t i);
// The node becomes the last of the nodes that it stands for.
void become(Upgrade& u, std::string op, std::vector<ValueId> inputs,
            std::map<std::string, Attribute> attributes = {});
// What makes probabilities of scores is the node itself.
void become_transform(Upgrade& u, ValueId scores, const std::string& how);
// A column each for two classes: -x and x, or 1 - x and x.
ValueId both_columns(Upgrade& u, ValueId x, bool shares);
// Of a classifier that gives class and scores: the class of each record, [N], is its first output from now on
// and the scores are what the node gives. The class is that of the greatest score; of one column of scores,
// that the score is above the threshold. `labels`: numbers of classes, or empty.
void forward_class(Upgrade& u, ValueId scores, std::int64_t columns, const std::vector<std::int64_t>& labels,
                   float threshold);

void tree_classifier(Upgrade& u);
void tree_regressor(Upgrade& u);
void tree_ensemble(Upgrade& u);
void vector_classifier(Upgrade& u);
void vector_regressor(Upgrade& u);

}  // namespace assay::onnx_format
