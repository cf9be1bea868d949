/** Reads a field of a GPU; undefined if the value is unknown. */
export type ReadField = (field: string) => number | undefined

/** Readings of a GPU that other readings contradict. */
export interface Doubt {
  readonly kind: 'profiling' | 'nvlink'
  readonly of: 'gpu' | 'profile'
  readonly fields: readonly string[]
  /** Why the readings are not plausible. */
  readonly reason: string
}

/** Share of time in which kernels ran. From this share on, at least one activity must be above 0. Unit: percent. */
export const WORK_PERCENT = 50
/** An idle GPU draws less power. Share of the power limit; if the limit is unknown, watts are compared. */
const WORK_POWER_SHARE = 0.4
const WORK_WATTS = 150
/** An idle link has a lower throughput. Unit: bytes per second. */
const LINK_BYTES = 1e8
const MEBIBYTE = 2 ** 20

const STANDING =
  'stays at 0 while utilisation and power show work, and is not believed: profiling of DCGM stands still ' +
  '(NVIDIA/dcgm-exporter#662, NVIDIA/DCGM#303)'
const RATIOS = [
  ...['gr_engine_active', 'sm_active', 'sm_occupancy', 'pipe_tensor_active', 'dram_active'],
  ...['pipe_fp64_active', 'pipe_fp32_active', 'pipe_fp16_active'],
]
const BYTES = ['pcie_tx_bytes', 'pcie_rx_bytes', 'nvlink_tx_bytes', 'nvlink_rx_bytes']
/** On a busy GPU at least one of these is above 0. */
const ALWAYS_BUSY = ['gr_engine_active', 'sm_active']

/** Finds readings of a GPU that cannot be true, because other readings of the same time contradict them. */
export function doubtsOf(gpu: ReadField, profile: ReadField): Doubt[] {
  const told = [...RATIOS, ...BYTES].filter((field) => profile(field) !== undefined)
  const doubts: Doubt[] = []
  const isStanding = told.some((field) => ALWAYS_BUSY.includes(field)) && told.every((field) => profile(field) === 0)
  if (isStanding && isWorking(gpu)) doubts.push({ kind: 'profiling', of: 'profile', fields: told, reason: STANDING })
  return [...doubts, ...linkDoubts(gpu, profile, doubts.length > 0)]
}

function isWorking(gpu: ReadField): boolean {
  const limit = gpu('enforced_power_limit') ?? gpu('power_mgmt_limit')
  const least = limit === undefined ? WORK_WATTS : WORK_POWER_SHARE * limit
  return (gpu('gpu_util') ?? 0) >= WORK_PERCENT && (gpu('power_usage') ?? 0) >= least
}

/** A throughput of 0 is normal for an idle link. It is doubted only if a second reading shows traffic. */
function linkDoubts(gpu: ReadField, profile: ReadField, isStanding: boolean): Doubt[] {
  const bandwidth = gpu('nvlink_bandwidth_total')
  const [sent, received] = [profile('nvlink_tx_bytes'), profile('nvlink_rx_bytes')]
  if (bandwidth === undefined || sent === undefined || received === undefined) return []
  const of = (words: string) => `is 0 while ${words} show traffic over NVLink, and is not believed`
  if (bandwidth === 0 && sent + received >= LINK_BYTES)
    return [{ kind: 'nvlink', of: 'gpu', fields: ['nvlink_bandwidth_total'], reason: of('profiling counters') }]
  if (isStanding || sent + received > 0 || bandwidth * MEBIBYTE < LINK_BYTES) return []
  const fields = ['nvlink_tx_bytes', 'nvlink_rx_bytes']
  return [{ kind: 'nvlink', of: 'profile', fields, reason: of('counters of the links') }]
}
