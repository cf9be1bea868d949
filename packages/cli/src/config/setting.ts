/** One value from outside the file. */
export interface Setting {
  readonly path: readonly string[]
  readonly value: unknown
  /** What people call its origin: `--listen`, `SONDE_LOG_LEVEL`. */
  readonly origin: string
}

/** Text from a flag or a variable as a number, where it reads as one; else the text, for the check to refuse. */
export function numberOf(text: string): unknown {
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text
}
