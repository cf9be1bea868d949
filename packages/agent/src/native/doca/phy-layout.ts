// Layouts of the structures of `doca_telemetry_phy`, and its numbers. Unit of offsets: bytes. The test of this file
// compares the offsets with those that a C compiler computed.

/** Lanes of a port at most. */
export const MODULE_LANES_MAX = 8

/** `doca_telemetry_phy_operation_info`. */
export const OPERATION_INFO = { protocol: 0, state: 4, speed: 12, width: 16, fec: 20 } as const

/** `doca_telemetry_phy_counter_and_ber_info`. Ratios are pairs of u8: coefficient, magnitude. */
export const COUNTER_INFO = {
  lanes: 0,
  linkDowns: 4,
  recoveries: 8,
  protocol: 24,
  symbolErrors: 32,
  symbolRatio: 40,
  effectiveErrors: 48,
  effectiveRatio: 56,
  rawErrors: 64,
  rawRatios: 128,
  rawRatio: 144,
} as const

/** `doca_telemetry_phy_module_info`. */
export const MODULE_INFO = {
  lanes: 0,
  vendor: 20,
  partNumber: 37,
  serial: 54,
  hasDiagnostics: 148,
  temperature: 150,
  temperatureHigh: 154,
  voltage: 156,
  voltageHigh: 160,
  txBias: 172,
  txBiasHigh: 208,
  rxPower: 212,
  rxPowerHigh: 248,
  txPower: 252,
  txPowerHigh: 288,
  snrMedia: 316,
  rxLos: 383,
  roundTrip: 448,
} as const

/** Size of the texts of a module, with their NUL. */
export const MODULE_TEXT_BYTES = 17

/** `doca_telemetry_phy_protocol`. */
export const PROTOCOL = { IB: 1, ETH: 4 } as const

/** States of `doca_telemetry_phy_mng_state` in which the link is up. */
export const UP_STATES: readonly number[] = [3, 5]

/** `doca_telemetry_phy_eth_link_speed`, a bit for each speed of a port. Unit: megabits per second. */
export const ETHERNET_SPEEDS: ReadonlyMap<number, number> = new Map([
  ...([0x1, 0x2].map((bit) => [bit, 10]) as [number, number][]),
  ...([0x4, 0x8].map((bit) => [bit, 100]) as [number, number][]),
  ...([0x10, 0x20, 0x40, 0x400].map((bit) => [bit, 1000]) as [number, number][]),
  ...([0x80, 0x100, 0x2000, 0x4000].map((bit) => [bit, 10_000]) as [number, number][]),
  [0x1000, 5000],
  [0x8000, 25_000],
  [0x1_0000, 40_000],
  [0x2_0000, 50_000],
  [0x4_0000, 100_000],
  [0x8_0000, 200_000],
  [0x10_0000, 400_000],
  [0x20_0000, 800_000],
  [0x40_0000, 1_600_000],
])

/** `doca_telemetry_phy_ib_link_speed`, a bit for each data rate of a lane. Unit: megabits per second. */
export const INFINIBAND_SPEEDS: ReadonlyMap<number, number> = new Map([
  [0x1, 2500],
  [0x2, 5000],
  [0x4, 10_000],
  [0x8, 10_000],
  [0x10, 14_000],
  [0x20, 25_000],
  [0x40, 50_000],
  [0x80, 100_000],
  [0x100, 200_000],
])

/** `doca_telemetry_phy_fec_mode` in words, by number. */
export const FEC_MODES: readonly string[] = [
  'none',
  'Firecode',
  'RS 528/514',
  'low latency RS 271/257',
  'interleaved quad RS 544/514',
  'interleaved quad RS and PLR 546/516',
  'interleaved standard RS 544/514',
  'standard RS 544/514',
  'interleaved octet RS and PLR 546/516',
  'low latency RS 272/257',
  'interleaved low latency RS 272/257',
  'interleaved standard RS and PLR',
]
