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

/** `doca_telemetry_adp_retx_hist_time_unit`, a bitmap, and what a unit lasts. Unit: seconds. */
export const TIME_UNITS = [
  { bit: 0x4, seconds: 1e-4, name: '100 us' },
  { bit: 0x2, seconds: 1e-6, name: 'us' },
  { bit: 0x8, seconds: 1e-3, name: 'ms' },
  { bit: 0x1, seconds: 1e-9, name: 'ns' },
] as const

/** `doca_telemetry_adp_retx_hist_bin_width_mode`. */
export const BIN_WIDTH_MODE = { FIXED: 0, DOUBLE: 1 } as const
