import type { Batch } from '@sonde/sdk'
import type { TypeDescription } from '@sonde/sdk/internal'

/** Which records to read back. Times in milliseconds since the Unix epoch: records in `(fromMs, toMs]`. */
export interface KeptRequest {
  /** Name of the type. */
  readonly type: string
  readonly fromMs: number
  readonly toMs: number
  /** Records at most, the earliest. */
  readonly recordLimit: number
}

/** Lists, prints and reads the records that a store keeps. */
export interface KeptRecords {
  /** The shell command that prints them all; `--type NAME` after it selects a type. */
  readonly command: string
  /**
   * The types with kept records, except the named types; `leftOut` is the number of types beyond the limit of the list.
   */
  types(except: readonly string[]): Promise<{ readonly types: readonly TypeDescription[]; readonly leftOut: number }>
  /** Reads records of a type back as they were reported. */
  records(request: KeptRequest): Promise<readonly Batch[]>
}
