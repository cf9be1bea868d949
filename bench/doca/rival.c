// What the child of the agent is measured against: a C program that makes the same calls, copies each sample into a
// ring of the same size, and adds its values up. One thread a device, as the vendor's own samples have it.
// usage: rival COMMON TELEMETRY DEVICES IDS PERIOD_NS DRAIN_US RING_SAMPLES
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void *common, *telemetry;
static int id_count;
static long ring_samples, drain_us;
static uint64_t period_ns;

#define CALL(library, name, types, ...) \
	(((int(*) types)symbol(library, #name))(__VA_ARGS__))
#define MUST(call) \
	do { \
		int code_ = (call); \
		if (code_ != 0) { \
			fprintf(stderr, "%s: %d\n", #call, code_); \
			exit(1); \
		} \
	} while (0)

static void *symbol(void *library, const char *name)
{
	void *found = dlsym(library, name);
	if (found == NULL) {
		fprintf(stderr, "no %s\n", name);
		exit(1);
	}
	return found;
}

static void configure(void *diag, const uint64_t *ids)
{
	uint64_t failed = 0;
	MUST(CALL(telemetry, doca_telemetry_diag_set_output_format, (void *, int), diag, 1));
	MUST(CALL(telemetry, doca_telemetry_diag_set_sample_mode, (void *, int), diag, 1));
	MUST(CALL(telemetry, doca_telemetry_diag_set_sample_period, (void *, uint64_t), diag, period_ns));
	MUST(CALL(telemetry, doca_telemetry_diag_set_log_max_num_samples, (void *, uint8_t), diag, 14));
	MUST(CALL(telemetry, doca_telemetry_diag_set_max_num_data_ids, (void *, uint32_t), diag, id_count));
	MUST(CALL(telemetry, doca_telemetry_diag_set_sync_mode, (void *, int), diag, 0));
	MUST(CALL(telemetry, doca_telemetry_diag_set_data_clear, (void *, uint8_t), diag, 0));
	MUST(CALL(telemetry, doca_telemetry_diag_set_data_timestamp_source, (void *, int), diag, 1));
	MUST(CALL(telemetry, doca_telemetry_diag_apply_config, (void *), diag));
	MUST(CALL(telemetry, doca_telemetry_diag_apply_counters_list_by_id, (void *, const uint64_t *, uint32_t, uint64_t *),
		  diag, ids, id_count, &failed));
	MUST(CALL(telemetry, doca_telemetry_diag_start, (void *), diag));
}

static void *drain(void *dev)
{
	static const uint32_t GROUPS[] = {0x1020, 0x1040, 0x1080, 0x10c0, 0x1100, 0x1140, 0x1160, 0x1180};
	uint64_t *ids = calloc(id_count, sizeof *ids);
	for (int at = 0; at < id_count; at++)
		ids[at] = (uint64_t)GROUPS[at % 8] << 48 | (uint64_t)(1 + at / 8) << 32;
	void *diag = NULL;
	MUST(CALL(telemetry, doca_telemetry_diag_create, (void *, uint8_t, void **), dev, 0, &diag));
	configure(diag, ids);
	uint32_t sample_bytes = 0;
	MUST(CALL(telemetry, doca_telemetry_diag_get_sample_size, (void *, uint32_t *), diag, &sample_bytes));
	int (*query)(void *, void *, uint32_t, uint32_t *) = symbol(telemetry, "doca_telemetry_diag_query_counters");
	const uint32_t most = 2 * (uint64_t)drain_us * 1000 / period_ns;
	char *buffer = malloc((size_t)most * sample_bytes);
	const size_t record_bytes = 24 + 8 * (size_t)id_count;
	char *ring = calloc(ring_samples, record_bytes);
	volatile uint64_t *sums = calloc(id_count, sizeof *sums);
	long next = 0;
	for (;;) {
		uint32_t count = 0;
		const int code = query(diag, buffer, most, &count);
		if (code != 0 && code != 30)
			return NULL;
		for (uint32_t index = 0; index < count; index++) {
			const char *sample = buffer + (size_t)index * sample_bytes;
			char *record = ring + (size_t)(next++ % ring_samples) * record_bytes;
			memcpy(record, sample, 16);
			memcpy(record + 24, sample + 16, 8 * (size_t)id_count);
			const uint64_t *values = (const uint64_t *)(sample + 16);
			for (int at = 0; at < id_count; at++)
				sums[at] += values[at];
		}
		if (count == most)
			continue;
		struct timespec pause = {0, drain_us * 1000};
		nanosleep(&pause, NULL);
	}
}

int main(int argc, char **argv)
{
	if (argc != 8)
		return 2;
	common = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
	telemetry = dlopen(argv[2], RTLD_NOW);
	if (common == NULL || telemetry == NULL) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	const uint32_t wanted = atoi(argv[3]);
	id_count = atoi(argv[4]);
	period_ns = strtoull(argv[5], NULL, 10);
	drain_us = atol(argv[6]);
	ring_samples = atol(argv[7]);
	void **list = NULL;
	uint32_t listed = 0;
	pthread_t thread;
	MUST(CALL(common, doca_devinfo_create_list, (void ***, uint32_t *), &list, &listed));
	for (uint32_t at = 0; at < listed && at < wanted; at++) {
		void *dev = NULL;
		MUST(CALL(common, doca_dev_open, (void *, void **), list[at], &dev));
		pthread_create(&thread, NULL, drain, dev);
	}
	MUST(CALL(common, doca_devinfo_destroy_list, (void **), list));
	printf("ready on %u devices\n", listed);
	fflush(stdout);
	return pthread_join(thread, NULL);
}
