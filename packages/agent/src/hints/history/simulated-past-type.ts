import { type Batch, label, readRecords, type Source, timestamp, value, viewsOf } from '@sonde/sdk'
import { defineOwnType } from '@sonde/sdk/internal'

/** A time before the start that holds the past of a simulated node. The rules of hints were evaluated for that time. */
export const simulatedPastType = defineOwnType('sonde_simulated_past', 'A time that was simulated later', {
  time: timestamp(),
  seed: label('Seed of the simulated node'),
  from_ms: value('f64', { unit: 'milliseconds', help: 'Its start, since the Unix epoch' }),
  to_ms: value('f64', { unit: 'milliseconds', help: 'Its end, since the Unix epoch' }),
})

/** Longest stretch of one report. Unit: milliseconds. */
export const STRETCH_MAX_MS = 60_000

/** Start and end of a time. Unit: milliseconds since the Unix epoch. */
export interface PastStretch {
  readonly fromMs: number
  readonly toMs: number
}

/** Reports that a time was simulated. */
export function reportStretch(source: Source, seed: number, { fromMs, toMs }: PastStretch): void {
  const time = BigInt(Math.round(toMs)) * 1_000_000n
  source.report(simulatedPastType, { time, seed: String(seed), from_ms: fromMs, to_ms: toMs })
}

/** The simulated times in batches of a store. */
export function stretchesIn(batches: readonly Batch[]): PastStretch[] {
  return batches.flatMap(({ type, bytes, count, symbols }) =>
    type.fingerprint === simulatedPastType.fingerprint
      ? [...readRecords(simulatedPastType, viewsOf(bytes), count, symbols)].map((one) => {
          return { fromMs: one.from_ms, toMs: one.to_ms }
        })
      : [],
  )
}

/** The parts of spans outside the simulated times. */
export function outside<T extends PastStretch>(spans: readonly T[], stretches: readonly PastStretch[]): T[] {
  return stretches.reduce<T[]>(
    (left, { fromMs, toMs }) =>
      left.flatMap((span) =>
        [
          { ...span, toMs: Math.min(span.toMs, fromMs) },
          { ...span, fromMs: Math.max(span.fromMs, toMs) },
        ].filter((part) => part.toMs > part.fromMs),
      ),
    [...spans],
  )
}
