#pragma once

// What SQL of users, and the schema of a foreign database, may use: lists of what is allowed, so that a newer
// SQLite, or one built with more features, opens nothing.

#include <cstdint>
#include <string_view>

struct sqlite3;

namespace assay::workbench {

// Functions of values alone: none that reaches a file, an extension, a tokenizer or memory.
bool allowed_function(std::string_view name);
// Those that tell and change nothing.
bool allowed_pragma(std::string_view name);

// Removes everything from a new connection that is not on a list: tables of modules, functions of modules,
// extensions, triggers, files of other names. To be called before the schema is read.
void harden(sqlite3* handle);

// Bytes of one text or blob: a small part of the memory, since an answer is held in several forms at once.
std::uint64_t largest_value();

}  // namespace assay::workbench
