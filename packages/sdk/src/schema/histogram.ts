import type { Slot } from './layout.ts'
import type { RecordType } from './record-type.ts'

/**
 * The field that holds the sum of a histogram's observations: `<field>_sum`, a scalar f64 or u64. OpenMetrics has no
 * sum beside negative edges.
 */
export function sumSlotOf(type: RecordType, bucket: Slot): Slot | undefined {
  if ((bucket.field.edges?.[0] ?? 0) < 0) return undefined
  const slot = type.layout.slots.find(({ name }) => name === `${bucket.name}_sum`)
  return slot?.field.count === 1 && (slot.field.kind === 'f64' || slot.field.kind === 'u64') ? slot : undefined
}
