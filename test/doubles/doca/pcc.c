// doca_telemetry_pcc of the double: algorithms in slots, whose counters grow at the scenario's rates.

#define _GNU_SOURCE
#include "double.h"
#include <stdlib.h>
#include <string.h>

#define PCC 0xdeca0006u
#define BEYOND 0xbadbad00u // what stands in the counters that the algorithm does not have

struct doca_telemetry_pcc {
	struct context context;
	int started;
};

typedef struct doca_telemetry_pcc pcc_context;
#define SHORT(name) doca_telemetry_pcc_##name

#define CAPABILITY(info) \
	CALL_INFO(info, DOCA_ERROR_OPERATING_SYSTEM); \
	NEEDS(call.facts->pcc, DOCA_ERROR_NOT_SUPPORTED)

API doca_error_t SHORT(cap_is_supported)(const struct doca_devinfo *devinfo)
{
	CAPABILITY(devinfo);
	return DOCA_SUCCESS;
}

#define CAPABILITY_NUMBER(name, number) \
	API doca_error_t SHORT(name)(const struct doca_devinfo *devinfo, uint32_t *out) \
	{ \
		NEEDS(out, DOCA_ERROR_INVALID_VALUE); \
		CAPABILITY(devinfo); \
		*out = (uint32_t)call_claim(&call, (uint64_t)(number)); \
		return DOCA_SUCCESS; \
	}

CAPABILITY_NUMBER(cap_get_max_algo_slots, call.facts->pcc_slots)
CAPABILITY_NUMBER(cap_get_max_algo_info_len, ALGORITHM_INFO_BYTES)
CAPABILITY_NUMBER(cap_get_max_counter_info_len, COUNTER_INFO_BYTES)
CAPABILITY_NUMBER(cap_get_max_num_counters, ALGORITHM_COUNTERS_MAX)

API doca_error_t SHORT(create)(struct doca_dev *dev, pcc_context **pcc)
{
	NEEDS(dev && pcc, DOCA_ERROR_INVALID_VALUE);
	CALL_INFO(&dev->info, DOCA_ERROR_DRIVER);
	NEEDS(call.facts->pcc, DOCA_ERROR_DRIVER);
	*pcc = calloc(1, sizeof **pcc);
	return context_open(dev, &(*pcc)->context, PCC);
}

API doca_error_t SHORT(destroy)(pcc_context *pcc)
{
	CALL(pcc, PCC, DOCA_SUCCESS);
	NEEDS(!pcc->started, DOCA_ERROR_BAD_STATE);
	context_close(&pcc->context);
	return DOCA_SUCCESS;
}

API doca_error_t SHORT(start)(pcc_context *pcc)
{
	CALL(pcc, PCC, DOCA_ERROR_DRIVER);
	NEEDS(!pcc->started, DOCA_ERROR_BAD_STATE);
	pcc->started = 1;
	return DOCA_SUCCESS;
}

API doca_error_t SHORT(stop)(pcc_context *pcc)
{
	CALL(pcc, PCC, DOCA_SUCCESS);
	NEEDS(pcc->started, DOCA_ERROR_BAD_STATE);
	pcc->started = 0;
	return call.removed ? DOCA_ERROR_DRIVER : DOCA_SUCCESS;
}

static const struct algorithm *algorithm_of(const struct facts *facts, uint8_t slot)
{
	for (unsigned i = 0; i < facts->algorithm_count; i++) {
		if (facts->algorithms[i].slot == slot) return &facts->algorithms[i];
	}
	return NULL;
}

// Starts a reader: finds the algorithm of a slot. The slot must exist, and must not be empty.
#define SLOT(pcc, slot) \
	CALL(pcc, PCC, DOCA_ERROR_DRIVER); \
	NEEDS(slot < call.facts->pcc_slots, DOCA_ERROR_DRIVER); \
	const struct algorithm *algorithm = algorithm_of(call.facts, slot); \
	NEEDS(algorithm, DOCA_ERROR_BAD_STATE)

