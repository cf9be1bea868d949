import { SondeError, shown } from '../../errors.ts'
import { SYMBOL_BYTES_MAX, SYMBOL_COUNT_MAX } from './encode.ts'
import { PAGE_CLOCKS, PAGE_HEADER_BYTES, type ReadPage, SEQUENCE_MAX, type SymbolsEntry } from './frame.ts'

const SYMBOL_CHARACTERS_MAX = 4096

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Decodes a page without a check of its CRC-32; the owner of the bytes checks it. */
export function decodePage(payload: Buffer, pageBytesMax: number): ReadPage {
  if (payload.length < PAGE_HEADER_BYTES) throw wrong('page', `${payload.length} bytes`, `${PAGE_HEADER_BYTES} or more`)
  const sequence = payload.readBigUInt64LE(0)
  if (sequence === 0n || sequence > SEQUENCE_MAX) throw wrong('page.sequence', sequence, `1 to ${SEQUENCE_MAX}`)
  const clock = PAGE_CLOCKS[payload.readUInt8(14)]
  if (clock === undefined) throw wrong('page.clock', payload.readUInt8(14), '0, 1, 2')
  const where = payload.readUInt8(15)
  if (where > 1) throw wrong('page.where', where, '0, 1')
  const byteLength = payload.readUInt32LE(20)
  if (byteLength > pageBytesMax) throw wrong('page.byteLength', byteLength, `at most ${pageBytesMax}`)
  const inline = payload.length - PAGE_HEADER_BYTES
  if (inline !== (where === 0 ? byteLength : 0)) {
    throw wrong('page', `${inline} bytes inline`, `${where === 0 ? byteLength : 0}`)
  }
  return {
    sequence,
    source: payload.readUInt32LE(8),
    type: payload.readUInt16LE(12),
    clock,
    count: payload.readUInt32LE(16),
    byteLength,
    crc: payload.readUInt32LE(24),
    slot: where === 0 ? undefined : payload.readUInt32LE(28),
    bytes: where === 0 ? payload.subarray(PAGE_HEADER_BYTES) : undefined,
  }
}

export function decodeSymbols(payload: Buffer): SymbolsEntry {
  if (payload.length < 12) throw wrong('symbols', `${payload.length} bytes`, '12 or more')
  const count = payload.readUInt32LE(8)
  if (count > SYMBOL_COUNT_MAX) throw wrong('symbols.count', count, `at most ${SYMBOL_COUNT_MAX}`)
  // Each takes four bytes at least: a count that lies reserves nothing.
  if (count > (payload.length - 12) / 4) throw wrong('symbols.count', count, 'as many as follow')
  const texts: string[] = []
  let at = 12
  for (let index = 0; index < count; index++) {
    if (payload.length - at < 4) throw wrong('symbols', 'cut off', 'as many as it says')
    const bytes = payload.readUInt32LE(at)
    at += 4
    if (bytes > SYMBOL_BYTES_MAX || bytes > payload.length - at) {
      throw wrong('symbols.text', `${bytes} bytes`, `at most ${SYMBOL_BYTES_MAX}, and what follows`)
    }
    texts.push(symbolText(payload.subarray(at, at + bytes)))
    at += bytes
  }
  if (at !== payload.length) throw wrong('symbols', `${payload.length - at} bytes too many`, 'as many as it says')
  return { source: payload.readUInt32LE(0), firstId: payload.readUInt32LE(4), texts }
}

function symbolText(bytes: Uint8Array): string {
  let text: string
  try {
    text = utf8.decode(bytes)
  } catch (cause) {
    throw new SondeError('IPC_FRAME', 'a symbol is not UTF-8; both sides must be of Sonde', { cause })
  }
  if (text.length > SYMBOL_CHARACTERS_MAX) {
    throw wrong('symbols.text', `${text.length} characters`, `at most ${SYMBOL_CHARACTERS_MAX}`)
  }
  return text
}

function wrong(place: string, given: unknown, allowed: string): SondeError {
  return new SondeError('IPC_FRAME', `${place} is ${shown(given)}; allowed: ${allowed}`)
}
