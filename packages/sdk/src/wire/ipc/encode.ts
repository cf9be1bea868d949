import { SondeError } from '../../errors.ts'
import {
  type ClientMessage,
  FRAME_HEADER_BYTES,
  FRAME_KINDS,
  PAGE_CLOCKS,
  PAGE_HEADER_BYTES,
  type Page,
  type ServiceFrame,
  SYMBOLS_BYTES_MAX,
  type SymbolsEntry,
} from './frame.ts'
import { checkJson, messageBytesMax } from './json-limits.ts'

/** A text of a symbol is at most so long in UTF-8: 4096 UTF-16 units. */
export const SYMBOL_BYTES_MAX = 4096 * 3
/** Texts in one frame at most: empty ones take four bytes in it, and far more where they are kept. */
export const SYMBOL_COUNT_MAX = 65_536

/**
 * A frame of any kind but a page.
 *
 * @param sequence Of the frame: 1 for the first of a connection and each direction, then one more each.
 * @throws SondeError `IPC_FRAME` if the message is longer than a frame of its kind may be, or more than one may
 * hold.
 */
export function encodeFrame(message: ClientMessage | ServiceFrame, sequence: number): Buffer {
  const payload = message.kind === 'symbols' ? encodeSymbols(message.body) : Buffer.from(jsonOf(message), 'utf8')
  const bytesMax = messageBytesMax(FRAME_KINDS[message.kind])
  if (payload.length > bytesMax) {
    throw new SondeError(
      'IPC_FRAME',
      `a message of kind ${message.kind} takes ${payload.length} bytes; at most ${bytesMax}`,
    )
  }
  if (message.kind !== 'symbols') checkJson(message.kind, payload)
  const frame = Buffer.allocUnsafe(FRAME_HEADER_BYTES + payload.length)
  writeHeader(frame, payload.length, FRAME_KINDS[message.kind], sequence)
  payload.copy(frame, FRAME_HEADER_BYTES)
  return frame
}

/** Writes what precedes the bytes of a page into the first 44 bytes of `target`; inline, the bytes follow at once. */
export function writePageHeader(target: Buffer, page: Page, sequence: number): void {
  const isInline = page.slot === undefined
  writeHeader(target, PAGE_HEADER_BYTES + (isInline ? page.byteLength : 0), FRAME_KINDS.page, sequence)
  let at = target.writeBigUInt64LE(page.sequence, FRAME_HEADER_BYTES)
  at = target.writeUInt32LE(page.source, at)
  at = target.writeUInt16LE(page.type, at)
  at = target.writeUInt8(PAGE_CLOCKS.indexOf(page.clock), at)
  at = target.writeUInt8(isInline ? 0 : 1, at)
  at = target.writeUInt32LE(page.count, at)
  at = target.writeUInt32LE(page.byteLength, at)
  at = target.writeUInt32LE(page.crc, at)
  target.writeUInt32LE(page.slot ?? 0, at)
}

/** Symbols in as many messages as the length of a frame asks for. */
export function* splitSymbols({ source, firstId, texts }: SymbolsEntry): Generator<ClientMessage> {
  let from = 0
  let bytes = 0
  for (const [index, text] of texts.entries()) {
    const textBytes = 4 + Buffer.byteLength(text, 'utf8')
    if (12 + bytes + textBytes > SYMBOLS_BYTES_MAX || index - from >= SYMBOL_COUNT_MAX) {
      yield { kind: 'symbols', body: { source, firstId: firstId + from, texts: texts.slice(from, index) } }
      from = index
      bytes = 0
    }
    bytes += textBytes
  }
  if (from < texts.length) {
    yield { kind: 'symbols', body: { source, firstId: firstId + from, texts: texts.slice(from) } }
  }
}

function writeHeader(target: Buffer, payloadBytes: number, kind: number, sequence: number): void {
  target.writeUInt32LE(payloadBytes, 0)
  target.writeUInt8(kind, 4)
  target.writeUInt8(0, 5)
  target.writeUInt16LE(0, 6)
  target.writeUInt32LE(sequence >>> 0, 8)
}

/** Clients are hex and sequences decimal strings: JSON has no numbers of 64 bits. */
function jsonOf(message: Exclude<ClientMessage | ServiceFrame, { kind: 'symbols' }>): string {
  switch (message.kind) {
    case 'hello':
      return JSON.stringify({
        ...message.body,
        client: message.body.client.toString(16),
        heard: String(message.body.heard),
      })
    case 'welcome':
      return JSON.stringify({
        ...message.body,
        client: message.body.client.toString(16),
        lastSequence: String(message.body.lastSequence),
      })
    case 'ack':
      return JSON.stringify({ ...message.body, sequence: String(message.body.sequence) })
    default:
      return JSON.stringify(message.body)
  }
}

function encodeSymbols({ source, firstId, texts }: SymbolsEntry): Buffer {
  const encoded = texts.map((text) => Buffer.from(text, 'utf8'))
  const payload = Buffer.allocUnsafe(encoded.reduce((bytes, text) => bytes + 4 + text.length, 12))
  let at = payload.writeUInt32LE(source, 0)
  at = payload.writeUInt32LE(firstId, at)
  at = payload.writeUInt32LE(texts.length, at)
  for (const text of encoded) {
    at = payload.writeUInt32LE(text.length, at)
    at += text.copy(payload, at)
  }
  return payload
}
