import type { Labels, LatestSeries } from '@sonde/sdk'
import { sondeCommand } from '@sonde/sdk/internal'
import { broken, type Finding } from '../sources/chains/chain.ts'
import type { AgentFacts, SourceFacts } from './agent-facts.ts'
import { ago } from './ago.ts'
import type { Selector } from './selector.ts'

/** Label sets, and types, that are named. */
const NAMED_LIMIT = 3
/** What failed longer ago explains nothing now. Unit: milliseconds. */
const RECENT_MS = 120_000

/** What a source reports, as far as a metric that has no series is concerned. */
export interface Reporting {
  readonly facts: AgentFacts
  /** Types that the source may report. */
  readonly types: readonly string[]
  /** The type that has the metric. */
  readonly type: string
  /** How the source fares; undefined if that is not known. */
  readonly source: SourceFacts | undefined
}

/**
 * What is missing where a metric of a source that reads has no series: never only that there is none. What the source
 * refused lately, as the rows of a second exporter that tells of the same GPU, is told in its words.
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
    return broken(metric, `${what}; ${ago(fault.lastMs)}: ${fault.message}`, `look at what that names: ${fault.place}`)
  if (ofSource.length > 0) return broken(metric, what, 'give labels that it has')
  const fix = `${sondeCommand()} explain ${source?.name ?? ''}; what it reads has no ${reporting.type}, or is not asked for it`
  return broken(metric, what, fix)
}

/** What the source reports and reads, where no series of the metric is of it. */
async function reportedInstead(
  all: readonly LatestSeries[],
  { facts, types, type, source }: Reporting,
): Promise<string> {
  const own = new Set(types)
  const live = (await facts.types()).flatMap((each) => (own.has(each.name) ? [each.name] : []))
  const reads = source?.found ? `, which reads ${source.found},` : ''
  const reported = live.length === 0 ? 'nothing' : listOf(live)
  const elsewhere = all.length === 0 ? '' : `; the ${all.length} series of it are of another source`
  const name = source?.name ?? 'the source'
  return live.includes(type)
    ? `${name}${reads} has no series of it now, though it reports ${type}${elsewhere}`
    : `${name}${reads} reports ${reported}, and no record of ${type}${elsewhere}`
}

/** Other series of the metric are there: what tells them apart. */
function otherLabels(wanted: Labels, series: readonly LatestSeries[]): string {
  const names = Object.keys(wanted)
  const having = series.map(({ labels }) => names.map((name) => `${name}="${labels[name] ?? ''}"`).join(','))
  return `none of its ${series.length} series has these labels; there are ${listOf([...new Set(having)])}`
}

function listOf(names: readonly string[]): string {
  const more = names.length - NAMED_LIMIT
  return more > 0 ? `${names.slice(0, NAMED_LIMIT).join(', ')} and ${more} more` : names.join(', ')
}
