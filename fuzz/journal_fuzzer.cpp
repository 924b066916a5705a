// A journal that is arbitrary bytes: it is gone on from, or refused. What is appended is there the next time,
// behind what was found.

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <iostream>

#include <assay/error.h>
#include "assay/support/files/binary.h"
#include "assay/support/files/journal.h"
#include "seeds.h"

namespace {

namespace fs = std::filesystem;

const assay::JournalKey key = assay::JournalKey("fuzz").add("seed", 1);

fs::path scratch_file() {
  const fs::path memory = "/dev/shm", folder = fs::exists(memory) ? memory : fs::temp_directory_path();
  return folder / ("assay_fuzz_" + std::to_string(::getpid()) + ".journal");
}

std::vector<std::string> seeds() {
  const fs::path file = scratch_file();
  std::vector<std::string> result{""};
  {
    assay::Journal journal(file, key);
    result.push_back(assay::read_file(file));
    journal.append("one", assay::to_bytes({{"a", 1}, {"b", {1.5, "x"}}}));
    journal.append("two", "");
    result.push_back(assay::read_file(file));
  }
  fs::remove(file);
  return result;
}

std::size_t entries_of(const fs::path& file) { return assay::Journal(file, key).found().size(); }

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  assay::fuzz::write_seeds_if_asked(seeds());
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fs::path file = scratch_file();
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  assay::write_file(file, bytes);
  try {
    std::size_t before = 0;
    {
      assay::Journal journal(file, key);
      before = journal.found().size();
      for (const assay::Journal::Entry& entry : journal.found()) {
        try {
          assay::from_bytes(entry.bytes);
        } catch (const std::runtime_error&) {
        }
      }
      journal.append("new", bytes);
    }
    if (entries_of(file) != before + 1) {
      std::cerr << "the entry is not there\n";
      std::abort();
    }
  } catch (const assay::Error&) {
    if (assay::read_file(file) != bytes) {
      std::cerr << "a refused file was changed\n";
      std::abort();
    }
  }
  return 0;
}
