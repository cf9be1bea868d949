// What all files of the double share: the world that a scenario describes, and the gate that each call passes.
//
// Both libraries are compiled with a copy of `double.c`. All state hangs off the devices that `libdoca_common` hands
// out, so that several doubles live in one process, each library on the devices of its own folder.

#pragma once
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

// Error codes: number, then name and description as `doca_error_get_name` and `_descr` give them.
#define DOCA_ERRORS(X) \
	X(SUCCESS, 0) X(ERROR_UNKNOWN, 1) X(ERROR_NOT_PERMITTED, 2) X(ERROR_IN_USE, 3) X(ERROR_NOT_SUPPORTED, 4) \
	X(ERROR_AGAIN, 5) X(ERROR_INVALID_VALUE, 6) X(ERROR_NO_MEMORY, 7) X(ERROR_INITIALIZATION, 8) \
	X(ERROR_TIME_OUT, 9) X(ERROR_SHUTDOWN, 10) X(ERROR_CONNECTION_RESET, 11) X(ERROR_CONNECTION_ABORTED, 12) \
	X(ERROR_CONNECTION_INPROGRESS, 13) X(ERROR_NOT_CONNECTED, 14) X(ERROR_NO_LOCK, 15) X(ERROR_NOT_FOUND, 16) \
	X(ERROR_IO_FAILED, 17) X(ERROR_BAD_STATE, 18) X(ERROR_UNSUPPORTED_VERSION, 19) X(ERROR_OPERATING_SYSTEM, 20) \
	X(ERROR_DRIVER, 21) X(ERROR_UNEXPECTED, 22) X(ERROR_ALREADY_EXIST, 23) X(ERROR_FULL, 24) X(ERROR_EMPTY, 25) \
	X(ERROR_IN_PROGRESS, 26) X(ERROR_TOO_BIG, 27) X(ERROR_AUTHENTICATION, 28) X(ERROR_BAD_CONFIG, 29) \
	X(ERROR_SKIPPED, 30) X(ERROR_DEVICE_FATAL_ERROR, 31)

#define DOCA_ERROR_NUMBER(name, number) DOCA_##name = number,
typedef enum doca_error { DOCA_ERRORS(DOCA_ERROR_NUMBER) } doca_error_t;

#define NAME_BYTES 64
#define DEVICES_MAX 64
#define FAULTS_MAX 128
#define WAVES_MAX 128
#define BINS_MAX 64
#define COUNTERS_MAX 512
#define IMAGES_MAX 16
#define IMAGE_BYTES_MAX 512
#define GROWTHS_MAX 32
#define ALGORITHMS_MAX 4
#define ALGORITHM_COUNTERS_MAX 32
#define ALGORITHM_INFO_BYTES 64
#define COUNTER_INFO_BYTES 48
#define PROCESSES_MAX 8
#define THREADS_MAX 32

// The file `control`, which the test writes and both sides map: a call costs no system call to see a change.
struct control {
	_Atomic uint64_t now_ns; // the monotonic clock stands at this time; 0: it runs
	_Atomic uint64_t serial; // of the scenario
};

// One number of the file `stats-PID`, which the test reads.
struct counter {
	char name[56];
	_Atomic uint64_t value;
};

enum wave_kind { WAVE_COUNTER, WAVE_GAUGE, WAVE_UNSYNCED, WAVE_UNSUPPORTED };

// How the value of a data ID moves; README.md has the formula.
struct wave {
	uint64_t id, start, step, extra;
	enum wave_kind kind;
};

// A configuration of the histogram by somebody else.
struct change {
	uint64_t serial, bins, bin0, bin1, mode, unit;
};

// The bytes of a structure that a reader writes.
struct image {
	char name[48];
	unsigned bytes;
	uint8_t data[IMAGE_BYTES_MAX];
};

// A counter in the image of a structure: it grows by `rate` in each second.
struct growth {
	char image[48];
	unsigned at, bytes;
	uint64_t rate;
};

// A congestion-control algorithm, and its counters of 32 bits.
struct algorithm_counter {
	char name[COUNTER_INFO_BYTES];
	uint64_t start, rate;
};

struct algorithm {
	unsigned slot, id, major, minor, enabled, counting, counter_count;
	char info[ALGORITHM_INFO_BYTES];
	struct algorithm_counter counters[ALGORITHM_COUNTERS_MAX];
};

// A process on the accelerator, and a thread: what it uses in each second.
struct dpa_process {
	uint32_t id;
	char name[17];
};

struct dpa_thread {
	uint32_t process, id;
	uint64_t ticks, cycles, instructions, executions;
	char name[17];
};

