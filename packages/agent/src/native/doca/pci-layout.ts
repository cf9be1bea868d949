// Layouts of the structures of `doca_telemetry_pci`. Unit of offsets: bytes. A test compares them with offsets that a C
// compiler computed.

/** `doca_telemetry_pci_management_info`. */
export const MANAGEMENT_INFO = {
  widthEnabled: 0,
  generationEnabled: 4,
  width: 8,
  generation: 12,
  readRequestBytes: 16,
  payloadBytes: 20,
  peerGeneration: 36,
  physicalFunctions: 40,
  virtualFunctions: 42,
  watts: 46,
} as const

/** `doca_telemetry_pci_perf_counters_1`. Ratios are pairs of u8: magnitude, coefficient. */
export const PERF_COUNTERS = {
  overflowPackets: 0,
  overflowMarked: 8,
  rxErrors: 16,
  txErrors: 20,
  dllpErrors: 24,
  tlpErrors: 28,
  stalledReads: 32,
  stalledWrites: 36,
  stalledReadEvents: 40,
  stalledWriteEvents: 44,
  fecCorrectable: 48,
  fecUncorrectable: 52,
  recoveries: 56,
  effectiveRatio: 60,
  fberRatio: 62,
} as const

/** The highest generation that `doca_telemetry_pci_link_speed` has a number for. */
export const GENERATION_MAX = 6
