/** Limits of a scrape. Data over a limit is counted with its reason, and the rest is read. */
export interface ParseLimits {
  /** Limit of one body; further bytes are not read. Unit: bytes. Default: 67 108 864. */
  readonly bodyBytes: number
  /** Bytes of one line. Default: 65 536. */
  readonly lineBytes: number
  /** Bytes of the name and the labels of one series. Default: 32 768. */
  readonly labelBytes: number
  /** Labels of one series. Default: 128. */
  readonly labelCount: number
  /** Limit of known series, recently removed series included. Default: 500 000. */
  readonly seriesCount: number
  /** Families of which type, unit and help are kept. Default: 20 000. */
  readonly familyCount: number
}

/** The default limits. */
export const PARSE_LIMITS: ParseLimits = {
  bodyBytes: 64 << 20,
  lineBytes: 64 << 10,
  labelBytes: 32 << 10,
  labelCount: 128,
  seriesCount: 500_000,
  familyCount: 20_000,
}
