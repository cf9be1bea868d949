import type { Bin } from '@sonde/sdk/api'
import { formatAxis, joinUnit, pickUnit } from './number.ts'
import type { DisplayQuantity } from './quantity.ts'

/** The range of a bin in words: `up to 100 µs`, `100 µs to 200 µs`, `over 1.64 s`. */
export function binWords({ above, upTo }: Bin, edges: DisplayQuantity): string {
  if (above === null) return upTo === null ? 'all' : `up to ${edgeWords(upTo, edges)}`
  if (upTo === null) return `over ${edgeWords(above, edges)}`
  return `${edgeWords(above, edges)} to ${edgeWords(upTo, edges)}`
}

/** An edge between bins, with just enough digits to distinguish it from the next: `1.6 ms`. */
export function edgeWords(edge: number, edges: DisplayQuantity): string {
  const unit = pickUnit(edges, edge)
  return joinUnit(formatAxis(unit, edge), unit.label)
}
