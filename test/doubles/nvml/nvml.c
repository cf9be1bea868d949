// Stands in for NVIDIA's libnvidia-ml: the calls that Sonde makes, over a scenario file beside the library. Stricter
// than it must be: a GPU that is called twice at once, and a handle that is not one, end the process.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define GPUS 16
#define EVENTS 64
#define MIGS 7
#define VGPUS 256

typedef int nvmlReturn_t;
enum { SUCCESS = 0, UNINITIALIZED = 1, INVALID = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6, INSUFFICIENT_SIZE = 7, MISMATCH = 25, DRIVER_NOT_LOADED = 9, TIMED_OUT = 10, LOST = 15, UNKNOWN = 999 };

typedef struct { char busIdLegacy[16]; unsigned domain, bus, device, pciDeviceId, pciSubSystemId; char busId[32]; } nvmlPciInfo_t;
typedef struct { unsigned gpu, memory; } nvmlUtilization_t;
typedef struct { unsigned version; unsigned long long total, reserved, free, used; } nvmlMemory_v2_t;
typedef union { double dVal; int siVal; unsigned uiVal; unsigned long ulVal; unsigned long long ullVal; signed long long sllVal; } nvmlValue_t;
typedef struct { unsigned fieldId, scopeId; long long timestamp, latencyUsec; int valueType; nvmlReturn_t nvmlReturn; nvmlValue_t value; } nvmlFieldValue_t;
typedef struct { void *device; unsigned long long eventType, eventData; unsigned gpuInstanceId, computeInstanceId; } nvmlEventData_t;
typedef struct { unsigned multiprocessorCount, copies, decoders, encoders, jpegs, ofas, gpuInstanceSliceCount, computeInstanceSliceCount; unsigned long long memorySizeMB; } nvmlDeviceAttributes_t;
typedef struct { unsigned version; unsigned char clusterUuid[16]; nvmlReturn_t status; unsigned cliqueId; unsigned char state; unsigned healthMask; unsigned char healthSummary; } nvmlGpuFabricInfo_v3_t;
typedef struct { unsigned pid; unsigned long long usedGpuMemory; unsigned gpuInstanceId, computeInstanceId; } nvmlProcessInfo_t;
typedef struct { unsigned pid; unsigned long long timeStamp; unsigned smUtil, memUtil, encUtil, decUtil; } nvmlProcessUtilizationSample_t;
typedef struct { unsigned vgpuInstance; unsigned long long timeStamp; nvmlValue_t smUtil, memUtil, encUtil, decUtil; } nvmlVgpuInstanceUtilizationSample_t;
typedef struct { unsigned version, isSupportedDevice; } nvmlGpmSupport_t;
typedef struct { unsigned metricId; nvmlReturn_t nvmlReturn; double value; struct { char *shortName, *longName, *unit; } metricInfo; } nvmlGpmMetric_t;
typedef struct { unsigned version, numMetrics; void *sample1, *sample2; nvmlGpmMetric_t metrics[]; } nvmlGpmMetricsGet_t;

struct gpu { int index; atomic_int busy; int xid_told; int mig; };
// A MIG device: its place in the GPU.
struct mig { struct gpu *gpu; int place; };
struct sample { struct gpu *gpu; unsigned instance; double seconds; };
struct set { struct gpu *gpu; };

EXPORT int sonde_nvml_double = 1;
static struct gpu gpus[GPUS];
static struct mig migs[GPUS][MIGS];
static atomic_int begun;

static void refuse(const char *why) { fprintf(stderr, "nvml double: %s\n", why); abort(); }

// Where this library lies, with the scenario beside it.
static const char *scenario_path(void) {
  static char path[4096];
  Dl_info info;
  if (path[0] == 0 && dladdr(&gpus, &info) != 0) {
    const char *end = strrchr(info.dli_fname, '/');
    snprintf(path, sizeof path, "%.*s/scenario", (int)(end - info.dli_fname), info.dli_fname);
  }
  return path;
}

