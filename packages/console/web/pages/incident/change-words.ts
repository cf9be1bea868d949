import type { MovedSignal } from '@sonde/sdk/api'
import { formatQuantity } from '../../format/number.ts'
import { quantityOf } from '../../format/quantity.ts'

const MINUS = '−'

/** A value of a signal with its unit. */
export function valueWords(signal: MovedSignal, value: number): string {
  return formatQuantity(quantityOf(signal), value)
}

/** The change of a signal: in points for a share, in per cent for anything else. */
export function changeWords(signal: MovedSignal): string {
  const { before, after } = signal
  const quantity = quantityOf(signal)
  if (quantity.base === '%') {
    const points = (after - before) * quantity.factor
    return `${signed(points, Math.abs(points) < 10 ? 1 : 0)} points`
  }
  if (before === 0) return 'from nothing'
  if (after === 0) return 'to nothing'
  const percent = (after / before - 1) * 100
  return percent > 900 ? `× ${(after / before).toPrecision(3)}` : `${signed(percent, 0)}\u00a0%`
}

function signed(value: number, digits: number): string {
  const text = Math.abs(value).toFixed(digits)
  return `${value < 0 ? MINUS : '+'}${text}`
}
