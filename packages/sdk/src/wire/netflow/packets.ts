import {
  type FlowProtocol,
  PROTOCOLS,
  SET_ALIGNMENT,
  SET_HEADER_BYTES,
  TEMPLATE_ID_MIN,
  writeHeader,
} from './protocol.ts'
import { optionsTemplateOf } from './template.ts'
import type { FlowChunk } from './templates.ts'

/** Options of {@link FlowPackets}. */
export interface PacketOptions {
  readonly protocol: FlowProtocol
  /** Source id of v9, observation domain of IPFIX. */
  readonly domainId: number
  /** Size of a packet at most, without the headers of UDP and IP. Unit: bytes. */
  readonly packetBytesMax: number
  /** A template is sent again with the first records after so many packets. */
  readonly templateRefreshPackets: number
  /** A template is sent again with the first records after this time. Unit: milliseconds. */
  readonly templateRefreshMs: number
  /** Whether the numbers of the exporter are sent with each refresh by time. */
  readonly statistics: boolean
}

/** The time at which a packet is made. */
export interface PacketTime {
  /** A clock that only rises. Unit: milliseconds. */
  readonly nowMs: number
  /** Unit: milliseconds since the Unix epoch. */
  readonly wallMs: number
  /** When the host booted, or its 32-bit uptime began anew. Unit: milliseconds since the Unix epoch. */
  readonly bootMs: number
}

/** The place of the next record of a request: an attempt continues where an earlier attempt ended. */
export interface FlowPosition {
  chunk: number
  record: number
}

/** The statistics of an exporter, with elements of IPFIX that v9 shares. */
const STATISTICS_ID = TEMPLATE_ID_MIN
const STATISTICS_FIELDS = [
  { id: 41, bytes: 8 }, // exportedMessageTotalCount
  { id: 42, bytes: 8 }, // exportedFlowRecordTotalCount
  { id: 40, bytes: 8 }, // exportedOctetTotalCount
  { id: 166, bytes: 8 }, // notSentFlowTotalCount
]
const DOMAIN_SCOPE = { v9: { id: 1, bytes: 4 }, ipfix: { id: 149, bytes: 4 } } as const
const STATISTICS_BYTES = 4 + STATISTICS_FIELDS.length * 8
/** Ids of templates that {@link FlowPackets} uses itself. */
export const RESERVED_IDS = 1

interface SentTemplate {
  readonly packets: number
  readonly ms: number
}

/**
 * The packets of an observation domain to one collector: header, sequence, templates, records. A packet counts when
 * {@link FlowPackets.sent} is called; the next packet replaces a packet that was not sent.
 */
export class FlowPackets {
  /** Packets, data records and bytes that were sent. */
  packets = 0
  records = 0
  octets = 0
  readonly #options: PacketOptions
  readonly #memory: Uint8Array
  readonly #data: DataView
  readonly #statistics
  /** When each template was sent last, by id. */
  readonly #sentTemplates = new Map<number, SentTemplate>()
  #statisticsMs = Number.NEGATIVE_INFINITY
  /** Data records for the sequence of IPFIX; those of options count too. */
  #dataRecords = 0
  #at = 0
  #made: { readonly position: FlowPosition; readonly records: number; readonly nowMs: number } | undefined
  #madeTemplates: number[] = []
  #madeDataRecords = 0
  #hasStatistics = false

