import type { Slot } from '../../schema/layout.ts'
import type { RecordType } from '../../schema/record-type.ts'

/**
 * A type as it is shown where some of its fields are indexes: they are labels, and no metrics, so that each of their values has its latest record. What
 * cannot tell series apart stays as it is: an optional field, an array, a fraction. The bytes of a record are the same.
 */
export function withIndexes(type: RecordType, indexes: ReadonlySet<string>): RecordType {
  const isIndex = (slot: Slot) => indexes.has(slot.name) && canBeLabel(slot)
  if (!type.layout.slots.some(isIndex)) return type
  const slots = type.layout.slots.map((slot) =>
    isIndex(slot) ? { ...slot, field: { ...slot.field, role: 'label' as const } } : slot,
  )
  const labels = slots.filter(({ field }) => field.role === 'label')
  const isMetric = (name: string) => !labels.some((slot) => slot.name === name)
  const metrics = new Map([...type.metrics].filter(([name]) => isMetric(name)))
  return Object.freeze({ ...type, layout: { ...type.layout, slots }, labels, metrics })
}

/** What the indexes name in a type and cannot be: a warning of the process, each once. */
export class UnfitIndexes {
  readonly #told = new Set<string>()

  tell(type: RecordType, indexes: ReadonlySet<string>): void {
    for (const slot of type.layout.slots) {
      const place = `${type.name}.${slot.name}`
      const isFit = !indexes.has(slot.name) || slot.field.role === 'label' || canBeLabel(slot)
      if (isFit || this.#told.has(place) || this.#told.size >= TOLD_LIMIT) continue
      this.#told.add(place)
      process.emitWarning(
        `${place} can be no index: only whole numbers and text that are always there can; its latest value is shown`,
        {
          code: 'PRM_INDEX',
        },
      )
    }
  }
}

const TOLD_LIMIT = 100

function canBeLabel({ field: { kind, role, count, optional } }: Slot): boolean {
  if (optional || role === 'timestamp' || role === 'bucket' || kind === 'f32' || kind === 'f64') return false
  return kind === 'char' || count === 1
}
