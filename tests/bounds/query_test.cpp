// Queries in VNN-LIB: reading, writing, answers, counterexamples.

#include <gmock/gmock.h>

#include <assay/bounds.h>
#include <assay/error.h>
#include "tests/attack/build.h"

namespace assay::test {
using namespace bounds;
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string declared =
    "; two inputs\n(declare-const X_0 Real)\n(declare-const X_1 Real)\n(declare-const Y_0 "
    "Real)\n(declare-const Y_1 "
    "Real)\n(assert (>= X_0 -1))\n(assert (<= X_0 1.5e0))\n(assert (>= X_1 0.25))\n(assert (<= X_1 0.5))\n";

TEST(Vnnlib, HasABoxAndConstraints) {
  const Query query = parse_vnnlib(declared + "(assert (<= Y_0 Y_1)) (assert (>= Y_1 3))", "q");
  EXPECT_EQ(query.inputs, 2U);
  EXPECT_EQ(query.outputs, 2U);
  ASSERT_EQ(query.cases.size(), 1U);
  EXPECT_THAT(query.cases[0].box.low, ElementsAre(-1, 0.25));
  EXPECT_THAT(query.cases[0].box.high, ElementsAre(1.5, 0.5));
  ASSERT_EQ(query.cases[0].constraints.size(), 2U);
  EXPECT_THAT(query.cases[0].constraints[0].terms, ElementsAre(std::pair(0U, 1.0), std::pair(1U, -1.0)));
  EXPECT_EQ(query.cases[0].constraints[0].limit, 0);
  EXPECT_THAT(query.cases[0].constraints[1].terms, ElementsAre(std::pair(1U, -1.0)));
  EXPECT_EQ(query.cases[0].constraints[1].limit, -3);
}

TEST(Vnnlib, AlternativesAreCases) {
  const Query query = parse_vnnlib(
      declared + "(assert (or (and (<= X_0 0) (>= Y_0 1)) (and (>= X_0 0.5) (or (<= Y_1 2) (>= Y_0 Y_1)))))",
      "q");
  ASSERT_EQ(query.cases.size(), 3U);
  EXPECT_EQ(query.cases[0].box.high[0], 0);
  EXPECT_EQ(query.cases[1].box.low[0], 0.5);
  EXPECT_EQ(query.cases[2].constraints[0].terms.size(), 2U);
}

// Bounds that contradict each other hold no input: no case, but one that is told.
TEST(Vnnlib, CasesWithoutInputsAreCounted) {
  const Query query =
      parse_vnnlib(declared + "(assert (or (and (<= X_0 0) (>= Y_0 1)) (and (>= X_0 2) (>= Y_0 1))))", "q");
  EXPECT_EQ(query.cases.size(), 1U);
  EXPECT_EQ(query.empty_cases, 1U);
}

// As SMT-LIB writes constants in full.
TEST(Vnnlib, FunctionsWithoutParametersAreVariables) {
  const Query query = parse_vnnlib(
      "(declare-fun X_0 () Real)(declare-fun Y_0 ( ) Real)(assert (and (>= X_0 0) (<= X_0 1) (>= Y_0 2)))",
      "q");
  EXPECT_EQ(query.inputs, 1U);
  EXPECT_EQ(query.outputs, 1U);
  EXPECT_THAT(query.cases[0].box.high, ElementsAre(1));
}

TEST(Vnnlib, TermsAreLinear) {
  const Query query =
      parse_vnnlib(declared + "(assert (<= (+ (* 2 Y_0) (- Y_1) (* -1.0 (- 3 1))) (- 5 (* Y_1 0.5))))", "q");
  // 2 Y_0 - Y_1 - 2 - 5 + 0.5 Y_1 <= 0.
  double sums[2] = {0, 0};
  for (const auto& [o, factor] : query.cases[0].constraints[0].terms) sums[o] += factor;
  EXPECT_EQ(sums[0], 2);
  EXPECT_EQ(sums[1], -0.5);
  EXPECT_EQ(query.cases[0].constraints[0].limit, 7);
}

TEST(Vnnlib, SaysWhatItDoesNotAllow) {
  const auto refusal = [](const std::string& text) -> std::string {
    try {
      parse_vnnlib(text, "bad.vnnlib");
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::data) << text;
      return error.what();
    }
    ADD_FAILURE() << text;
    return {};
  };
  EXPECT_THAT(refusal(declared + "(assert (<= Y_0 Y_7))"),
              HasSubstr("bad.vnnlib, line 10: Y_7 is not declared"));
  EXPECT_THAT(refusal(declared + "(assert (<= (* Y_0 Y_1) 2))"), HasSubstr("product of variables"));
  EXPECT_THAT(refusal(declared + "(assert (<= X_0 Y_1))"),
              HasSubstr("line 10: a condition relates inputs and outputs"));
  EXPECT_THAT(refusal(declared + "(assert (<= (+ X_0 X_1) 1))"), HasSubstr("line 10: a condition on inputs"));
  EXPECT_THAT(refusal(declared + "(assert (< Y_0 1))"), HasSubstr("'<' is not a condition"));
  EXPECT_THAT(refusal(declared + "(assert (<= Y_0 1)"), HasSubstr("not closed"));
  EXPECT_THAT(refusal(declared + ")"), HasSubstr("not open"));
  EXPECT_THAT(refusal("(declare-const X_0 Real)(declare-const Y_0 Real)(assert (<= X_0 1))"),
              HasSubstr("X_0 has no bounds"));
  EXPECT_THAT(refusal("(declare-const X_1 Real)"), HasSubstr("X_0 is next"));
  EXPECT_THAT(refusal("(vnnlib-version <2.0>)"), HasSubstr("'vnnlib-version' is not known"));
  EXPECT_THAT(refusal("(declare-fun X_0 Real)"),
              HasSubstr("line 1: 'declare-fun' is not as in (declare-fun X_0 () Real)"));
  EXPECT_THAT(refusal("(declare-fun X_0 (Real) Real)"), HasSubstr("gives X_0 parameters"));
  EXPECT_THAT(refusal("(declare-const X_0 Int)"),
              HasSubstr("'declare-const' is not as in (declare-const X_0 Real)"));
  EXPECT_THAT(refusal(declared + "(assert ())"), HasSubstr("line 10: brackets hold nothing"));
  EXPECT_THAT(refusal(declared + "(assert (<= () 1))"), HasSubstr("line 10: brackets hold nothing"));
  EXPECT_THAT(refusal("()"), HasSubstr("line 1: brackets hold nothing"));
  EXPECT_THAT(refusal(""), HasSubstr("no inputs"));
  EXPECT_THAT(refusal(declared + std::string(1000, '(')), HasSubstr("too deeply"));
}

