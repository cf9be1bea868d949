/** What a file of rules may have at most. Beyond it the file is refused. */
export interface RuleLimits {
  /** Size of the file. Unit: bytes. Default: 1 MiB. */
  readonly fileBytes: number
  /** Data IDs and other signals together. Default: 1024, as many as a sample has values. */
  readonly signals: number
  /** Rules, combinations included. Default: 1024. */
  readonly rules: number
  /** Length of a name. Unit: characters. Default: 200. */
  readonly nameCharacters: number
}

/** The limits that hold where a caller gives no others. */
export const RULE_LIMITS: RuleLimits = { fileBytes: 1024 * 1024, signals: 1024, rules: 1024, nameCharacters: 200 }

/** Most samples of a history, a delta window or a hysteresis. */
export const SAMPLES_MAX = 1_000_000

/** Longest time of a window. Unit: milliseconds. */
export const WINDOW_MS_MAX = 3_600_000
