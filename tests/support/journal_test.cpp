#include "assay/support/files/journal.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>

#include <assay/error.h>
#include "assay/support/files/file.h"

namespace assay {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using Entry = std::pair<std::string, std::string>;

JournalKey key(int seed = 1) {
  return JournalKey("test").add("network", std::string(32, 'a')).add("seed", seed).add("step", 0.1);
}

std::vector<Entry> entries(const Journal& journal) {
  std::vector<Entry> all;
  for (const Journal::Entry& entry : journal.found()) all.emplace_back(entry.id, entry.bytes);
  return all;
}

class Journals : public testing::Test {
 protected:
  Journals() {
    fs::remove_all(folder);
    fs::create_directories(folder);
  }
  ~Journals() override { fs::remove_all(folder); }

  std::vector<Entry> found(const JournalKey& of = key()) const { return entries(Journal(path, of)); }
  // The error that `action` gives, which has to be of this kind.
  static std::string message(Fault fault, const std::function<void()>& action) {
    try {
      action();
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), fault) << error.what();
      return error.what();
    }
    ADD_FAILURE() << "no error";
    return {};
  }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
  }

  const fs::path folder = fs::path(testing::TempDir()) / ("assay_journals_" + std::to_string(getpid()));
  const fs::path path = folder / "journal";
};

TEST_F(Journals, GiveBackTheirEntriesInOrder) {
  const std::string binary("\0\xff\n", 3);
  const fs::path deep = folder / "a" / "b" / "journal";
  {
    Journal journal(deep, key());
    EXPECT_TRUE(journal.found().empty());
    journal.append("one", binary);
    journal.append("", "");
    journal.sync();
  }
  {
    Journal journal(deep, key());
    EXPECT_THAT(entries(journal), ElementsAre(Entry("one", binary), Entry("", "")));
    journal.append("one", "again");
  }
  EXPECT_THAT(entries(Journal(deep, key())),
              ElementsAre(Entry("one", binary), Entry("", ""), Entry("one", "again")));
}

TEST_F(Journals, CutOffAtAnyByteLoseTheLastEntryOnly) {
  std::vector<std::size_t> ends;
  {
    Journal journal(path, key());
    for (const char* id : {"a", "b", "c"}) {
      ends.push_back(fs::file_size(path));
      journal.append(id, std::string(11, *id));
    }
  }
  const std::string whole = read_file(path);
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    write_file(path, whole.substr(0, size));
    std::vector<Entry> expected;
    for (std::size_t e = 0; e < 3; ++e) {
      if (size >= (e < 2 ? ends[e + 1] : whole.size()))
        expected.emplace_back(std::string(1, "abc"[e]), std::string(11, "abc"[e]));
    }
    {
      Journal journal(path, key());
      EXPECT_EQ(entries(journal), expected) << size;
      journal.append("next", "x");
    }
    expected.emplace_back("next", "x");
    EXPECT_EQ(found(), expected) << size;
  }
  EXPECT_EQ(files(), 1U);
}

TEST_F(Journals, ADamagedEntryIsNotUsed) {
  std::size_t begin = 0;
  {
    Journal journal(path, key());
    journal.append("a", "first");
    begin = fs::file_size(path);
    journal.append("b", "second");
  }
  const std::string whole = read_file(path);
  for (std::size_t place = begin; place < whole.size(); ++place) {
    std::string damaged = whole;
    damaged[place] = static_cast<char>(damaged[place] ^ 1);
    write_file(path, damaged);
    EXPECT_THAT(found(), ElementsAre(Entry("a", "first"))) << place;
  }
}

TEST_F(Journals, DamageToTheKeyIsAnError) {
  { Journal(path, key()).append("a", "first"); }
  std::string damaged = read_file(path);
  damaged[30] = static_cast<char>(damaged[30] ^ 1);
  write_file(path, damaged);
  EXPECT_THAT(message(Fault::data, [&] { found(); }), HasSubstr("remove the file"));
  EXPECT_EQ(read_file(path), damaged);
}

TEST_F(Journals, OfOtherWorkAreRefusedAndSayWhatDiffers) {
  { Journal(path, key()).append("a", "first"); }
  const std::string whole = read_file(path);
  const auto refused = [&](const JournalKey& of) {
    const std::string text = message(Fault::mismatch, [&] { found(of); });
    EXPECT_THAT(text, HasSubstr(path.string()));
    EXPECT_TRUE(read_file(path) == whole);
    return text;
  };
  EXPECT_THAT(refused(key(2)), HasSubstr("journal of another test, with another seed (1, not 2);"));
  EXPECT_THAT(
      refused(JournalKey("test").add("network", std::string(32, 'b')).add("seed", 1).add("step", 0.2)),
      HasSubstr("another network and another step (0.1, not 0.2);"));
  EXPECT_THAT(refused(key().add("margin", 3)), HasSubstr("another margin (none, not 3);"));
  EXPECT_THAT(refused(JournalKey("test").add("network", std::string(32, 'a')).add("seed", 1)),
              HasSubstr("another step (0.1, not none);"));
  EXPECT_THAT(refused(JournalKey("exam")), HasSubstr("test, not exam"));
  EXPECT_THAT(found(), ElementsAre(Entry("a", "first")));
}

