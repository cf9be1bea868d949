import assert from 'node:assert/strict'
import { test } from 'node:test'
import { property, sondeError } from '../../../test/helper.ts'
import type { Random } from '../../../test/random.ts'
import { lossType } from '../../schema/builtin.ts'
import { definitionOf } from '../../schema/fingerprint.ts'
import { clientFrames, type FrameDecoder, serviceFrames } from './decode.ts'
import { encodeFrame, splitSymbols, writePageHeader } from './encode.ts'
import {
  type ClientFrame,
  type ClientMessage,
  FRAME_HEADER_BYTES,
  PAGE_HEADER_BYTES,
  type Page,
  type ServiceFrame,
} from './frame.ts'

const PAGE_BYTES_MAX = 4096

const page: Page = {
  sequence: 2n ** 52n + 1n,
  source: 7,
  type: 3,
  clock: 'monotonic',
  count: 2,
  byteLength: 5,
  crc: 0xdeadbeef,
  slot: undefined,
}

const secret = '5e'.repeat(32)

const clientMessages: readonly ClientMessage[] = [
  {
    kind: 'hello',
    body: {
      protocol: 3,
      client: 2n ** 64n - 1n,
      secret,
      heard: 2n ** 53n - 1n,
      pid: 12,
      program: 'träiner',
      version: '0.1.0',
    },
  },
  {
    kind: 'types',
    body: [{ index: 0, fingerprint: 'ab'.repeat(16), definition: definitionOf(lossType) }],
  },
  {
    kind: 'source',
    body: { index: 4_000_000_000, id: 'gpu0', tag: '', labels: { node: 'n1' }, schema: 'app' },
  },
  { kind: 'symbols', body: { source: 1, firstId: 2, texts: ['', 'µ\n"\\', '\u{feff}x', '\u0000'] } },
  { kind: 'attach', body: { file: '/dev/shm/sonde-1', slots: 64, slotBytes: 65536 } },
  { kind: 'hello', body: { protocol: 3, client: 0n, secret: '', heard: 0n, pid: 12, program: '', version: '' } },
  { kind: 'proof', body: {} },
  { kind: 'bye', body: {} },
]

const limits = { pageBytes: 1, types: 2, sources: 3, symbols: 4, clientBytes: 5 }
const serviceMessages: readonly ServiceFrame[] = [
  {
    kind: 'welcome',
    body: {
      protocol: 3,
      client: 2n ** 64n - 1n,
      secret,
      lastSequence: 2n ** 64n - 1n,
      dropped: { not_stored: 9 },
      hidden: {},
      ack: 'durable',
      limits,
    },
  },
  { kind: 'challenge', body: { nonce: secret } },
  { kind: 'attached', body: { ok: false, reason: 'another file system' } },
  { kind: 'ack', body: { sequence: 2n ** 53n + 1n, dropped: { queue_full: 3 }, hidden: {} } },
  { kind: 'error', body: { code: 'SRV_FLOOD', message: 'too much' } },
]

/** A page with its bytes inline. */
function pageFrame(given: Page, bytes: Uint8Array, sequence: number): Buffer {
  const header = Buffer.alloc(FRAME_HEADER_BYTES + PAGE_HEADER_BYTES)
  writePageHeader(header, given, sequence)
  return Buffer.concat([header, bytes])
}

/**
 * Frames as they come out of chunks that are cut anywhere; bytes are copied at once, since the next frame may take
 * their place.
 */
function decodeAll<F>(decoder: FrameDecoder<F>, stream: Buffer, random?: Random): F[] {
  const frames: F[] = []
  for (let at = 0; at < stream.length; ) {
    const end = random === undefined ? stream.length : Math.min(stream.length, at + random.integer(1, 40))
    for (const frame of decoder.frames(stream.subarray(at, end))) frames.push(structuredClone(frame))
    at = end
  }
  return frames
}

test('golden bytes of a message', () => {
  const frame = encodeFrame({ kind: 'ack', body: { sequence: 258n, dropped: {}, hidden: {} } }, 0x01020304)
  assert.equal(
    frame.toString('latin1'),
    '\x2b\0\0\0\x43\0\0\0\x04\x03\x02\x01{"sequence":"258","dropped":{},"hidden":{}}',
  )
})

test('golden bytes of a welcome', () => {
  const [dropped, hidden] = [{ not_stored: 2 }, { series_limit: 3 }]
  const who = { protocol: 3, client: 255n, secret }
  const body = { ...who, lastSequence: 258n, dropped, hidden, ack: 'memory', limits } as const
  const payload = `{"protocol":3,"client":"ff","secret":"${secret}","lastSequence":"258","dropped":{"not_stored":2},"hidden":{"series_limit":3},"ack":"memory","limits":{"pageBytes":1,"types":2,"sources":3,"symbols":4,"clientBytes":5}}`
  const header = `${String.fromCharCode(payload.length & 0xff, payload.length >> 8)}\0\0\x41\0\0\0\x01\0\0\0`
  assert.equal(encodeFrame({ kind: 'welcome', body }, 1).toString('latin1'), header + payload)
})

