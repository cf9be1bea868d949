// doca_telemetry_diag of the double: capabilities, configuration and order of calls.

#define _GNU_SOURCE
#include "diag.h"
#include <stdlib.h>

#define SHORT(name) doca_telemetry_diag_##name
#define ALL_SET ((1u << PROPERTY_COUNT) - 1)

// Capabilities

#define CAPABILITY(info) \
	CALL_INFO(info, DOCA_ERROR_OPERATING_SYSTEM); \
	NEEDS(call.facts->diag, DOCA_ERROR_NOT_SUPPORTED)

API doca_error_t SHORT(cap_is_supported)(const struct doca_devinfo *devinfo)
{
	CAPABILITY(devinfo);
	return DOCA_SUCCESS;
}

#define CAPABILITY_NUMBER(type, name, number) \
	API doca_error_t SHORT(name)(const struct doca_devinfo *devinfo, type *out) \
	{ \
		NEEDS(out, DOCA_ERROR_INVALID_VALUE); \
		CAPABILITY(devinfo); \
		*out = (type)call_claim(&call, (uint64_t)(number)); \
		return DOCA_SUCCESS; \
	}

CAPABILITY_NUMBER(uint32_t, cap_get_max_num_data_ids, call.facts->max_ids)
CAPABILITY_NUMBER(uint8_t, cap_get_log_max_num_samples, call.facts->log_max_samples)
CAPABILITY_NUMBER(uint8_t, cap_is_data_clear_supported, call.facts->data_clear)
CAPABILITY_NUMBER(uint8_t, cap_is_sync_start_supported, call.facts->sync_start)

API doca_error_t SHORT(cap_is_sample_mode_supported)(const struct doca_devinfo *devinfo,
	enum doca_telemetry_diag_sample_mode sample_mode, uint8_t *supported)
{
	NEEDS(supported && sample_mode <= ON_DEMAND, DOCA_ERROR_INVALID_VALUE);
	CAPABILITY(devinfo);
	*supported = call.facts->sample_modes >> sample_mode & 1;
	return DOCA_SUCCESS;
}

API doca_error_t SHORT(cap_is_data_timestamp_source_supported)(const struct doca_devinfo *devinfo,
	enum doca_telemetry_diag_timestamp_source data_timestamp_source, uint8_t *supported)
{
	NEEDS(supported && data_timestamp_source <= RTC, DOCA_ERROR_INVALID_VALUE);
	CAPABILITY(devinfo);
	*supported = call.facts->timestamp_sources >> data_timestamp_source & 1;
	return DOCA_SUCCESS;
}

// Ownership is looked at here only: who is forced out goes on without knowing.
API doca_error_t SHORT(create)(struct doca_dev *dev, uint8_t force_ownership, diag_context **diag)
{
	NEEDS(dev && diag, DOCA_ERROR_INVALID_VALUE);
	CALL_INFO(&dev->info, DOCA_ERROR_DRIVER);
	NEEDS(call.facts->diag, DOCA_ERROR_DRIVER);
	uint64_t generation = dev->info.generation;
	diag_context *made = calloc(1, sizeof *made);
	if (!ownership_take(&call, made, generation, force_ownership)) {
		free(made);
		return DOCA_ERROR_IN_USE;
	}
	*diag = made;
	return context_open(dev, &made->context, DIAG);
}

API doca_error_t SHORT(destroy)(diag_context *diag)
{
	CALL(diag, DIAG, DOCA_SUCCESS);
	NEEDS(diag->state == CREATED, DOCA_ERROR_BAD_STATE);
	ownership_leave(&call, diag);
	context_close(&diag->context);
	return DOCA_SUCCESS;
}

