/** What a server knows of a metric beside its series. */
export interface MetricMetadata {
  readonly role: 'counter' | 'gauge' | 'bucket' | 'value'
  /** Whether the role was said, and not seen in the name. */
  readonly isSaid: boolean
  readonly unit: string
  readonly help: string
}

/** Ends of names that say a unit, and how the form spells it; longer ones first. */
const UNITS: readonly (readonly [end: string, unit: string])[] = [
  ['bytes_per_second', 'bytes_per_second'],
  ['nanoseconds', 'nanoseconds'],
  ['microseconds', 'microseconds'],
  ['milliseconds', 'milliseconds'],
  ['millijoules', 'millijoules'],
  ['kilobytes', 'kilobytes'],
  ['seconds', 'seconds'],
  ['packets', 'packets'],
  ['celsius', 'celsius'],
  ['percent', 'percent'],
  ['joules', 'joules'],
  ['bytes', 'bytes'],
  ['hertz', 'hertz'],
  ['ratio', 'ratio'],
  ['volts', 'volts'],
  ['watts', 'watts'],
  ['bits', 'bits'],
]

const ROLES: Readonly<Record<string, MetricMetadata['role']>> = {
  counter: 'counter',
  gauge: 'gauge',
  histogram: 'bucket',
  summary: 'value',
}

/** One entry as `/api/v1/metadata` has it. */
export interface MetadataEntry {
  readonly type?: string
  readonly help?: string
  readonly unit?: string
}

/** What is known of a metric: what a scrape said, else what its name says. */
export function metadataOf(metric: string, entry: MetadataEntry | undefined): MetricMetadata {
  const said = ROLES[entry?.type ?? '']
  const isCounter = /_(total|count|sum|bucket)$/.test(metric)
  return {
    role: said ?? (isCounter ? 'counter' : 'gauge'),
    isSaid: said !== undefined,
    unit: entry?.unit || unitIn(metric),
    help: entry?.help ?? '',
  }
}

/** The unit that a name ends in, before `_total`; empty if it ends in none. */
function unitIn(metric: string): string {
  const name = metric.replace(/_total$/, '')
  return UNITS.find(([end]) => name === end || name.endsWith(`_${end}`))?.[1] ?? ''
}

/** The first word of a name, which what belongs together shares: `node` of `node_load1`. */
export function familyOf(metric: string): string {
  return /^[^_:]+/.exec(metric)?.[0] ?? metric
}
