import type { MetricQuery, StreamGap } from '@sonde/sdk/api'
import { useEffect, useMemo, useRef, useSyncExternalStore } from 'react'
import { compareNames } from '../format/names.ts'
import { createValueStore, useStore } from '../state/value-store.ts'
import type { ApiError } from './client.ts'
import { Frame, type FrameRange, type FrameSnapshot, queryKey } from './frame.ts'
import { takeHints } from './hints.ts'
import { takeNode } from './resources.ts'
import type { GridColumn, GridResult, SampleGrid } from './sample-grid.ts'

/**
 * How long queries outlive their last user, so that a changed window keeps its old drawing and going back costs
 * nothing. Unit: milliseconds.
 */
const LINGER_MS = 3_000

const frames = new Map<string, Frame>()

function frameKey(range: FrameRange, stepMs: number): string {
  return range.kind === 'live' ? `live:${range.windowMs}:${stepMs}` : `fixed:${range.fromMs}:${range.toMs}:${stepMs}`
}

function frameFor(range: FrameRange, stepMs: number): Frame {
  const key = frameKey(range, stepMs)
  const existing = frames.get(key)
  if (existing) return existing
  const frame = new Frame(range, stepMs, { onNode: takeNode, onHints: takeHints })
  frame.subscribe(surveyFrames)
  frames.set(key, frame)
  return frame
}

function dropIdleFrames(): void {
  for (const [key, frame] of frames) {
    if (!frame.idle) continue
    frame.close()
    frames.delete(key)
  }
  surveyFrames()
}

/** Closes streams while the tab is hidden. */
export function restWhileHidden(): void {
  document.addEventListener('visibilitychange', () => {
    for (const frame of frames.values()) frame.setVisible(!document.hidden)
  })
}

/** Repeats the failed queries of every frame. */
export function retryAll(): void {
  for (const frame of frames.values()) frame.retry()
}

/** Answers to queries over a range. */
export interface QueryColumns {
  readonly snapshot: FrameSnapshot
  readonly grid: SampleGrid | undefined
  /** The range of the samples. */
  readonly range: FrameRange
  readonly stepMs: number
  /** Whether the samples belong to the previous range and the new samples are still loading. */
  readonly isOld: boolean
  /** The answer to a query; undefined before it arrives. */
  readonly result: (query: MetricQuery) => GridResult | undefined
  /** Whether the server answered or refused a query. */
  readonly isAnswered: (query: MetricQuery) => boolean
  /** Columns of a query with samples, in the order of their labels; empty before the answer. */
  readonly columns: (query: MetricQuery) => readonly GridColumn[]
}

/** Keeps queries over a range open as long as the component lives. Call it once or twice per page, not per panel. */
export function useColumns(queries: readonly MetricQuery[], range: FrameRange, stepMs: number): QueryColumns {
  const key = frameKey(range, stepMs)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key covers the range
  const frame = useMemo(() => frameFor(range, stepMs), [key])
  const asked = JSON.stringify(queries)
  useEffect(() => {
    // A briefly unused frame may have been dropped from the table. It is added again unchanged.
    if (!frames.has(key)) frames.set(key, frame)
    const release = frame.want(JSON.parse(asked) as MetricQuery[])
    surveyFrames()
    return () => {
      setTimeout(() => {
        release()
        dropIdleFrames()
      }, LINGER_MS)
    }
  }, [key, frame, asked])
  const snapshot = useSyncExternalStore(frame.subscribe, frame.getSnapshot)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key covers the range
  const current = useMemo(() => columnsOf(snapshot, range, stepMs), [snapshot, key])
  const before = useRef(current)
  useEffect(() => {
    if (current.grid) before.current = current
  }, [current])
  const old = before.current
  const isWaiting = !current.grid && !snapshot.error && old.grid !== undefined
  return useMemo(() => (isWaiting ? { ...old, isOld: true } : current), [isWaiting, old, current])
}

