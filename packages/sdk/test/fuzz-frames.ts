import assert from 'node:assert/strict'
import { SondeError } from '../src/index.ts'
import {
  type ClientMessage,
  clientFrames,
  encodeFrame,
  FRAME_HEADER_BYTES,
  type FrameDecoder,
  PAGE_HEADER_BYTES,
  type ServiceFrame,
  serviceFrames,
  writePageHeader,
} from '../src/internal/index.ts'
import type { Random } from './random.ts'

const PAGE_BYTES_MAX = 4096
const KINDS = [1, 2, 3, 4, 5, 6, 7, 8, 65, 66, 67, 68, 69]
const ODD_VALUES = [
  null,
  true,
  -1,
  1.5,
  1e300,
  '',
  '-1',
  '18446744073709551616',
  [],
  {},
  { __proto__: null },
  'x'.repeat(5000),
]

/**
 * Gives decoders of both sides so many streams that are damaged somehow, cut anywhere. Whatever they throw must be an
 * error of ours, and memory stays that of a frame.
 */
export function fuzzFrames(random: Random, inputs: number): void {
  for (let input = 0; input < inputs; input++) {
    const isClient = random.chance(0.5)
    const stream = damaged(random, random.chance(0.1) ? noise(random) : wholeStream(random, isClient))
    const decoder: FrameDecoder<unknown> = isClient ? clientFrames(PAGE_BYTES_MAX) : serviceFrames()
    try {
      for (const chunk of chunksOf(random, stream)) for (const frame of decoder.frames(chunk)) assert.ok(frame)
    } catch (error) {
      if (!(error instanceof SondeError && error.code === 'IPC_FRAME')) {
        throw new Error(`stream ${stream.toString('hex')}`, { cause: error })
      }
      assert.throws(() => [...decoder.frames(Buffer.alloc(1))], SondeError)
    }
  }
}

/** What a service might answer that is broken. */
export function fuzzedStream(random: Random): Buffer {
  return damaged(random, random.chance(0.1) ? noise(random) : wholeStream(random, false))
}

/** Several frames as one side sends them. */
function wholeStream(random: Random, isClient: boolean): Buffer {
  const frames = Array.from({ length: random.integer(1, 4) }, (_, i) => {
    if (isClient && random.chance(0.3)) return pageFrame(random, i + 1)
    return encodeFrame(isClient ? clientMessage(random) : serviceMessage(random), i + 1)
  })
  return Buffer.concat(frames)
}

function clientMessage(random: Random): ClientMessage {
  const definition = { name: 't', description: '', layout: 'packed', fields: [] }
  return random.pick<ClientMessage>([
    {
      kind: 'hello',
      body: {
        protocol: 3,
        client: random.bits64(),
        secret: '0'.repeat(64),
        heard: random.bits64(),
        pid: 1,
        program: 'p',
        version: 'v',
      },
    },
    { kind: 'types', body: [{ index: 1, fingerprint: '0'.repeat(32), definition }] },
    { kind: 'source', body: { index: 1, id: 'a', tag: '', labels: { n: 'x' }, schema: '' } },
    { kind: 'symbols', body: { source: 1, firstId: 0, texts: ['', 'ü', 'x'.repeat(random.integer(0, 300))] } },
    { kind: 'attach', body: { file: '/dev/shm/x', slots: 2, slotBytes: 4096 } },
    { kind: 'proof', body: {} },
    { kind: 'bye', body: {} },
  ])
}

function serviceMessage(random: Random): ServiceFrame {
  const secret = 'a'.repeat(64)
  const limits = { pageBytes: 1, types: 1, sources: 1, symbols: 1, clientBytes: 1 }
  return random.pick<ServiceFrame>([
    {
      kind: 'welcome',
      body: {
        protocol: 3,
        client: 1n,
        secret,
        lastSequence: random.bits64(),
        dropped: { why: 3 },
        hidden: {},
        ack: 'memory',
        limits,
      },
    },
    { kind: 'challenge', body: { nonce: secret } },
    { kind: 'attached', body: { ok: true, reason: '' } },
    { kind: 'ack', body: { sequence: random.bits64(), dropped: { why: 3 }, hidden: {} } },
    { kind: 'error', body: { code: 'C', message: 'm' } },
  ])
}

function pageFrame(random: Random, sequence: number): Buffer {
  const bytes = Buffer.alloc(random.integer(0, 200), 7)
  const header = Buffer.alloc(FRAME_HEADER_BYTES + PAGE_HEADER_BYTES)
  const slot = random.chance(0.5) ? random.integer(0, 99) : undefined
  const page = {
    sequence: (random.bits64() >> 11n) | 1n,
    source: 1,
    type: 1,
    clock: 'wall' as const,
    count: 1,
    crc: 0,
    slot,
  }
  writePageHeader(header, { ...page, byteLength: bytes.length }, sequence)
  return slot === undefined ? Buffer.concat([header, bytes]) : header
}

/** The stream with something wrong in it: bits, lengths, kinds, JSON that is another, the order, the end. */
function damaged(random: Random, stream: Buffer): Buffer {
  const at = random.integer(0, stream.length - 1)
  switch (random.integer(0, 7)) {
    case 0:
      stream[at] = (stream[at] ?? 0) ^ (1 << random.integer(0, 7))
      return stream
    case 1:
      stream.writeUInt32LE(random.pick([0, 1, 0xffff_ffff, 1 << 20, (1 << 20) + 1, random.integer(0, 200)]), 0)
      return stream
    case 2:
      stream.writeUInt8(random.pick(KINDS), 4)
      return stream
    case 3:
      return stream.subarray(0, at)
    case 4:
      return Buffer.concat([stream.subarray(0, at), noise(random), stream.subarray(at)])
    case 5:
      return Buffer.concat([stream, stream])
    case 6:
      return otherJson(random, stream)
    default:
      for (let i = random.integer(1, 20); i > 0; i--)
        stream[random.integer(0, stream.length - 1)] = random.integer(0, 255)
      return stream
  }
}

/** The first frame, with one value of its JSON replaced by an odd one. */
function otherJson(random: Random, stream: Buffer): Buffer {
  const length = stream.readUInt32LE(0)
  const json = stream.toString('latin1', FRAME_HEADER_BYTES, FRAME_HEADER_BYTES + length)
  const values = [...json.matchAll(/"[^"]*"(?!:)|\b\d+\b|\[\]|\{\}/g)]
  if (values.length === 0) return stream
  const { 0: found, index } = random.pick(values)
  const odd = JSON.stringify(random.pick(ODD_VALUES))
  const payload = Buffer.from(json.slice(0, index) + odd + json.slice(index + found.length), 'latin1')
  const header = Buffer.from(stream.subarray(0, FRAME_HEADER_BYTES))
  header.writeUInt32LE(payload.length, 0)
  return Buffer.concat([header, payload, stream.subarray(FRAME_HEADER_BYTES + length)])
}

function noise(random: Random): Buffer {
  return Buffer.from(Array.from({ length: random.integer(16, 64) }, () => random.integer(0, 255)))
}

function* chunksOf(random: Random, stream: Buffer): Generator<Buffer> {
  for (let at = 0; at < stream.length; ) {
    const end = random.chance(0.3) ? stream.length : Math.min(stream.length, at + random.integer(1, 50))
    yield stream.subarray(at, end)
    at = end
  }
}
