/** Upper limits of a file of rules. A file beyond them is refused. */
export interface RuleLimits {
  /** Size of the file. Unit: bytes. Default: 1 MiB. */
  readonly fileBytes: number
  /** Data IDs and other signals together. Default: 1024, the number of values in a sample. */
  readonly signals: number
  /** Rules, including combinations. Default: 1024. */
  readonly rules: number
  /** Length of a name. Unit: characters. Default: 200. */
  readonly nameCharacters: number
}

/** The default limits. */
export const RULE_LIMITS: RuleLimits = { fileBytes: 1024 * 1024, signals: 1024, rules: 1024, nameCharacters: 200 }

/** Most samples of a history, a delta window or a hysteresis. */
export const SAMPLES_MAX = 1_000_000

/** Longest time of a window. Unit: milliseconds. */
export const WINDOW_MS_MAX = 3_600_000
