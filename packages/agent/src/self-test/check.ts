/** The result of one check. Texts hold no names of hosts, devices or users, no addresses and no serial numbers. */
export type CheckVerdict =
  | { readonly state: 'passed'; readonly found: string }
  | { readonly state: 'failed'; readonly expected: string; readonly found: string }
  | { readonly state: 'not possible'; readonly reason: string }

/** A verdict, with the check and the device that it is about. */
export interface CheckResult {
  readonly check: string
  /** Number of the device in the report, from 1; 0 if the check is about the library or the node. */
  readonly device: number
  readonly verdict: CheckVerdict
}

/** A fact at the head of a report, such as a version. */
export interface ReportFact {
  readonly of: string
  readonly value: string
}

/** What a check asks the hardware, by the name of the check. */
export type Checks = Readonly<Record<string, string>>

/** The check passed; `found` says what was seen. */
export function passed(found: string): CheckVerdict {
  return { state: 'passed', found }
}

/** The hardware contradicts an assumption of Sonde. */
export function failed(expected: string, found: string): CheckVerdict {
  return { state: 'failed', expected, found }
}

/** The check could not be made here. */
export function notPossible(reason: string): CheckVerdict {
  return { state: 'not possible', reason }
}

/** Texts that a verdict lists; of more, it says how many there are. */
const LISTED_COUNT = 12

/** The first of many texts, and how many more there are; `none` of no text. */
export function listOf(texts: readonly string[]): string {
  if (texts.length === 0) return 'none'
  const more = texts.length - LISTED_COUNT
  return `${texts.slice(0, LISTED_COUNT).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
