import type { Labels, MetricQuery, ResultMeta } from '@sonde/sdk/api'
import { queryKey } from '../../api/frame.ts'
import type { QueryColumns } from '../../api/query-client.ts'
import type { GridColumn } from '../../api/sample-grid.ts'
import type { ChartMember, ChartSpec } from '../../chart/chart-spec.ts'
import { SLOTS } from '../../components/palette.ts'
import { seriesWords, splitWords, tellingLabels } from '../../format/names.ts'
import { quantityOf } from '../../format/quantity.ts'
import { heatStripsOf } from '../heat-strips.ts'

/** A series of the explorer: its member in a chart, and its origin. */
export interface ExplorerSeries {
  readonly member: ChartMember
  /** Labels that the name of the member lacks; empty if there are none. */
  readonly more: string
  readonly labels: Labels
  readonly meta: ResultMeta
  readonly column: GridColumn
  /** Whether the series is simulated, or joined from series that may be simulated. */
  readonly isSimulated: boolean
}

/** Signals of one unit on one axis, or like series of one signal. */
export interface ExplorerLane {
  /** Times of the samples. Unit: milliseconds since the epoch. Unit: milliseconds since the epoch. */
  readonly times: Float64Array
  readonly spec: ChartSpec
  readonly series: readonly ExplorerSeries[]
}

const AGGREGATE_WORDS = { sum: 'sum', avg: 'mean', min: 'smallest', max: 'largest', count: 'number' } as const

/** Describes a query in words: `rate, sum by device, where device = eth0`. */
export function describeQuery({ function: fn, by, aggregate = 'sum', matchers = [] }: MetricQuery): string {
  const joined = by && `${AGGREGATE_WORDS[aggregate]} ${by.length > 0 ? `by ${by.join(', ')}` : 'of all'}`
  const where = matchers.map(({ label, op, value }) => `${label} ${op} ${value}`).join(', ')
  return [fn, joined, where && `where ${where}`].filter(Boolean).join(', ')
}

/** A query and its answer. */
interface Answered {
  readonly query: MetricQuery
  readonly meta: ResultMeta
  readonly columns: readonly GridColumn[]
}

/** Answers that share a lane. */
interface Group {
  readonly id: string
  readonly answers: readonly Answered[]
  /** Distinguishes the lane from others of the same signal; empty if there are none. */
  readonly note: string
}

/**
 * A lane per unit while there are enough colours for its series. With more series, each signal has separate lanes for
 * real series, for simulated series, and for each set of labels, because only like members form a herd.
 */
export function explorerLanes(
  queries: readonly MetricQuery[],
  answer: QueryColumns,
  node: { readonly simulated: boolean } = { simulated: false },
): ExplorerLane[] {
  const { grid } = answer
  if (!grid) return []
  const answers = queries.flatMap((query): Answered[] => {
    const meta = answer.result(query)?.meta
    return meta ? [{ query, meta, columns: answer.columns(query) }] : []
  })
  const isOfBins = ({ columns }: Answered): boolean => columns.some(({ bin }) => bin !== undefined)
  const strips = answers.filter(isOfBins).flatMap((answered) => stripLanes(answered, grid, node))
  const ofLines = answers.filter((answered) => !isOfBins(answered))
  const byUnit = Map.groupBy(ofLines, ({ meta }) => {
    const { base, prefixes } = quantityOf(meta)
    return `${base} ${prefixes}`
  })
  const groups = [...byUnit].flatMap(([id, some]): readonly Group[] => {
    const count = some.reduce((sum, { columns }) => sum + columns.length, 0)
    return count > SLOTS.length ? some.flatMap(likeGroups) : [{ id, answers: some, note: '' }]
  })
  const drawn = groups.map((group): ExplorerLane => {
    const series = seriesOf(group, grid, node)
    return { times: grid.times, spec: specOf(group, series), series }
  })
  const lanes = [...drawn, ...strips]
  return lanes.map((lane) => ({ ...lane, spec: withOwnTitle(lane.spec, lanes) }))
}

/** A lane per histogram, with a series per bin. */
function stripLanes(
  { query, meta, columns }: Answered,
  grid: NonNullable<QueryColumns['grid']>,
  node: { readonly simulated: boolean },
): ExplorerLane[] {
  return heatStripsOf(columns, meta, grid).map(({ key, labels, edges, members, columns: own }): ExplorerLane => {
    const isSimulated = isSimulatedSeries(labels, query, node)
    const series = members.flatMap((member, place): ExplorerSeries[] => {
      const column = own[place]
      return column ? [{ member, more: '', labels, meta, column, isSimulated }] : []
    })
    const group = {
      id: `${queryKey(query)} ${key}`,
      answers: [{ query, meta, columns: own }],
      note: seriesWords(labels),
    }
    const noun = ['bin', 'bins'] as const
    return { times: grid.times, spec: { ...specOf(group, series), noun, edges, scale: 'heat', isAlike: false }, series }
  })
}

