// Layouts and numbers of the headers of the DOCA Telemetry libraries, for LP64 and little-endian machines. Unit of
// offsets and sizes: bytes. The test of this file compares them with numbers that a C compiler gave.

/** Sizes of the texts that `doca_devinfo_get_…` writes, with their NUL. */
export const TEXT_BYTES = { pciAddress: 13, interface: 256, ibDevice: 64 } as const

/** Names of `doca_error_t`, by number. */
export const ERROR_NAMES = [
  'SUCCESS',
  'UNKNOWN',
  'NOT_PERMITTED',
  'IN_USE',
  'NOT_SUPPORTED',
  'AGAIN',
  'INVALID_VALUE',
  'NO_MEMORY',
  'INITIALIZATION',
  'TIME_OUT',
  'SHUTDOWN',
  'CONNECTION_RESET',
  'CONNECTION_ABORTED',
  'CONNECTION_INPROGRESS',
  'NOT_CONNECTED',
  'NO_LOCK',
  'NOT_FOUND',
  'IO_FAILED',
  'BAD_STATE',
  'UNSUPPORTED_VERSION',
  'OPERATING_SYSTEM',
  'DRIVER',
  'UNEXPECTED',
  'ALREADY_EXIST',
  'FULL',
  'EMPTY',
  'IN_PROGRESS',
  'TOO_BIG',
  'AUTHENTICATION',
  'BAD_CONFIG',
  'SKIPPED',
  'DEVICE_FATAL_ERROR',
] as const

/** Name of an error, without `DOCA_ERROR_`. */
export type DocaErrorName = (typeof ERROR_NAMES)[number]

/** `doca_telemetry_adp_retx_hist_time_unit`, a bitmap, and the length of each unit. Unit: seconds. */
export const TIME_UNITS = [
  { bit: 0x4, seconds: 1e-4, name: 'USEC_100' },
  { bit: 0x2, seconds: 1e-6, name: 'USEC' },
  { bit: 0x8, seconds: 1e-3, name: 'MSEC' },
  { bit: 0x1, seconds: 1e-9, name: 'NSEC' },
] as const

/** `doca_telemetry_adp_retx_hist_bin_width_mode`. */
export const BIN_WIDTH_MODE = { FIXED: 0, DOUBLE: 1 } as const
/** `doca_telemetry_diag_sync_mode`. @public */
export const SYNC_MODE = { NO_SYNC: 0, SYNC_START: 1 } as const

/** `doca_telemetry_diag_sample_mode`. */
export const SAMPLE_MODE = { SINGLE: 0, REPETITIVE: 1, ON_DEMAND: 2 } as const

/** `doca_telemetry_diag_timestamp_source`. */
export const TIMESTAMP_SOURCE = { FRC: 0, RTC: 1 } as const

/** `doca_telemetry_diag_output_format`. */
export const OUTPUT_FORMAT = { FORMAT_0: 0, FORMAT_1: 1, FORMAT_2: 2 } as const

/** A sample of format 1: a header, then a u64 for each applied counter, in their order. */
export const SAMPLE_1 = {
  sampleId: 0,
  earliestHigh: 4,
  earliestLow: 8,
  latestLow: 12,
  values: 16,
  valueBytes: 8,
} as const

/** Size of a sample of so many counters in format 1, without padding. Unit: bytes. */
export function sampleBytesOf(counters: number): number {
  return SAMPLE_1.values + SAMPLE_1.valueBytes * counters
}
