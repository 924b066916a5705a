#include <assay/dataset.h>
#include <assay/model.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <assay/error.h>
#include <assay/training.h>
#include "assay/model/folder.h"

namespace assay::frame {
namespace {

using testing::HasSubstr;

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage);
    return error.what();
  }
  return "no error";
}

TEST(NamedDataset, IsOpenedByItsNameAsLongAsItLives) {
  const DatasetPtr digits = open_dataset("digits:10");
  {
    const NamedDataset named("test", digits);
    EXPECT_EQ(open_dataset("@test"), digits);
    const DatasetPtr part = open_dataset("@test[2:8][::2]");
    EXPECT_EQ(part->size(), 3U);
    EXPECT_EQ(part->id(1), digits->id(4));
    EXPECT_THAT(message_of([] { open_dataset("@tset"); }), HasSubstr("did you mean 'test'"));
    EXPECT_THAT(message_of([] { open_dataset("@test,scale=2"); }), HasSubstr("no option scale="));
    EXPECT_THROW(open_dataset("@test[20:]"), Error);
    EXPECT_THAT(message_of([&] { const NamedDataset again("test", digits); }), HasSubstr("already"));
  }
  EXPECT_THAT(message_of([] { open_dataset("@test"); }), HasSubstr("no data set in memory"));
}

TEST(NamedDataset, NamesThatNoSpecCouldHoldAreRefused) {
  for (const char* name : {"", "a b", "a[1]", "a,b=c", "../x"})
    EXPECT_THAT(message_of([&] { const NamedDataset named(name, open_dataset("digits:1")); }),
                HasSubstr("is not a name"));
}

TEST(NamedNetwork, IsReadByItsName) {
  const Graph graph = training::build_architecture("lenet1");
  const NamedNetwork named("net", graph);
  EXPECT_EQ(read_model("@net").hash(), graph.hash());
  EXPECT_FALSE(folder_of_network("@net"));
  const NamedNetwork of_language("language", graph, "folder");
  EXPECT_EQ(folder_of_network("@language"), "folder");
  EXPECT_THAT(message_of([] { read_model("@nets"); }), HasSubstr("did you mean 'net'"));
}

}  // namespace
}  // namespace assay::frame
