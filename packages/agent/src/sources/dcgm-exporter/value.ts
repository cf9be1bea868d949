import type { AbsenceCode } from '@sonde/sdk'
import type { Slot } from '@sonde/sdk/internal'
import { Missing } from '../field-absences.ts'

/** Smallest blank value of DCGM. This value and the next three give the reason for a missing value. */
const BLANK_32 = 0x7ffffff0
const BLANK_DOUBLE = 2 ** 47
/** The blank of 64-bit integers. Old exporters write it as a double. */
const BLANK_64 = 2 ** 63 - 16
const WHY: readonly (readonly [code: AbsenceCode, reason: string])[] = [
  ['failed', 'DCGM has no value'],
  ['failed', 'DCGM did not find it'],
  ['unsupported', 'DCGM says that the GPU does not support it'],
  ['denied', 'DCGM may not read it'],
]

/**
 * Converts the value of a sample for a field; `exact` gives whole numbers from 2^53 on. A blank or an invalid number is
 * a missing value.
 */
export function valueFor(
  { field }: Slot,
  value: number,
  factor: number,
  exact: () => bigint | undefined,
): number | bigint | Missing {
  const isWhole = field.kind !== 'f64'
  // A counter may reach the 32-bit blanks as valid values.
  const small = field.role === 'counter' ? [] : isWhole ? [BLANK_32, BLANK_DOUBLE] : [BLANK_DOUBLE]
  const blank = blankOf(value, small, exact)
  if (blank !== undefined) return blank
  if (!Number.isFinite(value)) return new Missing('failed', `${value} was reported`)
  if (!isWhole) return value * factor
  const whole = Math.round(value * factor)
  if (Math.abs(whole) < Number.MAX_SAFE_INTEGER) return whole
  return exact() ?? new Missing('failed', `${value} was reported, which is more than 64 bits hold`)
}

function blankOf(value: number, small: readonly number[], exact: () => bigint | undefined): Missing | undefined {
  if (value >= BLANK_64) {
    const above = Number((exact() ?? 0n) - 0x7ffffffffffffff0n)
    return lackOf(above >= 0 && above < WHY.length ? above : 0)
  }
  const blank = small.find((least) => value >= least && value < least + WHY.length)
  return blank === undefined ? undefined : lackOf(value - blank)
}

function lackOf(why: number): Missing {
  const [code, reason] = WHY[Math.floor(why)] ?? ['failed', 'DCGM has no value']
  return new Missing(code, reason)
}
