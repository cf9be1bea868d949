// The functions of libnvidia-ml that are called, with the types of their parameters as koffi spells them. All answer
// with a `nvmlReturn_t`. A handle is an address; where a function writes, it is given memory.

const handle = 'void *'
const memory = 'void *'
const getter = [handle, memory]
const text = [handle, memory, 'uint32_t']
/** A virtual GPU is a number, not an address. */
const vgpu = 'uint32_t'

/** Every function, by name. */
export const SYMBOLS = {
  nvmlInit_v2: [],
  nvmlSystemGetDriverVersion: [memory, 'uint32_t'],
  nvmlDeviceGetCount_v2: [memory],
  nvmlDeviceGetHandleByIndex_v2: ['uint32_t', memory],
  nvmlDeviceGetName: text,
  nvmlDeviceGetUUID: text,
  nvmlDeviceGetSerial: text,
  nvmlDeviceGetVbiosVersion: text,
  nvmlDeviceGetMinorNumber: getter,
  nvmlDeviceGetPciInfo_v3: getter,
  nvmlDeviceGetPowerManagementLimitConstraints: [handle, memory, memory],
  nvmlDeviceGetPowerManagementDefaultLimit: getter,
  nvmlDeviceGetMaxClockInfo: [handle, 'uint32_t', memory],
  nvmlDeviceGetTemperatureThreshold: [handle, 'uint32_t', memory],
  nvmlDeviceGetMaxPcieLinkGeneration: getter,
  nvmlDeviceGetMaxPcieLinkWidth: getter,
  nvmlDeviceGetNvLinkState: [handle, 'uint32_t', memory],
  nvmlDeviceGetUtilizationRates: getter,
  nvmlDeviceGetEncoderUtilization: [handle, memory, memory],
  nvmlDeviceGetDecoderUtilization: [handle, memory, memory],
  nvmlDeviceGetMemoryInfo_v2: getter,
  nvmlDeviceGetTemperature: [handle, 'uint32_t', memory],
  nvmlDeviceGetPowerUsage: getter,
  nvmlDeviceGetEnforcedPowerLimit: getter,
  nvmlDeviceGetPowerManagementLimit: getter,
  nvmlDeviceGetClockInfo: [handle, 'uint32_t', memory],
  nvmlDeviceGetPerformanceState: getter,
  nvmlDeviceGetCurrentClocksEventReasons: getter,
  nvmlDeviceGetCurrentClocksThrottleReasons: getter,
  nvmlDeviceGetCurrPcieLinkGeneration: getter,
  nvmlDeviceGetCurrPcieLinkWidth: getter,
  nvmlDeviceGetMigMode: [handle, memory, memory],
  nvmlDeviceGetMaxMigDeviceCount: getter,
  nvmlDeviceGetMigDeviceHandleByIndex: [handle, 'uint32_t', memory],
  nvmlDeviceGetGpuInstanceId: getter,
  nvmlDeviceGetAttributes_v2: getter,
  nvmlDeviceGetGpuFabricInfoV: getter,
  nvmlDeviceGetComputeRunningProcesses_v3: [handle, memory, memory],
  nvmlDeviceGetGraphicsRunningProcesses_v3: [handle, memory, memory],
  nvmlDeviceGetMPSComputeRunningProcesses_v3: [handle, memory, memory],
  nvmlDeviceGetProcessUtilization: [handle, memory, memory, 'uint64_t'],
  nvmlDeviceGetFieldValues: [handle, 'int', memory],
  nvmlDeviceGetHostVgpuMode: getter,
  nvmlDeviceGetActiveVgpus: [handle, memory, memory],
  nvmlDeviceGetVgpuUtilization: [handle, 'uint64_t', memory, memory, memory],
  nvmlVgpuInstanceGetUUID: [vgpu, memory, 'uint32_t'],
  nvmlVgpuInstanceGetVmID: [vgpu, memory, 'uint32_t', memory],
  nvmlVgpuInstanceGetType: [vgpu, memory],
  nvmlVgpuInstanceGetFbUsage: [vgpu, memory],
  nvmlVgpuTypeGetName: ['uint32_t', memory, memory],
  nvmlVgpuTypeGetFramebufferSize: ['uint32_t', memory],
  nvmlGpmQueryDeviceSupport: getter,
  nvmlGpmSampleAlloc: [memory],
  nvmlGpmSampleFree: [handle],
  nvmlGpmSampleGet: [handle, handle],
  nvmlGpmMigSampleGet: [handle, 'uint32_t', handle],
  nvmlGpmMetricsGet: [memory],
  nvmlEventSetCreate: [memory],
  nvmlEventSetFree: [handle],
  nvmlDeviceRegisterEvents: [handle, 'uint64_t', handle],
  nvmlEventSetWait_v2: [handle, memory, 'uint32_t'],
} as const satisfies Readonly<Record<string, readonly string[]>>

/** A function of the library. */
export type NvmlSymbol = keyof typeof SYMBOLS

/** A symbol that only stand-ins for NVIDIA's library have. */
export const DOUBLE_SYMBOL = 'sonde_nvml_double'
