#include "tests/support/xml.h"

#include <gtest/gtest.h>

namespace assay::test {
namespace {

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
