// The device behind doca_telemetry_diag. Nothing is stored: which samples the device took follows from its clock, and
// each value follows from the time of its sample.

#define _GNU_SOURCE
#include "diag.h"
#include <string.h>

#define SPREAD_NS 10 // from the value of an ID to that of the next one in a sample
#define HEADER_BYTES 16
#define HEADER_0_BYTES 8
#define VALUE_0_BYTES 24
#define GROUP(id) ((id) >> 48)
#define COUNTER(id) ((id) >> 32 & 0xffff)
#define PADDING 0xee

// How far values have moved at the time of a sample.
struct moment {
	uint64_t us, burst_us;
	int in_burst;
};

// The wave of the scenario, or the default of the ID; README.md says both.
struct wave wave_of(const struct facts *facts, uint64_t id)
{
	for (unsigned i = 0; i < facts->wave_count; i++) if (facts->waves[i].id == id) return facts->waves[i];
	int unknown = facts->listed_only || (!facts->any_id && !bluefield3_has(id));
	struct wave wave = { .id = id, .kind = unknown ? WAVE_UNSUPPORTED : WAVE_COUNTER };
	wave.step = GROUP(id) + COUNTER(id) + (id & 0xffffffff);
	wave.extra = 8 * wave.step;
	if (unknown) return wave;
	if (GROUP(id) == 0x1020 || GROUP(id) == 0x1140) wave.kind = WAVE_UNSYNCED;
	if (GROUP(id) == 0x1160 && (COUNTER(id) == 0xd || COUNTER(id) == 0xe)) wave.kind = WAVE_GAUGE;
	return wave;
}

uint32_t sample_bytes(const diag_context *diag, const struct facts *facts)
{
	uint32_t bytes = HEADER_BYTES + diag->wave_count * (diag->output_format == FORMAT_1 ? 8 : 4);
	if (diag->output_format == FORMAT_0) bytes = HEADER_0_BYTES + diag->wave_count * VALUE_0_BYTES;
	return bytes + (uint32_t)facts->stride;
}

static struct segment *last_segment(diag_context *diag)
{
	return &diag->segments[diag->segment_count - 1];
}

static uint64_t capacity_of(const diag_context *diag)
{
	return (uint64_t)1 << diag->log_max_num_samples;
}

static uint64_t time_of(const diag_context *diag, uint64_t number)
{
	unsigned at = diag->segment_count - 1;
	while (at > 0 && diag->segments[at].first > number) at--;
	const struct segment *segment = &diag->segments[at];
	return segment->base_ns + (number - segment->first + 1) * segment->period_ns;
}

void sampling_start(diag_context *diag, const struct call *call)
{
	diag->produced = diag->next = diag->cycle = diag->unread = 0;
	diag->segments[0] = (struct segment){ 0, call_elapsed_ns(call), diag->sample_period };
	diag->segment_count = 1;
	diag->cleared_ns = diag->segments[0].base_ns;
}

// Counts the samples up to now: produced = delivered + lost + unread, in each context and over all of a device.
void sampling_settle(diag_context *diag, const struct call *call)
{
	const struct device *device = call->device;
	uint64_t now_ns = call_elapsed_ns(call), produced = diag->produced;
	const struct segment *last = last_segment(diag);
	if (diag->sample_mode != ON_DEMAND && now_ns > last->base_ns) {
		produced = last->first + (now_ns - last->base_ns) / last->period_ns;
	}
	if (diag->sample_mode == SINGLE && produced > diag->cycle + capacity_of(diag)) {
		produced = diag->cycle + capacity_of(diag);
	}
	if (produced < diag->produced) produced = diag->produced;
	count(device->produced, (int64_t)(produced - diag->produced));
	diag->produced = produced;
	uint64_t unread = produced - diag->next;
	count(device->unread, (int64_t)(unread - diag->unread));
	diag->unread = unread;
}

int sampling_is_complete(diag_context *diag, const struct call *call)
{
	sampling_settle(diag, call);
	return diag->produced == diag->cycle + capacity_of(diag);
}

int sampling_change(diag_context *diag, const struct call *call, uint64_t period_ns)
{
	sampling_settle(diag, call);
	while (diag->segment_count > 1 && diag->segments[1].first <= diag->next) {
		memmove(diag->segments, diag->segments + 1, --diag->segment_count * sizeof *diag->segments);
	}
	if (diag->segment_count == SEGMENTS_MAX) return 0;
	diag->segments[diag->segment_count++] = (struct segment){ diag->produced, call_elapsed_ns(call), period_ns };
	diag->cycle = diag->produced;
	return 1;
}

static struct moment moment_of(const struct facts *facts, uint64_t elapsed_ns)
{
	struct moment moment = { .us = elapsed_ns / 1000 };
	uint64_t every = (uint64_t)facts->burst_every_us, burst = (uint64_t)facts->burst_us;
	if (every == 0) return moment;
	uint64_t part = moment.us % every, quiet = every - burst;
	moment.in_burst = part >= quiet;
	moment.burst_us = moment.us / every * burst + (moment.in_burst ? part - quiet : 0);
	return moment;
}

