import type { RecordType } from '@sonde/sdk'
import { ethtoolLaneType, ethtoolPortType, ethtoolPriorityType } from './type.ts'

/** A field of a record, and what a raw value is divided by to have its unit. */
export interface FieldPlace {
  readonly field: string
  /** 1 where the exact integer is kept. */
  readonly divisor: number
}

/**
 * Where a statistic of a driver goes: the series it belongs to, by its index where there are several, and the field.
 * `queue`: it is that of a single queue.
 */
export type StatisticTarget =
  | ({ readonly series: 'port' } & FieldPlace)
  | ({ readonly series: 'priority' | 'lane'; readonly index: number } & FieldPlace)
  | { readonly series: 'driver' | 'queue' }

/** mlx5 counts durations in microseconds and stalls in percent; integers are kept as they are. */
const DIVISORS: Readonly<Record<string, number>> = { seconds: 1e6, ratio: 100 }

/**
 * The statistics that fill a type, by the driver's name without the index: `rx_pause_duration` fills
 * `rx_pause_seconds_total`, and `outbound_pci_stalled_rd_events`, which counts seconds, fills
 * `outbound_pci_stalled_rd_seconds_total`.
 */
function placesOf(type: RecordType): ReadonlyMap<string, FieldPlace> {
  const places = new Map<string, FieldPlace>()
  for (const name of type.metrics.keys()) {
    const field = type.fields[name]
    const statistic = name
      .replace(/_total$|_ratio$/, '')
      .replace(/(_stalled_\w\w)_seconds$/, '$1_events')
      .replace(/_seconds$/, '_duration')
      .replace(/^([rt]x)_phy_bytes$/, '$1_bytes_phy')
    places.set(statistic, { field: name, divisor: (field?.kind === 'f64' && DIVISORS[field.unit ?? '']) || 1 })
  }
  return places
}

const PORT = placesOf(ethtoolPortType)
const PRIORITY = placesOf(ethtoolPriorityType)
const LANE = placesOf(ethtoolLaneType)

/** `rx_prio3_pause`, `rx_err_lane_2_phy`. The index is taken out of the name. */
const INDEXED = /^(?<before>[rt]x)_(?:prio(?<priority>\d{1,2})|err_lane_(?<lane>\d{1,2}))_(?<after>\w+)$/

/**
 * `rx0_packets`, `ptp_tx0_cqes`, `ch0_poll`, `rx_queue_0_drops`, `queue_3_tx_cnt`, `rx-0.bytes`, `[0]: rx_packets`,
 * `rx_bytes[0]`.
 */
const QUEUE =
  /^(?:[a-z]+_)?(?:rx|tx|ch|cq)\d+_|(?:^|_)(?:queue|ring|rvec|rxq|txq|q|vec|ch)[-_]?\d+[-_.:]|^[rt]x-\d+\.|\[\d+\]/

/**
 * Where a statistic goes.
 *
 * @param isMlx5 Whether the names are those of the mlx5 driver: in another's mouth they might mean something else.
 */
export function statisticTarget(name: string, { isMlx5 }: { readonly isMlx5: boolean }): StatisticTarget {
  if (isMlx5) {
    const place = PORT.get(name)
    if (place !== undefined) return { series: 'port', ...place }
    const { before, priority, lane, after } = INDEXED.exec(name)?.groups ?? {}
    const ofPriority = priority === undefined ? undefined : PRIORITY.get(`${before}_${after}`)
    if (ofPriority !== undefined) return { series: 'priority', index: Number(priority), ...ofPriority }
    const ofLane = lane === undefined ? undefined : LANE.get(`${before}_err_${after}`)
    if (ofLane !== undefined) return { series: 'lane', index: Number(lane), ...ofLane }
  }
  return { series: QUEUE.test(name) ? 'queue' : 'driver' }
}

/**
 * The names of a string set, each up to its NUL. A byte that is no printable ASCII is spelt out, so that no two names
 * become one.
 */
export function namesIn(names: Buffer, nameBytes: number): string[] {
  return Array.from({ length: names.length / nameBytes }, (_, index) => {
    const text = names.toString('latin1', index * nameBytes, (index + 1) * nameBytes)
    const nul = text.indexOf('\0')
    return (nul === -1 ? text : text.slice(0, nul))
      .trim()
      .replace(/[^\x20-\x7e]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`)
  })
}
