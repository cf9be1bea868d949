import type { LinkCounters, LinkState, ModuleLane, ModuleState } from '../../native/doca/phy.ts'
import type { StructureTable } from '../doca/structure-fields.ts'
import { Missing } from '../field-absences.ts'

/** Highest rate at which a link can fail. */
const EVENTS_PER_S = 1e6

const NO_RATIO = new Missing('unsupported', 'the adapter gives no ratio')
const NO_SENSOR = new Missing('unsupported', 'the module has no such sensor')
const DOWN = new Missing('unsupported', 'the link is down')
const ON_INFINIBAND = new Missing('unsupported', 'counted on InfiniBand only')

/** Fields of `doca_phy` that the state of the link gives. */
export const LINK_FIELDS = {
  link_up: { of: ({ isUp }) => (isUp ? 1 : 0) },
  speed_bytes_per_second: { of: ({ bytesPerSecond }) => bytesPerSecond, missing: DOWN },
  lanes: { of: ({ lanes }) => lanes, missing: DOWN },
} as const satisfies StructureTable<LinkState>

/** Fields of `doca_phy` that the counters give. */
export const COUNTER_FIELDS = {
  link_down_total: { of: ({ linkDowns }) => linkDowns, eventsPerS: EVENTS_PER_S },
  link_recovery_total: { of: ({ recoveries }) => recoveries, eventsPerS: EVENTS_PER_S },
  symbol_errors_total: { of: ({ symbolErrors }) => symbolErrors, missing: ON_INFINIBAND },
  effective_errors_total: { of: ({ effectiveErrors }) => effectiveErrors },
  raw_bit_error_ratio: { of: ({ rawRatio }) => rawRatio, missing: NO_RATIO },
  effective_bit_error_ratio: { of: ({ effectiveRatio }) => effectiveRatio, missing: NO_RATIO },
  symbol_error_ratio: { of: ({ symbolRatio }) => symbolRatio, missing: ON_INFINIBAND },
} as const satisfies StructureTable<LinkCounters>

/** Fields of `doca_phy` that the module gives. */
export const MODULE_FIELDS = {
  temperature_celsius: { of: ({ celsius }) => celsius, missing: NO_SENSOR },
  temperature_high_celsius: { of: ({ highCelsius }) => highCelsius, missing: NO_SENSOR },
  supply_volts: { of: ({ volts }) => volts, missing: NO_SENSOR },
  round_trip_seconds: {
    of: ({ roundTripSeconds }) => roundTripSeconds,
    missing: new Missing('unsupported', 'the adapter does not measure the round trip of this link'),
  },
} as const satisfies StructureTable<ModuleState>

/** Fields of `doca_phy_lane` that the counters give. */
export const LANE_COUNTER_FIELDS = {
  raw_errors_total: { of: ({ errors }) => errors },
  raw_bit_error_ratio: { of: ({ ratio }) => ratio, missing: NO_RATIO },
} as const satisfies StructureTable<LinkCounters['lanes'][number]>

/** Fields of `doca_phy_lane` that the module gives. */
export const LANE_MODULE_FIELDS = {
  tx_bias_amperes: { of: ({ txBiasAmperes }) => txBiasAmperes, missing: NO_SENSOR },
  tx_power_dbm: { of: ({ txPowerDbm }) => txPowerDbm, missing: NO_SENSOR },
  rx_power_dbm: { of: ({ rxPowerDbm }) => rxPowerDbm, missing: NO_SENSOR },
  rx_los: { of: ({ hasLostSignal }) => (hasLostSignal ? 1 : 0) },
  snr_media_db: { of: ({ snrMediaDb }) => snrMediaDb, missing: NO_SENSOR },
} as const satisfies StructureTable<ModuleLane>
