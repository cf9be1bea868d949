// doca_telemetry_dpa of the double: processes and threads of the scenario. A counter that was started stays started
// after the end of its starter: the file `dpa-DEVICE-PROCESS` says so.

#define _GNU_SOURCE
#include "double.h"
#include "structures.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DPA 0xdeca0007u
#define ALL 0xfffffffeu
#define PATH_BYTES 8192

enum doca_telemetry_dpa_counter_state { ACTIVE = 1, INACTIVE, RESET };
enum doca_telemetry_dpa_counter_type { CUMULATIVE_EVENT, EVENT_TRACER };

struct doca_telemetry_dpa {
	struct context context;
	int started;
};

typedef struct doca_telemetry_dpa dpa_context;
typedef struct doca_telemetry_dpa_process_info process_info;
typedef struct doca_telemetry_dpa_thread_info thread_info;
typedef struct doca_telemetry_dpa_cumul_info cumul_info;
#define SHORT(name) doca_telemetry_dpa_##name

API doca_error_t SHORT(cap_is_supported)(const struct doca_devinfo *devinfo)
{
	CALL_INFO(devinfo, DOCA_ERROR_OPERATING_SYSTEM);
	NEEDS(call.facts->dpa, DOCA_ERROR_NOT_SUPPORTED);
	return DOCA_SUCCESS;
}

#define WILDCARD(name) \
	API doca_error_t SHORT(name)(const struct doca_devinfo *devinfo, uint32_t *out) \
	{ \
		NEEDS(out, DOCA_ERROR_INVALID_VALUE); \
		CALL_INFO(devinfo, DOCA_ERROR_OPERATING_SYSTEM); \
		*out = ALL; \
		return DOCA_SUCCESS; \
	}

WILDCARD(get_all_process_id)
WILDCARD(get_all_thread_id)

API doca_error_t SHORT(create)(struct doca_dev *dev, dpa_context **dpa)
{
	NEEDS(dev && dpa, DOCA_ERROR_INVALID_VALUE);
	CALL_INFO(&dev->info, DOCA_ERROR_DRIVER);
	NEEDS(call.facts->dpa, DOCA_ERROR_DRIVER);
	*dpa = calloc(1, sizeof **dpa);
	return context_open(dev, &(*dpa)->context, DPA);
}

API doca_error_t SHORT(destroy)(dpa_context *dpa)
{
	CALL(dpa, DPA, DOCA_SUCCESS);
	NEEDS(!dpa->started, DOCA_ERROR_BAD_STATE);
	context_close(&dpa->context);
	return DOCA_SUCCESS;
}

// A field report says that a start without a process fails with this error.
API doca_error_t SHORT(start)(dpa_context *dpa)
{
	CALL(dpa, DPA, DOCA_ERROR_DRIVER);
	NEEDS(!dpa->started, DOCA_ERROR_BAD_STATE);
	NEEDS(call.facts->process_count > 0 || !call.facts->dpa_needs_process, DOCA_ERROR_DRIVER);
	dpa->started = 1;
	return DOCA_SUCCESS;
}

API doca_error_t SHORT(stop)(dpa_context *dpa)
{
	CALL(dpa, DPA, DOCA_SUCCESS);
	NEEDS(dpa->started, DOCA_ERROR_BAD_STATE);
	dpa->started = 0;
	return call.removed ? DOCA_ERROR_DRIVER : DOCA_SUCCESS;
}

#define READS(dpa) \
	CALL(dpa, DPA, DOCA_ERROR_DRIVER); \
	NEEDS(dpa->started, DOCA_ERROR_BAD_STATE)

API doca_error_t SHORT(get_dpa_timer_freq)(dpa_context *dpa, uint32_t *khz)
{
	NEEDS(khz, DOCA_ERROR_INVALID_VALUE);
	READS(dpa);
	*khz = (uint32_t)call.facts->dpa_timer_khz;
	return DOCA_SUCCESS;
}

