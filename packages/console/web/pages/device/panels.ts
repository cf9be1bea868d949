import type { Labels, LatestSeries, MetricQuery, QueryFunction } from '@sonde/sdk/api'
import type { DeviceInfo } from '../../api/devices.ts'
import { queryKey } from '../../api/frame.ts'
import type { QueryColumns } from '../../api/query-client.ts'
import type { GridColumn } from '../../api/sample-grid.ts'
import type { GridChart } from '../../chart/chart-grid.tsx'
import type { ChartMark, ChartMember, ChartSpec } from '../../chart/chart-spec.ts'
import type { SeriesSlot } from '../../components/palette.ts'
import { askFor, isSeriesOf } from '../../devices/device.ts'
import { newestValue } from '../../devices/interface-data.ts'
import { compareNames, splitWords, tellingLabels } from '../../format/names.ts'
import { boundedColumn, type DisplayQuantity } from '../../format/quantity.ts'
import { fieldMatchers } from '../../state/listed-metrics.ts'
import { heatStripsOf } from '../heat-strips.ts'
import { RATE_PROVENANCE } from '../interface-charts.ts'

/** A line of a panel, or a line per value of the label `each`. */
export interface PanelLine {
  readonly metric: string
  readonly function: QueryFunction
  /** Constant labels that select a field among the fields of the metric. */
  readonly labels?: Labels
  /** Name of the line. `{}` stands for the value of the label `each`. Without `{}` the value follows the name. */
  readonly label: string
  /**
   * A label with a line for each value, such as `priority`. With several labels, the name of a line joins the values
   * that tell the lines apart.
   */
  readonly each?: string | readonly string[]
  /** Short words for values of the label `each`. Default: the values themselves. */
  readonly words?: Readonly<Record<string, string>>
  /** Whether a value means up, for lanes of a state that is up or down. */
  readonly isUp?: (value: number) => boolean
  /** A metric whose newest value is the top of the lane. Default: all lanes share a scale. */
  readonly full?: string
  /** The device of the line, if it is not the device of the page. */
  readonly of?: DeviceInfo
  /**
   * A metric by whose value at the same time the values are divided. `value` is used before its first sample. Default
   * function: `last`, whose value holds until the next sample.
   */
  readonly per?: { readonly metric: string; readonly function?: QueryFunction; readonly value?: number | undefined }
}

/**
 * A panel of a device page: its queries and its drawing. Lines with one name are one quantity from several origins: the
 * first line with data is drawn.
 */
export interface DevicePanel {
  readonly id: string
  readonly title: string
  readonly quantity: DisplayQuantity
  readonly caption?: string
  readonly scale?: NonNullable<ChartSpec['scale']>
  readonly slots?: readonly SeriesSlot[]
  readonly lines: readonly PanelLine[]
  /** Hard limits as dotted lines: the newest value of a metric, or a known number. */
  readonly limits?: readonly { readonly label: string; readonly metric?: string; readonly value?: number | undefined }[]
  /** Whether each line has a chart of its own, because the lines differ in unit. Default: false. */
  readonly isApart?: boolean
  /** Shown if no source of this node reports any of the metrics. */
  readonly without: string
  /** A panel of a known dashboard that has no data anywhere, why, and so what this panel shows instead. */
  readonly replaces?: { readonly title: string; readonly reason: string }
}

/** A group of panels with a heading. */
export interface PanelSection {
  /** The part of the address after `#`. */
  readonly id: string
  /** Empty: no heading. */
  readonly title: string
  readonly panels: readonly DevicePanel[]
}

const FALLBACK_SLOTS: readonly SeriesSlot[] = [1, 2, 3, 4, 5]

/** Every query of the given panels about a device, without duplicates. */
export function panelQueries(device: DeviceInfo, panels: readonly DevicePanel[]): readonly MetricQuery[] {
  const found = new Map<string, MetricQuery>()
  for (const panel of panels) {
    for (const line of [...panel.lines, ...limitLines(panel), ...fullLines(panel), ...perLines(panel)]) {
      const query = queryOf(line.of ?? device, line)
      if (query) found.set(JSON.stringify(query), query)
    }
  }
  return [...found.values()]
}

