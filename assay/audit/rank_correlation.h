#pragma once

// Rank correlation with ties.

#include <span>
#include <vector>

namespace assay::audit {

// Kendall's tau-b (Kendall 1945): (concordant - discordant) / sqrt((pairs not tied in a) (pairs not tied in
// b)). NaN where one of them is constant. REQUIRES equal lengths and no NaN. O(n log n) (Knight 1966).
double kendall(std::span<const double> a, std::span<const double> b);

// Places from 1, equal values sharing the mean of theirs. O(n log n).
std::vector<double> ranks(std::span<const double> values);

// Pearson's coefficient; NaN where one of them is constant.
double correlation(std::span<const double> a, std::span<const double> b);
// Of the ranks.
double spearman(std::span<const double> a, std::span<const double> b);

// Correlation of a and b with c held fixed: (ab - ac bc) / sqrt((1 - ac^2) (1 - bc^2)). NaN where undefined.
double partial(double ab, double ac, double bc);

}  // namespace assay::audit
