import { createContext, useContext, useMemo } from 'react'
import type { Tense } from '../format/words.ts'
import { heardMs, useSecond } from '../state/clock.ts'
import { useFrameState } from './query-client.ts'

/** Since when what stands on the page is of the past. */
export interface Stale {
  /** Time of the newest sample, or of the last word of the server where the page has no samples. Server's time. */
  readonly atMs: number
}

/** How long a server that answers is silent at most: the rail asks for the devices every 3 s. Unit: milliseconds. */
const SILENT_AFTER_MS = 5_000

/** What the figures of a page are: undefined while they are of now. */
export const StaleContext = createContext<Stale | undefined>(undefined)

/** Since when the figures of the page are of the past; undefined while they are of now. */
export function useStale(): Stale | undefined {
  return useContext(StaleContext)
}

/** How sentences about what the server said last speak. */
export function useTense(): Tense {
  return useStale() ? 'past' : 'present'
}

/** Watches whether samples still come and the server still speaks; for whoever gives {@link StaleContext}. */
export function useWatchedStale(): Stale | undefined {
  const nowMs = useSecond()
  const { newestMs, staleFromMs = Number.POSITIVE_INFINITY } = useFrameState()
  const isStale = isSilent(nowMs) || nowMs > staleFromMs
  const atMs = newestMs || heardMs()
  return useMemo(() => (isStale ? { atMs } : undefined), [isStale, atMs])
}

/**
 * The time that sentences speak of, renewed on every full second: now, or when a server that fell silent or hung up was
 * heard last.
 */
export function useToldSecond(): number {
  const nowMs = useSecond()
  const { isOpen } = useFrameState()
  return isOpen === false || isSilent(nowMs) ? heardMs() : nowMs
}

function isSilent(nowMs: number): boolean {
  return heardMs() > 0 && nowMs - heardMs() > SILENT_AFTER_MS
}
