/**
 * The one error class of Sonde. `code` is stable and part of the API; the message names the place and the value and
 * says what is allowed or what to do. All codes are listed in `docs/errors.md`.
 */
export class SondeError extends Error {
  /** Stable identifier such as `SCH_NAME`; the prefix names the room. */
  readonly code: string

  constructor(code: string, message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.name = 'SondeError'
    this.code = code
  }
}

/** The text of anything that was thrown, for logs and reasons. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
