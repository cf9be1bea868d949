// A decoder of NetFlow v9 and IPFIX for tests, written from RFC 3954 and RFC 7011 and independent of the encoder.
import assert from 'node:assert/strict'

/** A data record: the bytes of its fields by element, in hex. */
export interface FlowRecord {
  readonly template: number
  readonly domain: number
  /** Whether it belongs to an options template. */
  readonly isOption: boolean
  readonly fields: ReadonlyMap<number, string>
}

interface Template {
  readonly isOption: boolean
  readonly fields: readonly (readonly [id: number, bytes: number])[]
}

/** Decodes the packets of one exporter in order, and fails at the first that breaks a rule. */
export class FlowDecoder {
  readonly templates = new Map<number, Template>()
  /** Data sets whose template had not come. */
  unknownSets = 0
  /** The version of the last packet. */
  version = 0
  /** Templates and data records of the last packet. */
  lastTemplates: number[] = []
  #expected: number | undefined
  sequenceErrors = 0

  decode(packet: Buffer): FlowRecord[] {
    this.version = packet.readUInt16BE(0)
    assert.ok(this.version === 9 || this.version === 10, `version ${this.version}`)
    const isV9 = this.version === 9
    if (!isV9)
      assert.equal(packet.readUInt16BE(2), packet.length, 'the length of an IPFIX message is that of its datagram')
    const sequence = packet.readUInt32BE(isV9 ? 12 : 8)
    const domain = packet.readUInt32BE(isV9 ? 16 : 12)
    if (this.#expected !== undefined && sequence !== this.#expected) this.sequenceErrors++
    const records: FlowRecord[] = []
    const { unknownSets } = this
    let templates = 0
    this.lastTemplates = []
    for (let at = isV9 ? 20 : 16; at < packet.length; ) {
      const id = packet.readUInt16BE(at)
      const bytes = packet.readUInt16BE(at + 2)
      assert.ok(bytes >= 4 && at + bytes <= packet.length, `a set of ${bytes} bytes at ${at} of ${packet.length}`)
      const set = packet.subarray(at + 4, at + bytes)
      if (id === (isV9 ? 0 : 2)) templates += this.#templates(set)
      else if (id === (isV9 ? 1 : 3)) templates += this.#options(set, isV9)
      else records.push(...this.#records(id, domain, set))
      at += bytes
    }
    if (isV9 && this.unknownSets === unknownSets)
      assert.equal(packet.readUInt16BE(2), templates + records.length, 'a v9 header counts templates and records')
    this.#expected = (sequence + (isV9 ? 1 : records.length)) >>> 0
    return records
  }

  #templates(set: Buffer): number {
    let count = 0
    for (let at = 0; set.length - at >= 4; count++) {
      const [id, fields] = [set.readUInt16BE(at), set.readUInt16BE(at + 2)]
      this.#learn(id, false, fieldsOf(set, at + 4, fields))
      at += 4 + fields * 4
    }
    return count
  }

  #options(set: Buffer, isV9: boolean): number {
    const [id, first, second] = [set.readUInt16BE(0), set.readUInt16BE(2), set.readUInt16BE(4)]
    const count = isV9 ? (first + second) / 4 : first
    this.#learn(id, true, fieldsOf(set, 6, count))
    assertPadding(set.subarray(6 + count * 4))
    return 1
  }

  #learn(id: number, isOption: boolean, fields: Template['fields']): void {
    assert.ok(id >= 256 && fields.length > 0)
    this.lastTemplates.push(id)
    const known = this.templates.get(id)
    if (known !== undefined) assert.deepEqual(known.fields, fields, `template ${id} was defined anew`)
    this.templates.set(id, { isOption, fields })
  }

  #records(id: number, domain: number, set: Buffer): FlowRecord[] {
    const template = this.templates.get(id)
    if (template === undefined) {
      this.unknownSets++
      return []
    }
    const { isOption, fields } = template
    const smallest = fields.reduce((sum, [, bytes]) => sum + (bytes === 65_535 ? 1 : bytes), 0)
    const records: FlowRecord[] = []
    let at = 0
    while (set.length - at >= smallest) {
      const values = new Map<number, string>()
      for (const [element, bytes] of fields) {
        let length = bytes
        if (bytes === 65_535) {
          length = set.readUInt8(at++)
          if (length === 255) {
            length = set.readUInt16BE(at)
            at += 2
          }
        }
        assert.ok(at + length <= set.length, 'a field ends in its set')
        values.set(element, set.toString('hex', at, at + length))
        at += length
      }
      records.push({ template: id, domain, isOption, fields: values })
    }
    assertPadding(set.subarray(at))
    return records
  }
}

function fieldsOf(set: Buffer, start: number, count: number): (readonly [number, number])[] {
  return Array.from({ length: count }, (_, i) => {
    const at = start + i * 4
    return [set.readUInt16BE(at), set.readUInt16BE(at + 2)] as const
  })
}

function assertPadding(rest: Buffer): void {
  assert.ok(rest.length <= 3, `${rest.length} bytes of padding`)
  assert.ok(rest.every((byte) => byte === 0))
}

/** The number of a field in hex. */
export function numberOf(hex: string | undefined): bigint {
  return hex === undefined ? -1n : BigInt(`0x${hex}`)
}

/** The text of a field in hex, without its NULs. */
export function textOf(hex: string | undefined): string {
  return Buffer.from(hex ?? '', 'hex')
    .toString()
    .replace(/\0+$/, '')
}
