#pragma once

// Errors that do not come from the bytes that a reader or an analysis looks at: a request to end the program,
// or no more memory, threads or capacity.

namespace assay::inline support {

// Whether request_interrupt() was called and not taken yet (check_interrupt() takes it).
bool interrupt_is_requested() noexcept;

// From now on nothing takes a request: every check_interrupt() throws. For programs that end then; others
// continue with their next piece of work.
void keep_interrupt_requests() noexcept;

// In a catch block that replaces the error that it caught by another, or none: passes on an exception that is
// such a condition.
void pass_on_condition();

}  // namespace assay::inline support
