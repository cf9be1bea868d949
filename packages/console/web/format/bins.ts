import type { Bin } from '../api/types.ts'
import { formatQuantity } from './number.ts'
import type { Quantity } from './quantity.ts'

/** What a bin counts, in words: `up to 100 µs`, `100 µs to 200 µs`, `over 1.64 s`. */
export function binWords({ above, upTo }: Bin, edges: Quantity): string {
  if (above === null) return upTo === null ? 'all' : `up to ${formatQuantity(edges, upTo)}`
  if (upTo === null) return `over ${formatQuantity(edges, above)}`
  return `${formatQuantity(edges, above)} to ${formatQuantity(edges, upTo)}`
}
