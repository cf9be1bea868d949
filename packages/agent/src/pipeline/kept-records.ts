import type { TypeDescription } from '@sonde/sdk/internal'

/** Lists and prints the records that a store keeps. */
export interface KeptRecords {
  /** The shell command that prints them all; `--type NAME` after it selects a type. */
  readonly command: string
  /** The types of which it keeps records, except those named; `leftOut` is how many have no room in the list. */
  types(except: readonly string[]): Promise<{ readonly types: readonly TypeDescription[]; readonly leftOut: number }>
}
