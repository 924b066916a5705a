#include "assay/support/files/sha256.h"

#include <gtest/gtest.h>

#include <filesystem>

#include <assay/error.h>
#include "assay/support/files/file.h"

namespace assay {
namespace {

TEST(Sha256, AgreesWithTheStandardsExamples) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_hex(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, OfAFileIsThatOfItsBytesWhereverABlockEnds) {
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "sha256";
  for (const std::size_t size : {0U, 55U, 56U, 63U, 64U, 65U, 3'000'000U}) {
    std::string bytes;
    for (std::size_t i = 0; i < size; ++i) bytes += static_cast<char>(i * 7);
    write_file(path, bytes);
    EXPECT_EQ(sha256_of_file(path), sha256_hex(bytes)) << size;
  }
  std::filesystem::remove(path);
  EXPECT_THROW(sha256_of_file(path), Error);
}

}  // namespace
}  // namespace assay
