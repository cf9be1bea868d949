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
 * Milliseconds that questions outlive their last user: a changed window keeps its old drawing, and going back costs
 * nothing.
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

/** Streams rest while the tab is hidden. */
export function restWhileHidden(): void {
  document.addEventListener('visibilitychange', () => {
    for (const frame of frames.values()) frame.setVisible(!document.hidden)
  })
}

/** Asks every frame again for what failed. */
export function retryAll(): void {
  for (const frame of frames.values()) frame.retry()
}

/** Answers to some questions over one range. */
export interface QueryColumns {
  readonly snapshot: FrameSnapshot
  readonly grid: SampleGrid | undefined
  /** The range and step that the samples are of. */
  readonly range: FrameRange
  readonly stepMs: number
  /** Whether these samples are of the range before, shown until those of the new one are here. */
  readonly isOld: boolean
  /** Answer to a question, or undefined while it is not there. */
  readonly result: (query: MetricQuery) => GridResult | undefined
  /** Whether the server has answered a question, or refused it. */
  readonly isAnswered: (query: MetricQuery) => boolean
  /** Columns of a question that have a sample, in the order of their labels; empty while it is not there. */
  readonly columns: (query: MetricQuery) => readonly GridColumn[]
}

/**
 * Asks questions over a range as long as the component lives. A page should call it once or twice, not once a panel.
 */
export function useColumns(queries: readonly MetricQuery[], range: FrameRange, stepMs: number): QueryColumns {
  const key = frameKey(range, stepMs)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key says all that the range says
  const frame = useMemo(() => frameFor(range, stepMs), [key])
  const asked = JSON.stringify(queries)
  useEffect(() => {
    // A frame that nobody wanted for a moment may have been dropped from the table; it is taken back as it is.
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
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key says all that the range says
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

/** Whether a series has any sample in the window; one that has none left with its device. */
function hasSample(grid: SampleGrid | undefined, column: GridColumn): boolean {
  return grid?.slice(column).some((value) => !Number.isNaN(value)) ?? false
}

/** Columns ordered by their label values, `eth2` before `eth10`. */
function sortedColumns(result: GridResult | undefined): readonly GridColumn[] {
  if (!result) return []
  const name = (column: GridColumn): string => Object.values(column.labels).join(' ')
  return [...result.columns.values()].sort((a, b) => compareNames(name(a), name(b)))
}

/** How the page as a whole stands with the server. */
export interface FrameState {
  /** Whether every stream is open; undefined before the first try. */
  readonly isOpen: boolean | undefined
  /** Since when a stream is closed, server's time. */
  readonly sinceMs: number
  /** Time of the newest sample that any live frame has. */
  readonly newestMs: number
  /** From when on the newest samples of a live frame are stale; undefined if none has any. */
  readonly staleFromMs: number | undefined
  /** Since when a question waits for its answer, server's time; undefined if none does. */
  readonly awaitedSinceMs: number | undefined
  readonly error: ApiError | undefined
  /** Why the server ended a stream that is not well again yet. */
  readonly streamFault: ApiError | undefined
  /** The newest span that a stream could not have. */
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

/** Looks at every frame that is used; told by the frames themselves. */
function surveyFrames(): void {
  let next = NO_FRAME
  for (const frame of frames.values()) {
    if (frame.idle) continue
    const { streamOpen, streamSinceMs, newestMs, error, streamFault, streamGaps } = frame.getSnapshot()
    next = {
      isOpen: streamOpen === false || next.isOpen === false ? false : (streamOpen ?? next.isOpen),
      sinceMs: streamOpen === false ? Math.max(next.sinceMs, streamSinceMs) : next.sinceMs,
      newestMs: Math.max(next.newestMs, newestMs),
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

/** How the page stands with the server, over all its frames. */
export function useFrameState(): FrameState {
  return useStore(frameState)
}
