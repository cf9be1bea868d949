import { type RecordType, SondeError } from '@sonde/sdk'
import type { LeftOutStretch, TracebackEvent } from '@sonde/sdk/api'
import { parseDefinition, turn } from '@sonde/sdk/internal'
import type { KeptIndex, KeptPart, KeptSeries, ReadIndex } from './kept-index.ts'
import { lineObject, NoteLines, NoteLists } from './note-lines.ts'
import { SeriesPacker, unpackSeries } from './pack-index.ts'

/** Longest first line of a note. Unit: bytes. */
export const EVENT_LINE_BYTES = 32 << 10
/** Largest note. Unit: bytes. */
export const NOTE_BYTES = 16 << 20

/**
 * Encodes the note of an event's file. The first line is the event, which is enough for a list. The content of the file
 * follows in lines that are short enough to read one a turn. Yields to the loop.
 */
export async function encodeNote(event: TracebackEvent, index: KeptIndex): Promise<Uint8Array> {
  const { parts, blocks, listed, series, signal, leftOut } = index
  const baseMs = Math.floor(series.reduce((least, { fromMs }) => Math.min(least, fromMs), series[0]?.fromMs ?? 0))
  const packer = new SeriesPacker(baseMs)
  const lines = new NoteLines()
  lines.add({ ...event })
  lines.add({ baseMs, ...(signal === undefined ? {} : { signal }) })
  await lines.addList('parts', parts)
  await lines.addList('blocks', blocks)
  await lines.addList('listed', listed)
  await lines.addList('leftOut', leftOut)
  await lines.addList('series', series, (one) => packer.pack(one))
  await lines.addList('texts', packer.texts)
  return lines.bytes()
}

/**
 * Decodes the event of a note from its beginning.
 * @throws SondeError `TRB_NOTE` if it is invalid.
 */
export function decodeEvent(beginning: Uint8Array): TracebackEvent {
  const end = beginning.indexOf(0x0a)
  if (end < 0) throw wrong('has no whole first line')
  const event = lineObject(beginning.subarray(0, end)) as Partial<TracebackEvent> | undefined
  if (event === undefined) throw wrong('has a line that is not a JSON object')
  const { id, startMs, endMs, errorMs, samples, leftOut, sizeBytes, rule, device, source, condition, end: why } = event
  for (const [name, value] of Object.entries({ id, startMs, endMs, errorMs, samples, leftOut, sizeBytes }))
    if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) throw wrong(`has no number as ${name}`)
  for (const [name, value] of Object.entries({ rule, device, source, condition, end: why }))
    if (typeof value !== 'string') throw wrong(`has no text as ${name}`)
  if ((endMs as number) < (startMs as number)) throw wrong('ends before it starts')
  if (!Number.isSafeInteger(id)) throw wrong('has no whole number as id')
  if (event.client !== undefined && !/^\d{1,20}$/.test(String(event.client))) throw wrong('names no client as client')
  return event as TracebackEvent
}

/**
 * Decodes the index of a note. Yields to the loop.
 * @throws SondeError `TRB_NOTE` if it is invalid.
 */
export async function decodeIndex(note: Uint8Array): Promise<ReadIndex> {
  const lists = new NoteLists()
  let start = note.indexOf(0x0a) + 1
  if (start === 0 || start === note.byteLength || note.at(-1) !== 0x0a) throw wrong('is cut off')
  while (start < note.byteLength) {
    const end = note.indexOf(0x0a, start)
    const fault = lists.take(note.subarray(start, end))
    if (fault !== undefined) throw wrong(fault)
    start = end + 1
    if (turn.isOver()) await turn.next()
  }
  const { parts, blocks, listed, signal, leftOut } = lists
  if (!leftOut.every(isStretch)) throw wrong('has an invalid left-out time span')
  const types: RecordType[] = []
  for (const part of parts) {
    types.push(partType(part ?? {}))
    if (turn.isOver()) await turn.next()
  }
  for (const block of blocks) {
    checkBlock(block, parts.length)
    if (turn.isOver()) await turn.next()
  }
  return {
    parts,
    blocks,
    series: await unpackedSeries(lists),
    listed,
    leftOut,
    ...(signal === undefined ? {} : { signal }),
    types,
  }
}

function partType({ definition, fingerprint }: Partial<KeptPart>): RecordType {
  if (definition === undefined || fingerprint === undefined) throw wrong('has a part without a type')
  return parseDefinition(definition, fingerprint)
}

async function unpackedSeries({ parts, texts, series, baseMs }: NoteLists): Promise<readonly KeptSeries[]> {
  if (!Number.isFinite(baseMs) || !texts.every((text) => typeof text === 'string')) throw wrong('has no texts or times')
  const frame = { texts, baseMs, partCount: parts.length }
  const unpacked: KeptSeries[] = []
  for (const packed of series) {
    const one = unpackSeries(packed, frame)
    if (one === undefined) throw wrong('has a series of no part')
    unpacked.push(one)
    if (turn.isOver()) await turn.next()
  }
  return unpacked
}

function checkBlock(block: unknown, parts: number): void {
  if (!Array.isArray(block) || block.length !== 6 || !isIndex(block[0], parts)) throw wrong('has a block of no part')
  const [, at, bytes, count, fromNs, toNs] = block as unknown[]
  if (![at, bytes, count].every((one) => Number.isSafeInteger(one) && (one as number) >= 0))
    throw wrong('has a block without a place')
  if (![fromNs, toNs].every((one) => typeof one === 'string' && /^-?\d{1,20}$/.test(one)))
    throw wrong('has a block without times')
}

function isStretch(given: unknown): boolean {
  const { source, type, device, fromMs, toMs, samples } = (given ?? {}) as Partial<LeftOutStretch>
  const hasNumbers = [fromMs, toMs, samples].every((one) => typeof one === 'number' && Number.isFinite(one))
  return hasNumbers && [source, type, device].every((one) => typeof one === 'string')
}

function isIndex(index: unknown, count: number): boolean {
  return Number.isInteger(index) && (index as number) >= 0 && (index as number) < count
}

function wrong(what: string): SondeError {
  return new SondeError('TRB_NOTE', `the note of an event ${what}`)
}
