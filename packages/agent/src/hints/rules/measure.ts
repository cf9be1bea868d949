import type { HintComparator } from '@sonde/sdk/api'
import { amountWords, duration, percent, power } from './words.ts'

/** A number and the limit that it passed. The finding and its sentence are based on it. */
export interface Measure {
  readonly value: number
  /** How the value compares with the limit. */
  readonly comparator: HintComparator
  readonly limit: number
  /** Unit of both in words: `% of time`. */
  readonly unit: string
  /** Writes a value or limit, with `more` digits than usual. */
  readonly write: (number: number, more: number) => string
}

/** Writes a sentence around a measure. `value` includes its unit. `limit` includes words: `limit 20.0 %`. */
export type Sentence = (value: string, limit: string) => string

/** Digits at which two different numbers of 64 bits always differ. */
const DIGITS_MAX = 17
/** Digits of a value in an answer: more than the precision of a measurement over seconds. */
const DIGITS = 4

/** A count: `12 k`. */
export function countMeasure(value: number, comparator: HintComparator, limit: number, unit: string): Measure {
  return { value, comparator, limit, unit, write: (number, more) => amountWords(number, '', more) }
}

/** A share from 0 to 1, shown as per cent. `unit` names the whole: `% of time`. */
export function shareMeasure(value: number, comparator: HintComparator, limit: number, unit: string): Measure {
  const write = (number: number, more: number) => percent(number / 100, more)
  return { value: value * 100, comparator, limit: limit * 100, unit, write }
}

/** Bytes per second. */
export function bytesMeasure(value: number, comparator: HintComparator, limit: number): Measure {
  return { value, comparator, limit, unit: 'bytes/s', write: (number, more) => `${amountWords(number, 'B', more)}/s` }
}

/** A number with a unit that takes no prefix, such as degrees: `84 °C`. */
export function plainMeasure(value: number, comparator: HintComparator, limit: number, unit: string): Measure {
  return { value, comparator, limit, unit, write: (number, more) => `${wholeOf(number, more)}\u00a0${unit}` }
}

/** A time in seconds. */
export function secondsMeasure(value: number, comparator: HintComparator, limit: number, unit: string): Measure {
  return { value, comparator, limit, unit, write: (number, more) => duration(number * 1000, more) }
}

/** A ratio of errors, far below 1. */
export function errorRateMeasure(value: number, comparator: HintComparator, limit: number, unit: string): Measure {
  return { value, comparator, limit, unit, write: power }
}

/** Whether the value passed its limit. An unknown value never passes. */
export function isPassed({ value, comparator, limit }: Measure): boolean {
  return Number.isFinite(value) && Number.isFinite(limit) && COMPARE[comparator](value, limit)
}

/** The value with few digits, but enough to show that it passed its limit. */
export function roundedValue({ value, comparator, limit }: Measure): number {
  const rounded = (digits: number) => Number(value.toPrecision(digits))
  let digits = DIGITS
  while (digits < DIGITS_MAX && !COMPARE[comparator](rounded(digits), limit)) digits++
  return rounded(digits)
}

/** The sentence of a measure. Value and limit are written with equal precision, with enough digits to differ. */
export function measureSentence({ value, comparator, limit, write }: Measure, sentence: Sentence): string {
  const isStrict = comparator === '>' || comparator === '<'
  let more = 0
  // Both are rounded in the same way. They may become equal, but never change their order.
  while (isStrict && more < DIGITS_MAX && write(value, more) === write(limit, more)) more++
  return sentence(write(value, more), LIMIT_WORDS[comparator](write(limit, more)))
}

/** How far a value is beyond its limit, as a factor. Measures with different units can be compared. */
export function limitExcess({ value, comparator, limit }: Measure): number {
  const [more, less] = comparator === '>' || comparator === '>=' ? [value, limit] : [limit, value]
  return less > 0 ? more / less : Number.POSITIVE_INFINITY
}

const COMPARE: Readonly<Record<HintComparator, (value: number, limit: number) => boolean>> = {
  '>': (value, limit) => value > limit,
  '>=': (value, limit) => value >= limit,
  '<': (value, limit) => value < limit,
  '<=': (value, limit) => value <= limit,
}

const LIMIT_WORDS: Readonly<Record<HintComparator, (limit: string) => string>> = {
  '>': (limit) => `limit ${limit}`,
  '>=': (limit) => `limit ${limit}`,
  '<': (limit) => `at least ${limit} expected`,
  '<=': (limit) => `more than ${limit} expected`,
}

function wholeOf(value: number, more: number): string {
  return value.toFixed(more).replace('-', '−')
}
