import { type RecordType, SondeError } from '@sonde/sdk'
import { checkLabels, parseDefinition } from '@sonde/sdk/internal'

/** Types of all clients, of now and earlier: sinks remember each. */
const TYPE_COUNT_LIMIT = 2048
/** Memory of them. Unit: bytes. */
const TYPE_BYTES_LIMIT = 64 << 20
const FIELD_BYTES = 400
const EDGE_BYTES = 8

/** What Sonde says of itself begins so. */
const OWN_PREFIX = 'sonde_'

/** A type as the service knows it, with the memory that it takes. Unit: bytes. */
export interface KnownType {
  readonly type: RecordType
  readonly bytes: number
}

/** The types that clients declared: one object for all that have the same, since views share what they know of a type. */
export class KnownTypes {
  readonly #known = new Map<string, KnownType>()
  readonly #ownFingerprints: ReadonlySet<string>
  #bytes = 0

  /** @param own Sonde's own types that clients may report: what is no value, such as losses. */
  constructor(own: readonly RecordType[]) {
    this.#ownFingerprints = new Set(own.map(({ fingerprint }) => fingerprint))
  }

  /** Whether a type is one of Sonde's own of another version, whose records mean nothing here. */
  isForeignOwn(definition: unknown, fingerprint: string): boolean {
    const { name } = (definition ?? {}) as { readonly name?: unknown }
    return typeof name === 'string' && name.startsWith(OWN_PREFIX) && !this.#ownFingerprints.has(fingerprint)
  }

  /**
   * The type of a definition.
   *
   * @throws SondeError `SCH_DEFINITION` where it is none, `SCH_METRIC_NAME` or `SCH_LABEL_NAME` where it would speak for Sonde, `IPC_LIMIT` where there are too many already.
   */
  take(definition: unknown, fingerprint: string): KnownType {
    const known = this.#known.get(fingerprint)
    if (known !== undefined) return known
    const type = parseDefinition(definition, fingerprint)
    this.#checkMetrics(type)
    checkLabels(type)
    const bytes = bytesOf(type)
    if (this.#known.size >= TYPE_COUNT_LIMIT || this.#bytes + bytes > TYPE_BYTES_LIMIT) {
      const limits = `${TYPE_COUNT_LIMIT} types, ${TYPE_BYTES_LIMIT} bytes`
      throw new SondeError('IPC_LIMIT', `type ${type.name}: the service has seen as many types as it may (${limits})`)
    }
    const taken = { type, bytes }
    this.#known.set(fingerprint, taken)
    this.#bytes += bytes
    return taken
  }

  #checkMetrics(type: RecordType): void {
    if (this.#ownFingerprints.has(type.fingerprint)) return
    for (const [field, metric] of type.metrics) {
      if (!metric.startsWith(OWN_PREFIX)) continue
      const place = `metric ${metric} of ${type.name}.${field}`
      throw new SondeError('SCH_METRIC_NAME', `${place}: names that begin with ${OWN_PREFIX} are Sonde's own`)
    }
  }
}

function bytesOf({ description, layout }: RecordType): number {
  let bytes = 2 * description.length
  for (const { field } of layout.slots) {
    const { help = '', edges = [] } = field
    bytes += FIELD_BYTES + 2 * help.length + EDGE_BYTES * edges.length
  }
  return bytes
}
