import type { EventAnswer, EventLane, TracebackEvent } from '@sonde/sdk/api'
import { turn } from '@sonde/sdk/internal'
import type { KeptSeries, ReadIndex } from '../keep/kept-index.ts'
import { signalRank } from './rank.ts'
import { isSignalOf, type LaneSignal, laneSignals } from './signals.ts'

/** Most lanes of one answer: as many as a request for samples may name. */
export const LANES_MAX = 64
/** Conditions for lanes. Default: all lanes. */
export interface LaneFilter {
  /** Words that must all appear in name, device and kind, in any order and case. */
  readonly find?: string
  readonly kind?: string
}

/** The first matching lanes of the ranking. */
export type LanesAnswer = Pick<EventAnswer, 'lanes' | 'lanesLeftOut' | 'lanesKept' | 'kinds'>

/** Rankings of indexes that are read repeatedly. */
const RANKED = new WeakMap<ReadIndex, Promise<readonly EventLane[]>>()
/** More than the number of lanes of an event. */
const PLACES = 2 ** 32

/** The first matching lanes of an event by rank. An application may have hundreds of thousands of lanes. */
export async function eventLanes(
  event: Pick<TracebackEvent, 'device'>,
  index: ReadIndex,
  filter: LaneFilter = {},
): Promise<LanesAnswer> {
  const ranking = RANKED.get(index) ?? rankedLanes(event, index)
  RANKED.set(index, ranking)
  const ranked = await ranking
  const words = (filter.find ?? '').toLowerCase().split(/\s+/).filter(Boolean)
  const lanes: EventLane[] = []
  const counts = new Map<string, number>()
  let matching = 0
  for (const lane of ranked) {
    counts.set(lane.kind, (counts.get(lane.kind) ?? 0) + 1)
    if (isMatch(lane, words, filter.kind) && matching++ < LANES_MAX) lanes.push(lane)
    if (turn.isOver()) await turn.next()
  }
  const kinds = [...counts].map(([kind, count]) => ({ kind, lanes: count }))
  kinds.sort((a, b) => b.lanes - a.lanes || (a.kind < b.kind ? -1 : 1))
  return { lanes, lanesLeftOut: matching - lanes.length, lanesKept: ranked.length, kinds }
}

function isMatch(lane: EventLane, words: readonly string[], kind: string | undefined): boolean {
  if (kind !== undefined && lane.kind !== kind) return false
  if (words.length === 0) return true
  const text = `${lane.name} ${lane.deviceName} ${lane.device} ${lane.kind}`.toLowerCase()
  return words.every((word) => text.includes(word))
}

async function rankedLanes(event: Pick<TracebackEvent, 'device'>, index: ReadIndex): Promise<readonly EventLane[]> {
  const lanes: EventLane[] = []
  const ranks: number[] = []
  const series = [...index.series.entries()]
  // Equal ranks are ordered by the name of the device, then by position in the event.
  series.sort(([, a], [, b]) => (a.deviceName < b.deviceName ? -1 : a.deviceName > b.deviceName ? 1 : 0))
  for (const [at, one] of series) {
    for (const signal of laneSignals(index, at)) {
      const lane = makeLane(event, index, one, signal)
      ranks.push(signalRank(lane, one, signal, index) * PLACES + lanes.length)
      lanes.push(lane)
    }
    if (turn.isOver()) await turn.next()
  }
  // Numbers sort many times faster than objects, and within one turn.
  return Array.from(Float64Array.from(ranks).sort(), (rank) => lanes[rank % PLACES] as EventLane)
}

function makeLane(
  event: Pick<TracebackEvent, 'device'>,
  index: ReadIndex,
  series: KeptSeries,
  { key, slot, role, name, unit }: LaneSignal,
): EventLane {
  const { source = '' } = index.parts[series.part] ?? {}
  const { device, deviceName, kind, resolutionMs, errorMs, samples, gaps } = series
  const type = index.types[series.part]?.name ?? ''
  const { signal } = index
  const isOfRule = device === event.device && signal !== undefined && isSignalOf(signal, type, slot, series)
  return {
    ...{ key, type, source, device, deviceName, kind, name, unit, role },
    ...{ resolutionMs, errorMs, samples, gaps, isOfRule },
  }
}
