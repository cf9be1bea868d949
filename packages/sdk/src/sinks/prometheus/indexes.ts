import type { Slot } from '../../schema/layout.ts'
import type { RecordType } from '../../schema/record-type.ts'

/**
 * A type as it is shown where some of its fields are indexes: they are labels, and no metrics, so that each of their
 * values has its latest record. What cannot tell series apart stays as it is: an optional field, an array, a fraction.
 * The bytes of a record are the same.
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

/** What the indexes name and cannot be, in a type or because no type has it: a warning of the process, each once. */
export class UnfitIndexes {
  readonly #reported = new Set<string>()
  /** Indexes that are fields of a type that came. */
  readonly #found = new Set<string>()

  /** Notes a new type, and reports fields of it that cannot be an index. */
  tell(type: RecordType, indexes: ReadonlySet<string>): void {
    for (const slot of type.layout.slots) {
      if (indexes.has(slot.name)) this.#found.add(slot.name)
      const place = `${type.name}.${slot.name}`
      const isFit = !indexes.has(slot.name) || slot.field.role === 'label' || canBeLabel(slot)
      if (isFit || this.#reported.has(place) || this.#reported.size >= REPORTED_LIMIT) continue
      this.#reported.add(place)
      process.emitWarning(
        `${place} can be no index: only whole numbers and text that are always there can; its latest value is shown`,
        {
          code: 'PRM_INDEX',
        },
      )
    }
  }

  /** Reports indexes that no type has as a field; called when the exposition is read. */
  tellMissing(types: readonly RecordType[], indexes: ReadonlySet<string>): void {
    if (types.length === 0) return
    for (const index of indexes) {
      if (this.#found.has(index) || this.#reported.has(index)) continue
      this.#reported.add(index)
      const fit = types.flatMap(({ layout }) => layout.slots.filter(canBeLabel).map(({ name }) => name))
      process.emitWarning(missingText(index, [...new Set(fit)]), { code: 'PRM_INDEX' })
    }
  }
}

function missingText(index: string, fit: readonly string[]): string {
  const meant = fit.find((name) => name.toLowerCase() === index.toLowerCase())
  const hint = meant === undefined ? '' : `; upper and lower case count: ${meant} is one`
  const shown = fit.toSorted().slice(0, NAMES_LIMIT)
  const more = fit.length > shown.length ? ` and ${fit.length - shown.length} more` : ''
  const there = fit.length === 0 ? 'none can be one' : `those that can be one: ${shown.join(', ')}${more}`
  return `index ${JSON.stringify(index)} names no field of the types that came so far${hint}; ${there}`
}

const REPORTED_LIMIT = 100
/** Names of fields that a warning lists. */
const NAMES_LIMIT = 20

function canBeLabel({ field: { kind, role, count, optional } }: Slot): boolean {
  if (optional || role === 'timestamp' || role === 'bucket' || kind === 'f32' || kind === 'f64') return false
  return kind === 'char' || count === 1
}
