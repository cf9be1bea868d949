import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Random } from '../../../sdk/test/random.ts'
import { type Piece, Slabs } from './slabs.ts'

test('pieces in use never overlap, and memory of those given back is used again', () => {
  const random = new Random(7)
  const slabs = new Slabs(1 << 20)
  const inUse: { piece: Piece; mark: number }[] = []
  const memories = new Set<ArrayBufferLike>()
  for (let round = 0; round < 20_000; round++) {
    const piece = slabs.take(random.integer(1, 20_000))
    assert.equal(piece.bytes.byteOffset % 8, 0)
    piece.bytes.fill(round)
    inUse.push({ piece, mark: round & 255 })
    memories.add(piece.bytes.buffer)
    while (inUse.length > 300) {
      // Roughly in the order of allocation.
      const [{ piece, mark } = assert.fail()] = inUse.splice(random.integer(0, 20), 1)
      assert.ok(piece.bytes.every((byte) => byte === mark))
      slabs.give(piece)
    }
  }
  const madeBytes = [...memories].reduce((sum, { byteLength }) => sum + byteLength, 0)
  assert.ok(madeBytes <= 10 << 20, `${madeBytes} bytes of slabs for 3 MB at a time`)
  for (const { piece } of inUse) slabs.give(piece)
  assert.equal(slabs.bytes, 0)
})

test('a piece that is longer than others has memory of its own, which leaves with it', () => {
  const slabs = new Slabs(1 << 20)
  const long = slabs.take(3 << 20)
  const short = slabs.take(10)
  assert.equal(long.bytes.length, 3 << 20)
  assert.notEqual(short.bytes.buffer, long.bytes.buffer)
  slabs.give(long)
  assert.notEqual(slabs.take(3 << 20).bytes.buffer, long.bytes.buffer)
})

test('a slab of which everything was given back begins anew', () => {
  const slabs = new Slabs(1 << 20)
  const first = slabs.take(1000)
  slabs.give(first)
  assert.equal(slabs.take(1000).bytes.byteOffset, first.bytes.byteOffset)
})

test('a ring of long pieces makes no new memory once it is full', () => {
  const slabs = new Slabs(64 << 10)
  const ring = Array.from({ length: 20 }, () => slabs.take(60_000))
  const memories = new Set(ring.map(({ bytes }) => bytes.buffer))
  for (let round = 0; round < 1000; round++) {
    ring.push(slabs.take(60_000 - (round % 100)))
    memories.add(ring.at(-1)?.bytes.buffer ?? assert.fail())
    slabs.give(ring.shift() ?? assert.fail())
  }
  assert.ok(memories.size <= 22, `${memories.size} slabs for 21 pieces at a time`)
})
