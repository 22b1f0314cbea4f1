#pragma once

#include <string>
#include <vector>

#include "peer/fleet/file/value.h"
#include "peer/fleet/fleet.h"

namespace gv {

/// Reads `hosts`; may be null. This machine is the first of them, whether or not the file names it.
/// Problems become diagnostics.
std::vector<HostSpec> read_hosts(Source& source, const Value* value);

/// Refuses an address that leads every machine to itself where peers live on other machines too: a
/// diagnostic at the address. `value`: of `hosts`, as read_hosts had it; the peers are read.
void refuse_own_addresses(Source& source, const Value* value, const Fleet& fleet);

/// Returns where a host of the file says its address, or else its name: "lan.yaml:6:9".
std::string place_of_address(const Fleet& fleet, const std::string& host);

}  // namespace gv
