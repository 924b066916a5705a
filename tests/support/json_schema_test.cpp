#include "tests/support/json_schema.h"

#include <gtest/gtest.h>

#include "tests/support/xml.h"

namespace assay::test {
namespace {

using Json = nlohmann::json;

TEST(JsonSchema, FindsEveryKindOfFault) {
  const JsonSchema schema(Json::parse(R"({"type": "object", "required": ["a"], "properties": {
    "a": {"type": ["integer", "null"]}, "b": {"enum": ["x", "y"]}, "c": {"const": 1}, "d": {"$ref": "#/$defs/list"}},
    "additionalProperties": {"type": "string"}, "$defs": {"list": {"type": "array", "items": {"type": "number"}}}})"));
  EXPECT_TRUE(
      schema.faults(Json::parse(R"({"a": null, "b": "y", "c": 1, "d": [1, 2.5], "e": "text"})")).empty());
  for (const char* wrong : {"[]", R"({})", R"({"a": 1.5})", R"({"a": 1, "b": "z"})", R"({"a": 1, "c": 2})",
                            R"({"a": 1, "d": [true]})", R"({"a": 1, "e": 3})"}) {
    EXPECT_EQ(schema.faults(Json::parse(wrong)).size(), 1U) << wrong;
  }
  EXPECT_FALSE(JsonSchema(Json::object({{"minimum", 3}})).faults(5).empty()) << "an unknown keyword";
}

TEST(Xml, ReadsWhatIsWellFormedOnly) {
  const std::string head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  const XmlElement root = XmlReader::read(head + "<a k=\"&lt;&amp;\"><b/>text</a>\n");
  EXPECT_EQ(root.attributes.at("k"), "<&");
  EXPECT_EQ(root.text, "text");
  EXPECT_EQ(root.all("b").size(), 1U);
  for (const char* wrong : {"<a>", "<a></b>", "<a k=\"1\" k=\"2\"/>", "<a>&nbsp;</a>", "<a k=\"<\"/>",
                            "<a/><b/>", "<a>\x01</a>", ""}) {
    EXPECT_THROW(XmlReader::read(head + wrong), std::runtime_error) << wrong;
  }
}

}  // namespace
}  // namespace assay::test