// A line `NAME VALUE` of the scenario; `fallback` where it has none.
static long long scenario(const char *name, long long fallback) {
  char line[256], key[128];
  FILE *file = fopen(scenario_path(), "r");
  long long found = fallback, value;
  while (file != NULL && fgets(line, sizeof line, file) != NULL)
    if (sscanf(line, "%127s %lld", key, &value) == 2 && strcmp(key, name) == 0) found = value;
  if (file != NULL) fclose(file);
  return found;
}

static long long of(const struct gpu *gpu, const char *name, long long fallback) {
  char key[256];
  snprintf(key, sizeof key, "gpu%d.%s", gpu->index, name);
  return scenario(key, fallback);
}

// The same of the MIG device that the call in progress is about: `gpu0.mig2.gi`; of the GPU if it is about none.
static long long of_device(const struct gpu *gpu, const char *name, long long fallback) {
  char key[128];
  if (gpu->mig < 0) return of(gpu, name, fallback);
  snprintf(key, sizeof key, "mig%d.%s", gpu->mig, name);
  return of(gpu, key, fallback);
}

static struct gpu *enter(void *handle) {
  struct mig *mig = handle;
  int isMig = mig >= &migs[0][0] && mig <= &migs[GPUS - 1][MIGS - 1];
  struct gpu *gpu = isMig ? mig->gpu : handle;
  if (!atomic_load(&begun)) refuse("a call before nvmlInit");
  if (gpu == NULL || gpu < gpus || gpu >= gpus + GPUS) refuse("a handle that is none");
  if (atomic_exchange(&gpu->busy, 1) != 0) refuse("two calls of one GPU at once");
  gpu->mig = isMig ? mig->place : -1;
  while (of(gpu, "hang", 0)) usleep(10000);
  return gpu;
}

static nvmlReturn_t leave(struct gpu *gpu, nvmlReturn_t code) {
  if (code == SUCCESS && of(gpu, "lost", 0)) code = LOST;
  atomic_store(&gpu->busy, 0);
  return code;
}

EXPORT nvmlReturn_t nvmlInit_v2(void) {
  if (scenario("driver", 1) == 0) return DRIVER_NOT_LOADED;
  for (int i = 0; i < GPUS; i++) gpus[i].index = i;
  atomic_store(&begun, 1);
  return SUCCESS;
}

EXPORT nvmlReturn_t nvmlSystemGetDriverVersion(char *text, unsigned length) { snprintf(text, length, "580.0"); return SUCCESS; }
EXPORT nvmlReturn_t nvmlDeviceGetCount_v2(unsigned *count) { *count = (unsigned)scenario("gpus", 2); return SUCCESS; }
EXPORT nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned index, void **handle) {
  if (index >= (unsigned)scenario("gpus", 2)) return INVALID;
  *handle = &gpus[index];
  return SUCCESS;
}

#define TEXT(name, ...) EXPORT nvmlReturn_t name(void *handle, char *text, unsigned length) { struct gpu *gpu = enter(handle); snprintf(text, length, __VA_ARGS__); return leave(gpu, SUCCESS); }
EXPORT nvmlReturn_t nvmlDeviceGetName(void *handle, char *text, unsigned length) {
  struct gpu *gpu = enter(handle);
  if (gpu->mig < 0 || of_device(gpu, "nameless", 0)) snprintf(text, length, "Double H100");
  else snprintf(text, length, "Double H100 MIG 1c.%lldg.%lldgb", of_device(gpu, "slices", 1), of_device(gpu, "slices", 1) * 10);
  return leave(gpu, SUCCESS);
}
EXPORT nvmlReturn_t nvmlDeviceGetUUID(void *handle, char *text, unsigned length) {
  struct gpu *gpu = enter(handle);
  if (gpu->mig < 0) snprintf(text, length, "GPU-%08d-double", gpu->index);
  else snprintf(text, length, "MIG-%08lld-double", of_device(gpu, "uuid", gpu->mig));
  return leave(gpu, SUCCESS);
}
TEXT(nvmlDeviceGetSerial, "serial%d", gpu->index)
TEXT(nvmlDeviceGetVbiosVersion, "96.00")

