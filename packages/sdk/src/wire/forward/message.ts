import type { Batch } from '../../schema/batch.ts'
import { EventWriter } from './event-writer.ts'
import { arrayHeader, binaryHeader, type Packable, pack } from './msgpack.ts'
import type { RecordLayout } from './template.ts'

/**
 * How events travel. `message`: each alone. `forward`: many as an array. `packed_forward`: many as bytes, which a
 * receiver stores without decoding them.
 */
export type ForwardMode = 'message' | 'forward' | 'packed_forward'

/** A message is sent when its events reach this size: Fluent Bit once took little more. Unit: bytes. */
export const MESSAGE_BYTES = 1_000_000

/** Events with one tag. */
export interface EventChunk {
  readonly tag: string
  /** Encoded events, one behind the other. */
  readonly events: Buffer
  /** Number of events. */
  readonly count: number
}

/** Options of {@link EventChunks}. */
export interface EventChunksOptions {
  /** The tag; `{type}` and `{source}` stand for the names of record type and source. */
  readonly tag: string
  readonly layout: RecordLayout
  readonly mode: ForwardMode
}

/** Divides batches into chunks: by tag, and by size. */
export class EventChunks {
  readonly #options: EventChunksOptions
  readonly #writer: EventWriter

  constructor(options: EventChunksOptions) {
    this.#options = options
    this.#writer = new EventWriter(options.layout)
  }

  /**
   * The events of batches. Those with one tag stay in order.
   *
   * @throws SondeError `FWD_EVENT` if an event is larger than a receiver takes.
   */
  of(batches: readonly Batch[]): readonly EventChunk[] {
    const chunks: EventChunk[] = []
    const writer = this.#writer
    // A call that threw may have left events.
    writer.length = 0
    const limit = this.#options.mode === 'message' ? 0 : MESSAGE_BYTES
    for (const [tag, tagged] of Map.groupBy(batches, (batch) => this.#tagOf(batch))) {
      let count = 0
      const end = () => {
        if (count > 0) chunks.push({ tag, events: writer.take(), count })
        count = 0
      }
      const onEvent = () => {
        count++
        if (writer.length >= limit) end()
      }
      for (const batch of tagged) writer.write(batch, onEvent)
      end()
    }
    return chunks
  }

  /** Takes back the memory of a chunk that was sent. Call it once at most; nobody may read the chunk afterwards. */
  release({ events }: EventChunk): void {
    this.#writer.release(events)
  }

  #tagOf({ type, source }: Batch): string {
    return this.#options.tag.replaceAll('{type}', type.name).replaceAll('{source}', source.id)
  }
}

/** The form and the id of a message. */
export interface MessageOptions {
  readonly mode: ForwardMode
  /** Id that the receiver acknowledges. Default: it does not acknowledge. */
  readonly chunk?: string
  /** Whether the events are compressed by gzip; only in mode `packed_forward`. */
  readonly isCompressed?: boolean
}

/** The bytes of a message, in order. Pure. */
export function forwardMessage({ tag, events, count }: EventChunk, options: MessageOptions): readonly Buffer[] {
  const { mode, chunk, isCompressed = false } = options
  const said: Record<string, Packable> = {
    ...(mode === 'message' ? {} : { size: count }),
    ...(chunk === undefined ? {} : { chunk }),
    ...(isCompressed ? { compressed: 'gzip' } : {}),
  }
  const tail = Object.keys(said).length === 0 ? [] : [pack(said)]
  if (mode === 'message') {
    // Time and record are elements of the message: the header of their array is left out.
    return [Buffer.concat([arrayHeader(3 + tail.length), pack(tag)]), events.subarray(1), ...tail]
  }
  const before = mode === 'forward' ? arrayHeader(count) : binaryHeader(events.length)
  return [Buffer.concat([arrayHeader(2 + tail.length), pack(tag), before]), events, ...tail]
}
