// The world of a double, and the gate that each call passes: faults, cost, accounts and strictness.

#define _GNU_SOURCE
#include "double.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define HANG_LOOK_US 2000
#define LOG_LEVEL_ERROR 30
#define NONSENSE 0xba
#define NONSENSE_BYTES 64

void die(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	fprintf(stderr, "doca double: ");
	vfprintf(stderr, format, arguments);
	fprintf(stderr, "\n");
	va_end(arguments);
	abort();
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec time;
	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void *map_file(const char *path, int flags, size_t bytes)
{
	int descriptor = open(path, flags | O_CLOEXEC, 0600);
	if (descriptor < 0) return NULL;
	if ((flags & O_CREAT) && ftruncate(descriptor, (off_t)bytes) != 0) die("%s cannot be made longer", path);
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
	close(descriptor);
	return at == MAP_FAILED ? NULL : at;
}

struct world *world_open(void *function_of_library)
{
	Dl_info self;
	char path[4096];
	struct world *world = calloc(1, sizeof *world);
	if (!dladdr(function_of_library, &self)) die("it does not know its own file");
	const char *slash = strrchr(self.dli_fname, '/');
	snprintf(world->folder, sizeof world->folder, "%.*s", slash ? (int)(slash - self.dli_fname) : 1,
		slash ? self.dli_fname : ".");
	snprintf(path, sizeof path, "%s/control", world->folder);
	world->control = map_file(path, O_RDWR, sizeof *world->control);
	if (world->control == NULL) die("no file %s: this library is started by a test only", path);
	snprintf(path, sizeof path, "%s/stats-%d", world->folder, getpid());
	world->counters = map_file(path, O_RDWR | O_CREAT, COUNTERS_MAX * sizeof *world->counters);
	if (world->counters == NULL) die("%s cannot be written", path);
	pthread_mutex_init(&world->lock, NULL);
	world->log_descriptor = -1;
	world->log_level = 50;
	world->calls = world_counter(world, "", "calls");
	world->cpu_ns = world_counter(world, "", "cpu_ns");
	world->cost_ns = world_counter(world, "", "cost_ns");
	world->lists = world_counter(world, "", "lists");
	world->opens = world_counter(world, "", "opens");
	world->contexts = world_counter(world, "", "contexts");
	world->backends = world_counter(world, "", "backends");
	return world;
}

static struct counter *counter_locked(struct world *world, const char *device, const char *name)
{
	char full[sizeof world->counters->name];
	snprintf(full, sizeof full, "%.30s%s%s", device, *device ? " " : "", name);
	for (unsigned i = 0; i < COUNTERS_MAX; i++) {
		struct counter *counter = &world->counters[i];
		if (counter->name[0] == 0) memcpy(counter->name, full, sizeof full);
		if (strcmp(counter->name, full) == 0) return counter;
	}
	die("more than %d counters", COUNTERS_MAX);
}

struct counter *world_counter(struct world *world, const char *device, const char *name)
{
	pthread_mutex_lock(&world->lock);
	struct counter *counter = counter_locked(world, device, name);
	pthread_mutex_unlock(&world->lock);
	return counter;
}

void count(struct counter *counter, int64_t change)
{
	atomic_fetch_add_explicit(&counter->value, (uint64_t)change, memory_order_relaxed);
}

struct device *world_device(struct world *world, const char *name)
{
	pthread_mutex_lock(&world->lock);
	struct device *device = world->devices;
	while (device && strcmp(device->name, name) != 0) device = device->next;
	if (device == NULL) {
		device = calloc(1, sizeof *device);
		snprintf(device->name, sizeof device->name, "%s", name);
		device->world = world;
		device->next = world->devices;
		device->produced = counter_locked(world, name, "produced");
		device->delivered = counter_locked(world, name, "delivered");
		device->lost = counter_locked(world, name, "lost");
		device->unread = counter_locked(world, name, "unread");
		device->threads = counter_locked(world, name, "threads");
		world->devices = device;
	}
	pthread_mutex_unlock(&world->lock);
	return device;
}

static void scenario_release(struct scenario *scenario)
{
	if (scenario && --scenario->references == 0) free(scenario);
}

// The scenario as it is now, until it is put back. One that cannot be read, as its test has ended, stays as it was.
static struct scenario *scenario_take(struct world *world)
{
	char path[4096];
	pthread_mutex_lock(&world->lock);
	uint64_t serial = world->control->serial;
	if (world->scenario == NULL || world->scenario->serial != serial) {
		snprintf(path, sizeof path, "%s/scenario", world->folder);
		struct scenario *next = scenario_read(path, serial);
		if (next == NULL && world->scenario == NULL) die("no file %s", path);
		if (next) {
			next->references = 1;
			scenario_release(world->scenario);
			world->scenario = next;
		}
	}
	struct scenario *scenario = world->scenario;
	scenario->references++;
	pthread_mutex_unlock(&world->lock);
	return scenario;
}

static void scenario_put(struct world *world, struct scenario *scenario)
{
	pthread_mutex_lock(&world->lock);
	scenario_release(scenario);
	pthread_mutex_unlock(&world->lock);
}

static struct fault *fault_of(const struct call *call, enum fault_kind kind)
{
	for (unsigned i = 0; i < call->scenario->fault_count; i++) {
		struct fault *fault = &call->scenario->faults[i];
		if (fault->kind != kind || fault->left == 0) continue;
		if (fault->device[0] && (call->device == NULL || strcmp(fault->device, call->device->name) != 0)) continue;
		if (fnmatch(fault->function, call->function, 0) == 0) return fault;
	}
	return NULL;
}

static void find_facts(struct call *call, uint64_t generation)
{
	static const struct facts NONE;
	call->scenario = scenario_take(call->world);
	call->facts = &NONE;
	call->removed = call->device != NULL;
	for (unsigned i = 0; call->device && i < call->scenario->device_count; i++) {
		const struct facts *facts = &call->scenario->devices[i];
		if (strcmp(facts->name, call->device->name) != 0 || facts->generation != generation) continue;
		call->facts = facts;
		call->removed = 0;
	}
}

// A hang ends with its line, or with the test, which removes the file.
static void hang(struct call *call, uint64_t generation)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/scenario", call->world->folder);
	while (fault_of(call, FAULT_HANG) && access(path, F_OK) == 0) {
		scenario_put(call->world, call->scenario);
		usleep(HANG_LOOK_US);
		find_facts(call, generation);
	}
}

