import { useEffect } from 'react'
import { learnServerClock } from '../state/clock.ts'
import { createStore, type Store, useStore } from '../state/store.ts'
import { type ApiError, getJson } from './client.ts'
import type { NodeInfo, SeriesAnswer, SourcesAnswer, TypeInfo } from './types.ts'

/** Something that is read again and again: the last answer stays while the next one is awaited or fails. */
export interface Resource<T> {
  readonly data: T | undefined
  readonly error: ApiError | undefined
  /** Failures in a row, and when the last one was (this machine's clock). */
  readonly failures: number
  readonly failedMs: number
  /** When the last answer came. */
  readonly cameMs: number
}

const EMPTY = { data: undefined, error: undefined, failures: 0, failedMs: 0, cameMs: 0 } as const

interface Poll<T> {
  readonly store: Store<Resource<T>>
  readonly refresh: () => Promise<void>
  users: number
  timer: ReturnType<typeof setTimeout> | undefined
}

function createPoll<T>(path: string, everyMs: number, learn?: (data: T, askedMs: number) => void): Poll<T> {
  const store = createStore<Resource<T>>(EMPTY)
  const refresh = async (): Promise<void> => {
    clearTimeout(poll.timer)
    const askedMs = Date.now()
    if (!document.hidden) {
      try {
        const data = await getJson<T>(path)
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

function usePoll<T>(poll: Poll<T>): Resource<T> {
  useEffect(() => {
    if (++poll.users === 1) void poll.refresh()
    return () => {
      if (--poll.users === 0) clearTimeout(poll.timer)
    }
  }, [poll])
  return useStore(poll.store)
}

const nodePoll = createPoll<NodeInfo>('/api/v1/node', 5_000, (node, askedMs) =>
  learnServerClock(node.nowMs, askedMs, Date.now()),
)
const sourcesPoll = createPoll<SourcesAnswer>('/api/v1/sources', 2_000)
const typesPoll = createPoll<{ readonly types: readonly TypeInfo[] }>('/api/v1/types', 30_000)

/** The node: renewed every 5 s and by the stream. */
export function useNode(): Resource<NodeInfo> {
  return usePoll(nodePoll)
}

/** Takes the node's state from the stream. */
export function takeNode(node: NodeInfo): void {
  nodePoll.store.set({ ...EMPTY, data: node, cameMs: Date.now() })
}

/** The sources, renewed every 2 s. */
export function useSources(): Resource<SourcesAnswer> {
  return usePoll(sourcesPoll)
}

/** The catalogue, renewed every 30 s. */
export function useTypes(): Resource<{ readonly types: readonly TypeInfo[] }> {
  return usePoll(typesPoll)
}

/** Asks for everything again at once. */
export function refreshAll(): void {
  for (const poll of [nodePoll, sourcesPoll, typesPoll]) if (poll.users > 0) void poll.refresh()
}

/** Most different series polls that are kept; the oldest unused one goes. */
const SERIES_POLL_LIMIT_COUNT = 32
const seriesPolls = new Map<string, Poll<SeriesAnswer>>()

function seriesPollFor(path: string): Poll<SeriesAnswer> {
  const existing = seriesPolls.get(path)
  if (existing) return existing
  if (seriesPolls.size >= SERIES_POLL_LIMIT_COUNT) {
    for (const [key, poll] of seriesPolls) if (poll.users === 0) seriesPolls.delete(key)
  }
  const poll = createPoll<SeriesAnswer>(path, 2_000)
  seriesPolls.set(path, poll)
  return poll
}

/** The exact latest values of every series of a type, renewed every 2 s. */
export function useSeriesOfType(type: string): Resource<SeriesAnswer> {
  return usePoll(seriesPollFor(`/api/v1/series?type=${encodeURIComponent(type)}`))
}