/** Turns panels into charts. A panel without data gives the reason. */
export function devicePanels(
  device: DeviceInfo,
  panels: readonly DevicePanel[],
  answer: QueryColumns,
  context: {
    /** The latest values of the series of the device; undefined before the first answer. */
    readonly latest: readonly LatestSeries[] | undefined
    readonly knownMetrics: ReadonlySet<string>
    readonly marks: readonly ChartMark[]
    /** Why the device is no longer read; empty while it is present. */
    readonly goneWords: string
  },
): readonly GridChart[] {
  const { latest, knownMetrics } = context
  return panels.flatMap((panel): readonly GridChart[] => {
    const { lines, limits: _limits, without, replaces, isApart = false, ...look } = panel
    const found = firstOfEachName(lines.flatMap((line) => membersOf(device, line, answer))).map((member) => ({
      ...member,
      values: boundedColumn(panel.quantity, member.values),
    }))
    const missing = missingOf(panel, found, latest ?? [])
    const members = panel.scale === 'lanes' && found.length > 0 ? withEmptyLanes(found, missing, answer) : found
    const isAsked = (line: PanelLine): boolean => knownMetrics.has(line.metric)
    const isSaid =
      latest !== undefined && !lines.some((line) => isAsked(line) && isUnanswered(line.of ?? device, line, answer))
    const spec: ChartSpec = {
      ...look,
      slots: panel.slots ?? FALLBACK_SLOTS,
      members,
      noun: nounOf(lines),
      isAlike: lines.some(({ each }) => each !== undefined),
      limits: limitsOf(device, panel, answer),
      marks: context.marks,
      isAwaited: found.length === 0 && !isSaid,
      provenance: lines.some((line) => line.function === 'rate')
        ? RATE_PROVENANCE
        : 'last sample in {step} · wall clock',
    }
    const replaced = replaces ? { replaces } : {}
    if (members.length === 0) {
      return [
        { spec, answer, absent: isSaid ? reasonOf(device, panel, answer, { ...context, latest }) : '', ...replaced },
      ]
    }
    if (panel.scale === 'heat') {
      const strips = stripsOf(device, spec, lines, answer)
      return strips.map((strip, place) => (place === strips.length - 1 ? { ...strip, ...replaced } : strip))
    }
    if (isApart) return members.map((member) => ({ spec: apartSpec(spec, member), answer }))
    return [{ spec, answer, missing: [...Map.groupBy(missing, ({ reason }) => reason)].map(joinNames), ...replaced }]
  })
}

/** The chart of one member. */
function apartSpec(spec: ChartSpec, member: ChartMember): ChartSpec {
  return { ...spec, id: `${spec.id} ${member.key}`, title: `${spec.title} ${member.label}`, members: [member] }
}

/** Drops members with the name of an earlier member: the same quantity from another origin. */
function firstOfEachName(members: readonly ChartMember[]): readonly ChartMember[] {
  const names = new Set<string>()
  return members.filter(({ label, bin }) => bin !== undefined || (!names.has(label) && names.add(label)))
}

/** A heat strip for each histogram of a panel. The caption of the last strip reports what the answer left out. */
function stripsOf(
  device: DeviceInfo,
  spec: ChartSpec,
  lines: readonly PanelLine[],
  answer: QueryColumns,
): readonly GridChart[] {
  const { grid } = answer
  const [line] = lines
  const query = line && queryOf(device, line)
  const meta = query && answer.result(query)?.meta
  if (!grid || !line || !meta) return []
  const strips = heatStripsOf(columnsOf(device, line, answer), meta, grid)
  const missing = meta.notes.map((reason) => ({ name: 'bins', reason }))
  return strips.map(({ key, members, edges }, place) => {
    const isLast = place === strips.length - 1
    const id = strips.length > 1 ? `${spec.id} ${key}` : spec.id
    return { spec: { ...spec, id, members, edges }, answer, ...(isLast ? { missing } : {}) }
  })
}

/** A line that is not drawn because the source reports the value as unavailable. */
interface MissingLine {
  readonly name: string
  readonly reason: string
}

function missingOf(
  { lines }: DevicePanel,
  found: readonly ChartMember[],
  latest: readonly LatestSeries[],
): readonly MissingLine[] {
  const drawn = new Set(found.map(({ label }) => label))
  return lines.flatMap((line) => {
    const own = latest.filter((one) => isOfLine(line, one))
    const nameOf = namesOf(
      line,
      own.map(({ labels }) => labels),
    )
    return own
      .filter(({ absent }) => absent !== '')
      .map(({ labels, absent }) => ({ name: nameOf(labels), reason: absent }))
      .filter(({ name }) => !drawn.has(name))
      .sort((a, b) => compareNames(a.name, b.name))
  })
}

