// Rows by hand.

#include <cmath>
#include <limits>
#include <stdexcept>

#include "assay/inspection/symbols/alignment.h"
#include "tests/inspection/networks.h"

namespace assay::inspection {
namespace {

using namespace testing_networks;
using Values = std::vector<float>;
using At = AlignOptions::Rows;
using To = AlignOptions::Reduce;

const float nothing = std::numeric_limits<float>::quiet_NaN();

Values units_of(const Alignment& alignment, const Values& from, std::size_t width,
                const std::vector<char>& padding = {}) {
  Values to(alignment.rows() * width);
  alignment.units(from, width, padding, to);
  return to;
}

Values behaviour_of(const Alignment& alignment, const Values& from, const std::vector<char>& padding = {},
                    BehaviourKind kind = BehaviourKind::numeric) {
  Values to(alignment.rows());
  alignment.behaviour(from, kind, padding, 1, to);
  return to;
}

TEST(Alignment, OfTheSamePositionsIsPositionByPosition) {
  const Alignment same({3}, {3}, {}, false, {3}, {}, 3);
  EXPECT_EQ(units_of(same, {1, 2, 3, 4, 5, 6}, 2), (Values{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(behaviour_of(same, {7, 8, 9}), (Values{7, 8, 9}));
  EXPECT_FALSE(same.is_padding(0, std::vector<char>{0, 0, 1}));
  EXPECT_TRUE(same.is_padding(2, std::vector<char>{0, 0, 1}));
}

TEST(Alignment, OneValueARecordMeansOneRow) {
  const std::vector<char> padding{0, 0, 1};
  const Alignment mean({3}, {}, {}, false, {}, {}, 3);
  EXPECT_EQ(units_of(mean, {1, 10, 3, 20, 50, 60}, 2, padding), (Values{2, 15}));
  const Alignment recurrent({3}, {}, {}, true, {}, {}, 3);
  EXPECT_EQ(units_of(recurrent, {1, 10, 3, 20, 50, 60}, 2, padding), (Values{3, 20}));
  const Alignment greatest({3}, {}, {At::hypothesis, To::max}, true, {}, {}, 3);
  EXPECT_EQ(units_of(greatest, {1, 40, 3, 20, 50, 60}, 2, padding), (Values{3, 40}));
  const Alignment dense({}, {3}, {}, false, {3}, {}, 3);
  EXPECT_EQ(behaviour_of(dense, {7, 8, 9}, padding), (Values{8}));
  EXPECT_TRUE(dense.is_padding(0, std::vector<char>{1, 1, 1}));
  EXPECT_FALSE(dense.is_padding(0, padding));
}

TEST(Alignment, ReducesHypothesesByTheirKind) {
  const Alignment mask({}, {2, 2}, {}, false, {2, 2}, {}, 0);
  EXPECT_EQ(behaviour_of(mask, {1, 0, 0, nothing}), (Values{1.0F / 3}));
  EXPECT_EQ(behaviour_of(mask, {2, 5, 5, 1}, {}, BehaviourKind::categorical), (Values{5}));
  EXPECT_TRUE(std::isnan(behaviour_of(mask, {nothing, nothing, nothing, nothing})[0]));
}

TEST(Alignment, TheValueOfARecordIsRepeatedWhereUnitsAre) {
  const Alignment repeated({3}, {}, {At::units, {}}, false, {}, {}, 3);
  EXPECT_EQ(repeated.rows(), 3U);
  EXPECT_EQ(behaviour_of(repeated, {4}), (Values{4, 4, 4}));
}

TEST(Alignment, InterpolatesUnitsBetweenTheCentresOfTheirFields) {
  // Two positions that look at 0.5 and 2.5 of four.
  const Alignment spread({2}, {4}, {}, false, {4}, {}, 4);
  EXPECT_EQ(units_of(spread, {0, 8}, 1), (Values{0, 2, 6, 8}));
  // Centres at 1 and 2: positions outside take the nearest.
  const Alignment inner({2}, {4}, {}, false, {4}, {{1, 1}}, 4);
  EXPECT_EQ(units_of(inner, {0, 8}, 1), (Values{0, 0, 8, 8}));
  // Two axes are two interpolations.
  const Alignment image({2, 2}, {1, 3}, {}, false, {3, 3}, {{0, 2}, {0, 2}}, 0);
  EXPECT_EQ(units_of(image, {0, 2, 4, 6}, 1), (Values{2, 3, 4}));
}

TEST(Alignment, TakesHypothesesWhereUnitsLook) {
  const Alignment down({2}, {4}, {At::units, {}}, false, {4}, {{0, 3}}, 4);
  EXPECT_EQ(behaviour_of(down, {5, 6, 7, nothing})[0], 5);
  EXPECT_TRUE(std::isnan(behaviour_of(down, {5, 6, 7, nothing})[1]));
}

TEST(Alignment, RefusesASequenceAgainstAnImage) {
  EXPECT_THROW(Alignment({3}, {2, 2}, {}, false, {2, 2}, {}, 0), std::invalid_argument);
  EXPECT_NO_THROW(Alignment({3}, {2, 2}, {At::record, {}}, false, {2, 2}, {}, 0));
}

TEST(ReceptiveCentres, FollowWindowsBackToTheInput) {
  const InspectedModel model = inspected(conv_network());
  const Session& session = *model.session;
  // conv1 is padded: its positions are those of the image. The pool looks at pairs: 0.5, 2.5, 4.5. conv2
  // looks at two of these: 1.5, 3.5.
  const auto conv1 = receptive_centres(session, session.layer("conv1").value, 2);
  const auto conv2 = receptive_centres(session, session.layer("conv2").value, 2);
  ASSERT_TRUE(conv1 && conv2);
  EXPECT_EQ((*conv1)[0].offset, 0);
  EXPECT_EQ((*conv1)[1].stride, 1);
  EXPECT_EQ((*conv2)[0].at(0), 1.5);
  EXPECT_EQ((*conv2)[1].at(1), 3.5);
  EXPECT_FALSE(receptive_centres(session, session.layer("fc").value, 2));
}

}  // namespace
}  // namespace assay::inspection
