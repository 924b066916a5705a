#include "assay/workbench/query/named_text.h"

#include <gmock/gmock.h>

#include <assay/error.h>

namespace assay::workbench {
namespace {

using testing::Pair;

TEST(NamedText, AFileIsCalledByItsStemWhereItHasNoName) {
  EXPECT_THAT(named_file("before=folder/net.onnx"), Pair("before", "folder/net.onnx"));
  EXPECT_THAT(named_file("folder/net.onnx"), Pair("net", "folder/net.onnx"));
  EXPECT_THAT(named_file("@net"), Pair("net", "@net"));
}

TEST(NamedText, AttributesAreNumbersWhereTheirTextIs) {
  const NamedModel model = parse_model("net=a.h5,weights=w.safetensors,epoch=3,rate=0.5,kind=last");
  EXPECT_EQ(model.name, "net");
  EXPECT_EQ(model.file, "a.h5,weights=w.safetensors");
  EXPECT_EQ(model.attributes, (std::map<std::string, report::Cell>{
                                  {"epoch", std::int64_t{3}}, {"rate", 0.5}, {"kind", std::string("last")}}));
  for (const char* text : {"a.onnx,", "a.onnx,epoch", "a.onnx,=3"})
    EXPECT_THROW(parse_model(text), Error) << text;
}

}  // namespace
}  // namespace assay::workbench
