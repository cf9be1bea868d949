import { lossType, type RecordType } from '@sonde/sdk'
import {
  absenceType,
  clockType,
  gapType,
  markType,
  parseDefinition,
  periodType,
  type TypeDefinition,
  withEntity,
} from '@sonde/sdk/internal'
import { fault } from './channel.ts'

/** Types that a source makes at run time at most: one for each set of bins that its devices have. */
const MADE_MAX = 64

/** The types of one source: its declared types, their versions made at run time, and Sonde's own types. */
export class LinkTypes {
  readonly #declared: readonly RecordType[]
  readonly #types: Map<string, RecordType>
  #made = 0

  constructor(declared: readonly RecordType[]) {
    this.#declared = declared
    this.#types = new Map(
      [...declared, absenceType, clockType, gapType, lossType, markType, periodType].map((type) => [
        type.fingerprint,
        type,
      ]),
    )
  }

  get(fingerprint: string): RecordType | undefined {
    return this.#types.get(fingerprint)
  }

  /** Whether it was declared, or told. */
  has({ fingerprint }: RecordType): boolean {
    return this.#types.has(fingerprint)
  }

  /**
   * Takes a version of a declared type, as a device makes it necessary at run time. The edges of its bins may be
   * others, and values that are no metrics may follow its fields.
   *
   * @throws SondeError if it is anything else, or there are too many.
   */
  take({ definition, fingerprint }: { readonly definition: TypeDefinition; readonly fingerprint: string }): void {
    const type = parseDefinition(definition, fingerprint)
    if (this.has(type)) return
    const declared = this.#declared.find(({ name }) => name === type.name)
    if (declared === undefined || !isVersionOf(type, declared))
      throw fault(`holds a type ${type.name} that its source does not declare`)
    if (++this.#made > MADE_MAX) throw fault(`holds more than ${MADE_MAX} types made at run time`)
    this.#types.set(type.fingerprint, withEntity(type, declared.entity))
  }

  /** Adds a type and announces it to the peer. */
  add(type: RecordType): void {
    this.#types.set(type.fingerprint, type)
  }
}

function isVersionOf(type: RecordType, declared: RecordType): boolean {
  const { length } = Object.keys(declared.fields)
  const more = Object.values(type.fields).slice(length)
  return (
    more.every((field) => field.kind !== 'record' && field.role === 'value') &&
    meaningOf(type, length) === meaningOf(declared, length)
  )
}

/** A type by its first fields, but for the edges of its bins. */
function meaningOf({ description, fields, metrics }: RecordType, length: number): string {
  const plain = Object.entries(fields).map(([name, field]) => {
    return field.kind !== 'record' && field.role === 'bucket'
      ? [name, { ...field, edges: [], count: 0 }]
      : [name, field]
  })
  return JSON.stringify([description, plain.slice(0, length), [...metrics]])
}
