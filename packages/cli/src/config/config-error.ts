import { SondeError } from '@sonde/sdk'

/** Lines that are said; a file with more faults is not the one that was meant. */
const LINES_LIMIT = 32

/**
 * Everything wrong with a configuration: one line each, with place, value and what is allowed; at most 32, then how
 * many more. Exit code 2.
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
