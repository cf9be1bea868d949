import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineType, timestamp, value } from '@sonde/sdk'
import { allocateViews, encoderOf, SymbolTable } from '@sonde/sdk/internal'
import { Random } from '../../../sdk/test/random.ts'
import { shiftTimes, Tap } from './tap.ts'

const type = defineType('tapped', 'A sample', { time: timestamp(), sequence: value('u64') })
const { recordBytes } = type.layout
const encode = encoderOf(type, new SymbolTable())

/** Samples from one number up to another, a hundred nanoseconds apart. */
function samples(from: number, to: number): Uint8Array {
  const views = allocateViews((to - from) * recordBytes)
  for (let at = from; at < to; at++)
    encode({ time: 2n ** 60n + BigInt(at * 100), sequence: at }, views, (at - from) * recordBytes)
  return views.bytes.subarray(0, (to - from) * recordBytes)
}

function sequencesOf({ bytes, count }: { readonly bytes: Uint8Array; readonly count: number }): number[] {
  const data = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const at = type.layout.slots.find(({ name }) => name === 'sequence')?.offset ?? 0
  return Array.from({ length: count }, (_, index) => Number(data.getBigUint64(index * recordBytes + at, true)))
}

test('a window holds exactly the samples of its time that the ring still has', () => {
  const random = new Random(5)
  for (let round = 0; round < 100; round++) {
    const capacity = random.integer(1, 50)
    const tap = new Tap(type, capacity)
    let total = 0
    for (let put = 0; put < 20; put++) {
      const count = random.integer(0, 80)
      tap.put(samples(total, total + count))
      total += count
      const [from, to] = [random.integer(-20, total + 20), random.integer(-20, total + 20)]
      const cut = tap.cut(2n ** 60n + BigInt(from * 100), 2n ** 60n + BigInt(to * 100), 1 << 20)
      const kept = Array.from({ length: total }, (_, at) => at).filter(
        (at) => at >= total - capacity && at >= from && at < to,
      )
      assert.deepEqual(sequencesOf(cut), kept)
      assert.equal(cut.leftOut, 0)
    }
  }
})

test('beyond its bytes a window keeps the latest, and says how many it leaves out', () => {
  const tap = new Tap(type, 100)
  tap.put(samples(0, 60))
  const cut = tap.cut(0n, 2n ** 62n, 10 * recordBytes + 1)
  assert.deepEqual([sequencesOf(cut)[0], cut.count, cut.leftOut], [50, 10, 50])
})

test('times are moved to another clock in place', () => {
  const tap = new Tap(type, 100)
  tap.put(samples(0, 3))
  const cut = tap.cut(0n, 2n ** 62n, 1 << 20)
  shiftTimes(cut, -(2n ** 60n))
  const data = new DataView(cut.bytes.buffer)
  assert.deepEqual(
    [0, 1, 2].map((index) => data.getBigUint64(index * recordBytes + (type.time?.offset ?? 0), true)),
    [0n, 100n, 200n],
  )
})

test('a ring is refused where its type has no time in nanoseconds, or for a size out of range', () => {
  const timeless = defineType('timeless', 'No time', { level: value('f64') })
  assert.throws(() => new Tap(timeless, 1), { code: 'AGT_TAP' })
  assert.throws(() => new Tap(type, 0), { code: 'AGT_TAP', message: /allowed: 1 to 10000000/ })
  assert.throws(() => new Tap(type, 1).put(new Uint8Array(3)), { code: 'SRC_BYTES' })
})