test('refuses what no service says was dropped or hidden', () => {
  const welcome = { protocol: 3, client: '1', secret, lastSequence: '1', ack: 'memory', limits }
  const cases: readonly (readonly [unknown, RegExp])[] = [
    [undefined, /welcome\.dropped is undefined; allowed: an object/],
    [{ 'Not stored': 1 }, /welcome\.dropped is "Not stored"; allowed: a reason/],
    [{ not_stored: -1 }, /welcome\.dropped\.not_stored is -1/],
    [[1], /welcome\.dropped is an array/],
  ]
  for (const [given, part] of cases) {
    for (const key of ['dropped', 'hidden']) {
      const frame = raw(65, JSON.stringify({ ...welcome, dropped: {}, hidden: {}, [key]: given }))
      const named = new RegExp(part.source.replace('dropped', key))
      assert.throws(() => [...serviceFrames().frames(frame)], sondeError('IPC_FRAME', named), `${named}`)
    }
  }
})

test('golden bytes of a page, inline and in a slot', () => {
  assert.equal(
    pageFrame(page, Buffer.from('hello'), 9).toString('hex'),
    '25000000' +
      '06000000' +
      '09000000' +
      '0100000000001000' +
      '07000000' +
      '0300' +
      '01' +
      '00' +
      '02000000' +
      '05000000' +
      'efbeadde' +
      '00000000' +
      '68656c6c6f',
  )
  assert.equal(
    pageFrame({ ...page, slot: 63 }, Buffer.alloc(0), 9).toString('hex'),
    '20000000' +
      '06000000' +
      '09000000' +
      '0100000000001000' +
      '07000000' +
      '0300' +
      '01' +
      '01' +
      '02000000' +
      '05000000' +
      'efbeadde' +
      '3f000000',
  )
})

property('what one side writes the other reads, wherever the stream is cut', 200, (random) => {
  const inline = pageFrame(page, Buffer.from('hello'), clientMessages.length + 1)
  const inSlot = pageFrame({ ...page, slot: 5 }, Buffer.alloc(0), clientMessages.length + 2)
  const fromClient = Buffer.concat([...clientMessages.map((each, i) => encodeFrame(each, i + 1)), inline, inSlot])
  const expected: ClientFrame[] = [
    ...clientMessages,
    { kind: 'page', body: { ...page, bytes: Buffer.from('hello') } },
    { kind: 'page', body: { ...page, slot: 5, bytes: undefined } },
  ]
  const decoder = clientFrames(PAGE_BYTES_MAX)
  assert.deepEqual(decodeAll(decoder, fromClient, random), structuredClone(expected))
  assert.ok(decoder.isBetweenFrames)
  const fromService = Buffer.concat(serviceMessages.map((each, i) => encodeFrame(each, i + 1)))
  assert.deepEqual(decodeAll(serviceFrames(), fromService, random), serviceMessages)
})

test('a frame that lies within a chunk is not copied', () => {
  const chunk = pageFrame(page, Buffer.from('hello'), 1)
  const [frame] = [...clientFrames(PAGE_BYTES_MAX).frames(chunk)]
  assert.ok(frame?.kind === 'page' && frame.body.bytes?.buffer === chunk.buffer)
})

test('many symbols go in several frames, none too long', () => {
  const texts = Array.from({ length: 1000 }, (_, i) => `${i}${'ü'.repeat(4000)}`)
  const messages = [...splitSymbols({ source: 3, firstId: 10, texts })]
  assert.equal(messages.length, 8)
  const stream = Buffer.concat(messages.map((message, i) => encodeFrame(message, i + 1)))
  let next = 10
  for (const { kind, body } of decodeAll(clientFrames(PAGE_BYTES_MAX), stream)) {
    assert.ok(kind === 'symbols')
    assert.deepEqual([body.source, body.firstId], [3, next])
    assert.equal(body.texts[0], texts[next - 10])
    next += body.texts.length
  }
  assert.equal(next, 1010)
})

test('a frame holds 65 536 symbols at most, however short', () => {
  const frameOf = (count: number) =>
    encodeFrame({ kind: 'symbols', body: { source: 0, firstId: 0, texts: Array<string>(count).fill('') } }, 1)
  assert.equal(decodeAll(clientFrames(PAGE_BYTES_MAX), frameOf(65_536)).length, 1)
  const fault = sondeError('IPC_FRAME', /symbols\.count is 65537; allowed: at most 65536/)
  assert.throws(() => decodeAll(clientFrames(PAGE_BYTES_MAX), frameOf(65_537)), fault)
  const split = [...splitSymbols({ source: 0, firstId: 0, texts: Array<string>(70_000).fill('') })]
  assert.deepEqual(
    split.map(({ body }) => 'texts' in body && body.texts.length),
    [65_536, 4464],
  )
})

