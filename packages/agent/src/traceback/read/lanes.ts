import type { EventAnswer, EventLane, TracebackEvent } from '@sonde/sdk/internal'
import type { KeptSeries, ReadIndex } from '../keep/kept-index.ts'
import { rankOf } from './rank.ts'
import { isOf, type Signal, signalsOf } from './signals.ts'

/** Lanes of one answer: as many as one question for samples may name. */
export const LANES_MAX = 64
/** Which lanes are asked for; all where it says nothing. */
export interface LaneFilter {
  /** Words that name, device and kind hold in some order, in any case. */
  readonly find?: string
  readonly kind?: string
}

/** The first lanes of the ranking that match. */
export type LanesAnswer = Pick<EventAnswer, 'lanes' | 'lanesLeftOut' | 'lanesKept' | 'kinds'>

/** The ranking of an index that is read again and again. */
const RANKED = new WeakMap<ReadIndex, readonly EventLane[]>()

/** The lanes of an event that match, the first of its ranking. */
export function lanesOf(event: Pick<TracebackEvent, 'device'>, index: ReadIndex, filter: LaneFilter = {}): LanesAnswer {
  const ranked = RANKED.get(index) ?? rankedLanes(event, index)
  RANKED.set(index, ranked)
  const words = (filter.find ?? '').toLowerCase().split(/\s+/).filter(Boolean)
  const matching = ranked.filter((lane) => {
    if (filter.kind !== undefined && lane.kind !== filter.kind) return false
    if (words.length === 0) return true
    const text = `${lane.name} ${lane.deviceName} ${lane.device} ${lane.kind}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
  const kinds = [...Map.groupBy(ranked, ({ kind }) => kind)].map(([kind, own]) => ({ kind, lanes: own.length }))
  kinds.sort((a, b) => b.lanes - a.lanes || (a.kind < b.kind ? -1 : 1))
  return {
    lanes: matching.slice(0, LANES_MAX),
    lanesLeftOut: Math.max(0, matching.length - LANES_MAX),
    lanesKept: ranked.length,
    kinds,
  }
}

function rankedLanes(event: Pick<TracebackEvent, 'device'>, index: ReadIndex): readonly EventLane[] {
  return index.series
    .flatMap((series, at) =>
      signalsOf(index, at).map((signal) => {
        const lane = laneOf(event, index, series, signal)
        return { lane, rank: rankOf(lane, series, signal, index) }
      }),
    )
    .sort(
      (a, b) =>
        a.rank - b.rank || (a.lane.deviceName < b.lane.deviceName ? -1 : a.lane.deviceName > b.lane.deviceName ? 1 : 0),
    )
    .map(({ lane }) => lane)
}

function laneOf(
  event: Pick<TracebackEvent, 'device'>,
  index: ReadIndex,
  series: KeptSeries,
  { key, slot, role, name, unit }: Signal,
): EventLane {
  const { source = '' } = index.parts[series.part] ?? {}
  const { device, deviceName, kind, resolutionMs, errorMs, samples, gaps } = series
  const type = index.types[series.part]?.name ?? ''
  const { signal } = index
  const isOfRule = device === event.device && signal !== undefined && isOf(signal, type, slot, series)
  return {
    ...{ key, type, source, device, deviceName, kind, name, unit, role },
    ...{ resolutionMs, errorMs, samples, gaps, isOfRule },
  }
}