#define NUMBER(name, value) EXPORT nvmlReturn_t name(void *handle, unsigned *out) { struct gpu *gpu = enter(handle); *out = (unsigned)(value); return leave(gpu, SUCCESS); }
NUMBER(nvmlDeviceGetMinorNumber, gpu->index)
NUMBER(nvmlDeviceGetPowerManagementDefaultLimit, 700000)
NUMBER(nvmlDeviceGetMaxPcieLinkGeneration, 5)
NUMBER(nvmlDeviceGetMaxPcieLinkWidth, 16)
NUMBER(nvmlDeviceGetPowerUsage, of(gpu, "power_mw", 123456))
NUMBER(nvmlDeviceGetEnforcedPowerLimit, 700000)
NUMBER(nvmlDeviceGetPowerManagementLimit, 650000)
NUMBER(nvmlDeviceGetPerformanceState, 0)
NUMBER(nvmlDeviceGetMaxMigDeviceCount, MIGS)
NUMBER(nvmlDeviceGetGpuInstanceId, of_device(gpu, "gi", 0))
NUMBER(nvmlDeviceGetCurrPcieLinkGeneration, 5)
NUMBER(nvmlDeviceGetCurrPcieLinkWidth, of(gpu, "width", 16))

#define OF(name, value) EXPORT nvmlReturn_t name(void *handle, unsigned which, unsigned *out) { struct gpu *gpu = enter(handle); *out = (unsigned)(value); return leave(gpu, SUCCESS); }
OF(nvmlDeviceGetMaxClockInfo, which == 1 ? 1980 : 2619)
OF(nvmlDeviceGetClockInfo, which == 1 ? 1380 : 2619)
OF(nvmlDeviceGetTemperatureThreshold, which == 0 ? 95 : which == 1 ? 89 : which == 2 ? 95 : 87)
OF(nvmlDeviceGetTemperature, 55 + which)

#define PAIR(name, a, b) EXPORT nvmlReturn_t name(void *handle, unsigned *one, unsigned *two) { struct gpu *gpu = enter(handle); *one = (a); *two = (b); return leave(gpu, SUCCESS); }
PAIR(nvmlDeviceGetPowerManagementLimitConstraints, 200000, 700000)
PAIR(nvmlDeviceGetEncoderUtilization, 3, 100000)
PAIR(nvmlDeviceGetDecoderUtilization, 4, 100000)
PAIR(nvmlDeviceGetMigMode, (unsigned)of(gpu, "mig", 0), (unsigned)of(gpu, "mig", 0))

// A MIG device exists if the scenario has the id of its instance.
EXPORT nvmlReturn_t nvmlDeviceGetMigDeviceHandleByIndex(void *handle, unsigned index, void **mig) {
  struct gpu *gpu = enter(handle);
  char key[32];
  snprintf(key, sizeof key, "mig%u.gi", index);
  if (index >= MIGS || of(gpu, key, -1) < 0) return leave(gpu, NOT_FOUND);
  struct mig *found = &migs[gpu->index][index];
  *found = (struct mig){.gpu = gpu, .place = (int)index};
  *mig = found;
  return leave(gpu, SUCCESS);
}

EXPORT nvmlReturn_t nvmlDeviceGetAttributes_v2(void *handle, nvmlDeviceAttributes_t *attributes) {
  struct gpu *gpu = enter(handle);
  unsigned slices = (unsigned)of_device(gpu, "slices", 1);
  attributes->gpuInstanceSliceCount = slices;
  attributes->memorySizeMB = slices * 9856ull;
  return leave(gpu, gpu->mig < 0 ? NOT_SUPPORTED : SUCCESS);
}

