import { type RecordType, SondeError } from '@sonde/sdk'
import { checkLabels, constantLabelText, parseDefinition, withEntity } from '@sonde/sdk/internal'

/** Guaranteed number of types of each client. */
const SHARE_COUNT = 32
/** Types beyond that of all clients together, each counted once. */
const POOL_COUNT = 2048
/** Memory of these; the shares of all clients together are as large. Unit: bytes. */
const POOL_BYTES = 32 << 20
const FIELD_BYTES = 400
const EDGE_BYTES = 8

/** The reserved prefix of Sonde's own types. */
const OWN_PREFIX = 'sonde_'

/**
 * Why records of a type are dropped: it is Sonde's own of another version, it has a metric that Sonde alone reports, or
 * there is no room for it.
 */
export type TypeRefusal = 'foreign_type' | 'made_metric' | 'type_limit'

/** Rules for the entities of clients. */
export interface ClaimRules {
  /** Kinds of entities of the agent; claims of clients about them are ignored. */
  readonly ownKinds: ReadonlySet<string>
  /** Called for a claim that is not taken; the records of its type are. */
  readonly onIgnored: () => void
}

/** A type that connections use. */
interface Known {
  readonly type: RecordType
  readonly bytes: number
  /** Connections that have it in their share. */
  shared: number
  /** Connections that have it beyond their share. */
  pooled: number
}

/**
 * The types that connected clients declared. Equal types share one object, because views keep state by type. A type
 * without a connection is forgotten.
 */
export class KnownTypes {
  readonly #known = new Map<string, Known>()
  readonly #ownFingerprints: ReadonlySet<string>
  readonly #shareBytes: number
  readonly #claims: ClaimRules
  readonly #madeMetrics: ReadonlySet<string>
  #poolCount = 0
  #poolBytes = 0

  /**
   * @param own Sonde's own types that clients may report, such as losses.
   * @param clients Limit of clients.
   * @param madeMetrics Metrics that only Sonde reports: derived metrics, and those of the node's hardware.
   */
  constructor(
    own: readonly RecordType[],
    clients: number,
    claims: ClaimRules,
    madeMetrics: ReadonlySet<string> = new Set(),
  ) {
    this.#claims = claims
    this.#madeMetrics = madeMetrics
    this.#ownFingerprints = new Set(own.map(({ fingerprint }) => fingerprint))
    this.#shareBytes = POOL_BYTES / clients
  }

  /** Types that connections use. */
  get count(): number {
    return this.#known.size
  }

  /** The types of one connection. */
  open(): TypeShare {
    return new TypeShare(this, this.#shareBytes)
  }

  /** Whether a type is one of Sonde's own in another version, whose records are unknown here. */
  isForeignOwn(definition: unknown, fingerprint: string): boolean {
    const { name } = (definition ?? {}) as { readonly name?: unknown }
    return typeof name === 'string' && name.startsWith(OWN_PREFIX) && !this.#ownFingerprints.has(fingerprint)
  }

  /** Whether a type has a metric that only Sonde reports: answers use such metrics from any source. */
  isOfMade({ metrics }: RecordType): boolean {
    return metrics.values().some((metric) => this.#madeMetrics.has(metric))
  }

  /**
   * Makes the type of a new definition.
   *
   * @throws SondeError `SCH_DEFINITION` if it is invalid, `SCH_METRIC_NAME` or `SCH_LABEL_NAME` for reserved names.
   */
  find(definition: unknown, fingerprint: string): Known {
    const isPlain = (definition as { readonly entity?: unknown } | null)?.entity === undefined
    const known = isPlain ? this.#known.get(fingerprint) : undefined
    if (known !== undefined) return known
    const type = this.#withoutOwnKinds(parseDefinition(definition, fingerprint, this.#claims.onIgnored))
    this.#checkMetrics(type)
    checkLabels(type)
    return this.#known.get(typeKey(type)) ?? { type, bytes: bytesOf(type), shared: 0, pooled: 0 }
  }

  #withoutOwnKinds(type: RecordType): RecordType {
    if (type.entity === undefined || !this.#claims.ownKinds.has(type.entity.kind)) return type
    this.#claims.onIgnored()
    return withEntity(type, undefined)
  }

  take(known: Known, where: 'shared' | 'pooled'): void {
    this.#known.set(typeKey(known.type), known)
    known[where]++
    if (where === 'pooled' && known.pooled === 1) this.#count(known, 1)
  }

  give(known: Known, where: 'shared' | 'pooled'): void {
    known[where]--
    if (where === 'pooled' && known.pooled === 0) this.#count(known, -1)
    if (known.shared + known.pooled === 0) this.#known.delete(typeKey(known.type))
  }

  /** Whether a type may be taken beyond a share. */
  hasRoom({ pooled, bytes }: Known): boolean {
    return pooled > 0 || (this.#poolCount < POOL_COUNT && this.#poolBytes + bytes <= POOL_BYTES)
  }

  #count({ bytes }: Known, types: 1 | -1): void {
    this.#poolCount += types
    this.#poolBytes += types * bytes
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

/**
 * The types of one connection. The first types use its guaranteed share; further types use the common budget of all
 * clients.
 */
export class TypeShare {
  readonly #known: KnownTypes
  readonly #shareBytes: number
  readonly #taken: { readonly known: Known; readonly where: 'shared' | 'pooled' }[] = []
  #count = 0
  #bytes = 0
  #isClosed = false

  constructor(known: KnownTypes, shareBytes: number) {
    this.#known = known
    this.#shareBytes = shareBytes
  }

  /**
   * The type of a definition with the memory that it takes (unit: bytes), or why it is not taken.
   *
   * @throws SondeError as `KnownTypes.find`.
   */
  take(definition: unknown, fingerprint: string): { type: RecordType; bytes: number } | TypeRefusal {
    // A connection may end while its types are read over several turns; later types would never be released.
    if (this.#isClosed) return 'type_limit'
    if (this.#known.isForeignOwn(definition, fingerprint)) return 'foreign_type'
    const known = this.#known.find(definition, fingerprint)
    const { type, bytes } = known
    if (this.#known.isOfMade(type)) return 'made_metric'
    const isShared = this.#count < SHARE_COUNT && this.#bytes + bytes <= this.#shareBytes
    if (isShared) {
      this.#count++
      this.#bytes += bytes
    } else if (!this.#known.hasRoom(known)) return 'type_limit'
    const where = isShared ? 'shared' : 'pooled'
    this.#known.take(known, where)
    this.#taken.push({ known, where })
    return { type, bytes }
  }

  /** The connection is over: its types are given back, and it gets no more. */
  close(): void {
    this.#isClosed = true
    for (const { known, where } of this.#taken.splice(0)) this.#known.give(known, where)
  }
}

/** The entity is a claim of one client and applies to no other client. */
function typeKey({ fingerprint, entity }: RecordType): string {
  return entity === undefined ? fingerprint : `${fingerprint} ${JSON.stringify(entity)}`
}

function bytesOf({ description, layout, entity }: RecordType): number {
  let bytes = 2 * description.length + (entity === undefined ? 0 : 4 * JSON.stringify(entity).length)
  for (const { field } of layout.slots) {
    const { help = '', edges = [] } = field
    bytes += FIELD_BYTES + 2 * (help.length + constantLabelText(field).length) + EDGE_BYTES * edges.length
  }
  return bytes
}
