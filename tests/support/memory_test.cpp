#include "assay/support/memory.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdint>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "assay/support/kept_blocks.h"

namespace assay {
namespace {

std::size_t remainder(const void* block, std::size_t of) {
  return static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(block) % of);
}

TEST(Memory, BlocksOfEverySizeAreAlignedAndWritableToTheirEnd) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{63}, std::size_t{4097},
                                  large_block - 1, large_block, large_block + 1, 3 * large_block - 7}) {
    const std::unique_ptr<char, FreeBlock> block(static_cast<char*>(allocate_block(bytes)));
    EXPECT_EQ(remainder(block.get(), 64), 0U) << bytes;
    if (bytes == 0) continue;
    std::memset(block.get(), 7, bytes);
    EXPECT_EQ(block.get()[bytes - 1], 7) << bytes;
  }
}

TEST(Memory, LargeBlocksBeginWithALargePage) {
  const FloatBlock block = allocate_floats(large_block / sizeof(float));
  EXPECT_EQ(remainder(block.get(), std::size_t{2} << 20), 0U);
}

TEST(Memory, LargeBlocksAreKeptWhileSomebodyAsksForIt) {
  constexpr std::size_t bytes = 3 * large_block;
  const FreeBlock free_block;
  const KeptBlocks outer;
  void* const first = allocate_block(bytes);
  {
    const KeptBlocks inner;
    free_block(first);
  }
  const std::unique_ptr<char, FreeBlock> other(static_cast<char*>(allocate_block(bytes / 2)));
  EXPECT_NE(other.get(), first);  // it would waste half of it
  const std::unique_ptr<char, FreeBlock> next(static_cast<char*>(allocate_block(bytes - 9)));
  EXPECT_EQ(next.get(), first);
  const std::unique_ptr<char, FreeBlock> another(static_cast<char*>(allocate_block(bytes)));
  EXPECT_NE(another.get(), first);
}

// Blocks beyond the limit, and blocks that the system has no memory beside, go back to it.
TEST(Memory, NoMoreIsKeptThanTheLimit) {
  constexpr std::size_t bytes = std::size_t{64} << 20;
  const FreeBlock free_block;
  const KeptBlocks kept;
  const auto held = [] { return ::mallinfo2().hblkhd; };
  const std::uint64_t before = memory_limit();
  const std::size_t at_first = held();
  free_block(allocate_block(bytes));
  const std::size_t with_one = held();
  if (with_one < at_first + bytes) GTEST_SKIP() << "this allocator does not tell what it holds";
  EXPECT_THROW(allocate_block(SIZE_MAX / 4), std::bad_alloc);
  EXPECT_EQ(held(), at_first) << "given back before memory was refused";
  set_memory_limit(bytes / 2);
  free_block(allocate_block(bytes));
  set_memory_limit(before);
  EXPECT_EQ(held(), at_first);
}

TEST(Memory, BlocksThatOutliveTheirKeepersAreFreed) {
  std::unique_ptr<char, FreeBlock> block;
  {
    const KeptBlocks kept;
    block.reset(static_cast<char*>(allocate_block(large_block)));
  }
  block.reset();
  FreeBlock()(nullptr);
}

TEST(Memory, WhatNoMachineHasIsRefused) {
  EXPECT_THROW(allocate_block(SIZE_MAX), std::bad_alloc);
  EXPECT_THROW(allocate_block(SIZE_MAX / 2 + 1), std::bad_alloc);
  EXPECT_THROW(allocate_floats(SIZE_MAX / 2), std::bad_alloc);
}

TEST(Memory, LargePagesLeaveWhatIsThereAsItIs) {
  std::vector<char> bytes(3 * large_block);
  for (std::size_t i = 0; i < bytes.size(); i += 4096) bytes[i] = static_cast<char>(i / 4096);
  const std::vector<char> before = bytes;
  use_large_pages(bytes.data(), bytes.size());
  use_large_pages(bytes.data() + 5, 100);
  use_large_pages(nullptr, 0);
  EXPECT_EQ(bytes, before);
}

}  // namespace
}  // namespace assay
