// The diagnostic counters that a BlueField-3 supports, as users report them; README.md says how to allow others.

#include "diag.h"

// Group and counter; properties follow in the low 32 bits of an ID.
static const uint32_t SUPPORTED[] = {
	0x10200001, 0x10200002, 0x10200003, 0x10200004, 0x10200005, 0x10200006, // receiving port
	0x10400001,                                                             // receive buffer of the host
	0x10800001, 0x10800004, 0x10800005,                                     // receiving transport
	0x10c00001, 0x10c00002, 0x10c00004, 0x10c00005,                         // completions
	0x11000001, 0x11000002,                                                 // sending transport
	0x11400001, 0x11400002, 0x11400003, 0x11400004, 0x11400005,             // sending port
	0x11600001, 0x11600002, 0x11600003, 0x11600004, 0x11600005, 0x11600006, 0x11600007, // PCIe
	0x11600008, 0x11600009, 0x1160000a, 0x1160000b, 0x1160000c, 0x1160000d, 0x1160000e,
	0x11800001, 0x11800002, 0x11800003,                                     // cache of context memory
	0x11a00004,                                                             // not documented
};

int bluefield3_has(uint64_t id)
{
	for (unsigned i = 0; i < sizeof SUPPORTED / sizeof *SUPPORTED; i++) if (id >> 32 == SUPPORTED[i]) return 1;
	return 0;
}
