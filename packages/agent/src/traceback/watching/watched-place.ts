import type { Labels } from '@sonde/sdk'
import { wallOffsetNs } from '@sonde/sdk/internal'
import type { TapInfo } from '../../hosting/protocol.ts'
import type { RunningSource } from '../../hosting/running-source.ts'

/** A series that a rule watches. */
export interface WatchedSeriesPlace {
  /** Id in the list of devices, the source's name of it, or the name of the series. */
  readonly device: string
  readonly source: string
  /** The application that reports it; empty for a source of the agent. */
  readonly app: string
  /** Labels of the series; empty for rings, whose samples only have the label of their device. */
  readonly labels: Labels
  /** Whether a ring of samples is watched in its host; otherwise reported records are. */
  readonly isRing: boolean
  /** When the last sample arrived; 0 if none arrived. Unit: milliseconds since the Unix epoch. */
  readonly seenMs: number
}

/** A ring that a rule watches, and its source. */
export interface WatchedRing extends WatchedSeriesPlace {
  readonly tap: TapInfo
  readonly running: RunningSource
}

/** Rings that a rule watches, from the present answer of their hosts. Silent hosts are left out. */
export async function watchedRings(rule: string, sources: readonly RunningSource[]): Promise<WatchedRing[]> {
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
