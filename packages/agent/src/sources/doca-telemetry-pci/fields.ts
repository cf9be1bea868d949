import type { PciCounters, PciLink } from '../../native/doca/pci.ts'
import type { StructureTable } from '../doca/structure-fields.ts'
import { Missing } from '../field-absences.ts'

/** Highest rate at which a link can have errors: far more than it has packets. */
const EVENTS_PER_S = 1e9

const UNKNOWN = new Missing('unsupported', 'the device gives no number that is known')
const NO_RATIO = new Missing('unsupported', 'the device gives no ratio')

/** Fields of `doca_pci` that the state of the link gives. */
export const LINK_FIELDS = {
  link_generation: { of: ({ generation }) => generation, missing: UNKNOWN },
  link_generation_enabled: { of: ({ generationEnabled }) => generationEnabled, missing: UNKNOWN },
  link_peer_generation_max: { of: ({ peerGeneration }) => peerGeneration },
  link_width_lanes: { of: ({ lanes }) => lanes },
  link_width_enabled_lanes: { of: ({ lanesEnabled }) => lanesEnabled },
  max_payload_bytes: { of: ({ payloadBytes }) => payloadBytes },
  max_read_request_bytes: { of: ({ readRequestBytes }) => readRequestBytes },
  power_limit_watts: { of: ({ watts }) => watts },
  physical_functions: { of: ({ physicalFunctions }) => physicalFunctions },
  virtual_functions: { of: ({ virtualFunctions }) => virtualFunctions },
} as const satisfies StructureTable<PciLink>

const eventsPerS = EVENTS_PER_S

/** Fields of `doca_pci` that the counters give. */
export const COUNTER_FIELDS = {
  overflow_packets_total: { of: ({ overflowPackets }) => overflowPackets },
  overflow_marked_packets_total: { of: ({ overflowMarked }) => overflowMarked },
  rx_errors_total: { of: ({ rxErrors }) => rxErrors, eventsPerS },
  tx_errors_total: { of: ({ txErrors }) => txErrors, eventsPerS },
  crc_dllp_errors_total: { of: ({ dllpErrors }) => dllpErrors, eventsPerS },
  crc_tlp_errors_total: { of: ({ tlpErrors }) => tlpErrors, eventsPerS },
  l0_to_recovery_total: { of: ({ recoveries }) => recoveries, eventsPerS },
  fec_correctable_errors_total: { of: ({ fecCorrectable }) => fecCorrectable, eventsPerS },
  fec_uncorrectable_errors_total: { of: ({ fecUncorrectable }) => fecUncorrectable, eventsPerS },
  outbound_stalled_reads_ratio: { of: ({ stalledReads }) => stalledReads },
  outbound_stalled_writes_ratio: { of: ({ stalledWrites }) => stalledWrites },
  outbound_stalled_reads_events_total: { of: ({ stalledReadEvents }) => stalledReadEvents, eventsPerS },
  outbound_stalled_writes_events_total: { of: ({ stalledWriteEvents }) => stalledWriteEvents, eventsPerS },
  effective_bit_error_ratio: { of: ({ effectiveRatio }) => effectiveRatio, missing: NO_RATIO },
  fber_ratio: { of: ({ fberRatio }) => fberRatio, missing: NO_RATIO },
} as const satisfies StructureTable<PciCounters>
