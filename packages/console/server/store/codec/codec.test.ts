import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { crc32 } from 'node:zlib'
import { SondeError } from '@sonde/sdk'
import type { Kind } from '@sonde/sdk/internal'
import { Random, SEED } from '../../../../sdk/test/random.ts'
import { HEAD_BYTES, SAMPLE_COUNT_LIMIT, type WordColumn } from './column.ts'
import { decodeColumn } from './decode-column.ts'
import { encodeColumn } from './encode-column.ts'

/** A random number generator with a seed. */
function randomOf(seed: number): () => number {
  const random = new Random(seed)
  return () => random.next()
}

const MASK = (1n << 64n) - 1n

function integers(values: readonly bigint[]): Uint32Array {
  return new Uint32Array(BigUint64Array.from(values, (value) => value & MASK).buffer)
}

function floats(values: readonly number[]): Uint32Array {
  return new Uint32Array(Float64Array.from(values).buffer)
}

function narrowFloats(values: readonly number[]): Uint32Array {
  const bits = new Uint32Array(Float32Array.from(values).buffer)
  return Uint32Array.from({ length: 2 * values.length }, (_, i) => (i % 2 === 0 ? (bits[i >> 1] ?? 0) : 0))
}

function column(kind: Kind, words: Uint32Array, rest: Partial<WordColumn> = {}): WordColumn {
  return { kind, words, count: words.length / 2, elements: 1, present: null, texts: null, ...rest }
}

function roundTrip(given: WordColumn): Uint8Array {
  const blob = encodeColumn(given)
  assert.deepEqual(decodeColumn(blob), given)
  return blob
}

function isCorrupt(error: unknown): boolean {
  return error instanceof SondeError && error.code === 'STO_CHUNK_CORRUPT'
}

/** Recomputes the checksum, so that garbage passes it and reaches the later checks. */
function resealed(blob: Uint8Array): Uint8Array {
  new DataView(blob.buffer, blob.byteOffset).setUint32(4, crc32(blob.subarray(8), crc32(blob.subarray(0, 4))), true)
  return blob
}

describe('column codec', () => {
  it('keeps integers at the edges of 64 bits, and their wrap', () => {
    const edges = [
      0n,
      1n,
      2n ** 53n,
      2n ** 53n + 1n,
      2n ** 63n - 1n,
      2n ** 63n,
      MASK,
      0n,
      MASK - 4n,
      10n,
      2n ** 32n,
      2n ** 32n - 1n,
    ]
    roundTrip(column('u64', integers(edges)))
    roundTrip(column('i64', integers(edges.map((value) => -value))))
    roundTrip(column('u64', integers(Array.from({ length: 500 }, (_, i) => MASK - 100n + BigInt(i) * 3n))))
  })

  it('keeps the bits of every float, NaN with payload, infinities and negative zero included', () => {
    const odd = [0, -0, Number.NaN, Infinity, -Infinity, 5e-324, 1.7976931348623157e308, 0.1, 1e21, -123.456]
    const words = floats(odd)
    words[4] = 0xdeadbeef
    words[5] = 0x7ff80001
    roundTrip(column('f64', words))
    roundTrip(column('f64', floats([-0, 1, 2, 3.5, 1])))
    roundTrip(column('f32', narrowFloats([-0, Number.NaN, Infinity, 1e-45, 3.4e38, 0.1, 21.5])))
  })

  it('packs decimals as integers, and gives back the very same floats', () => {
    const random = randomOf(7)
    const values = Array.from({ length: 1000 }, () => Math.round(random() * 1e6) / 1e6)
    assert.ok(roundTrip(column('f64', floats(values))).length < 2.8 * 1000)
    const watts = Array.from({ length: 1000 }, () => Math.fround(Math.round(random() * 7000) / 10))
    assert.ok(roundTrip(column('f32', narrowFloats(watts))).length < 2 * 1000)
  })

  it('stores a regular time grid, and a constant, in a few bytes', () => {
    const start = 1_790_000_000_000_000_000n
    const times = integers(Array.from({ length: 3600 }, (_, i) => start + BigInt(i) * 1_000_000_000n))
    assert.ok(roundTrip(column('u64', times)).length <= 40)
    assert.ok(roundTrip(column('f64', floats(new Array<number>(3600).fill(0.1 + 0.2)))).length <= 40)
  })

  it('keeps absent samples absent, whatever the pattern', () => {
    const random = randomOf(SEED)
    for (const share of [0, 0.02, 0.5, 0.98, 1]) {
      const count = 1 + Math.floor(random() * 400)
      const present = new Uint8Array(Math.ceil(count / 8))
      const words = new Uint32Array(2 * count)
      for (let i = 0; i < count; i++) {
        if (random() < share) continue
        present[i >> 3] = (present[i >> 3] ?? 0) | (1 << (i & 7))
        words[2 * i] = random() * 4294967296
      }
      const back = decodeColumn(encodeColumn(column('u32', words, { present })))
      assert.deepEqual(back.words, words, `seed ${SEED}`)
      const bitmap = back.present ?? new Uint8Array(present.length).fill(0xff)
      for (let i = 0; i < count; i++)
        assert.equal(((bitmap[i >> 3] ?? 0) ^ (present[i >> 3] ?? 0)) & (1 << (i & 7)), 0, `seed ${SEED}`)
    }
  })

  it('keeps an array field, and reads one of its elements alone', () => {
    const elements = 40
    const count = 100
    const words = Uint32Array.from({ length: 2 * count * elements }, (_, i) => (i % 2 === 0 ? (i * 7919) % 1000 : 0))
    const given = column('u64', words, { count, elements })
    const blob = roundTrip(given)
    const one = decodeColumn(blob, { elements: [17] })
    assert.equal(one.elements, 1)
    assert.deepEqual(one.words, words.slice(2 * count * 17, 2 * count * 18))
    assert.deepEqual(decodeColumn(blob, { elements: [3, 4] }).words, words.slice(2 * count * 3, 2 * count * 5))
    assert.throws(() => decodeColumn(blob, { elements: [40] }), isCorrupt)
  })

  it('keeps the texts of symbols beside them', () => {
    const texts = ['', 'not permitted', 'Störung \u{1F6A8}', 'x'.repeat(5000)]
    roundTrip(column('symbol', integers([0n, 3n, 2n, 2n, 1n]), { texts }))
  })

  it('gives back any column it was given', () => {
    const random = randomOf(SEED)
    for (let round = 0; round < 300; round++) roundTrip(anyColumn(random))
  })

  it('takes the largest column, and refuses a larger one', () => {
    const words = new Uint32Array(2 * SAMPLE_COUNT_LIMIT)
    for (let i = 0; i < words.length; i++) words[i] = Math.imul(i, 2654435761)
    roundTrip(column('u64', words))
    const larger = new Uint32Array(2 * SAMPLE_COUNT_LIMIT + 2)
    assert.throws(() => encodeColumn(column('u64', larger)), { code: 'STO_COLUMN' })
    assert.throws(() => encodeColumn(column('u64', new Uint32Array(3))), { code: 'STO_COLUMN' })
  })

  it('writes these bytes, today and in every later version', () => {
    assert.equal(Buffer.from(encodeColumn(column('f64', floats([1.5, 2.25, -3])))).toString('hex'), GOLDEN_FLOATS)
    const present = Uint8Array.of(0b1011)
    const words = integers([7n, 300n, 0n, MASK])
    assert.equal(Buffer.from(encodeColumn(column('u64', words, { present }))).toString('hex'), GOLDEN_INTEGERS)
  })
})

