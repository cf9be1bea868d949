import type { Columns } from '../../api/query-client.ts'
import type { MetricQuery } from '../../api/types.ts'
import type { ChartMember, ChartSpec } from '../../chart/chart-spec.ts'
import { BYTES, PER_SECOND, PERCENT, type Quantity, SECONDS } from '../../format/quantity.ts'
import { RATE_PROVENANCE } from '../interface-charts.ts'

const rate = (metric: string): MetricQuery => ({ metric, function: 'rate' })

interface Panel {
  readonly id: string
  readonly title: string
  readonly caption?: string
  readonly quantity: Quantity
  readonly lines: readonly { readonly query: MetricQuery; readonly name: string; readonly label?: string }[]
}

const PANELS: readonly Panel[] = [
  {
    id: 'records',
    title: 'Records',
    caption: 'by source',
    quantity: PER_SECOND,
    lines: [{ query: rate('sonde_source_records_total'), name: '', label: 'source' }],
  },
  {
    id: 'sampling',
    title: 'Time spent sampling',
    caption: 'of one core',
    quantity: PERCENT,
    lines: [{ query: rate('sonde_source_sample_seconds_total'), name: '', label: 'source' }],
  },
  {
    id: 'lost',
    title: 'Records lost',
    quantity: PER_SECOND,
    lines: [
      { query: rate('sonde_source_dropped_total'), name: '', label: 'source' },
      { query: rate('sonde_sink_dropped_total'), name: '', label: 'sink' },
    ],
  },
  {
    id: 'processor',
    title: 'Processor time',
    caption: 'of one core',
    quantity: PERCENT,
    lines: [{ query: rate('sonde_process_cpu_seconds_total'), name: 'process' }],
  },
  {
    id: 'memory',
    title: 'Resident memory',
    quantity: BYTES,
    lines: [{ query: { metric: 'sonde_process_resident_memory_bytes', function: 'last' }, name: 'resident' }],
  },
  {
    id: 'delay',
    title: 'Longest delay of the main loop',
    quantity: SECONDS,
    lines: [{ query: { metric: 'sonde_process_loop_delay_max_seconds', function: 'max' }, name: 'delay' }],
  },
]

/** What is asked about Sonde itself. */
export const SELF_QUERIES: readonly MetricQuery[] = PANELS.flatMap(({ lines }) => lines.map(({ query }) => query))

/** How Sonde itself fares: what it reads, loses and costs. */
export function selfCharts(answer: Columns): ChartSpec[] {
  const { grid } = answer
  if (!grid) return []
  return PANELS.map(({ lines, ...panel }) => ({
    ...panel,
    noun: ['source', 'sources'],
    slots: [6, 3, 4],
    isAlike: false,
    provenance: RATE_PROVENANCE,
    members: lines.flatMap(({ query, name, label }) =>
      answer.columns(query).map((column): ChartMember => {
        const named = label === undefined ? name : (column.labels[label] ?? '')
        return { key: `${label} ${named}`, label: named, values: grid.slice(column), resetsMs: column.resetsMs }
      }),
    ),
  }))
}
