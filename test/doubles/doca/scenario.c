// Reads a scenario: a fact a line, as README.md lists them. An unknown line ends the process, as a mistake in a test.

#define _GNU_SOURCE
#include "double.h"
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER(name, otherwise) { #name, offsetof(struct facts, name), otherwise }
static const struct {
	const char *name;
	size_t offset;
	int64_t otherwise;
} NUMBERS[] = {
	NUMBER(active_rate_mbps, 400000), NUMBER(offset_ns, 0), NUMBER(drift_ppb, 0), NUMBER(frc_hz, 1000000000),
	NUMBER(burst_every_us, 1000), NUMBER(burst_us, 100), NUMBER(diag, 1), NUMBER(max_ids, 64),
	NUMBER(log_max_samples, 16), NUMBER(data_clear, 1), NUMBER(sync_start, 1), NUMBER(sample_modes, 7),
	NUMBER(timestamp_sources, 3), NUMBER(min_period_ns, 0), NUMBER(owned, 0), NUMBER(resources, WAVES_MAX),
	NUMBER(listed_only, 0), NUMBER(any_id, 0), NUMBER(stride, 0), NUMBER(first_sample_id, 0), NUMBER(adp_retx, 1),
	NUMBER(histogram, 1), NUMBER(max_bins, 16), NUMBER(time_units, 15), NUMBER(vhca_id, 0),
	NUMBER(phy, 1), NUMBER(phy_operation, 1), NUMBER(phy_module, 1), NUMBER(phy_counters, 1), NUMBER(cable, 1),
	NUMBER(pci_management, 1), NUMBER(pci_power, 1), NUMBER(pci_peer, 1), NUMBER(pci_counters, 1),
	NUMBER(pci_overflow, 1), NUMBER(pci_stalled, 1), NUMBER(pci_fec, 1), NUMBER(pci_fber, 1),
	NUMBER(pci_buckets, 16), NUMBER(pci_bucket_ns, 250), NUMBER(pci_depth, 0), NUMBER(pci_index, 0),
	NUMBER(pci_node, 0), NUMBER(pcc, 1), NUMBER(pcc_slots, 16), NUMBER(dpa, 1), NUMBER(dpa_timer_khz, 1000000),
	NUMBER(dpa_needs_process, 1), NUMBER(dpa_list_bytes, 1800000), NUMBER(drain_us, 64), NUMBER(on_demand_us, 2000),
	NUMBER(needs_all_set, 1), NUMBER(needs_zero_on_demand, 1), NUMBER(size_before_start, 1),
};
#define NUMBERS_COUNT (sizeof NUMBERS / sizeof *NUMBERS)

static const char *const KINDS[] = { "counter", "gauge", "unsynced", "unsupported" };
static const char *const FAULTS[] = { "error", "hang", "segv", "cost", "claim" };

#define ERROR_NAME(name, number) "DOCA_" #name,
static const char *const ERRORS[] = { DOCA_ERRORS(ERROR_NAME) };

const char *error_name(doca_error_t error)
{
	return (unsigned)error < sizeof ERRORS / sizeof *ERRORS ? ERRORS[error] : "DOCA_ERROR_UNKNOWN";
}

static int index_of(const char *const *names, int count, const char *name)
{
	for (int i = 0; i < count; i++) if (strcmp(names[i], name) == 0) return i;
	return -1;
}

static int read_device(struct scenario *scenario, const char *line)
{
	if (scenario->device_count == DEVICES_MAX) return 0;
	struct facts *facts = &scenario->devices[scenario->device_count];
	for (unsigned i = 0; i < NUMBERS_COUNT; i++) {
		*(int64_t *)((char *)facts + NUMBERS[i].offset) = NUMBERS[i].otherwise;
	}
	if (sscanf(line, "device %63s %12s %255s %17s %" SCNu64, facts->name, facts->pci, facts->iface, facts->mac,
		&facts->generation) != 5) return 0;
	if (strcmp(facts->iface, "-") == 0) facts->iface[0] = 0;
	if (strcmp(facts->mac, "-") == 0) facts->mac[0] = 0;
	scenario->device_count++;
	return 1;
}

static int read_wave(struct facts *facts, const char *line)
{
	if (facts->wave_count == WAVES_MAX) return 0;
	struct wave *wave = &facts->waves[facts->wave_count];
	char kind[16];
	if (sscanf(line, "id %" SCNx64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %15s", &wave->id, &wave->start, &wave->step,
		&wave->extra, kind) != 5) return 0;
	int at = index_of(KINDS, 4, kind);
	wave->kind = (enum wave_kind)at;
	facts->wave_count++;
	return at >= 0;
}

static int read_bins(struct facts *facts, const char *line)
{
	int used = 0;
	line += strlen("bins");
	for (int i = 0; i < BINS_MAX && sscanf(line, "%" SCNu64 "%n", &facts->bin_rates[i], &used) == 1; i++) line += used;
	return *line == 0;
}

static int read_image(struct facts *facts, const char *line)
{
	int used = 0;
	unsigned byte;
	if (facts->image_count == IMAGES_MAX) return 0;
	struct image *image = &facts->images[facts->image_count++];
	if (sscanf(line, "image %47s %n", image->name, &used) != 1) return 0;
	for (line += used; sscanf(line, "%2x", &byte) == 1; line += 2) {
		if (image->bytes == IMAGE_BYTES_MAX) return 0;
		image->data[image->bytes++] = (uint8_t)byte;
	}
	return *line == 0;
}

static int read_growth(struct facts *facts, const char *line)
{
	if (facts->growth_count == GROWTHS_MAX) return 0;
	struct growth *growth = &facts->growths[facts->growth_count++];
	return sscanf(line, "grows %47s %u %u %" SCNu64, growth->image, &growth->at, &growth->bytes, &growth->rate) == 4 &&
		growth->bytes <= sizeof growth->rate && growth->at + growth->bytes <= IMAGE_BYTES_MAX;
}

// The rest of a line is a text, which may be as long as its field.
static int read_text(const char *line, int used, char *text, size_t bytes)
{
	if (strlen(line + used) > bytes) return 0;
	memcpy(text, line + used, strlen(line + used));
	return 1;
}

static int read_algorithm(struct facts *facts, const char *line)
{
	int used = 0;
	if (facts->algorithm_count == ALGORITHMS_MAX) return 0;
	struct algorithm *algorithm = &facts->algorithms[facts->algorithm_count++];
	return sscanf(line, "algorithm %u %u %u %u %u %u %n", &algorithm->slot, &algorithm->id, &algorithm->major,
		&algorithm->minor, &algorithm->enabled, &algorithm->counting, &used) == 6 &&
		read_text(line, used, algorithm->info, sizeof algorithm->info);
}

// A counter belongs to the algorithm of an earlier line.
static int read_algorithm_counter(struct facts *facts, const char *line)
{
	int used = 0;
	if (facts->algorithm_count == 0) return 0;
	struct algorithm *algorithm = &facts->algorithms[facts->algorithm_count - 1];
	if (algorithm->counter_count == ALGORITHM_COUNTERS_MAX) return 0;
	struct algorithm_counter *counter = &algorithm->counters[algorithm->counter_count++];
	return sscanf(line, "counts %" SCNu64 " %" SCNu64 " %n", &counter->start, &counter->rate, &used) == 2 &&
		read_text(line, used, counter->name, sizeof counter->name);
}

static int read_process(struct facts *facts, const char *line)
{
	int used = 0;
	if (facts->process_count == PROCESSES_MAX) return 0;
	struct dpa_process *process = &facts->processes[facts->process_count++];
	return sscanf(line, "process %" SCNu32 " %n", &process->id, &used) == 1 &&
		read_text(line, used, process->name, sizeof process->name);
}

static int read_thread(struct facts *facts, const char *line)
{
	int used = 0;
	if (facts->thread_count == THREADS_MAX) return 0;
	struct dpa_thread *thread = &facts->threads[facts->thread_count++];
	return sscanf(line, "thread %" SCNu32 " %" SCNu32 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %n",
		&thread->process, &thread->id, &thread->ticks, &thread->cycles, &thread->instructions, &thread->executions,
		&used) == 6 && read_text(line, used, thread->name, sizeof thread->name);
}

static int read_number(struct facts *facts, const char *line)
{
	char name[32];
	int64_t number;
	if (sscanf(line, "%31s %" SCNd64, name, &number) != 2) return 0;
	for (unsigned i = 0; i < NUMBERS_COUNT; i++) {
		if (strcmp(NUMBERS[i].name, name) != 0) continue;
		*(int64_t *)((char *)facts + NUMBERS[i].offset) = number;
		return 1;
	}
	return 0;
}

static int read_fault(struct scenario *scenario, struct facts *facts, const char *line)
{
	char word[16], text[40] = "", how[16] = "";
	if (scenario->fault_count == FAULTS_MAX) return 0;
	struct fault *fault = &scenario->faults[scenario->fault_count];
	int words = sscanf(line, "%15s %95s %39s %15s", word, fault->function, text, how);
	int kind = index_of(FAULTS, 5, word);
	if (kind < 0 || words < 2) return 0;
	fault->kind = (enum fault_kind)kind;
	fault->number = strtoull(text, NULL, 10);
	fault->left = fault->kind == FAULT_ERROR && words == 4 ? atoll(how) : -1;
	fault->sleeps = strcmp(how, "sleep") == 0;
	if (facts) memcpy(fault->device, facts->name, NAME_BYTES);
	scenario->fault_count++;
	if (fault->kind == FAULT_HANG || fault->kind == FAULT_SEGV) return words == 2;
	if (fault->kind != FAULT_ERROR) return words >= 3;
	int error = index_of(ERRORS, sizeof ERRORS / sizeof *ERRORS, text);
	fault->number = (uint64_t)error;
	return error >= 0;
}

static int read_line(struct scenario *scenario, const char *line)
{
	struct facts *facts = scenario->device_count ? &scenario->devices[scenario->device_count - 1] : NULL;
	if (strncmp(line, "clock ", 6) == 0) {
		return sscanf(line, "clock %" SCNu64 " %" SCNu64, &scenario->monotonic_ns, &scenario->wall_ns) == 2;
	}
	if (strncmp(line, "device ", 7) == 0) return read_device(scenario, line);
	if (read_fault(scenario, facts, line)) return 1;
	if (facts == NULL) return 0;
	if (strncmp(line, "id ", 3) == 0) return read_wave(facts, line);
	if (strncmp(line, "bins ", 5) == 0) return read_bins(facts, line);
	if (strncmp(line, "algorithm ", 10) == 0) return read_algorithm(facts, line);
	if (strncmp(line, "counts ", 7) == 0) return read_algorithm_counter(facts, line);
	if (strncmp(line, "process ", 8) == 0) return read_process(facts, line);
	if (strncmp(line, "thread ", 7) == 0) return read_thread(facts, line);
	if (strncmp(line, "image ", 6) == 0) return read_image(facts, line);
	if (strncmp(line, "grows ", 6) == 0) return read_growth(facts, line);
	if (strncmp(line, "changed ", 8) == 0) {
		struct change *to = &facts->change;
		return sscanf(line, "changed %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64, &to->serial,
			&to->bins, &to->bin0, &to->bin1, &to->mode, &to->unit) == 6;
	}
	return read_number(facts, line);
}

struct scenario *scenario_read(const char *path, uint64_t serial)
{
	char line[4096];
	FILE *file = fopen(path, "re");
	if (file == NULL) return NULL;
	struct scenario *scenario = calloc(1, sizeof *scenario);
	scenario->serial = serial;
	while (fgets(line, sizeof line, file)) {
		line[strcspn(line, "\n")] = 0;
		if (line[0] && !read_line(scenario, line)) die("no such line in a scenario: %s", line);
	}
	fclose(file);
	return scenario;
}