describe('column decoder on damaged bytes', () => {
  const present = new Uint8Array(19).fill(0xee)
  const blob = encodeColumn(column('f64', floats(Array.from({ length: 150 }, (_, i) => i / 8)), { present }))

  it('refuses every prefix with its one error', () => {
    for (let length = 0; length < blob.length; length++) {
      assert.throws(() => decodeColumn(blob.slice(0, length)), isCorrupt, `prefix of ${length}`)
      if (length >= HEAD_BYTES)
        assert.throws(() => decodeColumn(resealed(blob.slice(0, length))), isCorrupt, `sealed prefix of ${length}`)
    }
  })

  it('refuses every flipped byte', () => {
    for (let at = 0; at < blob.length; at++) {
      for (const bits of [0x01, 0x80, 0xff]) {
        const damaged = blob.slice()
        damaged[at] = (damaged[at] ?? 0) ^ bits
        assert.throws(() => decodeColumn(damaged), isCorrupt, `byte ${at}`)
      }
    }
  })

  it('throws nothing but its error where damage has a valid checksum', () => {
    const random = randomOf(SEED)
    for (let round = 0; round < 5000; round++) {
      const damaged = blob.slice()
      const changes = 1 + Math.floor(random() * 4)
      for (let change = 0; change < changes; change++) damaged[Math.floor(random() * blob.length)] = random() * 256
      try {
        decodeColumn(resealed(damaged))
      } catch (error) {
        assert.ok(isCorrupt(error), `seed ${SEED}, round ${round}: ${String(error)}`)
      }
    }
  })

  it('throws nothing but its error on noise', () => {
    const random = randomOf(SEED)
    for (let round = 0; round < 2000; round++) {
      const noise = Uint8Array.from({ length: Math.floor(random() * 200) }, () => random() * 256)
      if (noise.length >= HEAD_BYTES) {
        noise[0] = 1
        noise[1] = random() * 14
        noise[2] = random() * 4
        resealed(noise)
      }
      try {
        decodeColumn(noise)
      } catch (error) {
        assert.ok(isCorrupt(error), `seed ${SEED}, round ${round}: ${String(error)}`)
      }
    }
  })
})

function anyColumn(random: () => number): WordColumn {
  const count = Math.floor(random() ** 3 * 1500)
  const kind = (['u64', 'i64', 'f64', 'f32', 'u32', 'i8'] as const)[Math.floor(random() * 6)] ?? 'u64'
  const scale = 2 ** Math.floor(random() * 64)
  const bent = random() < 0.3
  let walk = random() * scale
  const numbers = Array.from({ length: count }, () => {
    walk = bent ? walk + (random() - 0.4) * 1000 : random() < 0.8 ? walk : random() * scale
    return walk
  })
  if (kind === 'f64')
    return column(kind, floats(random() < 0.5 ? numbers : numbers.map((x) => Math.round(x * 100) / 100)))
  if (kind === 'f32') return column(kind, narrowFloats(numbers))
  const bits = { u64: 64, i64: 64, u32: 32, i8: 8 }[kind]
  const cut = kind === 'i64' || kind === 'i8' ? BigInt.asIntN : BigInt.asUintN
  return column(kind, integers(numbers.map((x) => cut(bits, BigInt(Math.floor(x))))))
}

const GOLDEN_FLOATS = '01090000bb068dc80300000001000000098502ac029601af0900'
const GOLDEN_INTEGERS = '01030100a8b917990400000001000000030201010801020eca04a30900'
