import type { Columns } from '../../api/query-client.ts'
import type { GridColumn } from '../../api/sample-grid.ts'
import type { Labels, MetricQuery, ResultMeta } from '../../api/types.ts'
import type { ChartMember, ChartSpec } from '../../chart/chart-spec.ts'
import { SLOTS } from '../../chart/palette.ts'
import { seriesWords } from '../../format/names.ts'
import { quantityOf } from '../../format/quantity.ts'

/** One series of the explorer: its member in a chart, and where it comes from. */
export interface ExplorerSeries {
  readonly member: ChartMember
  readonly labels: Labels
  readonly meta: ResultMeta
  readonly column: GridColumn
  /** Whether it is simulated, or joined from series of which some may be. */
  readonly isSimulated: boolean
}

/** Signals of one unit on one axis. */
export interface Lane {
  /** Times of the samples. */
  readonly times: Float64Array
  readonly spec: ChartSpec
  readonly series: readonly ExplorerSeries[]
}

const AGGREGATE_WORDS = { sum: 'sum', avg: 'mean', min: 'smallest', max: 'largest' } as const

/** What a question does to a metric, in words: `rate, sum by device, where device = eth0`. */
export function describeQuery({ function: fn, by, aggregate = 'sum', matchers = [] }: MetricQuery): string {
  const joined = by && `${AGGREGATE_WORDS[aggregate]} ${by.length > 0 ? `by ${by.join(', ')}` : 'of all'}`
  const where = matchers.map(({ label, op, value }) => `${label} ${op} ${value}`).join(', ')
  return [fn, joined, where && `where ${where}`].filter(Boolean).join(', ')
}

/** One lane a unit. A herd is made only of more series than there are colours: fewer are told apart one by one. */
export function lanesOf(
  queries: readonly MetricQuery[],
  answer: Columns,
  node: { readonly simulated: boolean } = { simulated: false },
): Lane[] {
  const { grid } = answer
  if (!grid) return []
  const lanes = new Map<string, { queries: MetricQuery[]; metas: ResultMeta[] }>()
  for (const query of queries) {
    const meta = answer.result(query)?.meta
    if (!meta) continue
    const { base, prefixes } = quantityOf(meta)
    const key = `${base} ${prefixes}`
    const lane = lanes.get(key) ?? { queries: [], metas: [] }
    lane.queries.push(query)
    lane.metas.push(meta)
    lanes.set(key, lane)
  }
  return [...lanes].map(([key, lane]) => {
    const names = shortNames(lane.queries)
    const taken = new Set<string>()
    const series = lane.queries.flatMap((query, order) =>
      answer.columns(query).map((column): ExplorerSeries => {
        const { labels, resetsMs } = column
        const plain = memberLabel(names[order]!, labels, lane.queries.length > 1)
        const label = taken.has(plain) && labels.simulated ? `${plain} (simulated)` : plain
        taken.add(label)
        const member = { key: label.replaceAll(',', ';'), label, values: grid.slice(column), resetsMs }
        const isSimulated = labels.simulated === 'true' || (node.simulated && query.by !== undefined)
        return { member, labels, meta: lane.metas[order]!, column, isSimulated }
      }),
    )
    return { times: grid.times, spec: specOf(key, lane, series), series }
  })
}

function specOf(
  id: string,
  { queries, metas }: { readonly queries: readonly MetricQuery[]; readonly metas: readonly ResultMeta[] },
  series: readonly ExplorerSeries[],
): ChartSpec {
  const first = metas[0]!
  const isAlone = queries.length === 1
  return {
    id,
    title: isAlone ? first.metric : `${queries.length} signals`,
    caption: isAlone ? describeQuery(queries[0]!) : queries.map(({ metric }) => metric).join(', '),
    quantity: quantityOf(first),
    members: series.map(({ member }) => member),
    noun: ['series', 'series'],
    slots: SLOTS,
    scale: scaleOf(first),
    isAlike: series.length > SLOTS.length,
    isSimulated: series.some(({ isSimulated }) => isSimulated),
    provenance: `${first.function} of {step} · ${first.clock} clock`,
  }
}

/** Temperatures may start above 0, and error rates span many powers of ten. */
function scaleOf(meta: ResultMeta): NonNullable<ChartSpec['scale']> {
  if (quantityOf(meta).prefixes === 'powers') return 'log'
  return meta.unit === 'celsius' ? 'free' : 'zero'
}

function memberLabel(name: string, labels: Labels, isNamed: boolean): string {
  const values = seriesWords(labels)
  return isNamed || values === '' ? [name, values].filter(Boolean).join(' ') : values
}

/** Names of signals without the words that all of them begin with; the function is added where metrics are the same. */
function shortNames(queries: readonly MetricQuery[]): string[] {
  const words = queries.map(({ metric }) => metric.replace(/_total$/, '').split('_'))
  let common = 0
  while (queries.length > 1 && words.every((parts) => parts.length > common + 1 && parts[common] === words[0]![common]))
    common++
  const names = words.map((parts) => parts.slice(queries.length > 1 ? common : 1).join(' ') || parts.join(' '))
  return names.map((name, order) =>
    names.indexOf(name) === names.lastIndexOf(name) ? name : `${name} ${queries[order]!.function}`,
  )
}