function isSimulatedSeries(labels: Labels, query: MetricQuery, node: { readonly simulated: boolean }): boolean {
  return labels.simulated === 'true' || (node.simulated && query.by !== undefined)
}

/** Gives lanes of one signal distinct titles, because exports and screen readers have no caption. */
function withOwnTitle(spec: ChartSpec, lanes: readonly ExplorerLane[]): ChartSpec {
  const { caption, ...rest } = spec
  const isShared = lanes.filter((lane) => lane.spec.title === spec.title).length > 1
  return isShared ? { ...rest, title: `${spec.title}: ${caption}` } : spec
}

/** Groups the series of a signal by their label names, and real apart from simulated. */
function likeGroups(answered: Answered): readonly Group[] {
  const id = queryKey(answered.query)
  const kinds = [...Map.groupBy(answered.columns, ({ labels }) => `${worldOf(labels)}, by ${labelNames(labels)}`)]
  if (kinds.length < 2) return [{ id, answers: [answered], note: '' }]
  const [usual] = kinds.toSorted(([, a], [, b]) => b.length - a.length)
  const usualNames = labelNames(usual?.[1][0]?.labels ?? {})
  return kinds.map(([kind, columns]) => {
    const { labels } = columns[0]!
    const note = labelNames(labels) === usualNames ? worldOf(labels) : kind
    return { id: `${id} ${kind}`, answers: [{ ...answered, columns }], note }
  })
}

function worldOf(labels: Labels): string {
  return labels.simulated === 'true' ? 'simulated' : 'real'
}

function labelNames(labels: Labels): string {
  const names = Object.keys(labels).filter((name) => name !== 'simulated' && labels[name] !== '')
  return names.length > 0 ? names.sort().join(' and ') : 'no label'
}

function seriesOf(
  { answers }: Group,
  grid: NonNullable<QueryColumns['grid']>,
  node: { readonly simulated: boolean },
): readonly ExplorerSeries[] {
  const names = shortNames(answers.map(({ query }) => query))
  const telling = tellingLabels(answers.flatMap(({ columns }) => columns.map(({ labels }) => labels)))
  const taken = new Set<string>()
  return answers.flatMap(({ query, meta, columns }, order) =>
    columns.map((column): ExplorerSeries => {
      const { labels, resetsMs } = column
      const isNamed = answers.length > 1
      const { name, more } = splitWords(labels, telling)
      const plain = memberLabel(names[order]!, name, isNamed)
      const label = taken.has(plain) && labels.simulated ? `${plain} (simulated)` : plain
      taken.add(label)
      // The key has all labels, so that a highlighted series stays highlighted when a new series makes names longer.
      const whole = memberLabel(names[order]!, seriesWords(labels), isNamed)
      const key = `${whole}${label === plain ? '' : ' (simulated)'}`.replaceAll(',', ';')
      const member = { key, label, values: grid.slice(column), resetsMs }
      return { member, more, labels, meta, column, isSimulated: isSimulatedSeries(labels, query, node) }
    }),
  )
}

function specOf({ id, answers, note }: Group, series: readonly ExplorerSeries[]): ChartSpec {
  const { query, meta: first } = answers[0]!
  const isAlone = answers.length === 1
  const words = isAlone ? describeQuery(query) : answers.map(({ meta }) => meta.metric).join(', ')
  return {
    id,
    title: isAlone ? first.metric : `${answers.length} signals`,
    caption: [words, note].filter(Boolean).join(' · '),
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

/** The scale of a unit. Temperatures may start above 0; error rates span many powers of ten. */
function scaleOf(meta: ResultMeta): NonNullable<ChartSpec['scale']> {
  if (quantityOf(meta).prefixes === 'powers') return 'log'
  return meta.unit === 'celsius' ? 'free' : 'zero'
}

function memberLabel(name: string, words: string, isNamed: boolean): string {
  return isNamed || words === '' ? [name, words].filter(Boolean).join(' ') : words
}

/** Names of signals without their common first words. Equal metrics are distinguished by their function. */
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
