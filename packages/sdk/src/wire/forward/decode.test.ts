import assert from 'node:assert/strict'
import { test } from 'node:test'
import { packed } from '../../../test/forward-peer.ts'
import { property, sondeError } from '../../../test/helper.ts'
import type { Random } from '../../../test/random.ts'
import { type Decoded, ForwardDecoder } from './decode.ts'
import { pack } from './msgpack.ts'

const MESSAGES = [
  { ack: 'p8n9gmxTQVC8/nh2wlKKeQ==' },
  null,
  ['HELO', { nonce: Buffer.from('0123456789abcdef'), auth: '', keepalive: true }],
  ['PONG', false, 'ü'.repeat(300), 'far', 'x'.repeat(128)],
  [1, -1, 200, -200, 70_000, -70_000, 2 ** 33, -(2 ** 33), 1.5, Number.NaN, true, {}],
]

/** Maps as objects and binary as Buffers, as the messages above have them. */
function plain(value: Decoded): unknown {
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, inner]) => [key, plain(inner)]))
  if (value instanceof Uint8Array) return Buffer.from(value)
  return Array.isArray(value) ? value.map(plain) : value
}

/** Pieces of random length. */
function pieces(random: Random, bytes: Buffer): Buffer[] {
  const all: Buffer[] = []
  for (let at = 0; at < bytes.length; ) {
    const end = at + random.integer(1, 40)
    all.push(bytes.subarray(at, end))
    at = end
  }
  return all
}

property('messages of an independent encoder are decoded from whatever pieces', 50, (random) => {
  const bytes = Buffer.concat(MESSAGES.map(packed))
  const decoder = new ForwardDecoder()
  const got = pieces(random, bytes).flatMap((piece) => decoder.push(piece))
  assert.deepEqual(got.map(plain), MESSAGES)
})

property('damaged bytes are decoded or refused with a typed error', 200, (random) => {
  const bytes = Buffer.concat(MESSAGES.map(packed))
  for (let n = random.integer(1, 20); n > 0; n--) bytes[random.integer(0, bytes.length - 1)] = random.integer(0, 255)
  const decoder = new ForwardDecoder()
  try {
    for (const piece of pieces(random, bytes)) decoder.push(piece)
  } catch (error) {
    assert.ok(sondeError('FWD_MESSAGE')(error), String(error))
  }
})

test('what a server never sends is refused, before it takes memory', () => {
  const cases: readonly (readonly [Buffer, RegExp])[] = [
    [Buffer.of(0xdb, 0xff, 0xff, 0xff, 0xff), /^sent a message of more than 8192 bytes$/],
    [Buffer.of(0xc6, 0x7f, 0xff, 0xff, 0xff), /^sent a message of more than 8192 bytes$/],
    [Buffer.concat([Buffer.of(0xdd, 0xff, 0xff, 0xff, 0xff), Buffer.alloc(300)]), /more than 256 values$/],
    [Buffer.alloc(10, 0x91), /nests more than 4 deep$/],
    [Buffer.of(0x81, 0x01, 0x02), /^sent a map with a key that is no text$/],
    [Buffer.of(0xd7), /^sent byte 0xd7, which begins no value of a server$/],
  ]
  for (const [bytes, words] of cases)
    assert.throws(() => new ForwardDecoder().push(bytes), sondeError('FWD_MESSAGE', words))
})

test('small values are packed as an independent encoder packs them', () => {
  for (const value of ['', 'a', 'ä'.repeat(20), 'x'.repeat(300), 'x'.repeat(70_000), 5, true, false, null, ['a', 1]])
    assert.deepEqual(pack(value), packed(value))
  assert.deepEqual(plain(new ForwardDecoder().push(pack({ size: 70_000, chunk: 'id' }))[0] ?? null), {
    size: 70_000,
    chunk: 'id',
  })
})
