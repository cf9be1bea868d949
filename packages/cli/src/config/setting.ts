/** One value from outside the file. */
export interface Setting {
  readonly path: readonly string[]
  readonly value: unknown
  /** Name of its origin for users: `--listen`, `SONDE_LOG_LEVEL`. */
  readonly origin: string
}

/** Text of a flag or a variable as a number, if it is a number; else as text, which the check may refuse. */
export function numberOrText(text: string): unknown {
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text
}
