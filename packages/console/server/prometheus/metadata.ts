/** Metadata of a metric on a server. */
export interface MetricMetadata {
  readonly role: 'counter' | 'gauge' | 'bucket' | 'value'
  /** Whether the server declared the role; else it was guessed from the name. */
  readonly isSaid: boolean
  readonly unit: string
  readonly help: string
}

/** Suffixes of names that state a unit, with our spelling of it; longer suffixes first. */
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

/** One entry in the form of `/api/v1/metadata`. */
export interface MetadataEntry {
  readonly type?: string
  readonly help?: string
  readonly unit?: string
}

/** Metadata of a metric from a scrape, else from its name. */
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

/** The unit suffix of a name, before `_total`; empty if there is none. */
function unitIn(metric: string): string {
  const name = metric.replace(/_total$/, '')
  return UNITS.find(([end]) => name === end || name.endsWith(`_${end}`))?.[1] ?? ''
}

/** The first word of a name, which related metrics share: `node` of `node_load1`. */
export function familyOf(metric: string): string {
  return /^[^_:]+/.exec(metric)?.[0] ?? metric
}
