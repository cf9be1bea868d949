import type { MetricQuery } from '@sonde/sdk/api'
import type { QueryColumns } from '../../api/query-client.ts'
import type { ChartMember, ChartSpec } from '../../chart/chart-spec.ts'
import { BYTES, type DisplayQuantity, PER_SECOND, PERCENT, SECONDS } from '../../format/quantity.ts'
import { RATE_PROVENANCE } from '../interface-charts.ts'

const rate = (metric: string): MetricQuery => ({ metric, function: 'rate' })

/** Caption of charts with a line per source. */
const BY_SOURCE = 'by source'

/** A chart of Sonde's own metrics. */
export interface SelfPanel {
  readonly id: string
  readonly title: string
  readonly caption?: string
  readonly quantity: DisplayQuantity
  readonly lines: readonly { readonly query: MetricQuery; readonly name: string; readonly label?: string }[]
}

/** Charts of Sonde itself: records read, losses and costs. */
export const SELF_PANELS: readonly SelfPanel[] = [
  {
    id: 'records',
    title: 'Records',
    caption: BY_SOURCE,
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
      { query: rate('sonde_source_records_dropped_total'), name: '', label: 'source' },
      { query: rate('sonde_sink_records_dropped_total'), name: '', label: 'sink' },
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
    id: 'turn',
    title: 'Longest turn of the main loop',
    quantity: SECONDS,
    lines: [{ query: { metric: 'sonde_process_loop_turn_max_seconds', function: 'max' }, name: 'turn' }],
  },
]

/** The same charts for a single source. */
export function sourcePanels(source: string): readonly SelfPanel[] {
  return SELF_PANELS.flatMap(({ caption, lines, ...panel }) => {
    const own = lines
      .filter(({ label }) => label === 'source')
      .map((line) => ({
        ...line,
        query: { ...line.query, matchers: [{ label: 'source', op: '=' as const, value: source }] },
      }))
    const kept = caption === undefined || caption === BY_SOURCE ? {} : { caption }
    return own.length > 0 ? [{ ...panel, ...kept, lines: own }] : []
  })
}

/** The queries of the given panels. */
export function selfQueries(panels: readonly SelfPanel[]): readonly MetricQuery[] {
  return panels.flatMap(({ lines }) => lines.map(({ query }) => query))
}

/** The charts of the given panels. */
export function selfCharts(answer: QueryColumns, panels: readonly SelfPanel[]): ChartSpec[] {
  const { grid } = answer
  if (!grid) return []
  return panels.map(({ lines, ...panel }) => ({
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
