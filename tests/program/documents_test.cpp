// Documents of gates against their published forms.

#include "tests/program/program.h"
#include "tests/support/xml.h"

namespace assay {
namespace {

class Documents : public Program {
 protected:
  static constexpr const char* criteria =
      "-m 2 --criterion idc --criterion nc --criterion kmnc --criterion nlc --criterion tknp --criterion "
      "dsc ";

  static std::string cover(const std::string& more) {
    return std::string(
               "cover --quiet --model net.onnx --train images-idx3-ubyte --test images-idx3-ubyte --layer "
               "hidden ") +
           criteria + more;
  }
};

TEST_F(Documents, OfGatesAreWellFormedJunit) {
  const Outcome run =
      assay(cover("--junit gates.xml --fail-under nc=0.1 --fail-under 'kmnc[context=\"<a&b>\"]=0.1'"));
  ASSERT_EQ(run.code, 2) << run.err;
  const test::XmlElement root = test::XmlReader::read(read_file(folder / "gates.xml"));
  EXPECT_EQ(root.name, "testsuites");
  ASSERT_EQ(root.all("testsuite").size(), 1U);
  const test::XmlElement& suite = *root.all("testsuite")[0];
  for (const char* needed :
       {"name", "tests", "failures", "errors", "time", "timestamp", "hostname", "id", "package"})
    EXPECT_TRUE(suite.attributes.contains(needed)) << needed;
  const auto cases = suite.all("testcase");
  EXPECT_EQ(std::to_string(cases.size()), suite.attributes.at("tests"));
  std::size_t failures = 0;
  for (const test::XmlElement* one : cases) {
    for (const char* needed : {"name", "classname", "time"})
      EXPECT_TRUE(one->attributes.contains(needed)) << needed;
    for (const test::XmlElement* failure : one->all("failure")) {
      ++failures;
      EXPECT_TRUE(failure->attributes.contains("message") && failure->attributes.contains("type"));
      EXPECT_EQ(one->attributes.at("name"), "kmnc[context=\"<a&b>\"]=0.1");
    }
  }
  EXPECT_EQ(failures, 1U);
  EXPECT_EQ(suite.attributes.at("failures"), "1");
  EXPECT_EQ(suite.attributes.at("errors"), "0");
}

}  // namespace
}  // namespace assay
