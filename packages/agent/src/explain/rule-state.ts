import { type Batch, isPresent, numberAt, viewsOf } from '@sonde/sdk'
import type { RuleFacts, RulePlace, RuleSource, TracebackEvent } from '@sonde/sdk/api'
import { type LatestSeries, seriesKey } from '@sonde/sdk/internal'
import type { Agent } from '../agent.ts'
import { everyMsOf, saidPeriodOf } from '../hosting/said-period.ts'
import { latestSeries } from '../pipeline/latest.ts'
import type { RuleBook, Signal } from '../rules/rule.ts'
import { describeRule } from '../traceback/describe-rule.ts'
import type { WatchedRing, WatchedSeriesPlace } from '../traceback/watching/watched-place.ts'
import { selects } from './selector.ts'

/** Most series of a rule in one answer. */
const PLACES_LIMIT = 4
/** Most labels of other series, or reasons, in one answer. */
const OTHERS_LIMIT = 3
/** Limit for fetching the newest sample of a ring. Unit: bytes. */
const SAMPLE_BYTES_MAX = 1 << 20

/** State of one rule; undefined if the book has no rule with that name. */
export async function ruleState(agent: Agent, book: RuleBook, name: string): Promise<RuleFacts | undefined> {
  const index = book.rules.findIndex((one) => one.name === name)
  const rule = book.rules[index]
  if (rule === undefined) return undefined
  const last = lastEvent(agent, name)
  const common = {
    name,
    number: index + 1,
    condition: describeRule(rule, book),
    ...(last === undefined ? {} : { last }),
  }
  const nothing = { sources: [], places: [], placeCount: 0, isTypeLive: true, hasField: true, others: [], absent: [] }
  if ('of' in rule) {
    return { ...common, ...nothing, combines: rule.rules.map((member) => book.rules[member]?.name ?? '') }
  }
  const signal = book.signals[rule.signal] as Signal
  const { type: typeName, field, labels } = signal
  const types = agent.recent.types().filter((type) => type.name === typeName)
  const rings = await agent.ruleWatch.ringsOf(name)
  const reported = agent.ruleWatch.reportedOf(name)
  const series = latestSeries(agent.recent, { type: typeName, field })
  const own = series.filter((one) => selects(labels, one.labels))
  const left = rings.length + reported.length === 0 ? agent.ruleWatch.leftOf(name) : undefined
  const sources = sourcesOfType(agent, typeName, rings[0]?.device)
  const isDeclared = sources.length > 0 && rings.length > 0
  return {
    ...common,
    signal: { name: signal.name, type: typeName, field, labels },
    sources,
    places: [
      ...(await Promise.all(rings.slice(0, PLACES_LIMIT).map((ring) => ringPlace(ring, field)))),
      ...reported.slice(0, PLACES_LIMIT).map((place) => reportedPlace(place, own)),
    ].slice(0, PLACES_LIMIT),
    placeCount: rings.length + reported.length,
    isTypeLive: isDeclared || types.length > 0,
    hasField:
      isDeclared || types.length === 0 || types.some(({ layout }) => layout.slots.some((slot) => slot.name === field)),
    others: own.length > 0 ? [] : distinct(series.map((one) => seriesKey(one.labels))),
    absent: distinct(own.flatMap(({ value, absent }) => (value === null ? [absent] : []))),
    ...(left === undefined ? {} : { left }),
  }
}

function distinct(texts: readonly string[]): string[] {
  return [...new Set(texts)].slice(0, OTHERS_LIMIT)
}

/** Sources of the agent that have a type. `device` is that of a watched ring. */
function sourcesOfType({ sources }: Agent, type: string, device = ''): RuleSource[] {
  return sources
    .filter(({ definition }) => definition.types.some((one) => one.name === type))
    .map((source) => {
      const { name, state, reason, definition, stats } = source
      const said = saidPeriodOf(stats.periods, { type, device })
      const fault = stats.failed.latest().find(({ place }) => place.startsWith('the rules of '))
      return {
        name,
        host: definition.host,
        state,
        reason,
        everyMs: said === undefined ? null : everyMsOf(said, device !== ''),
        fault: fault?.message ?? '',
      }
    })
}

/** A ring with the value of its newest sample. */
async function ringPlace({ tap, running, labels: _, ...place }: WatchedRing, field: string): Promise<RulePlace> {
  let value: string | null = null
  const newestNs = BigInt(tap.newestMonoNs)
  const times = { fromMonoNs: String(newestNs), toMonoNs: String(newestNs + 1n) }
  const request = { type: tap.type, device: tap.device, ...times, bytesMax: SAMPLE_BYTES_MAX }
  await running
    .window(request, async (batch) => {
      value = lastValue(batch, field) ?? value
    })
    // The host is being replaced, and its samples are lost.
    .catch(() => undefined)
  return { ...place, value }
}

function lastValue({ type, bytes, count }: Batch, field: string): string | undefined {
  const slot = type.layout.slots.find(({ name }) => name === field)
  if (slot === undefined || count === 0) return undefined
  const views = viewsOf(bytes)
  const at = (count - 1) * type.layout.recordBytes
  if (!isPresent(type.layout, slot, views, at)) return undefined
  const isExact = slot.field.kind === 'u64' && slot.field.count === 1
  return String(isExact ? views.data.getBigUint64(at + slot.offset, true) : numberAt(slot, views, at))
}

function reportedPlace({ labels, ...place }: WatchedSeriesPlace, series: readonly LatestSeries[]): RulePlace {
  const key = seriesKey(labels)
  return { ...place, value: series.find((one) => seriesKey(one.labels) === key)?.value ?? null }
}

/** The last known event of a rule. */
function lastEvent({ traceback }: Agent, name: string): RuleFacts['last'] {
  const { events } = traceback.list({ rule: name, limit: 1 })
  const [event] = events as readonly TracebackEvent[]
  if (event === undefined) return undefined
  const { id, device, startMs, endMs } = event
  return { event: id, device, startMs, ...(endMs === undefined ? {} : { endMs }) }
}
