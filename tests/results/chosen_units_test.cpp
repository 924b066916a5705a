#include "assay/results/networks/chosen_units.h"

#include <gmock/gmock.h>

#include <assay/error.h>
#include <assay/report.h>
#include "assay/support/files/file.h"
#include "tests/engine/graphs.h"

namespace assay::results {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

class ChosenUnits : public testing::Test {
 protected:
  std::string refusal(const std::string& text) const {
    try {
      chosen_units({text}, session);
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::usage);
      return error.what();
    }
    return "no error";
  }

  const std::shared_ptr<const Session> session = std::make_shared<const Session>(test::lenet_like());
};

TEST_F(ChosenUnits, NumbersOfALayerAreJoinedAndAscending) {
  EXPECT_THAT(chosen_units({"layer=dense1,units=7+2-3", "dense1,units=3", "layer=conv1"}, session),
              ElementsAre(Pair("conv1", ElementsAre(0, 1, 2, 3)), Pair("dense1", ElementsAre(2, 3, 7))));
}

TEST_F(ChosenUnits, WhatIsNotThereIsSaid) {
  EXPECT_THAT(refusal("layer=dense1,units=10"), HasSubstr("has units 0 to 9"));
  EXPECT_THAT(refusal("layer=dense1,unit=1"), HasSubstr("did you mean 'units'"));
  EXPECT_THAT(refusal("layer=dense1,layer=conv1"), HasSubstr("layer is there twice"));
  EXPECT_THAT(refusal("units=1"), HasSubstr("which layer"));
  EXPECT_THAT(refusal("layer=dense1,top=3"), HasSubstr("add from=FILE"));
  EXPECT_THAT(refusal("layer=dense1,gate=input"), HasSubstr("is not a neuron of the layer"));
  EXPECT_THAT(refusal("layer=dense1,model=other"), HasSubstr("no network is named 'other'"));
}

TEST_F(ChosenUnits, ADocumentNamesThem) {
  report::Document answer;
  answer.command = "inspect";
  answer.tables = {{"answer",
                    "Answer",
                    {{"uid", "uid"}},
                    {{std::string("dense1:4")}, {std::string("dense1:1")}, {std::string("conv1:2")}}}};
  const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / "assay_chosen,units.json";
  write_file(file, report::to_json(answer));
  EXPECT_THAT(chosen_units({"from=" + file.string()}, session),
              ElementsAre(Pair("conv1", ElementsAre(2)), Pair("dense1", ElementsAre(1, 4))));
  EXPECT_THAT(refusal("from=" + file.string() + ",top=none"), HasSubstr("is not a number of units"));
  EXPECT_THAT(refusal("from=" + file.string() + ",layer=conv1"), HasSubstr("leave out layer"));
  std::filesystem::remove(file);
}

TEST_F(ChosenUnits, AreGroupsOfEachNetwork) {
  const std::vector<inspection::InspectedModel> models{{"a", session}, {"b", session}};
  std::vector<std::string> names;
  for (const inspection::UnitGroup& group : parse_units("layer=dense1,units=0-2", models))
    names.push_back(std::to_string(group.model) + " " + group.name);
  EXPECT_THAT(names, ElementsAre("0 dense1:0-2", "1 dense1:0-2"));
  EXPECT_EQ(parse_units("layer=conv1,model=b,name=mine", models).at(0).name, "mine");
  EXPECT_EQ(usual_groups(models).size(), 2 * 4U);
}

}  // namespace
}  // namespace assay::results