static void spend(const struct call *call)
{
	const struct fault *cost = fault_of(call, FAULT_COST);
	if (cost == NULL) return;
	uint64_t start = clock_ns(CLOCK_MONOTONIC);
	if (cost->sleeps) usleep((unsigned)cost->number);
	while (clock_ns(CLOCK_MONOTONIC) - start < cost->number * 1000) continue;
	count(call->world->cost_ns, (int64_t)(clock_ns(CLOCK_MONOTONIC) - start));
}

// The thread sleeps, as in a call of the kernel that waits for the device.
void call_take(const struct call *call, uint64_t us)
{
	static _Thread_local int is_precise;
	if (us == 0 || fault_of(call, FAULT_COST)) return;
	if (!is_precise) is_precise = prctl(PR_SET_TIMERSLACK, 1) == 0;
	struct timespec time = { (time_t)(us / 1000000), (long)(us % 1000000 * 1000) };
	while (nanosleep(&time, &time) != 0) continue;
}

static void log_error(const struct call *call)
{
	struct world *world = call->world;
	if (world->log_descriptor < 0 || world->log_level < LOG_LEVEL_ERROR) return;
	dprintf(world->log_descriptor, "[doca double][ERROR] %s of %s: %s\n", call->function,
		call->device ? call->device->name : "no device", error_name(call->error));
}