// Sizes are those of more entries than there are, as on a real device.
API doca_error_t SHORT(get_process_list_size)(dpa_context *dpa, uint32_t process, uint32_t *bytes)
{
	NEEDS(bytes, DOCA_ERROR_INVALID_VALUE);
	CALL(dpa, DPA, DOCA_ERROR_DRIVER);
	NEEDS(process == ALL, DOCA_ERROR_INVALID_VALUE);
	*bytes = (uint32_t)call_claim(&call, PROCESSES_MAX * sizeof(process_info));
	return DOCA_SUCCESS;
}

#define THREADS_SIZE(name, entry) \
	API doca_error_t SHORT(name)(dpa_context *dpa, uint32_t process, uint32_t thread, uint32_t *bytes) \
	{ \
		NEEDS(bytes, DOCA_ERROR_INVALID_VALUE); \
		CALL(dpa, DPA, DOCA_ERROR_DRIVER); \
		NEEDS(process == ALL && thread == ALL, DOCA_ERROR_INVALID_VALUE); \
		uint64_t least = THREADS_MAX * sizeof(entry), reported = (uint64_t)call.facts->dpa_list_bytes; \
		*bytes = (uint32_t)call_claim(&call, reported > least ? reported : least); \
		return DOCA_SUCCESS; \
	}

THREADS_SIZE(get_thread_list_size, thread_info)
THREADS_SIZE(get_cumul_samples_size, cumul_info)

API doca_error_t SHORT(read_processes_list)(dpa_context *dpa, uint32_t process, uint32_t *num, process_info *list)
{
	NEEDS(num && list, DOCA_ERROR_INVALID_VALUE);
	READS(dpa);
	NEEDS(process == ALL, DOCA_ERROR_INVALID_VALUE);
	const struct facts *facts = call.facts;
	NEEDS(facts->process_count > 0, DOCA_ERROR_NOT_FOUND);
	for (unsigned i = 0; i < facts->process_count; i++) {
		list[i].dpa_process_id = facts->processes[i].id;
		list[i].num_of_threads = 0;
		for (unsigned j = 0; j < facts->thread_count; j++)
			list[i].num_of_threads += facts->threads[j].process == facts->processes[i].id;
		memcpy(list[i].process_name, facts->processes[i].name, sizeof list[i].process_name);
	}
	*num = (uint32_t)call_claim(&call, facts->process_count);
	return DOCA_SUCCESS;
}

API doca_error_t SHORT(read_thread_list)(dpa_context *dpa, uint32_t process, uint32_t thread, uint32_t *num,
	thread_info *list)
{
	NEEDS(num && list, DOCA_ERROR_INVALID_VALUE);
	READS(dpa);
	NEEDS(process == ALL && thread == ALL, DOCA_ERROR_INVALID_VALUE);
	NEEDS(call.facts->thread_count > 0, DOCA_ERROR_NOT_FOUND);
	for (unsigned i = 0; i < call.facts->thread_count; i++) {
		const struct dpa_thread *found = &call.facts->threads[i];
		list[i].dpa_process_id = found->process;
		list[i].dpa_thread_id = found->id;
		memcpy(list[i].thread_name, found->name, sizeof list[i].thread_name);
	}
	*num = (uint32_t)call_claim(&call, call.facts->thread_count);
	return DOCA_SUCCESS;
}

// Counters of a process

static void counter_path(const struct call *call, uint32_t process, char *path, size_t bytes)
{
	snprintf(path, bytes, "%s/dpa-%s-%u", call->world->folder, call->device->name, process);
}

// The time since the counter of a process was started; -1 if it was not.
static int64_t counting_for_ns(const struct call *call, uint32_t process)
{
	char path[PATH_BYTES];
	unsigned long long since_ns = 0;
	counter_path(call, process, path, sizeof path);
	FILE *file = fopen(path, "re");
	if (file == NULL) return -1;
	int read = fscanf(file, "%llu", &since_ns);
	fclose(file);
	return read == 1 ? (int64_t)(call_elapsed_ns(call) - since_ns) : -1;
}

