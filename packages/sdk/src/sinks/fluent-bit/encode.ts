import { randomBytes } from 'node:crypto'
import type { Batch } from '../../schema/batch.ts'
import type { EventChunk, EventChunks } from '../../wire/forward/message.ts'

const ID_BYTES = 16

/** A message on its way. Its id is the same in each attempt. */
export interface ForwardMessage extends EventChunk {
  readonly id: string
  /** The packed events, once they were sent. */
  packed?: Promise<Uint8Array>
  /** Whether the receiver has acknowledged it. */
  isTaken: boolean
  /** Whether the writer has taken back the memory of the events. */
  isReleased: boolean
}

/** The messages of batches; undefined if there is no record. */
export function encodeMessages(chunks: EventChunks, batches: readonly Batch[]): ForwardMessage[] | undefined {
  const all = chunks.of(batches)
  if (all.length === 0) return undefined
  return all.map((chunk) => ({
    ...chunk,
    id: randomBytes(ID_BYTES).toString('base64'),
    isTaken: false,
    isReleased: false,
  }))
}
