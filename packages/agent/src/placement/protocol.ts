import type { Clock } from '@sonde/sdk'
import type { FailedRead } from '../pipeline/failed-reads.ts'
import type { Probe, SourceContext } from '../sources/source.ts'

/** What a child or worker needs to make its source. */
export interface HostedSource {
  /** URL of the module whose `SOURCES` holds the definition. */
  readonly module: string
  readonly name: string
  /** Name of the definition. */
  readonly type: string
  readonly options: object
  readonly intervalMs: number
  readonly paths: SourceContext['paths']
  /** Records beyond this in one call are dropped where they are made. Unit: bytes. */
  readonly floodBytes: number
}

/** To the child: first `open`, then one call at a time. */
export type ToHost =
  | { readonly kind: 'open'; readonly source: HostedSource }
  | { readonly kind: 'call'; readonly id: number; readonly method: 'probe' | 'sample' | 'close' }

/**
 * From the child. Labels and texts come before the first batch that uses them, those of text fields in the table of
 * before or in one that begins; `done` after all batches of the call.
 */
export type FromHost =
  | { readonly kind: 'symbols'; readonly texts: readonly string[] }
  | { readonly kind: 'texts'; readonly begins: boolean; readonly firstId: number; readonly texts: readonly string[] }
  | {
      readonly kind: 'batch'
      readonly type: string
      readonly clock: Clock
      readonly count: number
      readonly bytes: Uint8Array
    }
  | {
      readonly kind: 'done'
      readonly id: number
      readonly probe?: Probe
      readonly error?: { readonly code: string; readonly message: string }
      /** Failed reads since the call before. */
      readonly failed: number
      /** Their last places. */
      readonly failures: readonly FailedRead[]
      /**
       * Records dropped since the call before, by reason: `flood` where there were too many in one call, and what the
       * source itself drops.
       */
      readonly dropped: Readonly<Record<string, number>>
    }
