#pragma once

// Bytes at rest, read at any offset, so that a set larger than memory streams.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace assay::inline data {

// An open file. read() is thread-safe.
class FileBytes {
 public:
  // An existing file, in place. Throws Error{io}.
  explicit FileBytes(const std::filesystem::path& path);
  // An empty file in TMPDIR (else /tmp) that vanishes with this object, however the program ends. `owner` is
  // the file whose decompressed bytes it takes and stands in messages. Throws Error{io}.
  static FileBytes temporary(const std::filesystem::path& owner);
  ~FileBytes();
  FileBytes(FileBytes&& other) noexcept;
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;

  std::uint64_t size() const { return size_; }
  // REQUIRES a temporary file. Throws Error{io} that says what to do when the disk is full.
  void append(std::string_view bytes);
  // Throws Error{data} when the file ends before, Error{io} when the disk fails.
  void read(std::uint64_t offset, void* out, std::size_t count) const;

 private:
  FileBytes(int descriptor, std::string name) : descriptor_(descriptor), name_(std::move(name)) {}
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
  std::string name_;
};

// More than this is not kept in memory.
inline constexpr std::uint64_t most_in_memory = std::uint64_t{256} << 20;

// Bytes of known number: few ones in memory, many read in place or, where they are compressed, decompressed
// once into a temporary file. read() is thread-safe; copies share the bytes.
class StoredBytes {
 public:
  // The contents of a file, decompressed if it is gzipped. Throws Error{data} when they are not exactly
  // `size` bytes (decompressing stops as soon as they are more), Error{io} when the file cannot be read. At
  // most `in_memory` bytes are kept in memory.
  StoredBytes(const std::filesystem::path& path, std::uint64_t size,
              std::uint64_t in_memory = most_in_memory);
  // A range of a file, always in place. Throws Error{data} when the file ends before.
  static StoredBytes within(const std::filesystem::path& path, std::uint64_t offset, std::uint64_t size);
  // The bytes that `unpack` delivers, piece after piece. Errors as above; `path` stands in messages.
  using Unpack = std::function<void(const std::function<void(std::string_view)>& take)>;
  static StoredBytes unpacked(const std::filesystem::path& path, std::uint64_t size, const Unpack& unpack,
                              std::uint64_t in_memory = most_in_memory);

  void read(std::uint64_t offset, void* out, std::size_t count) const;

 private:
  StoredBytes() = default;
  void fill(const std::filesystem::path& path, std::uint64_t size, const Unpack& unpack,
            std::uint64_t in_memory);

  std::string path_;
  std::shared_ptr<const std::string> memory_;
  std::shared_ptr<const FileBytes> file_;
  std::uint64_t begin_ = 0;  // in the file
};

}  // namespace assay::inline data