static uint64_t value_of(const struct wave *wave, const struct moment *at, const struct moment *cleared)
{
	if (wave->kind == WAVE_GAUGE) return wave->start + (at->in_burst ? wave->extra : 0);
	if (cleared) return wave->step * (at->us - cleared->us) + wave->extra * (at->burst_us - cleared->burst_us);
	return wave->start + wave->step * at->us + wave->extra * at->burst_us;
}

static void put32(char *at, uint64_t value)
{
	uint32_t low = (uint32_t)value;
	memcpy(at, &low, sizeof low);
}

// The two words of a timestamp: seconds and nanoseconds, or the halves of a number of ticks.
static void stamp_of(const diag_context *diag, const struct call *call, uint64_t elapsed_ns, uint32_t words[2])
{
	if (diag->data_timestamp_source == RTC) {
		uint64_t wall_ns = call->scenario->wall_ns + (uint64_t)call->facts->offset_ns + elapsed_ns;
		words[0] = (uint32_t)(wall_ns / 1000000000);
		words[1] = (uint32_t)(wall_ns % 1000000000);
	} else {
		uint64_t ticks = (uint64_t)((unsigned __int128)elapsed_ns * (uint64_t)call->facts->frc_hz / 1000000000);
		words[0] = (uint32_t)(ticks >> 32);
		words[1] = (uint32_t)ticks;
	}
}

static void write_format_0(const diag_context *diag, const struct call *call, char *to, uint64_t time_ns,
	const struct moment *at, const struct moment *cleared)
{
	put32(to + 4, 0);
	for (uint32_t i = 0; i < diag->wave_count; i++) {
		char *value_at = to + HEADER_0_BYTES + i * VALUE_0_BYTES;
		uint64_t value = value_of(&diag->waves[i], at, cleared);
		memcpy(value_at, &diag->waves[i].id, 8);
		uint32_t stamp[2];
		stamp_of(diag, call, time_ns + i * SPREAD_NS, stamp);
		memcpy(value_at + 8, stamp, sizeof stamp);
		memcpy(value_at + 16, &value, 8);
	}
}

static void write_sample(const diag_context *diag, const struct call *call, char *to, uint64_t number, uint64_t time_ns,
	uint64_t cleared_ns)
{
	struct moment at = moment_of(call->facts, time_ns), before, *cleared = NULL;
	if (diag->data_clear) before = moment_of(call->facts, cleared_ns), cleared = &before;
	uint32_t stride = (uint32_t)call->facts->stride;
	memset(to + sample_bytes(diag, call->facts) - stride, PADDING, stride);
	put32(to, number + (uint64_t)call->facts->first_sample_id);
	if (diag->output_format == FORMAT_0) {
		write_format_0(diag, call, to, time_ns, &at, cleared);
		return;
	}
	uint32_t earliest[2], latest[2];
	stamp_of(diag, call, time_ns, earliest);
	stamp_of(diag, call, time_ns + (diag->wave_count - 1) * SPREAD_NS, latest);
	memcpy(to + 4, earliest, sizeof earliest);
	put32(to + 12, latest[1]);
	for (uint32_t i = 0; i < diag->wave_count; i++) {
		uint64_t value = value_of(&diag->waves[i], &at, cleared);
		if (diag->output_format == FORMAT_1) memcpy(to + HEADER_BYTES + 8 * i, &value, 8);
		else put32(to + HEADER_BYTES + 4 * i, value);
	}
}

static void read_on_demand(diag_context *diag, const struct call *call, char *buffer)
{
	uint64_t now_ns = call_elapsed_ns(call);
	write_sample(diag, call, buffer, diag->produced, now_ns, diag->cleared_ns);
	diag->cleared_ns = now_ns;
	diag->produced++;
	diag->next++;
	count(call->device->produced, 1);
	count(call->device->delivered, 1);
}

// The oldest new samples. Those that were overwritten since the last call are lost.
doca_error_t sampling_read(diag_context *diag, const struct call *call, char *buffer, uint32_t max, uint32_t *valid)
{
	if (diag->sample_mode == ON_DEMAND) {
		*valid = max > 0;
		if (max > 0) read_on_demand(diag, call, buffer);
		return DOCA_SUCCESS;
	}
	sampling_settle(diag, call);
	uint64_t capacity = capacity_of(diag), oldest = diag->produced > capacity ? diag->produced - capacity : 0;
	uint64_t lost = oldest > diag->next ? oldest - diag->next : 0, number = diag->produced - diag->next - lost;
	if (number > max) number = max;
	uint32_t bytes = sample_bytes(diag, call->facts);
	diag->next += lost;
	for (uint64_t i = 0; i < number; i++, diag->next++) {
		uint64_t time_ns = time_of(diag, diag->next);
		uint64_t cleared_ns = diag->next ? time_of(diag, diag->next - 1) : diag->cleared_ns;
		write_sample(diag, call, buffer + i * bytes, diag->next, time_ns, cleared_ns);
	}
	count(call->device->lost, (int64_t)lost);
	count(call->device->delivered, (int64_t)number);
	sampling_settle(diag, call);
	*valid = (uint32_t)number;
	return lost ? DOCA_ERROR_SKIPPED : DOCA_SUCCESS;
}