// A setter, which wants a context without configuration and a value that `valid` accepts, and its getter.
#define PROPERTY(type, field, bit, valid, possible) \
	API doca_error_t SHORT(set_##field)(diag_context *diag, type value) \
	{ \
		CALL(diag, DIAG, DOCA_SUCCESS); \
		NEEDS(diag->state == CREATED, DOCA_ERROR_BAD_STATE); \
		NEEDS(valid, DOCA_ERROR_INVALID_VALUE); \
		NEEDS(call.removed || (possible), DOCA_ERROR_NOT_SUPPORTED); \
		diag->field = value; \
		diag->set |= 1u << (bit); \
		return DOCA_SUCCESS; \
	} \
	API doca_error_t SHORT(get_##field)(diag_context *diag, type *value) \
	{ \
		NEEDS(value, DOCA_ERROR_INVALID_VALUE); \
		CALL(diag, DIAG, DOCA_SUCCESS); \
		*value = diag->field; \
		return DOCA_SUCCESS; \
	}

PROPERTY(enum doca_telemetry_diag_output_format, output_format, SET_FORMAT, value <= FORMAT_2, 1)
PROPERTY(uint64_t, sample_period, SET_PERIOD, 1, 1)
PROPERTY(uint8_t, log_max_num_samples, SET_LOG, 1, value <= call.facts->log_max_samples)
PROPERTY(uint32_t, max_num_data_ids, SET_IDS, value > 0, value <= call.facts->max_ids && value <= WAVES_MAX)
PROPERTY(enum doca_telemetry_diag_sync_mode, sync_mode, SET_SYNC, value <= SYNC_START,
	value == NO_SYNC || call.facts->sync_start)
PROPERTY(enum doca_telemetry_diag_sample_mode, sample_mode, SET_MODE, value <= ON_DEMAND,
	call.facts->sample_modes >> value & 1)
PROPERTY(uint8_t, data_clear, SET_CLEAR, value <= 1, value == 0 || call.facts->data_clear)
PROPERTY(enum doca_telemetry_diag_timestamp_source, data_timestamp_source, SET_TIMESTAMP, value <= RTC,
	call.facts->timestamp_sources >> value & 1)

// A device that cannot sample as often as it should samples less often.
static uint64_t possible_period(const struct call *call, uint64_t period_ns)
{
	uint64_t min_ns = (uint64_t)call->facts->min_period_ns;
	return period_ns < min_ns ? min_ns : period_ns;
}

API doca_error_t SHORT(apply_config)(diag_context *diag)
{
	CALL(diag, DIAG, DOCA_ERROR_DRIVER);
	NEEDS(diag->state == CREATED, DOCA_ERROR_BAD_STATE);
	NEEDS(diag->set == ALL_SET || !call.facts->needs_all_set, DOCA_ERROR_INVALID_VALUE);
	if (diag->sample_mode == ON_DEMAND) {
		int is_zero = diag->sample_period == 0 && diag->log_max_num_samples == 0;
		NEEDS(is_zero || !call.facts->needs_zero_on_demand, DOCA_ERROR_INVALID_VALUE);
	} else {
		NEEDS(diag->sample_period > 0, DOCA_ERROR_INVALID_VALUE);
		diag->sample_period = possible_period(&call, diag->sample_period);
	}
	diag->state = CONFIGURED;
	return DOCA_SUCCESS;
}

// Data IDs

static doca_error_t check_wave(const diag_context *diag, const struct wave *wave)
{
	if (wave->kind == WAVE_UNSUPPORTED) return DOCA_ERROR_NOT_SUPPORTED;
	if (wave->kind == WAVE_UNSYNCED && diag->sync_mode == SYNC_START) return DOCA_ERROR_BAD_CONFIG;
	return DOCA_SUCCESS;
}

API doca_error_t SHORT(check_data_id)(diag_context *diag, uint64_t data_id)
{
	CALL(diag, DIAG, DOCA_ERROR_UNEXPECTED);
	NEEDS(diag->state == CONFIGURED, DOCA_ERROR_BAD_STATE);
	struct wave wave = wave_of(call.facts, data_id);
	return check_wave(diag, &wave);
}

API doca_error_t SHORT(apply_counters_list_by_id)(diag_context *diag, const uint64_t *data_ids, uint32_t num_data_ids,
	uint64_t *counter_id_failure)
{
	NEEDS(counter_id_failure, DOCA_ERROR_INVALID_VALUE);
	*counter_id_failure = 0;
	NEEDS(data_ids && num_data_ids, DOCA_ERROR_INVALID_VALUE);
	CALL(diag, DIAG, DOCA_ERROR_DRIVER);
	NEEDS(diag->state == CONFIGURED || diag->state == APPLIED, DOCA_ERROR_BAD_STATE);
	for (uint32_t i = 0; i < num_data_ids; i++) {
		*counter_id_failure = data_ids[i];
		NEEDS(i < diag->max_num_data_ids, DOCA_ERROR_FULL);
		NEEDS(i < (uint32_t)call.facts->resources, DOCA_ERROR_NO_MEMORY);
		diag->waves[i] = wave_of(call.facts, data_ids[i]);
		doca_error_t error = check_wave(diag, &diag->waves[i]);
		if (error) return error;
	}
	*counter_id_failure = 0;
	diag->wave_count = num_data_ids;
	diag->state = APPLIED;
	return DOCA_SUCCESS;
}

API doca_error_t SHORT(get_num_applied_counters)(diag_context *diag, uint32_t *num_applied_counters)
{
	NEEDS(num_applied_counters, DOCA_ERROR_INVALID_VALUE);
	CALL(diag, DIAG, DOCA_SUCCESS);
	*num_applied_counters = (uint32_t)call_claim(&call, diag->wave_count);
	return DOCA_SUCCESS;
}

API doca_error_t SHORT(get_applied_counters_list_by_id)(diag_context *diag, uint32_t num_data_ids, uint64_t *data_ids)
{
	NEEDS(data_ids, DOCA_ERROR_INVALID_VALUE);
	CALL(diag, DIAG, DOCA_SUCCESS);
	NEEDS(diag->state != CREATED, DOCA_ERROR_BAD_STATE);
	NEEDS(num_data_ids >= diag->wave_count, DOCA_ERROR_INVALID_VALUE);
	for (uint32_t i = 0; i < diag->wave_count; i++) data_ids[i] = diag->waves[i].id;
	return DOCA_SUCCESS;
}

// Sampling

API doca_error_t SHORT(start)(diag_context *diag)
{
	CALL(diag, DIAG, DOCA_ERROR_DRIVER);
	NEEDS(diag->state == APPLIED, DOCA_ERROR_BAD_STATE);
	diag->state = STARTED;
	sampling_start(diag, &call);
	return DOCA_SUCCESS;
}

// Before the start it is 0, and no error, as a field report says.
API doca_error_t SHORT(get_sample_size)(diag_context *diag, uint32_t *sample_size)
{
	NEEDS(sample_size, DOCA_ERROR_INVALID_VALUE);
	CALL(diag, DIAG, DOCA_ERROR_DRIVER);
	NEEDS(diag->state == STARTED || call.facts->size_before_start, DOCA_ERROR_BAD_STATE);
	*sample_size = (uint32_t)call_claim(&call, diag->state == STARTED ? sample_bytes(diag, call.facts) : 0);
	return DOCA_SUCCESS;
}

API doca_error_t SHORT(query_counters)(diag_context *diag, void *buf, uint32_t max_samples_to_read,
	uint32_t *num_valid_samples)
{
	NEEDS(buf && num_valid_samples, DOCA_ERROR_INVALID_VALUE);
	CALL(diag, DIAG, DOCA_ERROR_OPERATING_SYSTEM);
	NEEDS(diag->state == STARTED, DOCA_ERROR_BAD_STATE);
	call_take(&call, (uint64_t)(diag->sample_mode == ON_DEMAND ? call.facts->on_demand_us : call.facts->drain_us));
	doca_error_t error = sampling_read(diag, &call, buf, max_samples_to_read, num_valid_samples);
	*num_valid_samples = (uint32_t)call_claim(&call, *num_valid_samples);
	return error;
}

API doca_error_t SHORT(restart)(diag_context *diag)
{
	CALL(diag, DIAG, DOCA_ERROR_UNEXPECTED);
	NEEDS(diag->state == STARTED, DOCA_ERROR_BAD_STATE);
	NEEDS(diag->sample_mode == SINGLE, DOCA_ERROR_NOT_SUPPORTED);
	NEEDS(sampling_is_complete(diag, &call), DOCA_ERROR_AGAIN);
	return sampling_change(diag, &call, diag->sample_period) ? DOCA_SUCCESS : DOCA_ERROR_UNEXPECTED;
}

API doca_error_t SHORT(reconfig_sample_period)(diag_context *diag, uint64_t new_sample_period)
{
	CALL(diag, DIAG, DOCA_ERROR_DRIVER);
	NEEDS(diag->state == STARTED && diag->sample_mode == REPETITIVE, DOCA_ERROR_BAD_STATE);
	NEEDS(new_sample_period > 0, DOCA_ERROR_INVALID_VALUE);
	uint64_t period_ns = possible_period(&call, new_sample_period);
	NEEDS(sampling_change(diag, &call, period_ns), DOCA_ERROR_NO_MEMORY);
	diag->sample_period = period_ns;
	return DOCA_SUCCESS;
}

// A context of a device that is gone is stopped all the same, so that it can be destroyed.
API doca_error_t SHORT(stop)(diag_context *diag)
{
	CALL(diag, DIAG, DOCA_SUCCESS);
	NEEDS(diag->state != CREATED, DOCA_ERROR_BAD_STATE);
	if (diag->state == STARTED && !call.removed) sampling_settle(diag, &call);
	diag->state = CREATED;
	diag->wave_count = 0;
	return call.removed ? DOCA_ERROR_DRIVER : DOCA_SUCCESS;
}
