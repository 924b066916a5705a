#include <assay/error.h>

#include <gtest/gtest.h>

namespace assay {
namespace {

using namespace std::string_literals;

const About layer{"chosen layer", "{layer}"};
const About training{"from the training data", "with {train=SPEC}"};

std::string said(const Message& message) {
  return message.said([](std::string_view option, std::string_view value) {
    return "<" + std::string(option) + (value.empty() ? "" : ":") + std::string(value) + ">";
  });
}

TEST(Message, IsOfTheLibraryAndOfAFrontEnd) {
  const Message text = message("{} '{}' has {} units; learn it again {}.", layer, "conv1", 3, training);
  EXPECT_EQ(text.text(), "chosen layer 'conv1' has 3 units; learn it again from the training data.");
  EXPECT_EQ(said(text), "<layer> 'conv1' has 3 units; learn it again with <train:SPEC>.");
  EXPECT_TRUE(text.names_options());
}

TEST(Message, MayNameSeveralOptionsAtAPlaceOrHaveWordsForFrontEndsAlone) {
  EXPECT_EQ(said(message("{}", About{"have networks vote", "give {labels=majority} and {voters}!"})),
            "give <labels:majority> and <voters>!");
  const Message hint = message("no interval{}", About{"", "; use {repeats}"});
  EXPECT_EQ(hint.text(), "no interval");
  EXPECT_EQ(said(hint), "no interval; use <repeats>");
  EXPECT_EQ(said(About{"x", "an open {brace"}), "an open <brace>");
}

TEST(Message, NamesOfTheUsersAreNeverOptions) {
  for (const std::string& name :
       {"chosen layer net.onnx"s, "{layer}"s, "with {train=SPEC}"s, "\0chosen layer\0{layer}\0"s, "\0"s}) {
    const Message quoted = message("{}: {} {}", name, layer, std::string_view(name));
    const std::string plain = Message(name).text();
    EXPECT_EQ(quoted.text(), plain + ": chosen layer " + plain);
    EXPECT_EQ(said(quoted), plain + ": <layer> " + plain);
    EXPECT_EQ(said(Message(name)), plain);
    EXPECT_FALSE(Message(name).names_options());
  }
  EXPECT_EQ(message("'{}'", '\0').text(), "'\\x00'");
}

TEST(Message, KeepsWhatItIsAboutInAnotherOne) {
  const Message inner = message("{} x", layer), outer = message("{}: {}; {}", "a.onnx", inner, inner);
  EXPECT_EQ(said(outer), "a.onnx: <layer> x; <layer> x");
  EXPECT_EQ(said(decoded(coded(outer))), said(outer));
  EXPECT_EQ(decoded(coded(outer)).text(), outer.text());
}

TEST(Message, IsCarriedByErrors) {
  try {
    fail(Fault::usage, "{:>4}|{} {}", "a", layer, 0.5);
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "   a|chosen layer 0.5");
    EXPECT_EQ(said(error.message()), "   a|<layer> 0.5");
  }
}

}  // namespace
}  // namespace assay
