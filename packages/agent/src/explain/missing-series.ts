import type { Labels } from '@sonde/sdk'
import { type LatestSeries, sondeCommand } from '@sonde/sdk/internal'
import { broken, type Finding } from '../sources/chains/chain.ts'
import type { AgentFacts, SourceFacts } from './agent-facts.ts'
import { ago } from './ago.ts'
import type { Selector } from './selector.ts'

/** Most label sets, or types, in one answer. */
const NAMED_LIMIT = 3
/** Older failures do not explain a missing series. Unit: milliseconds. */
const RECENT_MS = 120_000

/** The parts of a source that explain a metric without series. */
export interface Reporting {
  readonly facts: AgentFacts
  /** Types that the source may report. */
  readonly types: readonly string[]
  /** The type of the metric. */
  readonly type: string
  /** State of the source; undefined if unknown. */
  readonly source: SourceFacts | undefined
}

/**
 * Explains why a metric of a reading source has no series. A recent refusal of the source is quoted, such as a row of a
 * second exporter for the same GPU.
 */
export async function missingSeries(
  { metric, labels }: Selector,
  all: readonly LatestSeries[],
  ofSource: readonly LatestSeries[],
  reporting: Reporting,
): Promise<Finding> {
  const { source } = reporting
  const what = ofSource.length > 0 ? otherLabels(labels, ofSource) : await reportedInstead(all, reporting)
  const [fault] = (source?.failures ?? []).filter(({ lastMs }) => Date.now() - lastMs < RECENT_MS)
  if (fault !== undefined)
    return broken(metric, `${what}; ${ago(fault.lastMs)}: ${fault.message}`, `check ${fault.place}`)
  if (ofSource.length > 0) return broken(metric, what, 'use labels from this list')
  const fix = `${sondeCommand()} explain ${source?.name ?? ''}; its devices have no ${reporting.type}, or it is not configured to read it`
  return broken(metric, what, fix)
}

/** Describes what the source reports and reads if the metric has no series of this source. */
async function reportedInstead(
  all: readonly LatestSeries[],
  { facts, types, type, source }: Reporting,
): Promise<string> {
  const own = new Set(types)
  const live = (await facts.types()).flatMap((each) => (own.has(each.name) ? [each.name] : []))
  const reads = source?.found ? `, which reads ${source.found},` : ''
  const reported = live.length === 0 ? 'nothing' : shortList(live)
  const elsewhere = all.length === 0 ? '' : `; another source has its ${all.length} series`
  const name = source?.name ?? 'the source'
  return live.includes(type)
    ? `${name}${reads} has no series of this metric now, but reports ${type}${elsewhere}`
    : `${name}${reads} reports ${reported}, and no record of ${type}${elsewhere}`
}

/** Describes how the labels of the other series differ. */
function otherLabels(wanted: Labels, series: readonly LatestSeries[]): string {
  const names = Object.keys(wanted)
  const having = series.map(({ labels }) => names.map((name) => `${name}="${labels[name] ?? ''}"`).join(','))
  return `none of its ${series.length} series has these labels; there are ${shortList([...new Set(having)])}`
}

function shortList(names: readonly string[]): string {
  const more = names.length - NAMED_LIMIT
  return more > 0 ? `${names.slice(0, NAMED_LIMIT).join(', ')} and ${more} more` : names.join(', ')
}