function columnsOf(snapshot: FrameSnapshot, range: FrameRange, stepMs: number): QueryColumns {
  const result = (query: MetricQuery): GridResult | undefined => snapshot.grid?.results.get(queryKey(query))
  return {
    snapshot,
    grid: snapshot.grid,
    range,
    stepMs: snapshot.grid?.stepMs ?? stepMs,
    isOld: false,
    result,
    isAnswered: (query) => result(query) !== undefined || snapshot.queryErrors.has(queryKey(query)),
    columns: (query) => sortedColumns(result(query)).filter((column) => hasSample(snapshot.grid, column)),
  }
}

/** Whether a series has a sample in the window. Series without samples belong to departed devices. */
function hasSample(grid: SampleGrid | undefined, column: GridColumn): boolean {
  const values = grid?.slice(column)
  // From the newest, because a live window fills from its end.
  for (let at = (values?.length ?? 0) - 1; at >= 0; at--) if (!Number.isNaN(values![at]!)) return true
  return false
}

/** Columns ordered by their label values, `eth2` before `eth10`. */
function sortedColumns(result: GridResult | undefined): readonly GridColumn[] {
  if (!result) return []
  return [...result.columns.values()]
    .map((column) => ({ column, name: Object.values(column.labels).join(' ') }))
    .sort((a, b) => compareNames(a.name, b.name))
    .map(({ column }) => column)
}

/** State of the connection of the whole page. */
export interface FrameState {
  /** Whether every stream is open; undefined before the first try. */
  readonly isOpen: boolean | undefined
  /** Since when a stream is closed, by the clock of the server. */
  readonly sinceMs: number
  /** Time of the newest sample of all live frames. */
  readonly newestMs: number
  /** Time at which the newest samples of a live frame become stale; undefined without samples. */
  readonly staleFromMs: number | undefined
  /** Start of the longest wait for an answer, by the clock of the server; undefined if no query waits. */
  readonly awaitedSinceMs: number | undefined
  readonly error: ApiError | undefined
  /** Why the server ended a stream that has not recovered yet. */
  readonly streamFault: ApiError | undefined
  /** The newest span missing from a stream. */
  readonly streamGap: StreamGap | undefined
}

const NO_FRAME: FrameState = {
  isOpen: undefined,
  sinceMs: 0,
  newestMs: 0,
  staleFromMs: undefined,
  awaitedSinceMs: undefined,
  error: undefined,
  streamFault: undefined,
  streamGap: undefined,
}
const frameState = createValueStore<FrameState>(NO_FRAME)

/** Updates the state from all used frames. The frames call it. */
function surveyFrames(): void {
  let next = NO_FRAME
  for (const frame of frames.values()) {
    if (frame.idle) continue
    const { streamOpen, streamSinceMs, newestMs, error, streamFault, streamGaps } = frame.getSnapshot()
    next = {
      isOpen: streamOpen === false || next.isOpen === false ? false : (streamOpen ?? next.isOpen),
      sinceMs: streamOpen === false ? Math.max(next.sinceMs, streamSinceMs) : next.sinceMs,
      // The samples of a fixed window say nothing about now.
      newestMs: Math.max(next.newestMs, frame.staleFromMs === undefined ? 0 : newestMs),
      staleFromMs: earlier(next.staleFromMs, frame.staleFromMs),
      awaitedSinceMs: earlier(next.awaitedSinceMs, frame.awaitedSinceMs),
      error: error ?? next.error,
      streamFault: streamFault ?? next.streamFault,
      streamGap: streamGaps.at(-1) ?? next.streamGap,
    }
  }
  const before = frameState.get()
  const isSame = (Object.keys(next) as (keyof FrameState)[]).every((key) => before[key] === next[key])
  if (!isSame) frameState.set(next)
}

function earlier(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other)
}

/** The connection state over all frames of the page. */
export function useFrameState(): FrameState {
  return useStore(frameState)
}
