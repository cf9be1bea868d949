import { useRef } from 'react'
import { type DisplayUnit, pickUnit } from '../format/number.ts'
import type { DisplayQuantity } from '../format/quantity.ts'

/** One unit for a column, chosen from its largest value and kept until a value is ten times off it. */
export function useUnit(quantity: DisplayQuantity, largestRaw: number): DisplayUnit {
  const unit = useRef<DisplayUnit>(undefined)
  unit.current = pickUnit(quantity, Number.isFinite(largestRaw) ? largestRaw : 0, unit.current)
  return unit.current
}