TEST(Vnnlib, WhatIsWrittenReadsBackAsTheSameQuery) {
  Query query{.inputs = 2, .outputs = 3, .cases = {}};
  for (int i = 0; i < 3; ++i)
    query.cases.push_back({{{0.1 * i, -2}, {0.7, 1.0 / 3}},
                           {{.terms = {{0, 1}, {2, -1}}, .limit = 0},
                            {.terms = {{1, -1}}, .limit = -0.3},
                            {.terms = {{0, 2.5}, {1, 1}}, .limit = 1e-7}}});
  for (const bool one_box : {false, true}) {
    if (one_box)
      for (Case& one : query.cases) one.box = query.cases[0].box;
    const Query read = parse_vnnlib(to_vnnlib(query, "a\nb"), "q");
    ASSERT_EQ(read.cases.size(), 3U);
    for (std::size_t c = 0; c < 3; ++c) {
      EXPECT_EQ(read.cases[c].box.low, query.cases[c].box.low);
      EXPECT_EQ(read.cases[c].box.high, query.cases[c].box.high);
      for (std::size_t k = 0; k < 3; ++k) {
        EXPECT_EQ(read.cases[c].constraints[k].terms, query.cases[c].constraints[k].terms);
        EXPECT_EQ(read.cases[c].constraints[k].limit, query.cases[c].constraints[k].limit);
      }
    }
  }
}

// y = |x| - 0.3 over [-1, 1], as two rectifiers: the least is -0.3 and the greatest 0.7.
Session bent() {
  GraphBuilder build("bent");
  const ValueId in = build.input("input", DType::float32, {-1, 1});
  const auto constant = [&](const char* name, Shape shape, const std::vector<float>& values) {
    return build.constant(name, Array::of<float>(std::move(shape), values));
  };
  const ValueId both = build.add("Gemm", "both", {in, constant("w", {1, 2}, {1, -1})});
  build.output(build.add(
      "Gemm", "sum",
      {build.add("Relu", "relu", {both}), constant("v", {2, 1}, {1, 1}), constant("b", {1}, {-0.3F})}));
  return Session(build.build(), one_thread);
}

