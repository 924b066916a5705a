#pragma once

// Making the changes of findings smaller.

#include <functional>
#include <vector>

#include <assay/extend/constraint.h>

namespace assay::explore {

// Points that a search may have stopped at, and the records they stand for.
struct Found {
  Array points;   // [n, record...]
  Array records;  // [n, record...] as they are judged
};

// `record_of(rows, points)`: the record each point stands for; `differs(records)`: whether networks disagree
// on each. Returns for every row a record that is at most as far from its seed, on which networks still
// disagree: first the whole change is scaled down (a bisection), then its smallest elements are undone (a
// bisection over their number), then any quarter of the rest that is not needed. About 16 judgements of each
// record. The search assumes monotony; every record returned has been judged.
Array shrink(const Searches& searches, Found found, const Shrinking& allowed,
             const std::function<Array(const Searches&, const Array&)>& record_of,
             const std::function<std::vector<bool>(const Array&)>& differs);

}  // namespace assay::explore