/** Whether a series is of the metric and the constant labels of a line. */
export function isOfLine(
  { metric, labels = {} }: { readonly metric: string; readonly labels?: Labels | undefined },
  series: LatestSeries,
): boolean {
  return series.metric === metric && Object.entries(labels).every(([name, value]) => series.labels[name] === value)
}

function joinNames([reason, lines]: readonly [string, readonly MissingLine[]]): MissingLine {
  return { name: lines.map(({ name }) => name).join(', '), reason }
}

/** Adds empty lanes for missing values, so that the lanes of several charts align. */
function withEmptyLanes(
  found: readonly ChartMember[],
  missing: readonly MissingLine[],
  { grid }: QueryColumns,
): readonly ChartMember[] {
  const values = new Float64Array(grid?.length ?? 0).fill(Number.NaN)
  const empty = missing.map(({ name }): ChartMember => ({ key: name, label: name, values }))
  const isNumbered = found.every(({ label }) => /\d$/.test(label))
  const all = [...found, ...empty]
  return isNumbered ? all.sort((a, b) => compareNames(a.label, b.label)) : all
}

/** The query of a line. The answer may include series of a device with the same name; {@link columnsOf} drops them. */
export function queryOf(
  device: DeviceInfo,
  line: Pick<PanelLine, 'metric' | 'function' | 'labels'>,
): MetricQuery | undefined {
  const matchers = askFor(device, line.metric)
  const { metric, function: fn } = line
  return matchers && { metric, function: fn, matchers: [...matchers, ...fieldMatchers(line)] }
}

/** The columns of a device for a line. */
export function columnsOf(
  device: DeviceInfo,
  line: Pick<PanelLine, 'metric' | 'function' | 'labels'>,
  answer: QueryColumns,
): readonly GridColumn[] {
  const query = queryOf(device, line)
  return query ? answer.columns(query).filter(({ labels }) => isSeriesOf(device, line.metric, labels)) : []
}

const NOUNS: ReadonlyMap<string, readonly [one: string, many: string]> = new Map([
  ['priority', ['priority', 'priorities']],
  ['lane', ['lane', 'lanes']],
  ['thread', ['thread', 'threads']],
  ['cpu', ['CPU', 'CPUs']],
  ['disk', ['disk', 'disks']],
  ['numa_node', ['node', 'nodes']],
  ['resource', ['resource', 'resources']],
])

function nounOf(lines: readonly PanelLine[]): readonly [one: string, many: string] {
  const each = lines.find((line) => line.each !== undefined)?.each ?? ''
  if (typeof each !== 'string') return ['series', 'series']
  return NOUNS.get(each) ?? ['counter', 'counters']
}

function isUnanswered(device: DeviceInfo, line: PanelLine, answer: QueryColumns): boolean {
  const query = queryOf(device, line)
  return query !== undefined && !answer.isAnswered(query)
}

function limitLines({ limits = [] }: DevicePanel): readonly Pick<PanelLine, 'metric' | 'function' | 'of'>[] {
  return limits.flatMap(({ metric }) => (metric ? [{ metric, function: 'last' as const }] : []))
}

function fullLines({ lines }: DevicePanel): readonly Pick<PanelLine, 'metric' | 'function' | 'of'>[] {
  return lines.flatMap(({ full, labels: _, ...line }) =>
    full ? [{ ...line, metric: full, function: 'last' as const }] : [],
  )
}

function perLines({ lines }: DevicePanel): readonly Pick<PanelLine, 'metric' | 'function' | 'of'>[] {
  return lines.flatMap(({ per, labels: _, ...line }) =>
    per ? [{ ...line, metric: per.metric, function: per.function ?? 'last' }] : [],
  )
}

function membersOf(device: DeviceInfo, line: PanelLine, answer: QueryColumns): ChartMember[] {
  const { grid } = answer
  if (!grid) return []
  const columns = columnsOf(line.of ?? device, line, answer)
  const shown = line.each === undefined ? columns.slice(0, 1) : columns
  const full = line.full ? newestOf(line.of ?? device, line.full, answer) : undefined
  const valuesOf = divider(device, line, answer)
  const nameOf = namesOf(
    line,
    shown.map(({ labels }) => labels),
  )
  return shown
    .map((column) => ({
      ...memberOf(line, nameOf(column.labels), { ...column, values: valuesOf(grid.slice(column)) }),
      ...(full !== undefined && full > 0 ? { full } : {}),
    }))
    .sort((a, b) => compareNames(a.label, b.label))
}

