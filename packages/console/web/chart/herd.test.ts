import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Herd } from './herd.ts'
import { medianInPlace, quickselect } from './quickselect.ts'

const WINDOW = { firstIndex: 0, from: 0, to: 99 }
const CALM = { scale: 100, stepMs: 1_000, pinned: new Set<string>() }

/** Members that stay near 50, but for what `odd` says. */
function members(
  count: number,
  length: number,
  odd: (member: number, i: number) => number | undefined = () => undefined,
) {
  return Array.from({ length: count }, (_, member) => ({
    key: `gpu${member}`,
    values: Float64Array.from({ length }, (_, i) => odd(member, i) ?? 50 + ((member * 7 + i * 3) % 5) / 10),
  }))
}

test('the median is that of sorted numbers', () => {
  const values = Array.from({ length: 101 }, (_, i) => (i * 7_919) % 211)
  const sorted = values.toSorted((a, b) => a - b)
  for (const count of [1, 2, 3, 50, 101]) {
    const some = values.slice(0, count)
    const ordered = some.toSorted((a, b) => a - b)
    const middle = (ordered[(count - 1) >> 1]! + ordered[count >> 1]!) / 2
    assert.equal(medianInPlace(Float64Array.from(some), count), middle)
  }
  for (const k of [0, 17, 100]) assert.equal(quickselect(Float64Array.from(values), 101, k), sorted[k])
  assert.ok(Number.isNaN(medianInPlace(new Float64Array(0), 0)))
})

test('alike members are one band, and none is lit', () => {
  const summary = new Herd().update(members(8, 100), WINDOW, CALM)
  assert.deepEqual(summary.lit, [])
  assert.equal(summary.peerCount, 8)
  for (let i = 0; i < 100; i++)
    assert.ok(summary.low[i]! <= summary.median[i]! && summary.median[i]! <= summary.high[i]!)
})

test('one that leaves the band is lit and no longer part of it', () => {
  const summary = new Herd().update(
    members(8, 100, (m, i) => (m === 3 && i > 60 ? 90 : undefined)),
    WINDOW,
    CALM,
  )
  assert.deepEqual(summary.lit, [3])
  assert.equal(summary.peerCount, 7)
  assert.ok(summary.high[80]! < 60)
})

test('two samples outside the band are no reason to light', () => {
  const summary = new Herd().update(
    members(8, 100, (m, i) => (m === 3 && i > 60 && i < 63 ? 90 : undefined)),
    WINDOW,
    CALM,
  )
  assert.deepEqual(summary.lit, [])
})

test('at most three are lit, the oddest first, and what is lit by hand before them', () => {
  const odd = members(12, 100, (m) => (m < 5 ? 60 + m * 8 : undefined))
  assert.deepEqual(new Herd().update(odd, WINDOW, CALM).lit, [4, 3, 2])
  const pinned = { ...CALM, pinned: new Set(['gpu9']) }
  assert.deepEqual(new Herd().update(odd, WINDOW, pinned).lit, [9, 4, 3])
})

test('a window that slides gives what one at once gives', () => {
  const all = members(6, 200, (m, i) => (m === 2 && i > 120 ? 80 : i === 50 ? Number.NaN : undefined))
  const sliding = new Herd()
  const part = (first: number) => all.map(({ key, values }) => ({ key, values: values.slice(first, first + 100) }))
  for (let first = 0; first < 100; first++) sliding.update(part(first), { ...WINDOW, firstIndex: first }, CALM)
  const slid = sliding.update(part(100), { ...WINDOW, firstIndex: 100 }, CALM)
  const fresh = new Herd().update(part(100), { ...WINDOW, firstIndex: 100 }, CALM)
  assert.deepEqual(slid, fresh)
})

test('where samples are a tenth of a second apart, the edge of a burst lights nobody; a second of it does', () => {
  const late = (length: number) =>
    members(8, 100, (member, i) => (member === 5 && i >= 40 && i < 40 + length ? 90 : undefined))
  const quick = { ...CALM, stepMs: 100 }
  assert.deepEqual(new Herd().update(late(5), WINDOW, quick).lit, [])
  assert.deepEqual(new Herd().update(late(10), WINDOW, quick).lit, [5])
  assert.deepEqual(new Herd().update(late(5), WINDOW, CALM).lit, [5])
})
