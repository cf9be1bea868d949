import { SondeError } from '../errors.ts'
import type { Symbols } from '../schema/symbols.ts'
import type { BatchSymbols } from '../schema/texts.ts'

/** Codes of the errors of a transport. */
export interface LinkCodes {
  /** What came is not what may come. */
  readonly item: string
  /** There is more of it than may be. */
  readonly limit: string
}

/** The labels and texts of a source, as the other end tells them. An id that was never told reads as `?<id>`. */
export interface ReadTexts extends Symbols {
  /** The longest text so far. Unit: characters. */
  readonly longest: number
  /** What batches that are read now refer to. */
  readonly ofBatches: BatchSymbols
  /**
   * Takes labels, or texts of text fields; without one, a table of texts begins. Gives the memory that they need, less
   * that of what is forgotten. Unit: bytes.
   *
   * @throws SondeError of the codes of its transport where the ids are not what may follow, or there are too many.
   */
  take(firstId: number, texts: readonly string[]): number
}

/** The other end does not keep to what was agreed. */
export function wrongItem({ item }: LinkCodes, found: string, allowed: string): SondeError {
  return new SondeError(item, `${found}; allowed: ${allowed}`)
}
