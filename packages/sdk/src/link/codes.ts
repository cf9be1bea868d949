import { SondeError } from '../errors.ts'

/** Codes of the errors of a transport. */
export interface LinkCodes {
  /** The item is not allowed at this point. */
  readonly item: string
  /** A limit of the link is exceeded. */
  readonly limit: string
}

/** The error for an item of the peer that breaks the protocol. */
export function wrongItem({ item }: LinkCodes, found: string, allowed: string): SondeError {
  return new SondeError(item, `${found}; allowed: ${allowed}`)
}
