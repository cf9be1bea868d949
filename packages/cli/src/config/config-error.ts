import { SondeError } from '@sonde/sdk'

/** Number of faults that are printed. A file with more faults is probably the wrong file. */
const LINES_LIMIT = 32

/**
 * All faults of a configuration: one line each, with location, value and allowed values; at most 32, then the number of
 * the others. Exit code 2.
 */
export class ConfigError extends SondeError {
  readonly lines: readonly string[]

  constructor(faults: readonly string[]) {
    const more = faults.length - LINES_LIMIT
    const lines = more > 0 ? [...faults.slice(0, LINES_LIMIT), `and ${more} more faults`] : faults
    super('CFG_INVALID', lines.join('\n'))
    this.lines = lines
  }
}
