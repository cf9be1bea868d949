/**
 * When a parameter takes effect: `now` at once; `start` at the next start of the server; `render` in the values that
 * `sonde manifests gpu-stack` prints; `none` never, because this version does not know it.
 */
export type ParamEffect = 'now' | 'start' | 'render' | 'none'

/** A parameter with its value. Secrets are hidden. */
export interface Param {
  readonly name: string
  readonly value: string
  /** Where the value comes from: it was set, the configuration file has it, or it is the default. */
  readonly origin: 'set' | 'file' | 'default'
  /** Empty: it has none. */
  readonly fallback: string
  /** The allowed values, in words. */
  readonly allowed: string
  readonly purpose: string
  readonly effect: ParamEffect
  /** When it was set, in milliseconds since the Unix epoch, and who did. Absent if it is not set. */
  readonly setMs?: number
  readonly setBy?: string
}

/** A change of one parameter. Empty: not set. Secrets are hidden. */
export interface ParamChange {
  readonly name: string
  readonly before: string
  readonly after: string
}

/** Changes that were made together. */
export interface ParamVersion {
  readonly version: number
  /** Unit: milliseconds since the Unix epoch. */
  readonly timeMs: number
  readonly who: string
  readonly changes: readonly ParamChange[]
}

/** What `/api/v1/params` answers. */
export interface ParamsAnswer {
  /** Number of the present version; 0 before the first change. */
  readonly version: number
  /** Why the file of parameters cannot be used; empty if it can. The last good values hold meanwhile. */
  readonly fault: string
  readonly params: readonly Param[]
  /** The newest first, at most 200. */
  readonly history: readonly ParamVersion[]
}