static int has_process(const struct facts *facts, uint32_t process)
{
	for (unsigned i = 0; i < facts->process_count; i++) if (facts->processes[i].id == process) return 1;
	return 0;
}

API doca_error_t SHORT(counter_start)(dpa_context *dpa, uint32_t process, enum doca_telemetry_dpa_counter_type type)
{
	char path[PATH_BYTES];
	READS(dpa);
	NEEDS(type == CUMULATIVE_EVENT, DOCA_ERROR_NOT_SUPPORTED);
	NEEDS(has_process(call.facts, process), DOCA_ERROR_NOT_FOUND);
	NEEDS(counting_for_ns(&call, process) < 0, DOCA_ERROR_BAD_STATE);
	counter_path(&call, process, path, sizeof path);
	FILE *file = fopen(path, "we");
	NEEDS(file, DOCA_ERROR_OPERATING_SYSTEM);
	fprintf(file, "%llu\n", (unsigned long long)call_elapsed_ns(&call));
	fclose(file);
	return DOCA_SUCCESS;
}

API doca_error_t SHORT(counter_stop)(dpa_context *dpa, uint32_t process, enum doca_telemetry_dpa_counter_type type)
{
	char path[PATH_BYTES];
	READS(dpa);
	NEEDS(type == CUMULATIVE_EVENT, DOCA_ERROR_NOT_SUPPORTED);
	NEEDS(counting_for_ns(&call, process) >= 0, DOCA_ERROR_BAD_STATE);
	counter_path(&call, process, path, sizeof path);
	unlink(path);
	return DOCA_SUCCESS;
}

// No monitor resets the counters of others.
API doca_error_t SHORT(counter_restart)(dpa_context *dpa, uint32_t process, enum doca_telemetry_dpa_counter_type type)
{
	(void)type;
	READS(dpa);
	die("the counters of process %u of %s are reset", process, call.device->name);
}

API doca_error_t SHORT(get_counter_state)(dpa_context *dpa, uint32_t process,
	enum doca_telemetry_dpa_counter_state *state)
{
	NEEDS(state, DOCA_ERROR_INVALID_VALUE);
	READS(dpa);
	NEEDS(has_process(call.facts, process), DOCA_ERROR_NOT_FOUND);
	*state = counting_for_ns(&call, process) >= 0 ? ACTIVE : INACTIVE;
	return DOCA_SUCCESS;
}

API doca_error_t SHORT(read_cumul_info_list)(dpa_context *dpa, uint32_t process, uint32_t thread, uint32_t *num,
	cumul_info *list)
{
	NEEDS(num && list, DOCA_ERROR_INVALID_VALUE);
	READS(dpa);
	NEEDS(process == ALL && thread == ALL, DOCA_ERROR_INVALID_VALUE);
	uint32_t count = 0;
	for (unsigned i = 0; i < call.facts->thread_count; i++) {
		const struct dpa_thread *found = &call.facts->threads[i];
		int64_t for_ns = counting_for_ns(&call, found->process);
		if (for_ns < 0) continue;
		list[count++] = (cumul_info){
			.dpa_process_id = found->process,
			.dpa_thread_id = found->id,
			.time = (uint64_t)((unsigned __int128)found->ticks * (uint64_t)for_ns / 1000000000),
			.cycles = (uint64_t)((unsigned __int128)found->cycles * (uint64_t)for_ns / 1000000000),
			.instructions = (uint64_t)((unsigned __int128)found->instructions * (uint64_t)for_ns / 1000000000),
			.num_executions = (uint64_t)((unsigned __int128)found->executions * (uint64_t)for_ns / 1000000000),
		};
	}
	NEEDS(count > 0, DOCA_ERROR_NOT_FOUND);
	*num = (uint32_t)call_claim(&call, count);
	return DOCA_SUCCESS;
}
