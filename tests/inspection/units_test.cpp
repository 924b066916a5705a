#include <gmock/gmock.h>

#include <assay/error.h>
#include <assay/extend/hypothesis.h>
#include <assay/model.h>
#include <assay/records.h>
#include "tests/inspection/annotated.h"
#include "tests/inspection/folder.h"

namespace assay::inspection {
namespace {

// Two maps of a picture: itself and its double, negative.
void write_maps(const std::string& path) {
  GraphBuilder build("maps");
  const ValueId x = build.input("input", DType::float32, {-1, 1, 2, 2});
  const ValueId w = build.constant("w", Array::of<float>({2, 1, 1, 1}, std::vector<float>{1, -2}));
  const ValueId maps = build.add("Conv", "maps", {x, w});
  const ValueId flat = build.add("Flatten", "flat", {maps});
  const ValueId v = build.constant("v", Array::of<float>({8, 2}, std::vector<float>(16, 0.5F)));
  build.output(build.add("MatMul", "scores", {flat, v}));
  write_onnx(build.build(), path);
}

Behaviours all_of(const Annotator& annotator, const DatasetPtr& dataset) {
  const std::vector<std::size_t> both{0, 1};
  const Batch batch = dataset->read(both);
  return annotator.annotate({*dataset, batch, {}});
}

TEST(Units, GiveActivationsAtEveryPosition) {
  const test::TemporaryFolder folder;
  const std::string model = (folder.path() / "maps.onnx").string();
  write_maps(model);
  const DatasetPtr dataset =
      from_arrays(Array::of<float>({2, 1, 2, 2}, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}));
  const auto maps = make_annotator("units[model=" + model + ",layer=maps]", dataset, {});
  EXPECT_EQ(maps->hypotheses()[1].name, "maps:1");
  const Behaviours all = all_of(*maps, dataset);
  EXPECT_EQ(all.positions, (Shape{2, 2}));
  EXPECT_EQ(all.values, (std::vector<float>{1, 2, 3, 4, -2, -4, -6, -8, 5, 6, 7, 8, -10, -12, -14, -16}));
  const auto one = make_annotator("units[model=" + model + ",layer=maps,units=1,name=b]", dataset, {});
  EXPECT_EQ(test::shown(*one, all_of(*one, dataset), "b:1"), "####");
  const auto scores = make_annotator("units[model=" + model + ",layer=scores]", dataset, {});
  EXPECT_EQ(all_of(*scores, dataset).positions, Shape{});
  EXPECT_EQ(all_of(*scores, dataset).values, (std::vector<float>{-5, -5, -13, -13}));
}

TEST(Units, RefuseWhatIsNotThere) {
  const test::TemporaryFolder folder;
  const std::string model = (folder.path() / "maps.onnx").string();
  write_maps(model);
  const DatasetPtr dataset = from_arrays(Array::of<float>({2, 1, 2, 2}, std::vector<float>(8)));
  for (const char* const options : {",layer=none", ",layer=maps,units=2", ",layer=maps,units=x"})
    EXPECT_THROW(make_annotator("units[model=" + model + options + "]", dataset, {}), Error) << options;
  EXPECT_THROW(make_annotator("units", dataset, {}), Error);
  EXPECT_THROW(make_annotator("units[model=/no/such.onnx]", dataset, {}), Error);
}

}  // namespace
}  // namespace assay::inspection