Query asking(const std::string& condition) {
  return parse_vnnlib(
      "(declare-const X_0 Real)(declare-const Y_0 Real)(assert (>= X_0 -1))(assert (<= X_0 1))(assert " +
          condition + ")",
      "q");
}

TEST(Solve, AnswersFromBothSidesOfTheTruth) {
  const Session session = bent();
  EXPECT_EQ(solve(session, asking("(<= Y_0 -0.3001)"), {}, silence()).verdict, Verdict::holds);
  EXPECT_EQ(solve(session, asking("(>= Y_0 0.7001)"), {}, silence()).verdict, Verdict::holds);
  for (const char* reached : {"(<= Y_0 -0.29)", "(>= Y_0 0.69)", "(or (>= Y_0 9) (>= Y_0 0.5))"}) {
    const Query query = asking(reached);
    const Answer answer = solve(session, query, {}, silence());
    ASSERT_EQ(answer.verdict, Verdict::violated) << reached;
    const WitnessCheck check = check_witness(session, query, *answer.witness);
    EXPECT_TRUE(check.counterexample());
    EXPECT_LE(check.excess, 0);
    // Through the text that tools exchange.
    EXPECT_EQ(parse_witness(to_text(*answer.witness), query, "w").input, answer.witness->input);
  }
}

TEST(Solve, DividesWhatOneBoxLeavesOpen) {
  // |x| >= 0.05 everywhere but near 0: intervals of one box do not see that |x| - 0.3 > -0.25 for |x| > 0.05.
  const Session session = bent();
  const Query query = parse_vnnlib(
      "(declare-const X_0 Real)(declare-const Y_0 Real)(assert (>= X_0 0.06))(assert (<= X_0 1))(assert (<= "
      "Y_0 -0.25))",
      "q");
  EXPECT_EQ(solve(session, query, {.method = Method::interval}, silence()).boxes, 1U);
  const Query mean = parse_vnnlib(
      "(declare-const X_0 Real)(declare-const Y_0 Real)(assert (>= X_0 -1))(assert (<= X_0 1))(assert (>= "
      "Y_0 0.701))",
      "q");
  const Answer whole = solve(session, mean, {.method = Method::interval, .splits = 1}, silence());
  EXPECT_EQ(whole.verdict, Verdict::open);
  EXPECT_EQ(whole.open, 1U);
  const Answer divided = solve(session, mean, {.method = Method::interval, .splits = 2000}, silence());
  EXPECT_EQ(divided.verdict, Verdict::holds);
  EXPECT_GT(divided.boxes, 1U);
}

TEST(Solve, RefusesQueriesOfOtherSizes) {
  const Session session = bent();
  try {
    solve(session, parse_vnnlib(declared + "(assert (<= Y_0 Y_1))", "q"), {}, silence());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::mismatch);
    EXPECT_THAT(error.what(), HasSubstr("2 inputs and 2 outputs"));
  }
}

TEST(Witness, IsCheckedAsTheCompetitionDoes) {
  const Session session = bent();
  const Query query = asking("(>= Y_0 0.5)");  // |x| >= 0.8
  const auto check = [&](double x, double y) { return check_witness(session, query, {{x}, {y}}); };
  EXPECT_TRUE(check(0.9, 0.6).counterexample());
  EXPECT_NEAR(check(0.9, 0.6).excess, -0.1, 1e-6);
  // Within the tolerances, not without.
  EXPECT_TRUE(check(1.00005, 0.70005).counterexample());
  EXPECT_GT(check(1.00005, 0.70005).excess, 0);
  EXPECT_FALSE(check(1.001, 0.701).counterexample());  // outside of the box
  EXPECT_FALSE(check(0.7, 0.4).counterexample());      // not of the case
  EXPECT_FALSE(check(0.9, 0.61).counterexample());     // 1.6 % from what the network gives
  EXPECT_NEAR(check(0.9, 0.61).difference, 0.01 / 0.61, 1e-6);
}

TEST(Witness, NamesTheNumberThatIsMissing) {
  const Query query = asking("(>= Y_0 0.5)");
  const auto refusal = [&](const std::string& text) -> std::string {
    try {
      parse_witness(text, query, "w.txt");
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_THAT(refusal("sat ((X_0 0.3))"), HasSubstr("w.txt: it has no number for Y_0"));
  EXPECT_THAT(refusal("((X_0 a) (Y_0 1))"), HasSubstr("(X_0 a)"));
  EXPECT_THAT(refusal("((X_5 1) (Y_0 1))"), HasSubstr("(X_5 1)"));
}

}  // namespace
}  // namespace assay::test
