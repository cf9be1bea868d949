/** One link of a chain between the configuration and a value. */
export interface ExplainLink {
  /** `configuration`, `agent` and `value` are links of Sonde; sources name the others. */
  readonly name: string
  /** `broken`: nothing after it can work. `unknown`: it could not be examined. */
  readonly state: 'ok' | 'broken' | 'unknown'
  /** What was tried. */
  readonly tried: string
  /** What came back. */
  readonly answer: string
  /** How to fix it, as a command or a sentence; absent where nothing is broken or no fix is known. */
  readonly fix?: string
  /** Whether a break is always a fault: if it is broken for one device, it is broken for many. */
  readonly isFault?: true
}

/** One walk from the configuration to a value. */
export interface ExplainWalk {
  /** What was asked for. */
  readonly of: string
  /** Name of the source that reads it. */
  readonly source: string
  /** Name that the source gives the device; empty where the source as a whole is explained. */
  readonly device: string
  readonly links: readonly ExplainLink[]
}

/** The answer of `GET /api/v1/explain`: the first walk, and other walks of that name. Broken walks come first. */
export interface ExplainAnswer extends ExplainWalk {
  readonly others: readonly ExplainWalk[]
}
