#pragma once

// The results of attacks so far, on their way to a file.

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <assay/attack.h>
#include <assay/dataset.h>

namespace assay::attack {

class AdversarialSet {
 public:
  // `dataset`: where ids, labels and targets come from; must outlive this. `type`: float32 or uint8 (levels).
  AdversarialSet(const Dataset& dataset, DType type);

  using Record = AttackedRecord;

  // `inputs`: of these records in order, of the data set's shape and the element type. REQUIRES
  // record_bytes() for each.
  void add(std::span<const Record> records, std::span<const std::byte> inputs);
  std::size_t record_bytes() const { return record_bytes_; }
  std::size_t size() const { return records_.size(); }
  std::vector<Record>& records() { return records_; }
  const std::vector<Record>& records() const { return records_; }
  // Forgets records without success.
  void keep_successful();
  // Throws Error{io}.
  void write(const std::filesystem::path& file) const;

 private:
  Array ids() const;
  std::vector<std::size_t> originals() const;
  // Ids, and the inputs that were not attacked.
  std::map<std::string, Array> held_inputs() const;

  const Dataset& dataset_;
  DType type_;
  std::size_t record_bytes_;
  std::vector<Record> records_;
  std::vector<std::byte> inputs_;
};

// A file to be read back and checked before `file` itself is written: next to it, and removed with this
// object.
class UncheckedFile {
 public:
  explicit UncheckedFile(const std::filesystem::path& file)
      : path_(std::filesystem::path(file).replace_extension(".unchecked.npz")) {}
  ~UncheckedFile();
  UncheckedFile(const UncheckedFile&) = delete;
  UncheckedFile& operator=(const UncheckedFile&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// The spec under which a file that holds records of `dataset` is to be opened, so that a network sees what
// the attack made: its path, and for levels the mean and std that stand for the valid range. Throws
// Error{usage} for a path that cannot be part of a spec.
std::string spec_of_file(const std::filesystem::path& file, const Dataset& dataset, DType type);

}  // namespace assay::attack
