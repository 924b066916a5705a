// libtorch, loaded when the program first calls one of its functions: Debian's names 290 libraries, pictures,
// films and maps among them, whose linking takes ten times as long as all the rest of a start. Every function
// that the program takes from it stands here under its name as a jump through an entry. At first the entry
// leads to a search, which loads the library and puts the function itself there, as the dynamic linker does
// for a library that is linked. The list of functions is made from the program's own archives (symbols.sh).

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>

#include <assay/error.h>
#include "assay/engine/threads/engine_threads.h"
#include "assay/support/spare_threads.h"

namespace {

struct Entry {
  void* function;
  const char* name;
};

}  // namespace

// A function: entry, name, the jump, and what the entry leads to at first.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define DEFERRED_FUNCTION(symbol)                            \
  asm(".pushsection .data.rel.deferred, \"aw\", @progbits\n" \
      ".balign 8\n"                                          \
      "1: .quad 3f, 2f\n"                                    \
      ".popsection\n"                                        \
      ".pushsection .rodata.deferred, \"a\", @progbits\n"    \
      "2: .asciz \"" #symbol                                 \
      "\"\n"                                                 \
      ".popsection\n"                                        \
      ".pushsection .text.deferred, \"ax\", @progbits\n"     \
      ".globl " #symbol                                      \
      "\n"                                                   \
      ".hidden " #symbol                                     \
      "\n"                                                   \
      ".type " #symbol ", @function\n" #symbol               \
      ": jmp *1b(%rip)\n"                                    \
      "3: lea 1b(%rip), %r11\n"                              \
      "jmp assay_first_call\n"                               \
      ".size " #symbol ", . - " #symbol                      \
      "\n"                                                   \
      ".popsection\n");
// Data, a class's table of functions say: room here, filled when the library is there.
#define DEFERRED_DATA(symbol, bytes)                              \
  asm(".pushsection .bss.deferred, \"aw\", @nobits\n"             \
      ".balign 16\n"                                              \
      ".globl " #symbol                                           \
      "\n"                                                        \
      ".hidden " #symbol                                          \
      "\n"                                                        \
      ".type " #symbol                                            \
      ", @object\n"                                               \
      ".size " #symbol ", " #bytes "\n" #symbol ": .zero " #bytes \
      "\n"                                                        \
      ".popsection\n");                                           \
  extern "C" char symbol[];
#include "deferred_symbols.inc"
#undef DEFERRED_FUNCTION
#undef DEFERRED_DATA
// NOLINTEND(bugprone-macro-parentheses)

// Calls assay_deferred_function(entry in r11) with all arguments of the function kept, and goes on there.
asm(".pushsection .text.deferred, \"ax\", @progbits\n"
    ".type assay_first_call, @function\n"
    "assay_first_call:\n"
    ".cfi_startproc\n"
    "push %r11\n push %rdi\n push %rsi\n push %rdx\n push %rcx\n push %r8\n push %r9\n push %rax\n push "
    "%r10\n"
    ".cfi_adjust_cfa_offset 72\n"
    "sub $128, %rsp\n"
    ".cfi_adjust_cfa_offset 128\n"
    "movups %xmm0, (%rsp)\n movups %xmm1, 16(%rsp)\n movups %xmm2, 32(%rsp)\n movups %xmm3, 48(%rsp)\n"
    "movups %xmm4, 64(%rsp)\n movups %xmm5, 80(%rsp)\n movups %xmm6, 96(%rsp)\n movups %xmm7, 112(%rsp)\n"
    "mov %r11, %rdi\n"
    "call assay_deferred_function\n"
    "mov %rax, 192(%rsp)\n"
    "movups (%rsp), %xmm0\n movups 16(%rsp), %xmm1\n movups 32(%rsp), %xmm2\n movups 48(%rsp), %xmm3\n"
    "movups 64(%rsp), %xmm4\n movups 80(%rsp), %xmm5\n movups 96(%rsp), %xmm6\n movups 112(%rsp), %xmm7\n"
    "add $128, %rsp\n"
    ".cfi_adjust_cfa_offset -128\n"
    "pop %r10\n pop %rax\n pop %r9\n pop %r8\n pop %rcx\n pop %rdx\n pop %rsi\n pop %rdi\n pop %r11\n"
    ".cfi_adjust_cfa_offset -72\n"
    "jmp *%r11\n"
    ".cfi_endproc\n"
    ".size assay_first_call, . - assay_first_call\n"
    ".popsection\n");

namespace {

void fill(void* library, const char* name, char* place, std::size_t bytes) {
  if (const void* const data = dlsym(library, name)) std::memcpy(place, data, bytes);
}

// As the dynamic linker says that there is no memory or address space.
bool says_no_room(const std::string& reasons) {
  return reasons.find("failed to map segment") != std::string::npos ||
         reasons.find("cannot create") != std::string::npos ||
         reasons.find("annot allocate") != std::string::npos;
}

// libtorch and its BLAS make a thread for each core as they begin, and wait for ever for those that they do
// not get.
void require_all_threads() {
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency()),
                    had = assay::threads_to_be_had(cores);
  if (had < cores)
    assay::fail(assay::Fault::resources,
                "libtorch, which this needs, makes {} threads, and the system gives {} (ulimit -u)", cores,
                had);
}

// Beside libtorch's core library, which the program is linked with. Empty: not known.
std::string file_beside_core() {
  std::string file;
  dl_iterate_phdr(
      [](dl_phdr_info* loaded, std::size_t, void* found) {
        const std::string_view path = loaded->dlpi_name;
        const std::size_t slash = path.rfind('/');
        if (!path.starts_with('/') || !path.substr(slash + 1).starts_with("libc10.so")) return 0;
        *static_cast<std::string*>(found) = std::string(path.substr(0, slash + 1)) + ASSAY_LIBTORCH_NAME;
        return 1;
      },
      &file);
  return file;
}

// By absolute names alone: beside its core library, or where the program was built with it. Global, because
// plug-ins take functions from it.
void* load() {
  require_all_threads();
  void* library = nullptr;
  std::string reasons;
  for (const std::string& file : {file_beside_core(), std::string(ASSAY_LIBTORCH_FILE)}) {
    if (library != nullptr || file.empty()) continue;
    library = dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (library == nullptr) reasons += std::string(reasons.empty() ? "" : "; ") + dlerror();
  }
  if (library == nullptr && says_no_room(reasons))
    assay::fail(assay::Fault::resources,
                "libtorch cannot be loaded: {}; it takes 1 GiB of address space (ulimit -v)", reasons);
  if (library == nullptr)
    assay::fail(assay::Fault::unsupported,
                "libtorch cannot be loaded: {}; install the one that the program was built with", reasons);
#define DEFERRED_FUNCTION(symbol)
#define DEFERRED_DATA(symbol, bytes) fill(library, #symbol, symbol, bytes);
#include "deferred_symbols.inc"
  return library;
}

const bool deferred = [] {
  assay::libtorch_comes_later();
  return true;
}();

}  // namespace

extern "C" void* assay_deferred_function(Entry* entry) {
  static void* const library = load();
  static std::atomic<bool> told{false};
  void* const function = dlsym(library, entry->name);
  if (function == nullptr)
    assay::fail(assay::Fault::unsupported,
                "libtorch lacks a function: {}; install the one that the program was built with", dlerror());
  std::atomic_ref(entry->function).store(function);
  if (!told.exchange(true)) assay::libtorch_is_here();
  return function;
}