  constructor(options: PacketOptions) {
    this.#options = options
    this.#memory = new Uint8Array(options.packetBytesMax)
    this.#data = new DataView(this.#memory.buffer)
    this.#statistics = optionsTemplateOf(
      STATISTICS_ID,
      options.protocol,
      DOMAIN_SCOPE[options.protocol],
      STATISTICS_FIELDS,
    )
  }

  /**
   * Makes the packet with the next records; it is valid until the next call. `notSent` is the number of records that
   * were dropped so far.
   */
  next(chunks: readonly FlowChunk[], position: FlowPosition, time: PacketTime, notSent: number): Uint8Array {
    this.#begin()
    if (this.#options.statistics && time.nowMs - this.#statisticsMs >= this.#options.templateRefreshMs)
      this.#writeStatistics(notSent)
    const end = { ...position }
    let records = 0
    for (let chunk = chunks[end.chunk]; chunk !== undefined; chunk = chunks[end.chunk]) {
      const written = this.#writeRecords(chunk, end.record, time.nowMs)
      records += written
      end.record += written
      if (end.record < chunk.count) break
      end.chunk++
      end.record = 0
    }
    this.#made = { position: end, records, nowMs: time.nowMs }
    return this.#finish(records, time)
  }

  /** Makes a packet with the templates of chunks and no records, as far as they fit. */
  templates(chunks: readonly FlowChunk[], time: PacketTime): Uint8Array {
    this.#begin()
    for (const { template } of chunks) {
      if (this.#madeTemplates.includes(template.id)) continue
      if (this.#at + SET_HEADER_BYTES + template.definition.length > this.#memory.length) break
      this.#writeTemplate(template)
    }
    // Records do not rely on this packet: nobody has answered it.
    const written = this.#finish(0, time)
    this.#madeTemplates = []
    this.#made = undefined
    return written
  }

  /** The last packet was sent. Returns the place behind its records; undefined if it had only templates. */
  sent(): FlowPosition | undefined {
    this.packets++
    this.octets += this.#at
    const made = this.#made
    if (made === undefined) return undefined
    for (const id of this.#madeTemplates) this.#sentTemplates.set(id, { packets: this.packets, ms: made.nowMs })
    if (this.#hasStatistics) this.#statisticsMs = made.nowMs
    this.records += made.records
    this.#dataRecords += this.#madeDataRecords
    return made.position
  }

  /** The collector may have forgotten all templates, or never got them. */
  forgetTemplates(): void {
    this.#sentTemplates.clear()
    this.#statisticsMs = Number.NEGATIVE_INFINITY
  }

  #begin(): void {
    this.#at = PROTOCOLS[this.#options.protocol].headerBytes
    this.#madeTemplates = []
    this.#madeDataRecords = 0
    this.#hasStatistics = false
  }

  #finish(records: number, { wallMs, bootMs }: PacketTime): Uint8Array {
    const { protocol, domainId } = this.#options
    this.#madeDataRecords = records + (this.#hasStatistics ? 1 : 0)
    // The options template is a record of v9 too.
    const count = this.#madeDataRecords + this.#madeTemplates.length + (this.#hasStatistics ? 1 : 0)
    const sequence = (protocol === 'v9' ? this.packets : this.#dataRecords) >>> 0
    writeHeader(protocol, this.#data, { count, bytes: this.#at, sequence, domainId, wallMs, bootMs })
    return this.#memory.subarray(0, this.#at)
  }

  /** Writes as many records as fit, behind their template if it is due. */
  #writeRecords({ template, count, memory, ends }: FlowChunk, from: number, nowMs: number): number {
    const isDue = this.#isDue(template.id, nowMs)
    const templateBytes = isDue ? SET_HEADER_BYTES + template.definition.length : 0
    // Templates have a length that is a multiple of 4, so they need no padding.
    const roomBytes = this.#memory.length - this.#at - templateBytes - SET_HEADER_BYTES
    const endOf = (record: number) => (record === 0 ? 0 : (ends?.[record - 1] ?? record * template.recordBytesMax))
    const start = endOf(from)
    let to = from
    if (ends === undefined) to = Math.min(count, from + Math.max(0, Math.floor(roomBytes / template.recordBytesMax)))
    else while (to < count && endOf(to + 1) - start <= roomBytes) to++
    if (to === from) return 0
    if (isDue) this.#writeTemplate(template)
    const end = endOf(to)
    this.#writeSet(template.id, memory.bytes.subarray(start, end), template.recordBytesMin)
    return to - from
  }

  #isDue(id: number, nowMs: number): boolean {
    if (this.#madeTemplates.includes(id)) return false
    const { templateRefreshPackets, templateRefreshMs } = this.#options
    const last = this.#sentTemplates.get(id)
    if (last === undefined) return true
    return this.packets - last.packets + 1 >= templateRefreshPackets || nowMs - last.ms >= templateRefreshMs
  }

  #writeTemplate({ id, definition }: { readonly id: number; readonly definition: Uint8Array }): void {
    this.#writeSet(PROTOCOLS[this.#options.protocol].templateSet, definition, SET_ALIGNMENT)
    this.#madeTemplates.push(id)
  }

  #writeStatistics(notSent: number): void {
    this.#writeSet(PROTOCOLS[this.#options.protocol].optionsSet, this.#statistics.definition, SET_ALIGNMENT)
    const record = new Uint8Array(STATISTICS_BYTES)
    const data = new DataView(record.buffer)
    data.setUint32(0, this.#options.domainId)
    for (const [i, number] of [this.packets, this.records, this.octets, notSent].entries())
      data.setBigUint64(4 + i * 8, BigInt(number))
    this.#writeSet(STATISTICS_ID, record, STATISTICS_BYTES)
    this.#hasStatistics = true
  }

  /** Zeros fill a set up to its alignment, unless a reader could take them for a record. */
  #writeSet(id: number, content: Uint8Array, recordBytesMin: number): void {
    const at = this.#at
    const bare = SET_HEADER_BYTES + content.length
    const padding = (SET_ALIGNMENT - (bare % SET_ALIGNMENT)) % SET_ALIGNMENT
    const isPadded = padding < recordBytesMin && at + bare + padding <= this.#memory.length
    const bytes = bare + (isPadded ? padding : 0)
    this.#data.setUint16(at, id)
    this.#data.setUint16(at + 2, bytes)
    this.#memory.set(content, at + SET_HEADER_BYTES)
    this.#memory.fill(0, at + bare, at + bytes)
    this.#at = at + bytes
  }
}
