import { SondeError } from '../errors.ts'

/** Codes of the errors of a transport. */
export interface LinkCodes {
  /** What came is not what may come. */
  readonly item: string
  /** There is more of it than may be. */
  readonly limit: string
}

/** The other end does not keep to what was agreed. */
export function wrongItem({ item }: LinkCodes, found: string, allowed: string): SondeError {
  return new SondeError(item, `${found}; allowed: ${allowed}`)
}
