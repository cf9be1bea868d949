import { type Batch, readRecords, text, timestamp, value, viewsOf } from '@sonde/sdk'
import type { HintsUnknown } from '@sonde/sdk/api'
import { defineOwnType } from '@sonde/sdk/internal'

/** A time without samples of the node, because Sonde ended without stopping. Reported at the next start. */
export const interruptionType = defineOwnType(
  'sonde_interruption',
  'A time without samples of the node, because Sonde ended without stopping',
  {
    time: timestamp(),
    from_ms: value('f64', {
      unit: 'milliseconds',
      help: 'Time of the last samples that were kept, since the Unix epoch',
    }),
    to_ms: value('f64', { unit: 'milliseconds', help: 'When samples are taken again, since the Unix epoch' }),
    reason: text({ help: 'Why Sonde ended, as far as it is known' }),
  },
)

/** The interruptions in batches of a store. */
export function interruptionsIn(batches: readonly Batch[]): HintsUnknown[] {
  return batches.flatMap(({ type, bytes, count, symbols }) =>
    type.fingerprint === interruptionType.fingerprint
      ? [...readRecords(interruptionType, viewsOf(bytes), count, symbols)].map(({ from_ms, to_ms, reason }) => ({
          fromMs: Number(from_ms),
          toMs: Number(to_ms),
          reason: String(reason),
        }))
      : [],
  )
}
