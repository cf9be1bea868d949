import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Random, SEED } from '../../../../sdk/test/random.ts'
import type { KeptIndex, KeptSeries } from './kept-index.ts'
import { type PackedIndex, packIndex, unpackSeries } from './pack-index.ts'

const PART = { source: 's', fingerprint: 'f', definition: { name: 't' }, isRing: false }

function seriesOf(more: Partial<KeptSeries> = {}): KeptSeries {
  return {
    ...{ part: 0, key: [3, 0], labels: { device: 'mlx5_3', port: '1' }, device: 'nic-mlx5_3-1', deviceName: 'mlx5_3' },
    ...{ kind: 'nic', near: 1, apart: ['port'], moves: '0129', samples: 42, errorMs: 0.05 },
    ...{ fromMs: 1_790_000_000_000.25, toMs: 1_790_000_004_000.5, resolutionMs: 0.1 },
    gaps: [{ fromMs: 1_790_000_001_000, toMs: 1_790_000_001_072, samples: 720 }],
    ...more,
  }
}

const indexOf = (series: readonly KeptSeries[]): KeptIndex =>
  ({ parts: [PART, PART], blocks: [], series, listed: [] }) as unknown as KeptIndex

/** As it comes back from disk. */
const stored = (index: KeptIndex): PackedIndex => JSON.parse(JSON.stringify(packIndex(index))) as PackedIndex

test('series come back as they were packed, their times down to the digits of a double', () => {
  const series = [
    seriesOf(),
    seriesOf({ part: 1, labels: {}, key: [], apart: [], gaps: [], kind: '', moves: '', near: 2 }),
    // Earlier than the first, and with a comma, a quote and a line break.
    seriesOf({ fromMs: 1_789_999_999_000.125, deviceName: 'a "b",\nc', labels: { device: '__proto__' } }),
  ]
  assert.deepEqual(unpackSeries(stored(indexOf(series))), series)
  assert.deepEqual(unpackSeries(stored(indexOf([]))), [])
})

test('no text is there twice, however many series have it', () => {
  const { texts } = packIndex(indexOf(Array.from({ length: 50 }, (_, at) => seriesOf({ key: [at] }))))
  assert.equal(new Set(texts).size, texts.length)
  assert.deepEqual([...texts].sort(), ['0129', '1', 'device', 'mlx5_3', 'nic', 'nic-mlx5_3-1', 'port'])
})

/** What may stand where something else is wanted. */
const WRONG: readonly unknown[] = [null, 'x', -1, 1e9, 0.5, [], [1], {}, true]

test('a note that does not hold gives no series, whatever stands in its places', () => {
  for (const place of Array.from({ length: 15 }, (_, at) => at)) {
    const packed = stored(indexOf([seriesOf()]))
    const rows = packed.series as unknown as unknown[][]
    ;(rows[0] as unknown[])[place] = null
    assert.equal(unpackSeries(packed), undefined, `null as field ${place}`)
  }
  assert.equal(unpackSeries({ ...stored(indexOf([seriesOf()])), baseMs: Number.NaN }), undefined)
  assert.equal(unpackSeries({ ...stored(indexOf([seriesOf()])), texts: [] }), undefined)
  assert.equal(unpackSeries({ ...stored(indexOf([seriesOf()])), parts: [] }), undefined, 'a part that is not there')
})

test('nothing that stands in a note throws, or makes a text of something else', () => {
  const random = new Random(SEED)
  for (let round = 0; round < 3000; round++) {
    const packed = stored(indexOf([seriesOf(), seriesOf({ part: 1 })]))
    const row = random.pick(packed.series as unknown as unknown[][])
    for (let times = random.integer(1, 3); times > 0; times--) row[random.integer(0, row.length)] = random.pick(WRONG)
    const series = unpackSeries(packed)
    for (const { device, deviceName, kind, moves, labels } of series ?? [])
      for (const text of [device, deviceName, kind, moves, ...Object.values(labels)])
        assert.equal(typeof text, 'string', `round ${round} of seed ${SEED}: ${JSON.stringify(packed.series)}`)
  }
})
