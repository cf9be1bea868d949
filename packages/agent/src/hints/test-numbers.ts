import assert from 'node:assert/strict'
import type { Hint } from '@sonde/sdk/api'

const COMPARE = {
  '>': (value: number, limit: number) => value > limit,
  '>=': (value: number, limit: number) => value >= limit,
  '<': (value: number, limit: number) => value < limit,
  '<=': (value: number, limit: number) => value <= limit,
}
const FACTORS: Readonly<Record<string, number>> = { k: 1e3, M: 1e6, G: 1e9, T: 1e12 }
/** A number with its unit, as sentences write it. */
const NUMBER =
  '([−-]?[\\d.]+(?: × 10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?)((?: min \\d[\\d.]* s)| (?:%|°C|MHz|min|s\\b|[kMGT]?B\\/s|[kMGT]\\b))?'
const LIMIT = new RegExp(`(?:, |: )(?:limit|at least|more than) ${NUMBER}`, 'g')

/** Fails where a hint has numbers that speak against it: as fields, or in its sentence. */
export function checkNumbers(hint: Hint): void {
  const { id, value, comparator, limit } = hint
  const sentence = hint.sentence.replaceAll('\u00a0', ' ')
  const isPassed = COMPARE[comparator]
  const about = `${id}: ${value} ${comparator} ${limit}: ${sentence}`
  assert.ok(isPassed(value, limit), about)
  const limits = [...sentence.matchAll(LIMIT)]
  assert.equal(limits.length, 1, `one limit: ${about}`)
  const shownLimit = numberOf(limits[0]?.[1], limits[0]?.[2])
  assert.ok(isNear(shownLimit, limit), `the limit is that of the fields: ${about}`)
  const rest = sentence.replace(limits[0]?.[0] ?? '', '')
  const shown = [...rest.matchAll(new RegExp(NUMBER, 'g'))].map(([, number, unit]) => numberOf(number, unit))
  assert.ok(
    shown.some((one) => isNear(one, value) && isPassed(one, shownLimit)),
    `the value is told, and passed the limit: ${about} ${shown}`,
  )
}

/** Whether two numbers are one, written with few digits. */
function isNear(one: number, other: number): boolean {
  return Math.abs(one - other) <= Math.max(0.051, 0.006 * Math.abs(other)) && (other > 0.01 || one < 0.01)
}

function numberOf(number = '', unit = ''): number {
  const [mantissa = '', exponent] = number.replace('−', '-').split(' × 10')
  const power = exponent === undefined ? 1 : 10 ** Number([...exponent].map(digitOf).join(''))
  const minutes = / min(?: ([\d.]+) s)?/.exec(unit)
  if (minutes !== null) return Number(mantissa) * 60 + Number(minutes[1] ?? 0)
  return Number(mantissa) * power * (unit === ' MHz' ? 1 : (FACTORS[unit.trim()[0] ?? ''] ?? 1))
}

function digitOf(superscript: string): string {
  return superscript === '⁻' ? '-' : String('⁰¹²³⁴⁵⁶⁷⁸⁹'.indexOf(superscript))
}