// What a scenario says about one device. Numbers are signed where a negative value means something.
struct facts {
	char name[NAME_BYTES], pci[13], iface[256], mac[18];
	uint64_t generation;
	int64_t active_rate_mbps, offset_ns, drift_ppb, frc_hz, burst_every_us, burst_us;
	int64_t diag, max_ids, log_max_samples, data_clear, sync_start, sample_modes, timestamp_sources, min_period_ns;
	int64_t owned, resources, listed_only, any_id, stride, first_sample_id;
	int64_t drain_us, on_demand_us, needs_all_set, needs_zero_on_demand, size_before_start;
	int64_t adp_retx, histogram, max_bins, time_units, vhca_id;
	int64_t phy, phy_operation, phy_module, phy_counters, cable;
	int64_t pci_management, pci_power, pci_peer, pci_counters, pci_overflow, pci_stalled, pci_fec, pci_fber;
	int64_t pcc, pcc_slots, dpa, dpa_timer_khz, dpa_needs_process, dpa_list_bytes;
	int64_t pci_buckets, pci_bucket_ns, pci_depth, pci_index, pci_node;
	struct wave waves[WAVES_MAX];
	unsigned wave_count;
	uint64_t bin_rates[BINS_MAX];
	struct change change;
	struct image images[IMAGES_MAX];
	struct growth growths[GROWTHS_MAX];
	unsigned image_count, growth_count;
	struct algorithm algorithms[ALGORITHMS_MAX];
	struct dpa_process processes[PROCESSES_MAX];
	struct dpa_thread threads[THREADS_MAX];
	unsigned algorithm_count, process_count, thread_count;
};

enum fault_kind { FAULT_ERROR, FAULT_HANG, FAULT_SEGV, FAULT_COST, FAULT_CLAIM };

struct fault {
	enum fault_kind kind;
	char function[96], device[NAME_BYTES]; // a pattern; empty for every device
	uint64_t number;                       // code, microseconds or count
	_Atomic int64_t left;                  // how often it still happens; negative: always
	int sleeps;
};

struct scenario {
	unsigned references, device_count, fault_count;
	uint64_t serial, monotonic_ns, wall_ns;
	struct facts devices[DEVICES_MAX];
	struct fault faults[FAULTS_MAX];
};

struct world {
	char folder[4096 - 64];
	struct control *control;
	struct counter *counters;
	struct scenario *scenario;
	struct device *devices;
	struct counter *calls, *cpu_ns, *cost_ns, *lists, *opens, *contexts, *backends;
	pthread_mutex_t lock;
	_Atomic int log_descriptor, log_level;
};

// A device as long as the process lives, whether it is plugged or not.
struct device {
	struct world *world;
	struct device *next;
	const char *_Atomic busy; // the function that is being called
	struct counter *produced, *delivered, *lost, *unread, *threads;
	char name[NAME_BYTES];
};

struct doca_devinfo {
	struct device *device;
	uint64_t generation; // a device that came back is another
};

struct doca_dev {
	struct doca_devinfo info;
	unsigned magic;
	_Atomic int contexts;
};

// What every context begins with.
struct context {
	unsigned magic;
	struct doca_dev *dev;
	_Atomic int threads[8];
};

struct call {
	struct world *world;
	struct device *device;
	const char *function;
	struct scenario *scenario;
	const struct facts *facts;
	uint64_t cpu_ns;
	doca_error_t error;
	int removed, exclusive;
};

// Starts the call of a function on a device, or returns from the function: with the error of the scenario, or, when
// the device is not there, with `when_removed`. DOCA_SUCCESS there means that the call needs no device.
#define CALL_INFO(info, when_removed) \
	if ((info) == NULL || (info)->device == NULL) return DOCA_ERROR_INVALID_VALUE; \
	struct call call __attribute__((cleanup(call_end))) = \
		call_begin((info)->device->world, (info)->device, (info)->generation, __func__, when_removed); \
	if (call.error) return call.error

// The same on a context, whose threads are counted.
#define CALL(handle, kind, when_removed) \
	if ((handle) == NULL) return DOCA_ERROR_INVALID_VALUE; \
	context_check((struct context *)(handle), kind, __func__); \
	CALL_INFO(&((struct context *)(handle))->dev->info, when_removed)

#define NEEDS(condition, error) \
	if (!(condition)) return (error)

#define API __attribute__((visibility("default")))

struct world *world_open(void *function_of_library);
struct device *world_device(struct world *world, const char *name);
struct counter *world_counter(struct world *world, const char *device, const char *name);
void count(struct counter *counter, int64_t change);

struct call call_begin(struct world *world, struct device *device, uint64_t generation, const char *function,
	doca_error_t when_removed);
void call_end(struct call *call);
uint64_t call_claim(const struct call *call, uint64_t count); // the count, or the lie of the scenario
void call_take(const struct call *call, uint64_t us); // time of a command to the device; a line `cost` replaces it
uint64_t call_elapsed_ns(const struct call *call);            // of the device's clock, since the scenario's anchor
uint64_t call_host_ns(const struct call *call);               // of the host's monotonic clock
void call_write(const struct call *call, const char *image, void *out); // a structure, and nonsense after its end

doca_error_t context_open(struct doca_dev *dev, struct context *context, unsigned magic);
void context_close(struct context *context);
void context_check(struct context *context, unsigned magic, const char *function);
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));

struct scenario *scenario_read(const char *path, uint64_t serial);
const char *error_name(doca_error_t error);
