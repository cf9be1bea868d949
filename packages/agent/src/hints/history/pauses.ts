import { type Batch, label, readRecords, type Source, timestamp, value, viewsOf } from '@sonde/sdk'
import type { HintsUnknown } from '@sonde/sdk/api'
import { defineOwnType } from '@sonde/sdk/internal'

/** Rules are evaluated twice a second, so a shorter pause hides no sample. Unit: milliseconds. */
const PAUSE_LEAST_MS = 3000
/** A smaller step back of the clock is a correction. Unit: milliseconds. */
const BACK_LEAST_MS = 1000
/** Most pauses that are kept. Policy: the two oldest are merged, and the time between counts as unknown too. */
const PAUSE_LIMIT = 100

const REASONS = {
  stopped: 'Sonde paused: its process was stopped, or got no processor time.',
  asleep: 'The machine slept, or its clock was set forward: no rule was evaluated in this time.',
  back: 'The clock was set back: this time passed twice, and the events of both passes are mixed.',
} as const

type PauseKind = keyof typeof REASONS

/** A time without rule evaluations. It is reported at its end and kept, so that any window of history shows it. */
export const hintPauseType = defineOwnType('sonde_hint_pause', 'A time without rule evaluations', {
  time: timestamp(),
  kind: label('stopped, asleep or back'),
  from_ms: value('f64', { unit: 'milliseconds', help: 'Its start, since the Unix epoch' }),
  to_ms: value('f64', { unit: 'milliseconds', help: 'Its end, since the Unix epoch' }),
})

interface Pause {
  readonly kind: PauseKind
  readonly fromMs: number
  readonly toMs: number
}

/**
 * Finds times without rule evaluations by two clocks: a monotonic clock, and the wall clock, which sleep and people
 * move.
 */
export class Pauses {
  #wallMs = Number.NaN
  #monotonicMs = Number.NaN
  #pauses: Pause[] = []
  #untold: Pause[] = []

  /** Notes a rule evaluation at the times of both clocks. Unit: milliseconds. */
  pass(wallMs: number, monotonicMs: number): void {
    const [before, elapsedMs] = [this.#wallMs, monotonicMs - this.#monotonicMs]
    this.#wallMs = wallMs
    this.#monotonicMs = monotonicMs
    const kind = elapsedMs >= PAUSE_LEAST_MS ? 'stopped' : 'asleep'
    if (wallMs - before >= PAUSE_LEAST_MS) this.#add({ kind, fromMs: before, toMs: wallMs })
    else if (before - wallMs >= BACK_LEAST_MS) this.#add({ kind: 'back', fromMs: wallMs, toMs: before })
  }

  /** Times without rule evaluations, in their order. */
  spans(): HintsUnknown[] {
    return this.#pauses.map(pauseSpan)
  }

  /** Reports the pauses since the last report. `nowMs` is since the Unix epoch. */
  report(source: Source, nowMs: number): void {
    const time = BigInt(Math.round(nowMs)) * 1_000_000n
    for (const { kind, fromMs, toMs } of this.#untold)
      source.report(hintPauseType, { time, kind, from_ms: fromMs, to_ms: toMs })
    this.#untold = []
  }

  #add(pause: Pause): void {
    this.#pauses.push(pause)
    this.#untold.push(pause)
    const [first, second, ...others] = this.#pauses
    if (this.#pauses.length <= PAUSE_LIMIT || first === undefined || second === undefined) return
    this.#pauses = [{ ...second, fromMs: Math.min(first.fromMs, second.fromMs) }, ...others]
    this.#untold = this.#untold.slice(-PAUSE_LIMIT)
  }
}

/** The pauses in batches of a store. */
export function pausesIn(batches: readonly Batch[]): HintsUnknown[] {
  return batches.flatMap(({ type, bytes, count, symbols }) =>
    type.fingerprint === hintPauseType.fingerprint
      ? [...readRecords(hintPauseType, viewsOf(bytes), count, symbols)].map(({ kind, from_ms, to_ms }) =>
          pauseSpan({ kind: kind as PauseKind, fromMs: from_ms, toMs: to_ms }),
        )
      : [],
  )
}

/** The parts of spans within a window, without duplicates, in their order. */
export function spansWithin(spans: readonly HintsUnknown[], fromMs: number, toMs: number): HintsUnknown[] {
  const within = spans
    .map((span) => ({ ...span, fromMs: Math.max(fromMs, span.fromMs), toMs: Math.min(toMs, span.toMs) }))
    .filter((span) => span.toMs > span.fromMs)
  const once = new Map(within.map((span) => [`${span.fromMs} ${span.toMs} ${span.reason}`, span]))
  return [...once.values()].sort((a, b) => a.fromMs - b.fromMs)
}

function pauseSpan({ kind, fromMs, toMs }: Pause): HintsUnknown {
  return { fromMs: Math.round(fromMs), toMs: Math.round(toMs), reason: REASONS[kind] }
}
