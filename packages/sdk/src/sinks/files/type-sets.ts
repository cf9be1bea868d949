import type { RecordType } from '../../schema/record-type.ts'
import { encodeTypesBlock, schemaFingerprint, typeEntry } from '../../wire/dtb/encode.ts'

/** The types that a file begins with. */
export interface TypeSet {
  readonly fingerprint: string
  /**
   * By index. It follows from the set of them, so that the sidecar of the set has the indexes of every file that begins
   * with it.
   */
  readonly types: readonly RecordType[]
  /** The block that announces them. */
  readonly block: Uint8Array
}

/**
 * Which types files begin with: those of the configuration, unless they would take a good part of each file, and that
 * of the first records. Each set is made once, since a source under load begins many files.
 */
export class TypeSets {
  readonly #configured: TypeSet
  readonly #sets = new WeakMap<RecordType, TypeSet>()

  constructor(types: readonly RecordType[], maxBytes: number) {
    const configured = typeSet(types)
    this.#configured = configured.block.byteLength <= maxBytes / 4 ? configured : typeSet([])
  }

  /** For a file whose first records are of a type. */
  beginningWith(type: RecordType): TypeSet {
    const { types } = this.#configured
    if (types.some(({ fingerprint }) => fingerprint === type.fingerprint)) return this.#configured
    let set = this.#sets.get(type)
    if (set === undefined) {
      set = typeSet([...types, type])
      this.#sets.set(type, set)
    }
    return set
  }
}

function typeSet(types: readonly RecordType[]): TypeSet {
  const sorted = [...types].sort((a, b) => (a.fingerprint < b.fingerprint ? -1 : 1))
  return { fingerprint: schemaFingerprint(sorted), types: sorted, block: encodeTypesBlock(sorted.map(typeEntry)) }
}