#define ALGORITHM_NUMBER(name, field) \
	API doca_error_t SHORT(name)(pcc_context *pcc, uint8_t algo_slot, uint32_t *out) \
	{ \
		NEEDS(out, DOCA_ERROR_INVALID_VALUE); \
		SLOT(pcc, algo_slot); \
		*out = algorithm->field; \
		return DOCA_SUCCESS; \
	}

ALGORITHM_NUMBER(get_algo_id, id)
ALGORITHM_NUMBER(get_algo_major_version, major)
ALGORITHM_NUMBER(get_algo_minor_version, minor)

API doca_error_t SHORT(get_algo_enable_status)(pcc_context *pcc, uint8_t algo_slot, uint8_t *algo_enabled,
	uint8_t *counters_enabled)
{
	NEEDS(algo_enabled && counters_enabled, DOCA_ERROR_INVALID_VALUE);
	SLOT(pcc, algo_slot);
	NEEDS(pcc->started, DOCA_ERROR_BAD_STATE);
	*algo_enabled = (uint8_t)algorithm->enabled;
	*counters_enabled = (uint8_t)algorithm->counting;
	return DOCA_SUCCESS;
}

API doca_error_t SHORT(get_algo_info)(pcc_context *pcc, uint8_t algo_slot, char *algo_info)
{
	NEEDS(algo_info, DOCA_ERROR_INVALID_VALUE);
	SLOT(pcc, algo_slot);
	memcpy(algo_info, algorithm->info, ALGORITHM_INFO_BYTES);
	return DOCA_SUCCESS;
}

API doca_error_t SHORT(get_num_counters)(pcc_context *pcc, uint8_t algo_slot, uint32_t *num_counters)
{
	NEEDS(num_counters, DOCA_ERROR_INVALID_VALUE);
	SLOT(pcc, algo_slot);
	*num_counters = (uint32_t)call_claim(&call, algorithm->counter_count);
	return DOCA_SUCCESS;
}

// The text has no NUL if it is as long as it may be.
API doca_error_t SHORT(get_counter_info)(pcc_context *pcc, uint8_t algo_slot, uint8_t counter_id, char *counter_info)
{
	NEEDS(counter_info, DOCA_ERROR_INVALID_VALUE);
	SLOT(pcc, algo_slot);
	NEEDS(counter_id < algorithm->counter_count, DOCA_ERROR_DRIVER);
	memcpy(counter_info, algorithm->counters[counter_id].name, COUNTER_INFO_BYTES);
	return DOCA_SUCCESS;
}

// Counters have 32 bits and wrap.
API doca_error_t SHORT(get_counters)(pcc_context *pcc, uint8_t algo_slot, uint32_t *counters_populated,
	uint32_t *counters)
{
	NEEDS(counters_populated && counters, DOCA_ERROR_INVALID_VALUE);
	SLOT(pcc, algo_slot);
	NEEDS(pcc->started && algorithm->enabled && algorithm->counting, DOCA_ERROR_BAD_STATE);
	uint64_t for_ns = call_elapsed_ns(&call);
	for (uint32_t i = 0; i < ALGORITHM_COUNTERS_MAX; i++) {
		const struct algorithm_counter *counter = &algorithm->counters[i];
		uint64_t grown = (uint64_t)((unsigned __int128)counter->rate * for_ns / 1000000000);
		counters[i] = i < algorithm->counter_count ? (uint32_t)(counter->start + grown) : BEYOND + i;
	}
	*counters_populated = (uint32_t)call_claim(&call, algorithm->counter_count);
	return DOCA_SUCCESS;
}

// No monitor clears the counters of others.
API doca_error_t SHORT(get_and_clear_counters)(pcc_context *pcc, uint8_t algo_slot, uint32_t *counters_populated,
	uint32_t *counters)
{
	(void)counters_populated, (void)counters;
	SLOT(pcc, algo_slot);
	die("the counters of %s are cleared", call.device->name);
}
