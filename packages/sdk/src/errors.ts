/**
 * The one error class of Sonde. `code` is stable and part of the API; the message names the place and the value and
 * says what is allowed or what to do. All codes are listed in `docs/errors.md`.
 */
export class SondeError extends Error {
  /** Stable identifier such as `SCH_NAME`; the prefix names the room. */
  readonly code: string
  /** In how many seconds to ask again, where that is known. */
  declare readonly retryAfterS?: number

  constructor(code: string, message: string, options?: { cause?: unknown; retryAfterS?: number }) {
    // Node prints every own property of an error, also an undefined one.
    super(message, options?.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'SondeError'
    this.code = code
    if (options?.retryAfterS !== undefined) this.retryAfterS = options.retryAfterS
  }
}

/** The text of anything that was thrown, for logs and reasons. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/**
 * Tells of something that is wrong and can be lived with: as a warning of the process, where nobody else wants to hear
 * of it.
 */
export function warnOfFault({ code, message }: SondeError): void {
  process.emitWarning(message, { code })
}

/**
 * What was given, for messages. Never throws and never walks what it is given, which may be huge or refer to itself.
 */
export function shown(given: unknown): string {
  if (typeof given === 'string') return JSON.stringify(given.slice(0, 100))
  if (typeof given === 'bigint') return `${given}n`.slice(0, 100)
  if (Array.isArray(given)) return `an array of ${given.length} elements`
  if (given !== null && typeof given === 'object') return 'an object'
  return typeof given === 'function' ? 'a function' : String(given)
}
