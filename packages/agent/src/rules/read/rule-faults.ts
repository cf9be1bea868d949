import { SondeError } from '@sonde/sdk'

/** Most faults in the list. A file with more faults is probably the wrong file. */
const FAULTS_MAX = 32

/** All faults of a file of rules, one line each, with JSON path, value and allowed values; at most 32. */
export class RuleFaults extends SondeError {
  /** `rules[2].comparison_value is 1.5; allowed: a whole number from 0 to 18446744073709551615`. */
  readonly faults: readonly string[]

  constructor(faults: readonly string[]) {
    const more = faults.length - FAULTS_MAX
    const listed = more > 0 ? [...faults.slice(0, FAULTS_MAX), `and ${more} more faults`] : faults
    super('RUL_FAULTS', listed.join('\n'))
    this.faults = listed
  }
}
