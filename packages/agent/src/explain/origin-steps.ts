import { type LatestSeries, labelOf } from '@sonde/sdk/internal'
import { fine, type Step } from '../sources/chains/chain.ts'
import { ORIGINS, type OriginName, SERVED_METRICS, type ServedMetric } from '../sources/origins/metric-origins.ts'
import type { AgentFacts } from './agent-facts.ts'
import { ago } from './ago.ts'
import { type Selector, selects } from './selector.ts'

const CHANGED_METRIC = 'sonde_origin_changed_timestamp_seconds'
/** Most changes in one answer. */
const CHANGES_LIMIT = 3

/** Explains where the values of a metric come from, and which origins have changed; none if it has only one origin. */
export function originSteps({ metric, labels }: Selector, facts: AgentFacts): Step[] {
  if (!SERVED_METRICS.includes(metric as ServedMetric)) return []
  const check = async () => {
    const series = (await facts.series({ metric })).filter((each) => selects(labels, each.labels))
    const origins = new Set(series.map((each) => labelOf(each.labels, 'origin')))
    if (origins.size === 0) return { state: 'unknown', tried: metric, answer: 'no series shows its origin' } as const
    const changes = (await facts.series({ metric: CHANGED_METRIC })).filter((each) => isOf({ metric, labels }, each))
    const said = [...origins].map((origin) => `${origin} (${ORIGINS[origin as OriginName] ?? 'unknown'})`).join(', ')
    return fine(metric, [said, ...changes.slice(0, CHANGES_LIMIT).map(changeWords)].join('; '))
  }
  return [{ name: 'origin', check }]
}

function isOf({ metric, labels }: Selector, { labels: change }: LatestSeries): boolean {
  const wanted: Readonly<Record<string, string | undefined>> = { device: labels.device, kind: labels.type }
  const isSame = ([name, value]: [string, string | undefined]) => value === undefined || labelOf(change, name) === value
  return labelOf(change, 'metric') === metric && Object.entries(wanted).every(isSame)
}

function changeWords({ labels, value }: LatestSeries): string {
  const of = (name: string) => labelOf(labels, name)
  const what = [of('device'), of('kind')].filter(Boolean).join(' ')
  return `${what}: ${of('origin')} instead of ${of('previous')}, ${ago(Number(value) * 1000)}: ${of('reason')}`
}
