#pragma once

// Profiles inside other files, and beside networks.

#include <nlohmann/json_fwd.hpp>
#include <string>

#include <assay/profile.h>
#include <assay/session.h>

namespace assay::coverage {

// The profile as JSON values; without traces it is what coverage states carry. profile_from() throws
// std::exception.
nlohmann::json to_json(const Profile& profile, bool with_traces);
Profile profile_from(const nlohmann::json& json);

// Throws Error{mismatch} when the profile was learned from another network.
void require_profile_fits(const Profile& profile, const std::string& model_hash,
                          const std::string& model_name);

// The profile for another form of its network, such as the one that was quantised from it: layers are matched
// by name. Throws Error{mismatch} naming a layer that is missing or has another number of neurons.
Profile carried_over(Profile profile, const Session& session);

}  // namespace assay::coverage
