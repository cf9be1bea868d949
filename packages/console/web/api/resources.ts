import type { LatestAnswer, NodeAnswer, SourceAnswer, SourcesAnswer, TypesAnswer } from '@sonde/sdk/api'
import { useEffect, useState } from 'react'
import { learnServerClock } from '../state/clock.ts'
import { isConsole } from '../state/node-scope.ts'
import { createValueStore, useStore, type ValueStore } from '../state/value-store.ts'
import { type ApiError, getAnswer } from './client.ts'

/** A polled resource. The last answer stays while the next loads or fails. */
export interface Resource<T> {
  readonly data: T | undefined
  readonly error: ApiError | undefined
  /** Failures in a row, and when the last one was (this machine's clock). */
  readonly failures: number
  readonly failedMs: number
  /** Time of the last answer. */
  readonly cameMs: number
}

const EMPTY = { data: undefined, error: undefined, failures: 0, failedMs: 0, cameMs: 0 } as const

/** What a component needs of a poll. */
export interface ReadablePoll<T> {
  readonly store: Pick<ValueStore<Resource<T>>, 'get' | 'subscribe'>
  readonly refresh: () => Promise<void>
  users: number
  timer: ReturnType<typeof setTimeout> | undefined
}

/** A poll that runs as long as a component uses it. */
export interface Poll<T> extends ReadablePoll<T> {
  readonly store: ValueStore<Resource<T>>
}

/** Makes a poll that loads every `everyMs`, but not in a hidden tab. */
export function createPoll<T>(
  load: () => Promise<T>,
  everyMs: number,
  learn?: (data: T, askedMs: number) => void,
): Poll<T> {
  const store = createValueStore<Resource<T>>(EMPTY)
  const refresh = async (): Promise<void> => {
    clearTimeout(poll.timer)
    const askedMs = Date.now()
    if (!document.hidden) {
      try {
        const data = await load()
        learn?.(data, askedMs)
        store.set({ data, error: undefined, failures: 0, failedMs: 0, cameMs: Date.now() })
      } catch (error) {
        const before = store.get()
        store.set({ ...before, error: error as ApiError, failures: before.failures + 1, failedMs: Date.now() })
      }
    }
    clearTimeout(poll.timer)
    if (poll.users > 0) poll.timer = setTimeout(() => void refresh(), everyMs)
  }
  const poll: Poll<T> = { store, refresh, users: 0, timer: undefined }
  return poll
}

/** Keeps a poll running as long as the component lives, and reads it. */
export function usePoll<T>(poll: ReadablePoll<T>): Resource<T> {
  useEffect(() => {
    if (++poll.users === 1) void poll.refresh()
    return () => {
      if (--poll.users === 0) clearTimeout(poll.timer)
    }
  }, [poll])
  return useStore(poll.store)
}

const nodePoll = createPoll(
  () => getAnswer('/api/v1/node'),
  5_000,
  (node, askedMs) => {
    isConsole.set(node.backend !== undefined)
    learnServerClock(node.nowMs, askedMs, Date.now())
  },
)
const sourcesPoll = createPoll(() => getAnswer('/api/v1/sources'), 2_000)
const typesPoll = createPoll(() => getAnswer('/api/v1/types'), 5_000)

/** The node: renewed every 5 s and by the stream. */
export function useNode(): Resource<NodeAnswer> {
  return usePoll(nodePoll)
}

/** Takes the node's state from the stream. */
export function takeNode(node: NodeAnswer): void {
  nodePoll.store.set({ ...EMPTY, data: node, cameMs: Date.now() })
}

/** The sources, renewed every 2 s. */
export function useSources(): Resource<SourcesAnswer> {
  return usePoll(sourcesPoll)
}

/** One source with its settings, renewed every 2 s. The name stays the same as long as the component lives. */
export function useSource(name: string): Resource<SourceAnswer> {
  const [poll] = useState(() => createPoll(() => getAnswer('/api/v1/sources/:name', { name }), 2_000))
  return usePoll(poll)
}

/** The catalogue, renewed every 5 s: a source that has just come brings new types. */
export function useTypes(): Resource<TypesAnswer> {
  return usePoll(typesPoll)
}

/** Reloads everything at once. */
export function refreshAll(): void {
  for (const poll of [nodePoll, sourcesPoll, typesPoll]) if (poll.users > 0) void poll.refresh()
}

/** Most cached polls of series. Unused polls are dropped first. */
const SERIES_POLL_LIMIT_COUNT = 32
const seriesPolls = new Map<string, Poll<LatestAnswer>>()

/** Wanted series: by metric or by type. */
type WantedSeries = { readonly metric: string } | { readonly type: string }

function seriesPollFor(wanted: readonly WantedSeries[], everyMs: number): Poll<LatestAnswer> {
  const pollKey = `${everyMs} ${JSON.stringify(wanted)}`
  const existing = seriesPolls.get(pollKey)
  if (existing) return existing
  if (seriesPolls.size >= SERIES_POLL_LIMIT_COUNT) {
    for (const [key, poll] of seriesPolls) if (poll.users === 0) seriesPolls.delete(key)
  }
  const poll = createPoll(() => loadSeries(wanted), everyMs)
  seriesPolls.set(pollKey, poll)
  return poll
}

async function loadSeries(wanted: readonly WantedSeries[]): Promise<LatestAnswer> {
  const answers = await Promise.all(wanted.map((part) => getAnswer('/api/v1/series', part)))
  return { nowMs: answers[0]?.nowMs ?? Date.now(), series: answers.flatMap(({ series }) => series) }
}

/** The exact latest values of every series of a type, renewed every 2 s. */
export function useSeriesOfType(type: string): Resource<LatestAnswer> {
  return usePoll(seriesPollFor([{ type }], 2_000))
}

/** The latest values of every series of a metric, renewed every 10 s: which labels there are. */
export function useSeriesOfMetric(metric: string): Resource<LatestAnswer> {
  return usePoll(seriesPollFor(metric === '' ? [] : [{ metric }], 10_000))
}

/** The latest values of every series of several types, renewed every 10 s or every `everyMs`. */
export function useSeriesOfTypes(types: readonly string[], everyMs = 10_000): Resource<LatestAnswer> {
  return usePoll(
    seriesPollFor(
      types.map((type) => ({ type })),
      everyMs,
    ),
  )
}
