import type { Batch } from '../../schema/batch.ts'
import type { Layout, Slot } from '../../schema/layout.ts'
import type { RecordType } from '../../schema/record-type.ts'
import { viewsOf } from '../../schema/views.ts'
import { TEMPLATE_ID_MAX, TEMPLATE_ID_MIN } from './protocol.ts'
import type { BootTime, PacketMemory } from './record-writer.ts'
import { type FlowTemplate, type FlowTemplateOptions, isFlowType, templateOf } from './template.ts'

/** Templates that are known at once. Types of programs that have ended make room for new types. */
const TEMPLATES_MAX = 4096

/** Records of one template, encoded one behind the other. */
export interface FlowChunk {
  readonly template: FlowTemplate
  readonly count: number
  readonly memory: PacketMemory
  /** The end of each record; absent if all have the same size. */
  readonly ends?: Uint32Array
}

/**
 * Templates by type and present fields, with ids that are never given to another template while the first is known: a
 * collector may keep a template for longer than we know.
 */
export class FlowTemplates {
  readonly #options: FlowTemplateOptions
  readonly #known = new Map<string, FlowTemplate>()
  readonly #ids = new Set<number>()
  #lastId: number

  /** @param reservedCount Number of ids that the caller uses itself, from the first on. */
  constructor(options: FlowTemplateOptions, reservedCount: number) {
    this.#options = options
    this.#lastId = TEMPLATE_ID_MIN + reservedCount - 1
  }

  /**
   * Encodes the records of a batch; empty if its type has no elements. Neighbours with the same fields share a chunk.
   *
   * @throws SondeError `NFL_TEMPLATE` if a packet cannot hold the template and one record.
   */
  encode(batch: Batch, times: BootTime): readonly FlowChunk[] {
    const { type, bytes, count } = batch
    if (!isFlowType(type)) return []
    const { recordBytes, presenceWords } = type.layout
    if (presenceWords === 0) return [chunkOf(this.#templateOf(type, ''), bytes, count, times)]
    const chunks: FlowChunk[] = []
    const presenceAt = (i: number) => Buffer.from(bytes.buffer, bytes.byteOffset + i * recordBytes, presenceWords * 4)
    for (let start = 0, end = 0; start < count; start = end) {
      const presence = presenceAt(start)
      do end++
      while (end < count && presenceAt(end).equals(presence))
      const template = this.#templateOf(type, presence.toString('latin1'))
      if (template.fields.length > 0)
        chunks.push(chunkOf(template, bytes.subarray(start * recordBytes, end * recordBytes), end - start, times))
    }
    return chunks
  }

  /**
   * Checks a type before its first record.
   *
   * @throws SondeError `NFL_TEMPLATE` if a packet cannot hold the template and one record.
   */
  check(type: RecordType): void {
    if (isFlowType(type)) templateOf(type, TEMPLATE_ID_MIN, this.#options)
  }

  #templateOf(type: RecordType, presence: string): FlowTemplate {
    const key = `${type.fingerprint}${presence}`
    const known = this.#known.get(key)
    // The last used template is the last of the map.
    if (known !== undefined) this.#known.delete(key)
    const template = known ?? templateOf(type, this.#freeId(), this.#options, presenceTest(type.layout, presence))
    this.#known.set(key, template)
    return template
  }

  #freeId(): number {
    for (const [key, { id }] of this.#known) {
      if (this.#known.size < TEMPLATES_MAX) break
      this.#known.delete(key)
      this.#ids.delete(id)
    }
    do this.#lastId = this.#lastId === TEMPLATE_ID_MAX ? TEMPLATE_ID_MIN + 1 : this.#lastId + 1
    while (this.#ids.has(this.#lastId))
    this.#ids.add(this.#lastId)
    return this.#lastId
  }
}

/** Whether a slot is present in records with these presence words, as little-endian bytes. */
function presenceTest({ presenceWords }: Layout, presence: string): (slot: Slot) => boolean {
  if (presenceWords === 0) return () => true
  return ({ index }) => ((presence.charCodeAt(index >> 3) >> (index & 7)) & 1) === 1
}

function chunkOf(template: FlowTemplate, from: Uint8Array, count: number, times: BootTime): FlowChunk {
  const { recordBytesMin, recordBytesMax } = template
  const bytes = new Uint8Array(count * recordBytesMax)
  const memory = { bytes, data: new DataView(bytes.buffer) }
  const { u8, data } = viewsOf(from)
  const ends = recordBytesMin === recordBytesMax ? {} : { ends: new Uint32Array(count) }
  template.write({ bytes: u8, data }, memory, count, times, ends.ends)
  return { template, count, memory, ...ends }
}