/** Divides values as `per` of their line says. A divisor that is 0 gives no value. */
function divider(device: DeviceInfo, { per, of = device }: PanelLine, answer: QueryColumns) {
  if (per === undefined) return (values: Float64Array): Float64Array => values
  const { metric, function: fn = 'last', value: known = Number.NaN } = per
  const column = columnsOf(of, { metric, function: fn }, answer)[0]
  const divisors = column && answer.grid?.slice(column)
  return (values: Float64Array): Float64Array => {
    let divisor = known
    return values.map((value, at) => {
      const now = divisors?.[at] ?? Number.NaN
      if (now > 0 || fn === 'rate') divisor = now
      return divisor > 0 ? value / divisor : Number.NaN
    })
  }
}

function memberOf(
  { metric, isUp }: PanelLine,
  name: string,
  { values, resetsMs }: Required<Pick<ChartMember, 'values' | 'resetsMs'>>,
): ChartMember {
  return { key: `${metric} ${name}`, label: name, values: isUp ? upOrDown(values, isUp) : values, resetsMs }
}

/** Names the series of a line, of which all labels are given. */
function namesOf({ label, each, words = {} }: PanelLine, all: readonly Labels[]): (labels: Labels) => string {
  if (each === undefined) return () => label
  if (typeof each === 'string') {
    return (labels) => {
      const own = labels[each] ?? ''
      const value = words[own] ?? own
      return label.includes('{}') ? label.replace('{}', value) : `${label} ${value}`.trim()
    }
  }
  const own = (labels: Labels): Labels => Object.fromEntries(each.map((name) => [name, labels[name] ?? '']))
  const telling = tellingLabels(all.map(own))
  return (labels) => splitWords(own(labels), telling).name
}

function upOrDown(values: Float64Array, isUp: (value: number) => boolean): Float64Array {
  return values.map((value) => (Number.isNaN(value) ? value : Number(isUp(value))))
}

/** The newest value in the window for a metric with one series per device; undefined if there is none. */
function newestOf(device: DeviceInfo, metric: string, answer: QueryColumns): number | undefined {
  const column = columnsOf(device, { metric, function: 'last' }, answer)[0]
  return column && answer.grid && newestValue(answer.grid.slice(column), Number.POSITIVE_INFINITY)
}

function limitsOf(
  device: DeviceInfo,
  { limits = [] }: DevicePanel,
  answer: QueryColumns,
): ChartSpec['limits'] & object {
  return limits.flatMap(({ label, metric, value }) => {
    const now = (metric && newestOf(device, metric, answer)) || value
    return now === undefined || !(now > 0) ? [] : [{ label, value: now }]
  })
}

/**
 * Why a panel has no line: no source reports it, the query was refused, or the source gave a reason. Empty if a sample
 * may still arrive.
 */
function reasonOf(
  device: DeviceInfo,
  { lines, without }: DevicePanel,
  answer: QueryColumns,
  {
    latest,
    knownMetrics,
    goneWords,
  }: {
    readonly latest: readonly LatestSeries[]
    readonly knownMetrics: ReadonlySet<string>
    readonly goneWords: string
  },
): string {
  if (!lines.some(({ metric }) => knownMetrics.has(metric))) return without
  // For other devices only the catalogue is known.
  const own = lines.filter(({ of }) => of === undefined || of.id === device.id)
  if (own.length === 0) return ''
  const refused = own.flatMap((line) => refusalOf(device, line, answer))
  if (refused.length > 0) return [...new Set(refused)].join(' ')
  const series = latest.filter((one) => own.some((line) => isOfLine(line, one)))
  if (series.length === 0) return goneWords ? `${goneWords} No sample of it is in this window.` : without
  const notes = own.flatMap((line) => notesOn(device, line, answer))
  if (notes.length > 0) return [...new Set(notes)].join(' ')
  const reasons = series.map(({ absent }) => absent)
  return reasons.every(Boolean) ? [...new Set(reasons)].join(' ') : ''
}

function notesOn(device: DeviceInfo, line: PanelLine, answer: QueryColumns): readonly string[] {
  const query = queryOf(device, line)
  return (query && answer.result(query)?.meta.notes) ?? []
}

function refusalOf(device: DeviceInfo, line: PanelLine, { snapshot }: QueryColumns): readonly string[] {
  const query = queryOf(device, line)
  const error = query && snapshot.queryErrors.get(queryKey(query))
  return error ? [`The server does not tell it: ${error.message}`] : []
}
