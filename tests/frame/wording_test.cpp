#include "apps/frame/wording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::frame {
namespace {

const About layer{"chosen layer", "{layer}"};

TEST(Wording, PutsFlags) {
  EXPECT_EQ(with_flags(message("{} '{}': no such layer", layer, "chosen layer net.onnx")),
            "--layer 'chosen layer net.onnx': no such layer");
  EXPECT_EQ(with_flags(About{"a new profile", "{profile=FILE}"}), "--profile FILE");
  EXPECT_EQ(with_flags("chosen layer"), "chosen layer");
}

TEST(Wording, FlagsOfCommandsAreOptions) {
  const auto said = [](const Message& message) {
    return message.said([](std::string_view option, std::string_view value) {
      return fmt::format("<{}:{}>", option, value);
    });
  };
  const std::string file = "--train SPEC {x}";
  const Message message = of_flags(
      "give --hold-out SHARE or --held-out SPEC.npz, not '{}' -- as `assay data --help` shows; --x", file);
  EXPECT_EQ(message.text(),
            "give --hold-out SHARE or --held-out SPEC.npz, not '--train SPEC {x}' -- as `assay data --help` "
            "shows; --x");
  EXPECT_EQ(with_flags(message), message.text());
  EXPECT_EQ(
      said(message),
      "give <hold-out:SHARE> or <held-out:SPEC>.npz, not '--train SPEC {x}' -- as `assay data --help` shows; "
      "<x:>");
}

TEST(Wording, IsThatOfTheWholeDocument) {
  report::Document document;
  document.notices.push_back(message("{} a", layer));
  document.warnings = {{"w", message("{} b", layer), message("{} c", layer)}};
  put_flags(document);
  EXPECT_EQ(document.notices[0], "--layer a");
  EXPECT_EQ(document.warnings[0].text, "--layer b");
  EXPECT_EQ(document.warnings[0].cause, "--layer c");
}

}  // namespace
}  // namespace assay::frame
