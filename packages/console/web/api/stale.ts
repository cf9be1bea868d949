import { createContext, useContext, useMemo } from 'react'
import type { Tense } from '../format/words.ts'
import { heardMs, useSecond } from '../state/clock.ts'
import { useFrameState } from './query-client.ts'

/** Since when the page shows the past. */
export interface Stale {
  /** Time of the newest sample, or of the last message of the server without samples. Clock of the server. */
  readonly atMs: number
}

/** Longest silence of a working server. The rail requests the devices every 3 s. Unit: milliseconds. */
const SILENT_AFTER_MS = 5_000

/** Staleness of the numbers on the page; undefined while they are current. */
export const StaleContext = createContext<Stale | undefined>(undefined)

/** Since when the numbers on the page are stale; undefined while they are current. */
export function useStale(): Stale | undefined {
  return useContext(StaleContext)
}

/** Tense of sentences about the last answer of the server. */
export function useTense(): Tense {
  return useStale() ? 'past' : 'present'
}

/** Watches whether samples and answers still arrive. Used by the provider of {@link StaleContext}. */
export function useWatchedStale(): Stale | undefined {
  const nowMs = useSecond()
  const { newestMs, staleFromMs = Number.POSITIVE_INFINITY } = useFrameState()
  const isStale = isSilent(nowMs) || nowMs > staleFromMs
  const atMs = newestMs || heardMs()
  return useMemo(() => (isStale ? { atMs } : undefined), [isStale, atMs])
}

/**
 * The time that sentences describe, updated on every full second: now, or the last message of a server that became
 * silent or disconnected.
 */
export function useToldSecond(): number {
  const nowMs = useSecond()
  const { isOpen } = useFrameState()
  return isOpen === false || isSilent(nowMs) ? heardMs() : nowMs
}

function isSilent(nowMs: number): boolean {
  return heardMs() > 0 && nowMs - heardMs() > SILENT_AFTER_MS
}