EXPORT nvmlReturn_t nvmlDeviceGetGpuFabricInfoV(void *handle, nvmlGpuFabricInfo_v3_t *fabric) {
  struct gpu *gpu = enter(handle);
  int isNew = fabric->version == (sizeof *fabric | 3u << 24) && of(gpu, "fabric_version", 3) == 3;
  if (!isNew && fabric->version != (36u | 2u << 24)) return leave(gpu, MISMATCH);
  fabric->state = (unsigned char)of(gpu, "fabric_state", 0);
  if (fabric->state == 3) memset(fabric->clusterUuid, 0xa5, sizeof fabric->clusterUuid);
  fabric->status = 0;
  fabric->cliqueId = (unsigned)of(gpu, "clique", 7);
  fabric->healthMask = (unsigned)of(gpu, "fabric_mask", 0);
  if (isNew) fabric->healthSummary = (unsigned char)of(gpu, "fabric_summary", 1);
  return leave(gpu, SUCCESS);
}

EXPORT nvmlReturn_t nvmlDeviceGetNvLinkState(void *handle, unsigned link, unsigned *state) {
  struct gpu *gpu = enter(handle);
  unsigned links = (unsigned)of(gpu, "links", 0);
  *state = 1;
  return leave(gpu, link < links ? SUCCESS : NOT_SUPPORTED);
}

EXPORT nvmlReturn_t nvmlDeviceGetPciInfo_v3(void *handle, nvmlPciInfo_t *pci) {
  struct gpu *gpu = enter(handle);
  snprintf(pci->busId, sizeof pci->busId, "00000000:%02X:00.0", 0x9b + gpu->index);
  return leave(gpu, SUCCESS);
}

EXPORT nvmlReturn_t nvmlDeviceGetUtilizationRates(void *handle, nvmlUtilization_t *rates) {
  struct gpu *gpu = enter(handle);
  rates->gpu = (unsigned)of(gpu, "util", 99);
  rates->memory = 32;
  return leave(gpu, of(gpu, "util", 99) < 0 ? NOT_SUPPORTED : SUCCESS);
}

EXPORT nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(void *handle, nvmlMemory_v2_t *memory) {
  struct gpu *gpu = enter(handle);
  if (memory->version != (sizeof *memory | 2 << 24)) return leave(gpu, INVALID);
  if (gpu->mig >= 0) {
    unsigned long long mib = 1 << 20, total = (unsigned long long)of_device(gpu, "slices", 1) * 9856 * mib, used = (unsigned long long)of_device(gpu, "used_mib", 100) * mib;
    memory->total = total;
    memory->reserved = 32 * mib;
    memory->used = used;
    memory->free = total - used - memory->reserved;
    return leave(gpu, SUCCESS);
  }
  memory->total = 85520809984;
  memory->reserved = 503316480;
  memory->free = 83823362048;
  memory->used = 1194131456;
  return leave(gpu, SUCCESS);
}

EXPORT nvmlReturn_t nvmlDeviceGetCurrentClocksEventReasons(void *handle, unsigned long long *reasons) {
  struct gpu *gpu = enter(handle);
  *reasons = 4;
  return leave(gpu, SUCCESS);
}

