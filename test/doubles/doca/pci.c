// doca_telemetry_pci of the double: two structures, which the scenario gives byte by byte, and a histogram.

#define _GNU_SOURCE
#include "double.h"
#include "structures.h"
#include <stdlib.h>

#define PCI 0xdeca0005u
#define BEYOND 0xbadbadbadbadbad0u // what stands behind the buckets

struct doca_telemetry_pci {
	struct context context;
	int started;
};

typedef struct doca_telemetry_pci pci_context;
typedef struct doca_telemetry_pci_dpn dpn;
#define SHORT(name) doca_telemetry_pci_##name

#define CAPABILITY(name, condition) \
	API doca_error_t SHORT(cap_##name##_is_supported)(const struct doca_devinfo *devinfo) \
	{ \
		CALL_INFO(devinfo, DOCA_ERROR_OPERATING_SYSTEM); \
		const struct facts *facts = call.facts; \
		NEEDS(condition, DOCA_ERROR_NOT_SUPPORTED); \
		return DOCA_SUCCESS; \
	}

CAPABILITY(management_info, facts->pci_management)
CAPABILITY(management_info_power_reporting, facts->pci_management && facts->pci_power)
CAPABILITY(management_info_link_peer_max_speed, facts->pci_management && facts->pci_peer)
CAPABILITY(perf_counters_1, facts->pci_counters)
CAPABILITY(perf_counters_1_tx_overflow, facts->pci_counters && facts->pci_overflow)
CAPABILITY(perf_counters_1_outbound_stalled, facts->pci_counters && facts->pci_stalled)
CAPABILITY(perf_counters_1_fec_error, facts->pci_counters && facts->pci_fec)
CAPABILITY(perf_counters_1_fber, facts->pci_counters && facts->pci_fber)
CAPABILITY(latency_histogram, facts->pci_buckets > 0)

API doca_error_t SHORT(create)(struct doca_dev *dev, pci_context **pci)
{
	NEEDS(dev && pci, DOCA_ERROR_INVALID_VALUE);
	CALL_INFO(&dev->info, DOCA_ERROR_DRIVER);
	*pci = calloc(1, sizeof **pci);
	return context_open(dev, &(*pci)->context, PCI);
}

API doca_error_t SHORT(destroy)(pci_context *pci)
{
	CALL(pci, PCI, DOCA_SUCCESS);
	NEEDS(!pci->started, DOCA_ERROR_BAD_STATE);
	context_close(&pci->context);
	return DOCA_SUCCESS;
}

API doca_error_t SHORT(start)(pci_context *pci)
{
	CALL(pci, PCI, DOCA_ERROR_DRIVER);
	NEEDS(!pci->started, DOCA_ERROR_BAD_STATE);
	pci->started = 1;
	return DOCA_SUCCESS;
}

API doca_error_t SHORT(stop)(pci_context *pci)
{
	CALL(pci, PCI, DOCA_SUCCESS);
	NEEDS(pci->started, DOCA_ERROR_BAD_STATE);
	pci->started = 0;
	return call.removed ? DOCA_ERROR_DRIVER : DOCA_SUCCESS;
}

// The only link is that of the facts `pci_depth`, `pci_index` and `pci_node`.
static int is_link(const struct facts *facts, dpn link)
{
	return link.depth == facts->pci_depth && link.pci_index == facts->pci_index && link.node == facts->pci_node;
}

#define READS(pci, link, condition) \
	CALL(pci, PCI, DOCA_ERROR_DRIVER); \
	NEEDS(pci->started, DOCA_ERROR_BAD_STATE); \
	NEEDS(condition, DOCA_ERROR_NOT_SUPPORTED); \
	NEEDS(is_link(call.facts, link), DOCA_ERROR_INVALID_VALUE)

API doca_error_t SHORT(read_management_info)(pci_context *pci, dpn link, void *out)
{
	NEEDS(out, DOCA_ERROR_INVALID_VALUE);
	READS(pci, link, call.facts->pci_management);
	call_write(&call, "pci_management_info", out);
	return DOCA_SUCCESS;
}

API doca_error_t SHORT(read_perf_counters_1)(pci_context *pci, dpn link, void *out)
{
	NEEDS(out, DOCA_ERROR_INVALID_VALUE);
	READS(pci, link, call.facts->pci_counters);
	call_write(&call, "pci_perf_counters_1", out);
	return DOCA_SUCCESS;
}

API doca_error_t SHORT(get_latency_histogram_dimensions)(pci_context *pci, dpn link, uint32_t *bucket_count,
	uint32_t *bucket_width_ns)
{
	NEEDS(bucket_count && bucket_width_ns, DOCA_ERROR_INVALID_VALUE);
	READS(pci, link, call.facts->pci_buckets > 0);
	*bucket_count = (uint32_t)call_claim(&call, (uint64_t)call.facts->pci_buckets);
	*bucket_width_ns = (uint32_t)call.facts->pci_bucket_ns;
	return DOCA_SUCCESS;
}

// A bucket holds its rate times the time since the anchor. The rates are those of the histogram of timeouts.
API doca_error_t SHORT(read_latency_histogram)(pci_context *pci, dpn link, uint64_t *bucket_arr)
{
	NEEDS(bucket_arr, DOCA_ERROR_INVALID_VALUE);
	READS(pci, link, call.facts->pci_buckets > 0);
	uint64_t for_ns = call_elapsed_ns(&call);
	for (int64_t i = 0; i < call.facts->pci_buckets; i++) {
		uint64_t rate = i < BINS_MAX ? call.facts->bin_rates[i] : 0;
		bucket_arr[i] = (uint64_t)((unsigned __int128)rate * for_ns / 1000000000);
	}
	bucket_arr[call.facts->pci_buckets] = BEYOND;
	return DOCA_SUCCESS;
}
