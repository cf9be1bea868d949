import type { MovedSignal } from '@sonde/sdk/api'
import { formatQuantity } from '../../format/number.ts'
import { COUNT, quantityOf } from '../../format/quantity.ts'

const MINUS = '−'
/** Smaller changes of a share have no digit. */
const POINTS_LEAST = 0.1
/** Descriptions of numbers that stand for words: `as bits: 0x1 idle`, or `1 down, 4 active`. */
const BITS = /\bas bits\b/
const CODES = /\b\d+ [a-z][^,;]*, \d+ [a-z]/

/** A value of a signal with its unit. The description of its metric tells bits from amounts. */
export function valueWords(signal: MovedSignal, value: number, help = ''): string {
  if (BITS.test(help)) return Number.isInteger(value) ? `0x${value.toString(16)}` : '–'
  return formatQuantity(quantityOf(signal), value)
}

/** The change of a signal: in points for a share, as a difference for a state, in per cent for anything else. */
export function changeWords(signal: MovedSignal, help = ''): string {
  const { before, after } = signal
  if (BITS.test(help) || CODES.test(help)) return 'changed'
  const quantity = quantityOf(signal)
  if (quantity.base === '%') {
    const points = (after - before) * quantity.factor
    if (Math.abs(points) < POINTS_LEAST) return `< ${POINTS_LEAST} points`
    return `${signed(points, Math.abs(points) < 10 ? 1 : 0)} points`
  }
  if (quantity === COUNT || quantity.base === '°C')
    return `${after < before ? MINUS : '+'}${formatQuantity(quantity, Math.abs(after - before))}`
  if (before === 0) return 'from nothing'
  if (after === 0) return 'to nothing'
  const percent = (after / before - 1) * 100
  return percent > 900 ? `× ${(after / before).toPrecision(3)}` : `${signed(percent, 0)}\u00a0%`
}

function signed(value: number, digits: number): string {
  const text = Math.abs(value).toFixed(digits)
  return `${value < 0 ? MINUS : '+'}${text}`
}
