// Requests for an end, and exceptions that are not about what was read.

#include "assay/support/conditions.h"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <system_error>

#include <assay/error.h>
#include <assay/progress.h>

namespace assay {
namespace {

// Whether pass_on_condition() passes it on.
template <typename Exception>
bool is_passed_on(const Exception& thrown) {
  try {
    try {
      throw thrown;
    } catch (const std::exception&) {
      pass_on_condition();
    }
  } catch (const Exception&) {
    return true;
  }
  return false;
}

TEST(Conditions, ArePassedOnAndFaultsOfContentAreNot) {
  EXPECT_TRUE(is_passed_on(Error(Fault::interrupted, "")));
  EXPECT_TRUE(is_passed_on(Error(Fault::resources, "")));
  EXPECT_TRUE(is_passed_on(std::bad_alloc()));
  EXPECT_TRUE(
      is_passed_on(std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again))));
  EXPECT_FALSE(is_passed_on(Error(Fault::data, "")));
  EXPECT_FALSE(is_passed_on(std::runtime_error("it is damaged")));
}

TEST(Conditions, ARequestIsTakenOnce) {
  EXPECT_FALSE(interrupt_is_requested());
  request_interrupt();
  EXPECT_TRUE(interrupt_is_requested());
  EXPECT_THROW(check_interrupt(), Error);
  EXPECT_NO_THROW(check_interrupt());
}

// What a program does that ends then: in a process of its own, since it holds for ever.
TEST(Conditions, ARequestThatIsKeptIsHeardByEverybody) {
  EXPECT_EXIT(
      {
        keep_interrupt_requests();
        check_interrupt();
        request_interrupt();
        int heard = 0;
        for (int i = 0; i < 3; ++i) {
          try {
            check_interrupt();
          } catch (const Error&) {
            ++heard;
          }
        }
        std::_Exit(heard);
      },
      testing::ExitedWithCode(3), "");
}

}  // namespace
}  // namespace assay
