import { ownerOf, type SourceInfo } from '../schema/batch.ts'
import type { Slot } from '../schema/layout.ts'
import { defineOwnType, type RecordType } from '../schema/record-type.ts'

/** Changes of the labels of all records of a destination. They are made in this order: drop, rename, add. */
export interface LabelOptions {
  /** Labels for every source that has no label of that name. Default: none. */
  readonly add?: Readonly<Record<string, string>>
  /** New names by old names. Default: none. */
  readonly rename?: Readonly<Record<string, string>>
  /** Names of labels that are left out. Default: none. */
  readonly drop?: readonly string[]
}

/** Types of Sonde itself keep their labels: their readers need them. */
const OWN_PREFIX = 'sonde_'

/**
 * Changes labels: those that are fields of records, once for each type, and those of sources, once for each source. A
 * label whose new name exists already keeps its old name, so no record is lost.
 */
export class LabelChanges {
  /** The last rename that was not possible; empty without any. */
  fault = ''
  readonly #added: Readonly<Record<string, string>>
  readonly #renamed: ReadonlyMap<string, string>
  readonly #dropped: ReadonlySet<string>
  readonly #onFault: () => void
  readonly #sources = new WeakMap<SourceInfo, SourceInfo>()

  /** @param onFault Called for each type or source with a rename that is not possible. */
  constructor({ add = {}, rename = {}, drop = [] }: LabelOptions, onFault: () => void) {
    this.#added = add
    this.#renamed = new Map(Object.entries(rename))
    this.#dropped = new Set(drop)
    this.#onFault = onFault
  }

  /** Whether a slot is a label that is left out. */
  drops(type: RecordType, slot: Slot): boolean {
    return this.#dropped.has(slot.name) && type.labels.includes(slot) && !type.name.startsWith(OWN_PREFIX)
  }

  /**
   * The type with its new names; the same type if none changes. The layout stays the same. A changed type has no
   * entity, because the key of an entity is labels.
   */
  renamed(type: RecordType): RecordType {
    if (type.name.startsWith(OWN_PREFIX)) return type
    const { name, description, fields, layout, inTurns, labels } = type
    const own = new Set(labels.map((slot) => slot.name))
    const taken = new Set(Object.keys(fields))
    const entries = Object.entries(fields).map(([key, field]) => {
      return [own.has(key) ? this.#newName(key, taken, `type ${name}`) : key, field] as const
    })
    if (entries.every(([key]) => Object.hasOwn(fields, key))) return type
    return defineOwnType(name, description, Object.fromEntries(entries), { layout: layout.kind, inTurns })
  }

  /** The source with its changed labels: always the same object for a source. */
  sourceOf(source: SourceInfo): SourceInfo {
    const known = this.#sources.get(source)
    if (known !== undefined) return known
    const { id, tag, host, symbols, life } = source
    const labels = { ...this.#added, ...this.#labelsOf(source) }
    const changed: SourceInfo = {
      ...{ id, tag, labels, symbols, owner: ownerOf(source) },
      ...(host === undefined ? {} : { host }),
      ...(life === undefined ? {} : { life }),
    }
    this.#sources.set(source, changed)
    return changed
  }

  #labelsOf({ id, labels }: SourceInfo): Record<string, string> {
    const kept = Object.entries(labels).filter(([name]) => !this.#dropped.has(name))
    const taken = new Set(kept.map(([name]) => name))
    return Object.fromEntries(kept.map(([name, value]) => [this.#newName(name, taken, `source ${id}`), value]))
  }

  /** `taken` are the names that a type or source has, and is told the new name. */
  #newName(name: string, taken: Set<string>, owner: string): string {
    const renamed = this.#renamed.get(name)
    if (renamed === undefined) return name
    if (taken.has(renamed)) {
      this.fault = `labels.rename.${name}: ${owner} has ${renamed} already; it keeps ${name}`
      this.#onFault()
      return name
    }
    taken.add(renamed)
    return renamed
  }
}