struct call call_begin(struct world *world, struct device *device, uint64_t generation, const char *function,
	doca_error_t when_removed)
{
	struct call call = { .world = world, .device = device, .function = function };
	call.cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	// Properties of a listed device are the list's, and may be read while the device is busy.
	call.exclusive = device && strncmp(function, "doca_devinfo_", strlen("doca_devinfo_")) != 0;
	if (call.exclusive) {
		const char *busy = atomic_exchange(&device->busy, function);
		if (busy) die("%s of %s is called while %s runs", function, device->name, busy);
	}
	count(world->calls, 1);
	find_facts(&call, generation);
	hang(&call, generation);
	if (fault_of(&call, FAULT_SEGV)) raise(SIGSEGV);
	spend(&call);
	struct fault *error = fault_of(&call, FAULT_ERROR);
	if (error) {
		call.error = (doca_error_t)error->number;
		if (error->left > 0) error->left--;
	} else if (call.removed) {
		call.error = when_removed;
	}
	if (call.error) log_error(&call);
	return call;
}

void call_end(struct call *call)
{
	scenario_put(call->world, call->scenario);
	if (call->exclusive) atomic_store(&call->device->busy, NULL);
	count(call->world->cpu_ns, (int64_t)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - call->cpu_ns));
}

uint64_t call_claim(const struct call *call, uint64_t count)
{
	const struct fault *claim = fault_of(call, FAULT_CLAIM);
	return claim ? claim->number : count;
}

uint64_t call_host_ns(const struct call *call)
{
	uint64_t set = call->world->control->now_ns;
	return set ? set : clock_ns(CLOCK_MONOTONIC);
}

uint64_t call_elapsed_ns(const struct call *call)
{
	int64_t elapsed = (int64_t)(call_host_ns(call) - call->scenario->monotonic_ns);
	return (uint64_t)(elapsed + (int64_t)((__int128)elapsed * call->facts->drift_ppb / 1000000000));
}

// A newer library writes a longer structure, so nonsense follows the known fields.
void call_write(const struct call *call, const char *image, void *out)
{
	const struct facts *facts = call->facts;
	uint64_t elapsed_ns = call_elapsed_ns(call);
	const struct image *found = NULL;
	for (unsigned i = 0; i < facts->image_count; i++) {
		if (strcmp(facts->images[i].name, image) == 0) found = &facts->images[i];
	}
	if (found == NULL) die("no image of %s", image);
	memcpy(out, found->data, found->bytes);
	memset((uint8_t *)out + found->bytes, NONSENSE, NONSENSE_BYTES);
	for (unsigned i = 0; i < facts->growth_count; i++) {
		const struct growth *growth = &facts->growths[i];
		uint64_t value = 0;
		if (strcmp(growth->image, image) != 0) continue;
		memcpy(&value, (uint8_t *)out + growth->at, growth->bytes);
		value += (uint64_t)((unsigned __int128)growth->rate * elapsed_ns / 1000000000);
		memcpy((uint8_t *)out + growth->at, &value, growth->bytes);
	}
}

doca_error_t context_open(struct doca_dev *dev, struct context *context, unsigned magic)
{
	context->magic = magic;
	context->dev = dev;
	dev->contexts++;
	count(dev->info.device->world->contexts, 1);
	return DOCA_SUCCESS;
}

// The memory of a context is never used again, so that a later call with it is found.
void context_close(struct context *context)
{
	context->magic = 0;
	context->dev->contexts--;
	count(context->dev->info.device->world->contexts, -1);
}

void context_check(struct context *context, unsigned magic, const char *function)
{
	if (context->magic != magic) die("%s is called with a context that was destroyed or is another's", function);
	static _Thread_local int thread;
	if (thread == 0) thread = gettid();
	for (unsigned i = 0; i < sizeof context->threads / sizeof *context->threads; i++) {
		int none = 0;
		if (!atomic_compare_exchange_strong(&context->threads[i], &none, thread) && none != thread) continue;
		struct counter *threads = context->dev->info.device->threads;
		if (threads->value < i + 1) threads->value = i + 1;
		return;
	}
}
