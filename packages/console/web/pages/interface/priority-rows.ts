import type { Labels, MetricQuery } from '@sonde/sdk/api'
import type { QueryColumns } from '../../api/query-client.ts'
import { type DeviceReading, lastValue, meanReading, type ReadSpan } from '../../devices/device-reading.ts'

const PRIORITIES = [0, 1, 2, 3, 4, 5, 6, 7] as const
/** RDMA runs on the busiest priority, if that carries at least this share of it. */
const RDMA_SHARE = 0.5

const rate = (metric: string): MetricQuery => ({ metric, function: 'rate' })
const last = (metric: string): MetricQuery => ({ metric, function: 'last' })

const QUERIES = {
  pfc: last('dcb_port_pfc_mask'),
  info: last('dcb_port_info'),
  defaultPriority: last('dcb_port_default_priority'),
  sent: rate('ethtool_priority_tx_bytes_total'),
  received: rate('ethtool_priority_rx_bytes_total'),
  paused: rate('ethtool_priority_rx_pause_seconds_total'),
  rdmaSent: rate('ethtool_port_tx_vport_rdma_unicast_bytes_total'),
} as const satisfies Record<string, MetricQuery>

/** A priority of a port. Values that nobody reports are NaN or empty. */
export interface PriorityRow {
  readonly priority: number
  /** Undefined if unknown. */
  readonly hasPfc: boolean | undefined
  /** DSCPs of its packets, such as `24-26, 48`. */
  readonly dscps: string
  readonly isDefault: boolean
  readonly isOfRdma: boolean
  /** Unit: bytes per second. */
  readonly sent: DeviceReading
  readonly received: DeviceReading
  /** Share of time in which the other end paused it. */
  readonly paused: DeviceReading
}

/** The quality of service of a port. */
export interface PortQuality {
  /** What decides the priority of a packet, such as `dscp pcp`; empty if unknown. */
  readonly trust: string
  /** RDMA that the port sends; NaN if unknown. Unit: bytes per second. */
  readonly rdmaSent: number
  readonly rows: readonly PriorityRow[]
}

/** The queries about the priorities of an interface. */
export function priorityQueries(device: string): readonly MetricQuery[] {
  return Object.values(QUERIES).map((query) => queryOf(query, device))
}

/** Settings and traffic of the priorities of an interface; undefined if nothing reports either. */
export function portQuality(answer: QueryColumns, device: string, span: ReadSpan): PortQuality | undefined {
  const { grid } = answer
  if (!grid) return undefined
  const columns = (query: MetricQuery) =>
    answer.columns(queryOf(query, device)).map((column) => ({ labels: column.labels, values: grid.slice(column) }))
  const newest = (query: MetricQuery) => lastValue(columns(query)[0]?.values, span)
  const reading = (query: MetricQuery, priority: number) =>
    meanReading(columns(query).find(({ labels }) => labels.priority === String(priority))?.values, span)
  const info = newestInfo(columns(QUERIES.info))
  const [mask, defaultPriority] = [newest(QUERIES.pfc), newest(QUERIES.defaultPriority)]
  const dscps = dscpsOf(info.dscp_priorities ?? '')
  const rows = PRIORITIES.map((priority) => ({
    priority,
    hasPfc: Number.isNaN(mask) ? undefined : ((mask >> priority) & 1) === 1,
    dscps: dscps.get(priority)?.join(', ') ?? '',
    isDefault: priority === defaultPriority,
    sent: reading(QUERIES.sent, priority),
    received: reading(QUERIES.received, priority),
    paused: reading(QUERIES.paused, priority),
  }))
  if (
    Number.isNaN(mask) &&
    rows.every(({ sent, received }) => Number.isNaN(sent.value) && Number.isNaN(received.value))
  )
    return undefined
  const rdmaSent = meanReading(columns(QUERIES.rdmaSent)[0]?.values, span).value
  const busiest = rows.reduce((most, row) => (row.sent.value > most.sent.value ? row : most), rows[0]!)
  const isKnown = rdmaSent > 0 && busiest.sent.value >= RDMA_SHARE * rdmaSent
  return {
    trust: info.trust ?? '',
    rdmaSent,
    rows: rows.map((row) => ({ ...row, isOfRdma: isKnown && row === busiest })),
  }
}

/** The settings in words: `Trusts DSCP; PFC on priority 3; RDMA runs on priority 3`. */
export function qualityWords({ trust, rows, rdmaSent }: PortQuality, reason: string): string {
  const guarded = rows.filter(({ hasPfc }) => hasPfc).map(({ priority }) => priority)
  const pfc = guarded.length === 0 ? 'no priority has PFC' : `PFC on priority ${guarded.join(', ')}`
  const rdma = rows.find(({ isOfRdma }) => isOfRdma)
  const runs = rdma === undefined ? 'RDMA runs on several priorities' : `RDMA runs on priority ${rdma.priority}`
  const words = [
    trust === '' ? 'trust unknown' : trust === 'none' ? 'trusts nothing' : `trusts ${trust.toUpperCase()}`,
    rows.some(({ hasPfc }) => hasPfc === undefined) ? `PFC unknown${reason && `: ${reason}`}` : pfc,
    ...(Number.isNaN(rdmaSent) ? [] : [rdmaSent > 0 ? runs : 'no RDMA is sent']),
  ].join('; ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

function queryOf(query: MetricQuery, device: string): MetricQuery {
  return { ...query, matchers: [{ label: 'device', op: '=', value: device }] }
}

/** Labels of the series with the newest sample: each change of a text starts a series. */
function newestInfo(series: readonly { readonly labels: Labels; readonly values: Float64Array }[]): Labels {
  const placed = series.map(({ labels, values }) => ({
    labels,
    place: values.findLastIndex((value) => !Number.isNaN(value)),
  }))
  return placed.toSorted((a, b) => b.place - a.place).find(({ place }) => place >= 0)?.labels ?? {}
}

/** DSCPs by priority, from words such as `0-7:0 26:3`. */
function dscpsOf(text: string): ReadonlyMap<number, string[]> {
  const found = new Map<number, string[]>()
  for (const [, range = '', priority] of text.matchAll(/(\d+(?:-\d+)?):(\d)/g)) {
    const words = range.replace('-', '–')
    found.set(Number(priority), [...(found.get(Number(priority)) ?? []), words])
  }
  return found
}
