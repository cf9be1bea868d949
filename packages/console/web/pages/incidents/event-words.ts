import type { EventEnd, TracebackEvent, WatchingRule } from '@sonde/sdk/api'
import type { StateTone } from '../../components/state-mark.tsx'
import { formatQuantity, groupThousands } from '../../format/number.ts'
import { BYTES } from '../../format/quantity.ts'
import { formatAge, formatClock, formatDuration, type TimeZoneChoice } from '../../format/time.ts'

/** Reasons for the end of an event: the word in a column and the sentence. */
const ENDS: Readonly<
  Record<EventEnd, { readonly word: string; readonly sentence: string; readonly isWhole: boolean }>
> = {
  cleared: { word: 'Cleared', sentence: 'The rule no longer holds.', isWhole: true },
  lost: {
    word: 'Lost',
    sentence: 'Its device or application left, or does not answer: nobody saw whether the rule still held.',
    isWhole: false,
  },
  cut: {
    word: 'Cut',
    sentence: 'It reached the longest or largest that a part of an event may be; the next part continues it.',
    isWhole: false,
  },
  stopped: { word: 'Stopped', sentence: 'Sonde was stopped while the rule held.', isWhole: false },
  host_replaced: {
    word: 'Interrupted',
    sentence: 'The process that watches was replaced while the rule held.',
    isWhole: false,
  },
  truncated: {
    word: 'Truncated',
    sentence: 'The disk accepted no more samples. Earlier samples are complete.',
    isWhole: false,
  },
}

/** State of an event: icon, word and colour belong together. */
export function eventState({ endMs, end }: Pick<TracebackEvent, 'endMs' | 'end'>): {
  readonly tone: StateTone
  readonly word: string
} {
  if (endMs === undefined) return { tone: 'critical', word: 'Open' }
  const known = end && ENDS[end]
  return { tone: known && !known.isWhole ? 'warning' : 'ok', word: known?.word ?? 'Closed' }
}

/** A sentence on why an event ended or that it is still open. */
export function endSentence({ endMs, end }: Pick<TracebackEvent, 'endMs' | 'end'>): string {
  if (endMs === undefined) return 'Its rule holds.'
  return end ? ENDS[end].sentence : 'Why it ended is not known.'
}

/** How long an event lasted or has lasted so far. */
export function lastedWords({ startMs, endMs }: Pick<TracebackEvent, 'startMs' | 'endMs'>, nowMs: number): string {
  return endMs === undefined ? formatAge(nowMs - startMs) : formatDuration(endMs - startMs)
}

/** The stored samples and their size. */
export function keptWords({ samples, sizeBytes }: Pick<TracebackEvent, 'samples' | 'sizeBytes'>): string {
  return samples === 0 ? 'none' : `${groupThousands(String(samples))} · ${formatQuantity(BYTES, sizeBytes)}`
}

/** The window around the start of an event: `−2 s to +4 s`. */
export function windowWords({ window, startMs }: Pick<TracebackEvent, 'window' | 'startMs'>): string {
  if (!window) return 'none'
  const beforeMs = startMs - window.fromMs
  return `${beforeMs > 0 ? `−${formatDuration(beforeMs)}` : 'start'} to +${formatDuration(window.toMs - startMs)}`
}

/** For a rule that watches nothing: since when, and which devices left. */
export function nothingWords(left: WatchingRule['left'], zone: TimeZoneChoice): string {
  return left === undefined ? 'nothing yet' : `nothing since ${formatClock(left.atMs, zone)}, when ${left.who} left`
}

/** The device of an event in words. */
export function deviceWords(device: string): string {
  return device === '' ? 'the node' : device
}
