import { type Labels, type RecordType, SondeError, type TypeDefinition } from '@sonde/sdk'
import { parseDefinition, type TracebackEvent } from '@sonde/sdk/internal'
import { type PackedIndex, packIndex, unpackSeries } from './pack-index.ts'

/** A stretch without samples. */
export interface KeptGap {
  readonly fromMs: number
  readonly toMs: number
  readonly samples: number
}

/** A series that has samples in the file. */
export interface KeptSeries {
  /** Index of its part. */
  readonly part: number
  /** Values of its label fields, as its records have them. */
  readonly key: readonly number[]
  readonly labels: Labels
  /** Id in the list of devices; what labels say where the list does not have it. */
  readonly device: string
  readonly deviceName: string
  readonly kind: string
  /** 0: of the device of the event. 1: of one that belongs to it. 2: of the rest of the node. */
  readonly near: number
  /** Labels that tell it from other series of its type and device. */
  readonly apart: readonly string[]
  /** How far each signal moved, a digit a slot of the type: 0 not at all, 1 as it does, from 2 on farther. */
  readonly moves: string
  readonly samples: number
  readonly fromMs: number
  readonly toMs: number
  readonly resolutionMs: number
  readonly errorMs: number
  readonly gaps: readonly KeptGap[]
}

/** Records of one type of one source. */
export interface KeptPart {
  readonly source: string
  readonly fingerprint: string
  readonly definition: TypeDefinition
  readonly isRing: boolean
}

/** A block of records: its part, place and size in bytes, records, and their first and last time in nanoseconds. */
export type KeptBlock = readonly [part: number, at: number, bytes: number, count: number, fromNs: string, toNs: string]

/** What is in the file of an event, beside the event. */
export interface KeptIndex {
  readonly parts: readonly KeptPart[]
  readonly blocks: readonly KeptBlock[]
  readonly series: readonly KeptSeries[]
  /** Signal of the rule; absent where it is not known. */
  readonly signal?: IndexSignal
  /** Signals that the file of rules lists. */
  readonly listed: readonly IndexSignal[]
}

/** A signal, wherever it is. */
export interface IndexSignal {
  readonly type: string
  readonly field: string
  readonly labels: Labels
}

/** The first line of a note is longer in no case. Unit: bytes. */
export const EVENT_LINE_BYTES = 32 << 10
/** A note is larger in no case. Unit: bytes. */
export const NOTE_BYTES = 64 << 20

/**
 * The note beside the file of an event: the event in the first line, so that a list needs no more, then what is in the
 * file.
 */
export function encodeNote(event: TracebackEvent, index: KeptIndex): Uint8Array {
  return Buffer.from(`${JSON.stringify(event)}\n${JSON.stringify(packIndex(index))}\n`)
}

/**
 * The event of a note, from its beginning.
 *
 * @throws SondeError `TRB_NOTE` where that is none.
 */
export function decodeEvent(beginning: Uint8Array): TracebackEvent {
  const end = beginning.indexOf(0x0a)
  if (end < 0) throw wrong('has no whole first line')
  const event = parsed(beginning.subarray(0, end)) as Partial<TracebackEvent>
  const { id, startMs, endMs, errorMs, samples, leftOut, sizeBytes, rule, device, source, condition, end: why } = event
  for (const [name, value] of Object.entries({ id, startMs, endMs, errorMs, samples, leftOut, sizeBytes }))
    if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) throw wrong(`has no number as ${name}`)
  for (const [name, value] of Object.entries({ rule, device, source, condition, end: why }))
    if (typeof value !== 'string') throw wrong(`has no text as ${name}`)
  if (!Number.isSafeInteger(id)) throw wrong('has no whole number as id')
  if (event.client !== undefined && !/^\d{1,20}$/.test(String(event.client))) throw wrong('names no client as client')
  return event as TracebackEvent
}

/** What a reader of an event needs. */
export interface ReadIndex extends KeptIndex {
  /** Types of the parts, in their order. */
  readonly types: readonly RecordType[]
}

/**
 * What the file of a note holds.
 *
 * @throws SondeError `TRB_NOTE` where that is nothing.
 */
export function decodeIndex(note: Uint8Array): ReadIndex {
  const start = note.indexOf(0x0a)
  const end = note.indexOf(0x0a, start + 1)
  if (start < 0 || end < 0) throw wrong('is cut off')
  const packed = parsed(note.subarray(start + 1, end)) as Partial<PackedIndex>
  const { parts, blocks, texts, series, listed = [], signal } = packed
  const lists: unknown[] = [parts, blocks, texts, series, listed]
  if (!lists.every(Array.isArray)) throw wrong('has no lists')
  for (const block of blocks as unknown[]) checkBlock(block, (parts as KeptPart[]).length)
  const types = (parts as KeptPart[]).map(({ definition, fingerprint }) => parseDefinition(definition, fingerprint))
  const kept = unpackSeries(packed as PackedIndex)
  if (kept === undefined) throw wrong('has a series of no part')
  const index = { parts: parts as KeptPart[], blocks: blocks as KeptBlock[], series: kept, listed }
  return { ...index, ...(signal === undefined ? {} : { signal }), types }
}

function checkBlock(block: unknown, parts: number): void {
  if (!Array.isArray(block) || block.length !== 6 || !isIndex(block[0], parts)) throw wrong('has a block of no part')
  const [, at, bytes, count, fromNs, toNs] = block as unknown[]
  if (![at, bytes, count].every((one) => Number.isSafeInteger(one) && (one as number) >= 0))
    throw wrong('has a block without a place')
  if (![fromNs, toNs].every((one) => typeof one === 'string' && /^-?\d{1,20}$/.test(one)))
    throw wrong('has a block without times')
}

function isIndex(index: unknown, count: number): boolean {
  return Number.isInteger(index) && (index as number) >= 0 && (index as number) < count
}

function parsed(bytes: Uint8Array): object {
  try {
    const json: unknown = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString())
    if (json !== null && typeof json === 'object' && !Array.isArray(json)) return json
  } catch {
    // Told below.
  }
  throw wrong('has a line that is no object of JSON')
}

function wrong(what: string): SondeError {
  return new SondeError('TRB_NOTE', `the note of an event ${what}`)
}
