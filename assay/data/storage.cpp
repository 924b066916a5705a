#include "assay/data/storage.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <assay/error.h>
#include "assay/data/bytes.h"
#include "assay/support/files/input_file.h"
#include "assay/support/memory.h"

namespace assay::inline data {
namespace fs = std::filesystem;

FileBytes::FileBytes(const fs::path& path) : descriptor_(open_to_read(path)), name_(path.string()) {
  struct stat status {};
  if (::fstat(descriptor_, &status) == 0) size_ = status.st_size;
}

FileBytes FileBytes::temporary(const fs::path& owner) {
  const char* const wanted = std::getenv("TMPDIR");
  const std::string folder = wanted == nullptr || *wanted == '\0' ? "/tmp" : wanted;
  std::string name = folder + "/assay-XXXXXX";
  const int descriptor = ::mkostemp(name.data(), O_CLOEXEC);
  if (descriptor < 0) {
    fail(Fault::io,
         "{}: no temporary file for its decompressed bytes in {}: {}; set TMPDIR to a folder with enough "
         "space",
         owner.string(), folder, std::strerror(errno));
  }
  ::unlink(name.c_str());
  return {descriptor, fmt::format("{} (decompressed in {})", owner.string(), folder)};
}

FileBytes::~FileBytes() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

FileBytes::FileBytes(FileBytes&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), size_(other.size_), name_(std::move(other.name_)) {}

void FileBytes::append(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(size_));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) {
      fail(Fault::io, "{}: writing failed after {} bytes: {}; set TMPDIR to a folder with more space", name_,
           size_, std::strerror(put == 0 ? ENOSPC : errno));
    }
    size_ += put;
    bytes.remove_prefix(put);
  }
}

void FileBytes::read(std::uint64_t offset, void* out, std::size_t count) const {
  auto* at = static_cast<char*>(out);
  while (count > 0) {
    const ssize_t got = ::pread(descriptor_, at, count, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(Fault::io, "{}: reading failed: {}", name_, std::strerror(errno));
    if (got == 0) fail(Fault::data, "{}: the file ends at byte {}; was it changed meanwhile?", name_, offset);
    at += got;
    offset += got;
    count -= got;
  }
}

namespace {

void require_size(const fs::path& path, std::uint64_t promised, std::uint64_t have,
                  const char* at_least = "") {
  if (have != promised)
    fail(Fault::data, "{}: the header promises {} bytes in all, the file holds {}{}; fetch it again",
         path.string(), promised, at_least, have);
}

}  // namespace

StoredBytes::StoredBytes(const fs::path& path, std::uint64_t size, std::uint64_t in_memory)
    : path_(path.string()) {
  if (is_gzipped(path)) {
    fill(
        path, size, [&](const auto& take) { for_decompressed(path, take); }, in_memory);
    return;
  }
  FileBytes file(path);
  require_size(path, size, file.size());
  if (size > in_memory) {
    file_ = std::make_shared<const FileBytes>(std::move(file));
    return;
  }
  std::string bytes;
  reserve_block(bytes, size);
  bytes.resize(size);
  file.read(0, bytes.data(), bytes.size());
  memory_ = std::make_shared<const std::string>(std::move(bytes));
}

StoredBytes StoredBytes::within(const fs::path& path, std::uint64_t offset, std::uint64_t size) {
  StoredBytes bytes;
  bytes.path_ = path.string();
  bytes.file_ = std::make_shared<const FileBytes>(path);
  bytes.begin_ = offset;
  if (offset > bytes.file_->size() || size > bytes.file_->size() - offset)
    fail(Fault::data, "{}: {} bytes from {} on are promised, the file holds {}; fetch it again", bytes.path_,
         size, offset, bytes.file_->size());
  return bytes;
}

StoredBytes StoredBytes::unpacked(const fs::path& path, std::uint64_t size, const Unpack& unpack,
                                  std::uint64_t in_memory) {
  StoredBytes bytes;
  bytes.path_ = path.string();
  bytes.fill(path, size, unpack, in_memory);
  return bytes;
}

void StoredBytes::fill(const fs::path& path, std::uint64_t size, const Unpack& unpack,
                       std::uint64_t in_memory) {
  std::string memory;
  std::optional<FileBytes> file;
  if (size > in_memory)
    file.emplace(FileBytes::temporary(path));
  else
    reserve_block(memory, size);
  std::uint64_t have = 0;
  unpack([&](std::string_view chunk) {
    have += chunk.size();
    if (have > size) require_size(path, size, have, "at least ");
    if (file)
      file->append(chunk);
    else
      memory += chunk;
  });
  require_size(path, size, have);
  if (file)
    file_ = std::make_shared<const FileBytes>(std::move(*file));
  else
    memory_ = std::make_shared<const std::string>(std::move(memory));
}

void StoredBytes::read(std::uint64_t offset, void* out, std::size_t count) const {
  if (file_) return file_->read(begin_ + offset, out, count);
  if (offset > memory_->size() || count > memory_->size() - offset)
    fail(Fault::internal, "{}: read past the end", path_);
  std::memcpy(out, memory_->data() + offset, count);
}

}  // namespace assay::inline data
