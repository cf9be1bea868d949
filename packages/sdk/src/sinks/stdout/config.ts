import type { OnLoss } from '../../delivery/ledger.ts'
import { type TextSinkOptions, textEntries } from '../text-options.ts'

/** Options of {@link createStdout}. */
export interface StdoutOptions extends TextSinkOptions {
  /** Name of the sink in statistics. Default: `stdout`. */
  readonly name?: string
  /** Given records of `sonde_loss`. Default: drops are only counted. */
  readonly onLoss?: OnLoss
}

/** Keys of this destination in a configuration. */
export const stdoutEntries = textEntries
