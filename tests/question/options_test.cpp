// What messages of the library name are flags that commands have.

#include <assay/extend/question.h>

#include <gmock/gmock.h>

#include <regex>
#include <set>

#include "tests/structure/cpp_source.h"

namespace assay::frame {
namespace {

// "train" and "voters" of About{"...", "give {train=SPEC} or {voters}"}.
std::set<std::string> options_in(const std::string& source) {
  static const std::regex about(R"re(About(\s\w+)?\{\s*"[^"]*",\s*("[^"]*"\s*)+)re"),
      option(R"re(\{([\w-]+)[=}])re");
  std::set<std::string> names;
  for (std::sregex_iterator part(source.begin(), source.end(), about), end; part != end; ++part) {
    const std::string text = part->str();
    for (std::sregex_iterator name(text.begin(), text.end(), option); name != end; ++name)
      names.insert(name->str(1));
  }
  return names;
}

TEST(Options, AreFoundInSources) {
  EXPECT_THAT(options_in("fail(x, \"{} {}\", About{\"a\", \"{one}\"},\n About{\"b c\",\n \"{two=X} \"\n "
                         "\"{three}\"}, \"{no}\")"),
              testing::ElementsAre("one", "three", "two"));
}

TEST(Options, OfMessagesAreFlags) {
  std::set<std::string> flags{"json"};
  for (const QuestionCommand& command : question_commands()) {
    for (const QuestionFlag& flag : command.flags) flags.insert(flag.name);
  }
  std::size_t found = 0;
  for (const structure::Source& source : structure::sources_below({"assay", "apps"})) {
    for (const std::string& name : options_in(source.text)) {
      EXPECT_THAT(flags, testing::Contains(name)) << source.path;
      ++found;
    }
  }
  EXPECT_GT(found, 30U);
}

}  // namespace
}  // namespace assay::frame
