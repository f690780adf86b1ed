// The providers of libfabric, on the module's side: those that the transport
// tries, and a list of all for people.
#ifndef DOGGED_ROUTING_FABRIC_PROVIDERS_H_
#define DOGGED_ROUTING_FABRIC_PROVIDERS_H_

#include <string>

#include "absl/types/span.h"

struct fi_info;

namespace dogged {

// Names in the order in which the transport tries them.
absl::Span<const char* const> FabricProviders();

// An endpoint of that provider at `host` and `port` that can do what the
// transport needs: connections. 0 if `found` has it, which is for
// fi_freeinfo; else libfabric's error.
int FindFabricProvider(const std::string& provider, const std::string& host,
                       int port, fi_info*& found);

}  // namespace dogged

#endif  // DOGGED_ROUTING_FABRIC_PROVIDERS_H_
