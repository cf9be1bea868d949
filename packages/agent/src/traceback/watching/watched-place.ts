import type { Labels } from '@sonde/sdk'
import { wallOffsetNs } from '@sonde/sdk/internal'
import type { TapInfo } from '../../hosting/protocol.ts'
import type { RunningSource } from '../../hosting/running-source.ts'

/** A series that a rule watches. */
export interface WatchedPlace {
  /** Id in the list of devices, what the source calls it, or what people call the series. */
  readonly device: string
  readonly source: string
  /** The application that reports it; empty for a source of the agent. */
  readonly app: string
  /** Of the series; empty for rings, whose samples bear those of their device alone. */
  readonly labels: Labels
  /** Whether a ring of samples is watched in its host; else records are as they are reported. */
  readonly isRing: boolean
  /** When the last sample came; 0 if none did. Unit: milliseconds since the Unix epoch. */
  readonly seenMs: number
}

/** A ring that a rule watches, and its source. */
export interface WatchedRing extends WatchedPlace {
  readonly tap: TapInfo
  readonly running: RunningSource
}

/** Rings that a rule watches, as their hosts say now. A host that does not answer says nothing. */
export async function ringsOf(rule: string, sources: readonly RunningSource[]): Promise<WatchedRing[]> {
  const lists = await Promise.all(
    sources.map(async (running) => {
      const taps = await running.taps().catch(() => [])
      return taps.flatMap((tap): WatchedRing[] => {
        if (!tap.rules.includes(rule)) return []
        const seenMs = tap.count === 0 ? 0 : Number(BigInt(tap.newestMonoNs) + wallOffsetNs()) / 1e6
        return [{ device: tap.device, source: running.name, app: '', labels: {}, isRing: true, seenMs, tap, running }]
      })
    }),
  )
  return lists.flat()
}
