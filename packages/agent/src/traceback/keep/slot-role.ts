import type { Slot } from '@sonde/sdk/internal'
import { placedCounter } from '../../sources/doca-telemetry-diag/counters.ts'

/** A field of a diagnostic counter, named by its data ID. */
const DATA_ID = /^id_([0-9a-f]{16})$/

/** The data ID of a field of samples; undefined for other fields. */
export function dataIdOf({ name }: Pick<Slot, 'name'>): bigint | undefined {
  const [, id] = DATA_ID.exec(name) ?? []
  return id === undefined ? undefined : BigInt(`0x${id}`)
}

/** Whether values of a field only grow. Unknown data IDs are counters, because nearly all are. */
export function isCounterSlot(slot: Slot): boolean {
  const id = dataIdOf(slot)
  if (id === undefined) return slot.field.role === 'counter'
  return placedCounter(id).counter?.extreme === undefined
}
