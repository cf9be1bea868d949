/**
 * The error class of Sonde. `code` is stable and part of the API. The message names the place, the value and the
 * allowed values, or what to do. `docs/errors.md` lists all codes.
 */
export class SondeError extends Error {
  /** Stable identifier such as `SCH_NAME`; the prefix names the room. */
  readonly code: string
  /** When to try again, if that is known. Unit: seconds from now. */
  declare readonly retryAfterS?: number

  constructor(code: string, message: string, options?: { cause?: unknown; retryAfterS?: number }) {
    // Node prints every own property of an error, even if it is undefined.
    super(message, options?.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'SondeError'
    this.code = code
    if (options?.retryAfterS !== undefined) this.retryAfterS = options.retryAfterS
  }
}

/** The message of any thrown value, for logs and reasons. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Reports a fault that does not stop the program as a warning of the process. */
export function warnOfFault({ code, message }: SondeError): void {
  process.emitWarning(message, { code })
}

/** A value in words, for messages. Never throws, and never walks the value, which may be huge or cyclic. */
export function shown(given: unknown): string {
  if (typeof given === 'string') return JSON.stringify(given.slice(0, 100))
  if (typeof given === 'bigint') return `${given}n`.slice(0, 100)
  if (Array.isArray(given)) return `an array of ${given.length} elements`
  if (given !== null && typeof given === 'object') return 'an object'
  return typeof given === 'function' ? 'a function' : String(given)
}