TEST_F(Journals, WithoutEntriesBelongToWhoeverComesNext) {
  Journal(path, key(1));
  Journal(path, key(2)).append("a", "of two");
  EXPECT_THAT(found(key(2)), ElementsAre(Entry("a", "of two")));
  EXPECT_THROW(found(key(1)), Error);
}

TEST_F(Journals, FilesThatAreNoneAreNeverTouched) {
  for (const std::string& content : {std::string("x"), std::string("a letter"), std::string(1000, '\0'),
                                     std::string("assay journal 9\nof the future")}) {
    write_file(path, content);
    message(Fault::data, [&] { found(); });
    EXPECT_TRUE(read_file(path) == content);
  }
  write_file(path, "a letter");
  message(Fault::data, [&] { Journal::remove(path); });
  EXPECT_EQ(read_file(path), "a letter");
  message(Fault::io, [&] { Journal(folder, key()); });
  message(Fault::io, [&] { Journal(path / "below", key()); });  // a file stands where its folder should be
  EXPECT_EQ(files(), 1U);
}

TEST_F(Journals, AreReplacedAsAWhole) {
  {
    Journal journal(path, key());
    journal.append("a", "first");
    journal.append("b", "second");
    journal.replace("state", "now");
    EXPECT_EQ(files(), 1U);
    journal.append("c", "third");
    journal.replace("state", "later");
    journal.append("d", "fourth");
  }
  EXPECT_THAT(found(), ElementsAre(Entry("state", "later"), Entry("d", "fourth")));
}

TEST_F(Journals, HaveOneUserAtATime) {
  Journal first(path, key());
  const auto refused = [&] { EXPECT_THAT(message(Fault::io, [&] { found(); }), HasSubstr("another run")); };
  refused();
  first.append("a", "x");
  refused();
  first.replace("b", "y");
  refused();
  message(Fault::io, [&] { Journal(path, key(2)); });
}

// No flag names them: what somebody has put in their place is not written to, nor what it leads to.
TEST_F(Journals, AreNeverLinks) {
  const fs::path other = folder / "other", missing = folder / "missing";
  const std::string bytes = "assay journal 1\n";
  write_file(other, bytes);
  const auto expect_refused = [&] {
    EXPECT_THAT(message(Fault::data, [&] { Journal(path, key()); }), HasSubstr("not a journal"));
    EXPECT_THAT(message(Fault::data, [&] { Journal::require_place(path); }), HasSubstr("not a journal"));
    EXPECT_THAT(message(Fault::data, [&] { Journal::remove(path); }), HasSubstr("not a journal"));
    EXPECT_TRUE(fs::exists(fs::symlink_status(path)));
    fs::remove(path);
  };
  fs::create_symlink(missing, path);
  expect_refused();
  EXPECT_FALSE(fs::exists(missing));
  fs::create_symlink(other, path);
  expect_refused();
  fs::create_hard_link(other, path);
  expect_refused();
  EXPECT_EQ(read_file(other), bytes);
}

TEST_F(Journals, AreRemoved) {
  { Journal(path, key()).append("a", "x"); }
  Journal::remove(path);
  EXPECT_FALSE(fs::exists(path));
  Journal::remove(path);
  EXPECT_TRUE(found().empty());
}

TEST_F(Journals, RefuseWhatTheirCallersCannotRead) {
  const Journal journal(path, key());
  EXPECT_THAT(
      message(Fault::data, [&] { journal.refuse("it has no x"); }),
      HasSubstr("journal: the journal cannot be used: it has no x; remove the file to start from scratch"));
}

// No file may grow beyond so many bytes, as on a disk that is full.
class FullDisk {
 public:
  explicit FullDisk(std::size_t bytes) {
    old_handler_ = std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old_limit_);
    const rlimit limit{bytes, old_limit_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &old_limit_);
    std::signal(SIGXFSZ, old_handler_);
  }

 private:
  void (*old_handler_)(int) = nullptr;
  rlimit old_limit_{};
};

TEST_F(Journals, KeepWhatTheyHaveWhenTheDiskIsFull) {
  {
    Journal journal(path, key());
    journal.append("a", "first");
    const std::string whole = read_file(path);
    for (const std::size_t room : {0, 1, 20, 50}) {
      const FullDisk full(whole.size() + room);
      EXPECT_THAT(message(Fault::io, [&] { journal.append("b", std::string(100, 'x')); }),
                  HasSubstr("free some space"));
      message(Fault::io, [&] { journal.replace("b", std::string(200, 'x')); });
    }
    EXPECT_TRUE(read_file(path) == whole);
    EXPECT_EQ(files(), 1U);
    journal.append("c", "third");
  }
  EXPECT_THAT(found(), ElementsAre(Entry("a", "first"), Entry("c", "third")));
  Journal::remove(path);
  {
    const FullDisk full(10);
    message(Fault::io, [&] { found(); });
  }
  EXPECT_TRUE(found().empty());
}

}  // namespace
}  // namespace assay
