import { join } from 'node:path'

/**
 * A file of a queue. Its name is the ordinal of its first record, counted from the first record that the queue ever
 * kept. So the names say how many records a file must have, and nothing is missed unnoticed.
 */
export interface QueueSegment {
  readonly path: string
  /** Ordinal of its first record. */
  readonly first: number
  /** Ordinal behind its last record. */
  end: number
  /** Size of its whole blocks. Unit: bytes. */
  bytes: number
  /** Part of `bytes` that was not read. Unit: bytes. */
  unreadBytes: number
  /** When it was made, by a clock that only rises. Unit: milliseconds. */
  readonly madeMs: number
  /** When it was written last, by a clock that only rises. Unit: milliseconds. */
  usedMs: number
  /** Whether records may follow in it. */
  isOpen: boolean
  /** Whether nothing in it could be read: it is set aside, and not removed. */
  isForeign: boolean
}

/** A segment of which nothing was read. */
export function newSegment(
  given: Pick<QueueSegment, 'path' | 'first' | 'end' | 'bytes' | 'madeMs' | 'isOpen'>,
): QueueSegment {
  return { ...given, unreadBytes: given.bytes, usedMs: given.madeMs, isForeign: false }
}

const NAME = /^(\d{16})\.bin$/
/** Ordinals beyond are no ordinals: a million records a second take 285 years. */
const ORDINAL_LIMIT = Number.MAX_SAFE_INTEGER

/** Path of the segment whose first record has an ordinal. */
export function segmentPath(folder: string, first: number): string {
  return join(folder, `${String(first).padStart(16, '0')}.bin`)
}

/** The ordinal in the name of a file; undefined if it is not the name of a segment. */
export function ordinalOf(name: string): number | undefined {
  const [, digits] = NAME.exec(name) ?? []
  const first = Number(digits ?? Number.NaN)
  return first <= ORDINAL_LIMIT ? first : undefined
}

/** Whether a queue makes something of that name in its folder. */
export function isQueueName(name: string): boolean {
  return /^(\d{16}\.bin(\.unreadable|\.late)?|\.(lock|pages|cursor)(\.new)?|\.lock-journal)$/.test(name)
}
