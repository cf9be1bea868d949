// A context of doca_telemetry_diag, and the device that samples behind it.

#pragma once
#include "double.h"

#define DIAG 0xdeca0003u
#define SEGMENTS_MAX 64

enum doca_telemetry_diag_sync_mode { NO_SYNC, SYNC_START };
enum doca_telemetry_diag_sample_mode { SINGLE, REPETITIVE, ON_DEMAND };
enum doca_telemetry_diag_timestamp_source { FRC, RTC };
enum doca_telemetry_diag_output_format { FORMAT_0, FORMAT_1, FORMAT_2 };

// The properties that have to be set.
enum property {
	SET_FORMAT, SET_PERIOD, SET_LOG, SET_IDS, SET_SYNC, SET_MODE, SET_CLEAR, SET_TIMESTAMP, PROPERTY_COUNT
};

// Samples from number `first` on, which follow `base_ns` of the device's clock at this period.
struct segment {
	uint64_t first, base_ns, period_ns;
};

struct doca_telemetry_diag {
	struct context context;
	enum { CREATED, CONFIGURED, APPLIED, STARTED } state;
	unsigned set; // a bit for each property
	enum doca_telemetry_diag_output_format output_format;
	enum doca_telemetry_diag_sync_mode sync_mode;
	enum doca_telemetry_diag_sample_mode sample_mode;
	enum doca_telemetry_diag_timestamp_source data_timestamp_source;
	uint64_t sample_period;
	uint32_t max_num_data_ids;
	uint8_t log_max_num_samples, data_clear;
	struct wave waves[WAVES_MAX];
	uint32_t wave_count;
	uint64_t produced, next, cycle, unread, cleared_ns; // sample numbers but for the last
	struct segment segments[SEGMENTS_MAX];
	unsigned segment_count;
};

typedef struct doca_telemetry_diag diag_context;

int bluefield3_has(uint64_t id);
struct wave wave_of(const struct facts *facts, uint64_t id);
uint32_t sample_bytes(const diag_context *diag, const struct facts *facts);

int ownership_take(const struct call *call, const diag_context *diag, uint64_t generation, int force); // 0: in use
void ownership_leave(const struct call *call, const diag_context *diag);

void sampling_start(diag_context *diag, const struct call *call);
int sampling_change(diag_context *diag, const struct call *call, uint64_t period_ns); // 0: no room for the change
int sampling_is_complete(diag_context *diag, const struct call *call);
void sampling_settle(diag_context *diag, const struct call *call);
doca_error_t sampling_read(diag_context *diag, const struct call *call, char *buffer, uint32_t max, uint32_t *valid);
