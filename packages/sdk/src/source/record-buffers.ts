import { SondeError, shown } from '../errors.ts'
import { lossType, periodType } from '../schema/builtin.ts'
import { isType, type RecordType } from '../schema/record-type.ts'
import { makeBuffer, type RecordBuffer } from './buffer.ts'
import type { AllOptions } from './options.ts'
import type { SourceTables } from './source-tables.ts'

type Options = Pick<AllOptions, 'id' | 'types' | 'bufferBytes' | 'clock'>

/** Types that every source may report, about its own records. */
const OWN_TYPES: ReadonlySet<RecordType> = new Set([lossType, periodType])

/** Whether only Sonde itself reports records of a type, with times of the wall clock. */
export function isOwnType(type: RecordType): boolean {
  return OWN_TYPES.has(type)
}

/** The types that a source may report, with a buffer for each type in use. */
export class RecordBuffers {
  readonly #tables: SourceTables
  readonly #options: Options
  readonly #buffers = new Map<RecordType | number, RecordBuffer>()
  /** Types that the options do not list. */
  readonly #admitted = new Set(OWN_TYPES)
  /** The last buffer: most records have the type of the previous record, and a map lookup takes a tenth of a report. */
  #lastType: RecordType | number | undefined
  #last: RecordBuffer | undefined

  constructor(tables: SourceTables, options: Options) {
    this.#tables = tables
    this.#options = options
  }

  /** Allows a type that the options do not list. */
  admit(type: RecordType): void {
    this.#admitted.add(type)
  }

  /**
   * The buffer of a type, given as an object or an index.
   *
   * @throws SondeError `SRC_TYPE` if the type is not allowed, `SRC_RECORD_SIZE` if a record does not fit.
   */
  of(type: RecordType | number): RecordBuffer {
    if (type === this.#lastType && this.#last !== undefined) return this.#last
    const buffer = this.#buffers.get(type) ?? this.#make(type)
    this.#lastType = type
    this.#last = buffer
    return buffer
  }

  /** All buffers; a buffer that is known by an index too comes twice. */
  all(): Iterable<RecordBuffer> {
    return this.#buffers.values()
  }

  /**
   * The type of an object or an index.
   *
   * @throws SondeError `SRC_TYPE` if there is no such type.
   */
  typeOf(given: RecordType | number): RecordType {
    const { types } = this.#options
    const type = typeof given === 'number' ? types?.[given] : given
    if (isType(type)) return type
    const allowed = types === undefined ? 'a type' : `one of its types, or the index of one, below ${types.length}`
    throw new SondeError(
      'SRC_TYPE',
      `source ${this.#options.id} was given ${shown(given)} as a type; allowed: ${allowed}`,
    )
  }

  /** @throws SondeError `SRC_TYPE` if the type is not allowed. */
  check(type: RecordType): void {
    const { types } = this.#options
    if (types === undefined || types.includes(type) || this.#admitted.has(type)) return
    throw new SondeError(
      'SRC_TYPE',
      `type ${type.name} is none that source ${this.#options.id} may report; add it to its schema with addType before start, or to the option types`,
    )
  }

  #make(given: RecordType | number): RecordBuffer {
    const type = this.typeOf(given)
    this.check(type)
    const { bufferBytes, clock } = this.#options
    // Records about losses and periods fit, even if buffers are small.
    const bytes = isOwnType(type) ? Math.max(bufferBytes, type.layout.recordBytes) : bufferBytes
    const buffer = this.#buffers.get(type) ?? makeBuffer(type, this.#tables, { bufferBytes: bytes, clock })
    this.#buffers.set(type, buffer)
    this.#buffers.set(given, buffer)
    return buffer
  }
}
