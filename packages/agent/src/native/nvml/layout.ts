// Structures and numbers of nvml.h, API version 13, on 64-bit machines. Offsets and sizes in bytes.

/** `nvmlReturn_t`, by number; what is not listed has no name here. */
export const ERROR_NAMES: Readonly<Record<number, string>> = {
  1: 'UNINITIALIZED',
  2: 'INVALID_ARGUMENT',
  3: 'NOT_SUPPORTED',
  4: 'NO_PERMISSION',
  6: 'NOT_FOUND',
  7: 'INSUFFICIENT_SIZE',
  8: 'INSUFFICIENT_POWER',
  9: 'DRIVER_NOT_LOADED',
  10: 'TIMEOUT',
  11: 'IRQ_ISSUE',
  12: 'LIBRARY_NOT_FOUND',
  13: 'FUNCTION_NOT_FOUND',
  14: 'CORRUPTED_INFOROM',
  15: 'GPU_IS_LOST',
  16: 'RESET_REQUIRED',
  17: 'OPERATING_SYSTEM',
  18: 'LIB_RM_VERSION_MISMATCH',
  19: 'IN_USE',
  20: 'MEMORY',
  21: 'NO_DATA',
  23: 'INSUFFICIENT_RESOURCES',
  25: 'ARGUMENT_VERSION_MISMATCH',
  26: 'DEPRECATED',
  27: 'NOT_READY',
  28: 'GPU_NOT_FOUND',
  29: 'INVALID_STATE',
  999: 'UNKNOWN',
}

/** Nothing went wrong. */
export const SUCCESS = 0
/** An argument is wrong: also an index of a MIG instance that does not exist. */
export const INVALID_ARGUMENT = 2
/** There is nothing, such as no process that used the GPU. */
export const NOT_FOUND = 6
/** A list is longer than the memory for it. */
export const INSUFFICIENT_SIZE = 7
/** There is no data, as where GPM has no number. */
export const NO_DATA = 21

/** Room for a text of any function that is called. */
export const TEXT_BYTES = 96

/** `nvmlUtilization_t`. Unit of both: percent. */
export const UTILIZATION = { gpu: 0, memory: 4 } as const

/** `nvmlMemory_v2_t`. Unit of all but `version`: bytes. */
export const MEMORY = { bytes: 40, version: 0x0200_0028, total: 8, reserved: 16, free: 24, used: 32 } as const

/** `nvmlProcessInfo_t`. Unit of `memory`: bytes; all bits are set if the driver does not know it. */
export const PROCESS = { bytes: 24, pid: 0, memory: 8, gpuInstance: 16 } as const
/** `nvmlProcessUtilizationSample_t`. Unit of `time`: microseconds since the Unix epoch; of `sm`: percent. */
export const PROCESS_SAMPLE = { bytes: 32, pid: 0, time: 8, sm: 16 } as const

/** `nvmlVgpuInstance_t`: the number of a virtual GPU. */
export const VGPU = { bytes: 4 } as const
/**
 * `nvmlVgpuInstanceUtilizationSample_t`. Unit of `time`: microseconds since the Unix epoch; of the others: percent, as
 * numbers of 32 bits in a union of 8 bytes.
 */
export const VGPU_SAMPLE = { bytes: 48, vgpu: 0, time: 8, sm: 16, memory: 24, encoder: 32, decoder: 40 } as const

/** `nvmlDeviceAttributes_t`: slices of the GPU instance, and its memory. Unit of the memory: MB, of 2^20 bytes. */
export const ATTRIBUTES = { bytes: 40, slices: 24, memoryMb: 32 } as const

/**
 * `nvmlGpuFabricInfo_v3_t`. Version 2 ends before `summary`. `status` counts only if the state is 3. Each condition of
 * the mask has two bits, in the order of {@link FABRIC_CONDITIONS}: 0 not supported, 1 true, 2 false.
 */
export const FABRIC = {
  ...{ bytes: 40, version3: 0x0300_0028, version2: 0x0200_0024 },
  ...{ cluster: 4, clusterBytes: 16, status: 20, clique: 24, state: 28, mask: 32, summary: 36 },
} as const
/** Conditions of `healthMask`, from its lowest bits. */
export const FABRIC_CONDITIONS = [
  'degraded_bandwidth',
  'route_recovery',
  'route_unhealthy',
  'access_timeout_recovery',
] as const

/** `nvmlPciInfo_t`: where the address as text is. */
export const PCI_INFO = { bytes: 68, busId: 36 } as const

/** `nvmlFieldValue_t`. */
export const FIELD = { bytes: 40, id: 0, scope: 4, type: 24, result: 28, value: 32 } as const

/** `nvmlFieldValue_t.scopeId` of a value of all NVLink links together. */
export const ALL_LINKS = 0xffff_ffff

/** `nvmlEventData_t`. */
export const EVENT = { bytes: 32, type: 8, data: 16 } as const
/** `nvmlEventTypeXidCriticalError`. */
export const EVENT_XID = 0x8n

/** `nvmlGpmSupport_t`. */
export const GPM_SUPPORT = { bytes: 8, version: 1, isSupported: 4 } as const
/**
 * `nvmlGpmMetricsGet_t`: a head, followed by metrics. The library uses their number; newer libraries know more metrics
 * than the version says.
 */
export const GPM_GET = { version: 1, count: 4, before: 8, after: 16, metrics: 24 } as const
/** `nvmlGpmMetric_t`. */
export const GPM_METRIC = { bytes: 40, id: 0, result: 4, value: 8 } as const

/** `nvmlClockType_t`. */
export const CLOCK = { sm: 1, memory: 2 } as const

/** `nvmlTemperatureThresholds_t`. */
export const THRESHOLD = { shutdown: 0, slowdown: 1, memoryMax: 2, gpuMax: 3 } as const

/** `nvmlFieldValue_t.valueType` of 8 bytes, and of those with a sign. */
const WIDE = { double: 0, ulong: 2, ullong: 3, sllong: 4 } as const
const SIGNED_INT = 5
const USHORT = 6

/** The value in a `nvmlFieldValue_t` at an offset. */
export function fieldValueAt(view: DataView, offset: number): number | bigint {
  const at = offset + FIELD.value
  const type = view.getInt32(offset + FIELD.type, true)
  if (type === WIDE.double) return view.getFloat64(at, true)
  if (type === WIDE.ulong || type === WIDE.ullong) return view.getBigUint64(at, true)
  if (type === WIDE.sllong) return view.getBigInt64(at, true)
  if (type === SIGNED_INT) return view.getInt32(at, true)
  if (type === USHORT) return view.getUint16(at, true)
  return view.getUint32(at, true)
}