EXPORT nvmlReturn_t nvmlDeviceGetFieldValues(void *handle, int count, nvmlFieldValue_t *values) {
  struct gpu *gpu = enter(handle);
  for (int i = 0; i < count; i++) {
    nvmlFieldValue_t *value = &values[i];
    char name[32];
    snprintf(name, sizeof name, "field%u", value->fieldId);
    // What a board without NVLink, and a GPU with all else, answers.
    int isLink = (value->fieldId >= 38 && value->fieldId <= 59) || value->fieldId == 138 || value->fieldId == 139;
    if (isLink && value->fieldId >= 138 && value->scopeId != 0xffffffff) refuse("throughput of a single link");
    int isHealthy = value->fieldId == 230 || (value->fieldId >= 142 && value->fieldId <= 145);
    long long usual = isHealthy ? 0 : value->fieldId == 82 ? 50 : (long long)value->fieldId * 1000;
    long long found = of(gpu, name, isLink ? -1 : usual);
    value->nvmlReturn = found < 0 ? NOT_SUPPORTED : SUCCESS;
    value->valueType = value->fieldId == 82 || value->fieldId == 186 ? 1 : 3;
    value->value.ullVal = (unsigned long long)(found < 0 ? 0 : found);
  }
  return leave(gpu, SUCCESS);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

// A number of a process of a GPU: `gpu0.process1.pid`.
static long long of_process(const struct gpu *gpu, unsigned at, const char *name, long long fallback) {
  char key[64];
  snprintf(key, sizeof key, "process%u.%s", at, name);
  return of_device(gpu, key, fallback);
}

EXPORT nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(void *handle, unsigned *count, nvmlProcessInfo_t *infos) {
  struct gpu *gpu = enter(handle);
  unsigned found = (unsigned)of_device(gpu, "processes", 0), room = *count;
  *count = found;
  if (found > room) return leave(gpu, INSUFFICIENT_SIZE);
  for (unsigned i = 0; i < found; i++)
    infos[i] = (nvmlProcessInfo_t){
      .pid = (unsigned)of_process(gpu, i, "pid", 0),
      .usedGpuMemory = (unsigned long long)of_process(gpu, i, "memory", -1),
      .gpuInstanceId = 0xffffffff, .computeInstanceId = 0xffffffff};
  return leave(gpu, SUCCESS);
}

// The first process draws too, with the same memory.
EXPORT nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v3(void *handle, unsigned *count, nvmlProcessInfo_t *infos) {
  struct gpu *gpu = enter(handle);
  unsigned found = of_device(gpu, "processes", 0) > 0 && of(gpu, "draws", 0) != 0, room = *count;
  *count = found;
  if (found > room) return leave(gpu, INSUFFICIENT_SIZE);
  if (found != 0) infos[0] = (nvmlProcessInfo_t){.pid = (unsigned)of_process(gpu, 0, "pid", 0), .usedGpuMemory = (unsigned long long)of_process(gpu, 0, "memory", -1)};
  return leave(gpu, SUCCESS);
}

// Two samples of each process that ran: the mean is `sm`.
EXPORT nvmlReturn_t nvmlDeviceGetProcessUtilization(void *handle, nvmlProcessUtilizationSample_t *samples, unsigned *count, unsigned long long since) {
  struct gpu *gpu = enter(handle);
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  unsigned long long now = (unsigned long long)time.tv_sec * 1000000 + (unsigned long long)time.tv_nsec / 1000;
  unsigned processes = (unsigned)of_device(gpu, "processes", 0), room = *count, found = 0;
  if (of(gpu, "process_use", 1) == 0 || of(gpu, "mig", 0) != 0) return leave(gpu, NOT_SUPPORTED);
  for (unsigned i = 0; i < processes; i++) {
    long long sm = of_process(gpu, i, "sm", 0);
    if (sm == 0) continue;
    for (unsigned half = 0; half < 2; half++, found++)
      if (found < room)
        samples[found] = (nvmlProcessUtilizationSample_t){
          .pid = (unsigned)of_process(gpu, i, "pid", 0), .timeStamp = now - half, .smUtil = (unsigned)(half == 0 ? sm - 1 : sm + 1)};
  }
  *count = found;
  if (found > room) return leave(gpu, INSUFFICIENT_SIZE);
  return leave(gpu, found == 0 || since >= now ? NOT_FOUND : SUCCESS);
}

// A number of a virtual GPU of a GPU: `gpu0.vgpu1.used_mib`.
static long long of_vgpu(const struct gpu *gpu, unsigned at, const char *name, long long fallback) {
  char key[64];
  snprintf(key, sizeof key, "vgpu%u.%s", at, name);
  return of(gpu, key, fallback);
}

// The number of a virtual GPU: that of its GPU and its place, if the scenario gives it no other.
static unsigned vgpu_id(const struct gpu *gpu, unsigned at) { return (unsigned)of_vgpu(gpu, at, "id", (gpu->index + 1) * VGPUS + at); }

// Only a driver that is a vGPU manager has virtual GPUs: `gpu0.vgpus` is their number, none is any other driver.
EXPORT nvmlReturn_t nvmlDeviceGetHostVgpuMode(void *handle, int *mode) {
  struct gpu *gpu = enter(handle);
  *mode = 1;
  if (of(gpu, "vgpus_unknown", 0)) return leave(gpu, UNKNOWN);
  return leave(gpu, of(gpu, "vgpus", -1) < 0 ? NOT_SUPPORTED : SUCCESS);
}

EXPORT nvmlReturn_t nvmlDeviceGetActiveVgpus(void *handle, unsigned *count, unsigned *ids) {
  struct gpu *gpu = enter(handle);
  long long found = of(gpu, "vgpus", -1);
  unsigned room = *count;
  if (found < 0 || of(gpu, "vgpus_refused", 0)) return leave(gpu, NOT_SUPPORTED);
  *count = (unsigned)found;
  if (found > room) return leave(gpu, INSUFFICIENT_SIZE);
  for (unsigned i = 0; i < found; i++) ids[i] = vgpu_id(gpu, i);
  return leave(gpu, SUCCESS);
}

// One sample of each virtual GPU that the driver has sampled: `gpu0.vgpu1.sm`.
EXPORT nvmlReturn_t nvmlDeviceGetVgpuUtilization(void *handle, unsigned long long since, int *type, unsigned *count, nvmlVgpuInstanceUtilizationSample_t *samples) {
  struct gpu *gpu = enter(handle);
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  unsigned long long now = (unsigned long long)time.tv_sec * 1000000 + (unsigned long long)time.tv_nsec / 1000;
  long long vgpus = of(gpu, "vgpus", -1);
  unsigned room = *count, found = 0;
  if (vgpus < 0 || of(gpu, "vgpu_use", 1) == 0) return leave(gpu, NOT_SUPPORTED);
  for (unsigned i = 0; i < vgpus; i++) {
    long long sm = of_vgpu(gpu, i, "sm", -1);
    if (sm < 0) continue;
    if (found < room)
      samples[found] = (nvmlVgpuInstanceUtilizationSample_t){
        .vgpuInstance = vgpu_id(gpu, i), .timeStamp = now, .smUtil.uiVal = (unsigned)sm, .memUtil.uiVal = 5, .encUtil.uiVal = 6, .decUtil.uiVal = 7};
    found++;
  }
  *count = found;
  *type = 1;
  if (found > room) return leave(gpu, INSUFFICIENT_SIZE);
  return leave(gpu, found == 0 || since >= now ? NOT_FOUND : SUCCESS);
}

// The GPU and the place of a virtual GPU; NULL if it has ended.
static struct gpu *find_vgpu(unsigned id, unsigned *place) {
  if (!atomic_load(&begun)) refuse("a call before nvmlInit");
  for (int i = 0; i < GPUS; i++) {
    long long found = of(&gpus[i], "vgpus", -1);
    for (unsigned at = 0; at < found; at++)
      if (vgpu_id(&gpus[i], at) == id && !of_vgpu(&gpus[i], at, "ended", 0)) {
        *place = at;
        return &gpus[i];
      }
  }
  return NULL;
}

#define OF_VGPU(signature, body) EXPORT nvmlReturn_t signature { unsigned at; struct gpu *gpu = find_vgpu(id, &at); if (gpu == NULL) return NOT_FOUND; body; return SUCCESS; }
OF_VGPU(nvmlVgpuInstanceGetUUID(unsigned id, char *text, unsigned length), snprintf(text, length, "%08lld-0000-0000-0000-000000000000", of_vgpu(gpu, at, "uuid", at)))
OF_VGPU(nvmlVgpuInstanceGetType(unsigned id, unsigned *type), *type = (unsigned)of_vgpu(gpu, at, "type", 2))
OF_VGPU(nvmlVgpuInstanceGetFbUsage(unsigned id, unsigned long long *bytes), *bytes = (unsigned long long)of_vgpu(gpu, at, "used_mib", 100) << 20)
EXPORT nvmlReturn_t nvmlVgpuInstanceGetVmID(unsigned id, char *text, unsigned length, int *type) {
  unsigned at;
  struct gpu *gpu = find_vgpu(id, &at);
  if (gpu == NULL) return NOT_FOUND;
  *type = 1;
  snprintf(text, length, "vm-%lld", of_vgpu(gpu, at, "vm", at));
  return SUCCESS;
}

// A type has as many GiB as its number says.
EXPORT nvmlReturn_t nvmlVgpuTypeGetName(unsigned type, char *text, unsigned *length) { snprintf(text, *length, "Double H100-%uC", type); return SUCCESS; }
EXPORT nvmlReturn_t nvmlVgpuTypeGetFramebufferSize(unsigned type, unsigned long long *bytes) { *bytes = (unsigned long long)type << 30; return SUCCESS; }

EXPORT nvmlReturn_t nvmlGpmQueryDeviceSupport(void *handle, nvmlGpmSupport_t *support) {
  struct gpu *gpu = enter(handle);
  support->isSupportedDevice = (unsigned)of(gpu, "gpm", 1);
  return leave(gpu, support->version == 1 ? SUCCESS : INVALID);
}

EXPORT nvmlReturn_t nvmlGpmSampleAlloc(void **sample) { *sample = calloc(1, sizeof(struct sample)); return SUCCESS; }
EXPORT nvmlReturn_t nvmlGpmSampleFree(void *sample) { free(sample); return SUCCESS; }
EXPORT nvmlReturn_t nvmlGpmSampleGet(void *handle, void *given) {
  struct gpu *gpu = enter(handle);
  struct sample *sample = given;
  usleep((useconds_t)of(gpu, "gpm_us", 0));
  sample->gpu = gpu;
  sample->instance = ~0u;
  sample->seconds = now();
  return leave(gpu, SUCCESS);
}

EXPORT nvmlReturn_t nvmlGpmMigSampleGet(void *handle, unsigned instance, void *given) {
  struct gpu *gpu = enter(handle);
  struct sample *sample = given;
  sample->gpu = gpu;
  sample->instance = instance;
  sample->seconds = now();
  return leave(gpu, SUCCESS);
}

EXPORT nvmlReturn_t nvmlGpmMetricsGet(nvmlGpmMetricsGet_t *get) {
  struct sample *before = get->sample1, *after = get->sample2;
  if (get->version != 1 || before->gpu == NULL || before->gpu != after->gpu || before->instance != after->instance) return INVALID;
  if (after->seconds - before->seconds < 0.1) refuse("samples that are less than 100 ms apart, or in the wrong order");
  for (unsigned i = 0; i < get->numMetrics; i++) {
    nvmlGpmMetric_t *metric = &get->metrics[i];
    metric->nvmlReturn = metric->metricId == 60 ? NOT_SUPPORTED : SUCCESS;
    // Of an instance, the values are higher by its id.
    metric->value = metric->metricId == 61 ? 0.0 / 0.0 : metric->metricId + (after->instance == ~0u ? 0 : after->instance);
  }
  return SUCCESS;
}

EXPORT nvmlReturn_t nvmlEventSetCreate(void **set) { *set = calloc(1, sizeof(struct set)); return SUCCESS; }
EXPORT nvmlReturn_t nvmlEventSetFree(void *set) { free(set); return SUCCESS; }
EXPORT nvmlReturn_t nvmlDeviceRegisterEvents(void *handle, unsigned long long mask, void *set) {
  struct gpu *gpu = enter(handle);
  if (of(gpu, "events", 1) == 0) return leave(gpu, NOT_SUPPORTED);
  ((struct set *)set)->gpu = gpu;
  gpu->xid_told = (int)of(gpu, "xids", 0);
  return leave(gpu, mask == 8 ? SUCCESS : INVALID);
}

EXPORT nvmlReturn_t nvmlEventSetWait_v2(void *given, nvmlEventData_t *event, unsigned timeout) {
  struct gpu *gpu = ((struct set *)given)->gpu;
  if (timeout != 0) refuse("a wait for events");
  if (gpu->xid_told >= (int)of(gpu, "xids", 0)) return TIMED_OUT;
  gpu->xid_told++;
  *event = (nvmlEventData_t){.device = gpu, .eventType = 8, .eventData = (unsigned long long)of(gpu, "xid", 79)};
  return SUCCESS;
}

// What the layout of the binding is compared with.
EXPORT const char *sonde_nvml_layout(void) {
  static char text[1024];
  snprintf(text, sizeof text, "{\"pci\":[%zu,%zu],\"memory\":[%zu,%zu,%zu,%zu,%zu],\"field\":[%zu,%zu,%zu,%zu,%zu],\"event\":[%zu,%zu,%zu],\"metric\":[%zu,%zu,%zu],\"get\":[%zu,%zu,%zu],\"process\":[%zu,%zu,%zu],\"use\":[%zu,%zu,%zu],\"vgpu_use\":[%zu,%zu,%zu,%zu,%zu,%zu],\"attributes\":[%zu,%zu,%zu],\"fabric\":[%zu,%zu,%zu,%zu,%zu,%zu,%zu]}",
    sizeof(nvmlPciInfo_t), offsetof(nvmlPciInfo_t, busId),
    sizeof(nvmlMemory_v2_t), offsetof(nvmlMemory_v2_t, total), offsetof(nvmlMemory_v2_t, reserved), offsetof(nvmlMemory_v2_t, free), offsetof(nvmlMemory_v2_t, used),
    sizeof(nvmlFieldValue_t), offsetof(nvmlFieldValue_t, scopeId), offsetof(nvmlFieldValue_t, valueType), offsetof(nvmlFieldValue_t, nvmlReturn), offsetof(nvmlFieldValue_t, value),
    sizeof(nvmlEventData_t), offsetof(nvmlEventData_t, eventType), offsetof(nvmlEventData_t, eventData),
    sizeof(nvmlGpmMetric_t), offsetof(nvmlGpmMetric_t, nvmlReturn), offsetof(nvmlGpmMetric_t, value),
    offsetof(nvmlGpmMetricsGet_t, sample1), offsetof(nvmlGpmMetricsGet_t, sample2), offsetof(nvmlGpmMetricsGet_t, metrics),
    sizeof(nvmlProcessInfo_t), offsetof(nvmlProcessInfo_t, usedGpuMemory), offsetof(nvmlProcessInfo_t, gpuInstanceId),
    sizeof(nvmlProcessUtilizationSample_t), offsetof(nvmlProcessUtilizationSample_t, timeStamp), offsetof(nvmlProcessUtilizationSample_t, smUtil),
    sizeof(nvmlVgpuInstanceUtilizationSample_t), offsetof(nvmlVgpuInstanceUtilizationSample_t, timeStamp), offsetof(nvmlVgpuInstanceUtilizationSample_t, smUtil), offsetof(nvmlVgpuInstanceUtilizationSample_t, memUtil), offsetof(nvmlVgpuInstanceUtilizationSample_t, encUtil), offsetof(nvmlVgpuInstanceUtilizationSample_t, decUtil),
    sizeof(nvmlDeviceAttributes_t), offsetof(nvmlDeviceAttributes_t, gpuInstanceSliceCount), offsetof(nvmlDeviceAttributes_t, memorySizeMB),
    sizeof(nvmlGpuFabricInfo_v3_t), offsetof(nvmlGpuFabricInfo_v3_t, clusterUuid), offsetof(nvmlGpuFabricInfo_v3_t, status), offsetof(nvmlGpuFabricInfo_v3_t, cliqueId), offsetof(nvmlGpuFabricInfo_v3_t, state), offsetof(nvmlGpuFabricInfo_v3_t, healthMask), offsetof(nvmlGpuFabricInfo_v3_t, healthSummary));
  return text;
}
