#pragma once

#include <string>

namespace assay::frame {

// Hands an address to the program that opens pages here (xdg-open; open on macOS), which goes on by itself.
// Throws Error{io} that names the address where there is none, or where it says within two seconds that it
// cannot.
void show_in_browser(const std::string& address);

}  // namespace assay::frame