/** A frame with a given header. */
function raw(
  kind: number,
  payload: string | Buffer,
  header: { length?: number; flags?: number; sequence?: number } = {},
): Buffer {
  const bytes = Buffer.from(payload as string)
  const frame = Buffer.alloc(12)
  frame.writeUInt32LE(header.length ?? bytes.length, 0)
  frame.writeUInt8(kind, 4)
  frame.writeUInt8(header.flags ?? 0, 5)
  frame.writeUInt32LE(header.sequence ?? 1, 8)
  return Buffer.concat([frame, bytes])
}

test('refuses what no client sends, says what is wrong, and goes on refusing', () => {
  const hello = { protocol: 3, client: '1', secret, heard: '0', pid: 1, program: '', version: '' }
  const source = { index: 0, id: 'a', tag: '', labels: {}, schema: '' }
  const inline = pageFrame(page, Buffer.from('hello'), 1)
  const changed = (at: number, byte: number) => Buffer.from(inline.with(at, byte))
  const cases: readonly (readonly [Buffer, RegExp])[] = [
    [raw(65, '{}'), /kind 65/],
    [raw(0, '{}'), /kind 0/],
    [raw(1, ''), /0 bytes long/],
    [raw(4, '{}', { length: (1 << 20) + 1 }), /1048577 bytes long; allowed: 1 to 1048576/],
    [raw(2, '[]', { length: (512 << 10) + 1 }), /524289 bytes long; allowed: 1 to 524288/],
    [raw(1, '{}', { length: (64 << 10) + 1 }), /65537 bytes long; allowed: 1 to 65536/],
    [raw(1, '['.repeat(33)), /hello nests 33 deep; at most 32/],
    [raw(2, `[${'{"a":0},'.repeat(10_000)}0]`), /types holds 20001 lists, objects and members; at most 20000/],
    [raw(6, '{}', { length: PAGE_BYTES_MAX + 65 }), /4161 bytes long/],
    [raw(7, '{}', { flags: 1 }), /flags/],
    [raw(7, '{}', { sequence: 2 }), /sequence 2; allowed: 1/],
    [raw(1, '{'), /not JSON/],
    [raw(1, Buffer.from([0x22, 0xff, 0x22])), /not JSON in UTF-8/],
    [raw(1, '[]'), /hello is an array/],
    [
      raw(1, JSON.stringify({ ...hello, client: '1', secret: '' })),
      /hello.secret is something else than 64 hex digits/,
    ],
    [raw(1, JSON.stringify({ ...hello, secret: `${secret}0` })), /hello.secret is something else than 64 hex digits/],
    [raw(1, JSON.stringify({ ...hello, client: '10000000000000000' })), /hello.client/],
    [raw(1, JSON.stringify({ ...hello, pid: 1.5 })), /hello.pid is 1.5/],
    [raw(1, JSON.stringify({ ...hello, heard: '-1' })), /hello.heard is "-1"/],
    [raw(1, '{"__proto__": {"protocol": 2}}'), /hello.client|hello.protocol/],
    [raw(2, '{}'), /types is an object/],
    [raw(2, '[{"index": 65536, "fingerprint": ""}]'), /types.fingerprint/],
    [raw(3, JSON.stringify({ ...source, id: '' })), /source.id/],
    [raw(3, JSON.stringify({ ...source, labels: { a: 1 } })), /source.labels.a is 1/],
    [raw(3, '{"index":0,"id":"a","tag":"","labels":{"__proto__":"x"},"schema":""}'), /source.labels is "__proto__"/],
    [raw(4, Buffer.alloc(11)), /11 bytes/],
    [raw(4, Buffer.from('000000000000000002000000' + '00000000', 'hex')), /symbols.count is 2/],
    [raw(4, Buffer.from('000000000000000001000000' + '01000000', 'hex')), /1 bytes/],
    [raw(4, Buffer.from('000000000000000001000000' + '01000000' + 'ff', 'hex')), /not UTF-8/],
    [raw(4, Buffer.from('000000000000000001000000' + '00000000' + 'ff', 'hex')), /1 bytes too many/],
    [raw(5, '{"file": "x", "slots": 0, "slotBytes": 1}'), /attach.slots is 0/],
    [raw(6, Buffer.alloc(31)), /31 bytes/],
    [raw(6, Buffer.alloc(32)), /page.sequence/],
    [changed(12 + 6, 0x20), /page.sequence is "9007199254740993"|page.sequence is 9007199254740993/],
    [changed(12 + 14, 3), /page.clock is 3/],
    [changed(12 + 15, 2), /page.where is 2/],
    [changed(12 + 15, 1), /5 bytes inline"; allowed: 0/],
    [changed(12 + 20, 6), /5 bytes inline"; allowed: 6/],
    [changed(12 + 22, 1), /page.byteLength is 65541/],
  ]
  for (const [chunk, part] of cases) {
    const decoder = clientFrames(PAGE_BYTES_MAX)
    assert.throws(() => [...decoder.frames(chunk)], sondeError('IPC_FRAME', part), `${part}`)
    assert.throws(() => [...decoder.frames(raw(7, '{}'))], sondeError('IPC_FRAME', part))
  }
})
