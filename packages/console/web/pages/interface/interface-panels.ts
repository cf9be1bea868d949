import type { LatestSeries, ListedMetric, ListedType, MetricQuery } from '@sonde/sdk/api'
import type { QueryColumns } from '../../api/query-client.ts'
import type { GridChart } from '../../chart/chart-grid.tsx'
import type { ChartMember, ChartSpec } from '../../chart/chart-spec.ts'
import type { SeriesSlot } from '../../components/palette.ts'
import { newestValue } from '../../devices/interface-data.ts'
import {
  BITS_PER_SECOND,
  COUNT,
  type DisplayQuantity,
  PER_SECOND,
  quantityOf,
  UP_OR_DOWN,
} from '../../format/quantity.ts'
import { fieldMatchers } from '../../state/listed-metrics.ts'
import { RATE_PROVENANCE } from '../interface-charts.ts'

/** Names of the types that the page shows. */
export const INTERFACE_TYPES: readonly string[] = ['netdev', 'netdev_carrier']

interface Panel {
  readonly id: string
  readonly title: string
  readonly quantity: DisplayQuantity
  readonly caption?: string
  readonly scale?: NonNullable<ChartSpec['scale']>
  /** Fields with the names of their lines. */
  readonly lines: Readonly<Record<string, string>>
}

const RECEIVE = 'received'
const SEND = 'sent'

const PANELS: readonly Panel[] = [
  {
    id: 'throughput',
    title: 'Throughput',
    quantity: BITS_PER_SECOND,
    lines: { rx_bytes_total: RECEIVE, tx_bytes_total: SEND },
  },
  {
    id: 'packets',
    title: 'Packets',
    quantity: PER_SECOND,
    lines: { rx_packets_total: RECEIVE, tx_packets_total: SEND },
  },
  {
    id: 'drops',
    title: 'Drops',
    quantity: PER_SECOND,
    lines: { rx_dropped_total: RECEIVE, tx_dropped_total: SEND },
  },
  {
    id: 'receive-errors',
    title: 'Receive errors',
    caption: 'by kind',
    quantity: PER_SECOND,
    lines: { rx_errors_total: 'any', rx_fifo_errors_total: 'FIFO full', rx_frame_errors_total: 'frame' },
  },
  {
    id: 'send-errors',
    title: 'Send errors',
    caption: 'by kind',
    quantity: PER_SECOND,
    lines: {
      tx_errors_total: 'any',
      tx_fifo_errors_total: 'FIFO empty',
      tx_carrier_errors_total: 'carrier',
      tx_collisions_total: 'collision',
    },
  },
  {
    id: 'kinds',
    title: 'Multicast and compressed',
    quantity: PER_SECOND,
    lines: {
      rx_multicast_packets_total: 'multicast',
      rx_compressed_packets_total: 'compressed in',
      tx_compressed_packets_total: 'compressed out',
    },
  },
  {
    id: 'link',
    title: 'Link',
    quantity: UP_OR_DOWN,
    scale: 'lanes',
    lines: { up: 'interface', carrier: 'carrier' },
  },
  { id: 'speed', title: 'Link speed', quantity: BITS_PER_SECOND, lines: { speed_bytes_per_second: 'speed' } },
  {
    id: 'carrier-changes',
    title: 'Carrier changes',
    caption: 'in each step',
    quantity: COUNT,
    lines: { carrier_changes_total: 'changes' },
  },
]

/** Fields shown as facts, not as charts. */
const FACT_FIELDS = new Set(['mtu_bytes'])

/** One query per field of the types: the rate of a counter or the value of a gauge. */
export function interfaceQueries(types: readonly ListedType[], device: string): readonly MetricQuery[] {
  return fieldsOf(types).map((field) => ({
    metric: field.metric,
    function: field.role !== 'counter' ? 'last' : field.name.startsWith('carrier_changes') ? 'increase' : 'rate',
    matchers: [{ label: 'device', op: '=', value: device }, ...fieldMatchers(field)],
  }))
}

/** The charts of an interface. Each field that no chart names gets its own chart. */
export function interfacePanels(
  types: readonly ListedType[],
  queries: readonly MetricQuery[],
  answer: QueryColumns,
  latest: readonly LatestSeries[],
): GridChart[] {
  const fieldOf = new Map(fieldsOf(types).map((field, order) => [field.name, { field, query: queries[order]! }]))
  const reasonOf = new Map(latest.map(({ metric, absent }) => [metric, absent]))
  const named = new Set(PANELS.flatMap(({ lines }) => Object.keys(lines)))
  const others = [...fieldOf.values()].filter(({ field }) => !named.has(field.name) && !FACT_FIELDS.has(field.name))
  const panels = [
    ...PANELS,
    ...others.map(({ field, query }): Panel => {
      const quantity = quantityOf({ ...field, function: query.function })
      return { id: field.name, title: field.help, quantity, lines: { [field.name]: field.name } }
    }),
  ]
  const limits = speedLimit(answer, fieldOf.get('speed_bytes_per_second')?.query)
  return panels.flatMap((panel) => {
    const fields = Object.keys(panel.lines).flatMap((name) => fieldOf.get(name) ?? [])
    if (fields.length === 0) return []
    const members = fields.flatMap(({ field, query }) => memberOf(answer, query, field.name, panel.lines[field.name]!))
    const reasons = fields.map(({ field }) => reasonOf.get(field.metric) ?? '')
    const isAnswered = fields.every(({ query }) => answer.isAnswered(query))
    return [
      {
        spec: { ...specOf(panel, members, limits), isAwaited: members.length === 0 && !isAnswered },
        answer,
        absent: members.length === 0 && isAnswered && reasons.every(Boolean) ? [...new Set(reasons)].join(' ') : '',
      },
    ]
  })
}

function fieldsOf(types: readonly ListedType[]): readonly ListedMetric[] {
  return types.flatMap(({ fields }) => fields)
}

function memberOf(answer: QueryColumns, query: MetricQuery, key: string, label: string): ChartMember[] {
  const column = answer.columns(query)[0]
  if (!column || !answer.grid) return []
  return [{ key, label, values: answer.grid.slice(column), resetsMs: column.resetsMs }]
}

const SLOTS: readonly SeriesSlot[] = [1, 2, 3, 4]

function specOf(
  { lines: _, ...panel }: Panel,
  members: readonly ChartMember[],
  limits: ChartSpec['limits'] & object,
): ChartSpec {
  const isSample = panel.id === 'link' || panel.id === 'speed'
  return {
    ...panel,
    members,
    slots: SLOTS,
    noun: ['counter', 'counters'],
    isAlike: false,
    provenance: isSample ? 'last sample in {step} · wall clock' : RATE_PROVENANCE,
    ...(panel.id === 'throughput' ? { limits } : {}),
  }
}

function speedLimit(answer: QueryColumns, query: MetricQuery | undefined): ChartSpec['limits'] & object {
  const column = query && answer.columns(query)[0]
  const speed = column && answer.grid ? newestValue(answer.grid.slice(column), Number.POSITIVE_INFINITY) : Number.NaN
  return Number.isNaN(speed) ? [] : [{ value: speed, label: 'link' }]
}
