import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Random, SEED } from '../../../../sdk/test/random.ts'
import type { KeptSeries } from './kept-index.ts'
import { type PackedSeries, SeriesPacker, unpackSeries } from './pack-index.ts'

function seriesOf(more: Partial<KeptSeries> = {}): KeptSeries {
  return {
    ...{ part: 0, key: [3, 0], labels: { device: 'mlx5_3', port: '1' }, device: 'nic-mlx5_3-1', deviceName: 'mlx5_3' },
    ...{ kind: 'nic', near: 1, apart: ['port'], moves: '0129', samples: 42, errorMs: 0.05 },
    ...{ fromMs: 1_790_000_000_000.25, toMs: 1_790_000_004_000.5, resolutionMs: 0.1 },
    gaps: [{ fromMs: 1_790_000_001_000, toMs: 1_790_000_001_072, samples: 720 }],
    ...more,
  }
}

const BASE_MS = 1_789_999_999_000

/** Series as they come back from disk, and what they are unpacked with. */
function stored(series: readonly KeptSeries[]) {
  const packer = new SeriesPacker(BASE_MS)
  const rows = JSON.parse(JSON.stringify(series.map((one) => packer.pack(one)))) as PackedSeries[]
  return { rows, frame: { texts: [...packer.texts], baseMs: BASE_MS, partCount: 2 } }
}

test('series come back as they were packed, their times down to the digits of a double', () => {
  const series = [
    seriesOf(),
    seriesOf({ part: 1, labels: {}, key: [], apart: [], gaps: [], kind: '', moves: '', near: 2 }),
    // Earlier than the first, and with a comma, a quote and a line break.
    seriesOf({ fromMs: 1_789_999_999_000.125, deviceName: 'a "b",\nc', labels: { device: '__proto__' } }),
  ]
  const { rows, frame } = stored(series)
  assert.deepEqual(
    rows.map((row) => unpackSeries(row, frame)),
    series,
  )
})

test('no text is there twice, however many series have it', () => {
  const { texts } = stored(Array.from({ length: 50 }, (_, at) => seriesOf({ key: [at] }))).frame
  assert.equal(new Set(texts).size, texts.length)
  assert.deepEqual([...texts].sort(), ['0129', '1', 'device', 'mlx5_3', 'nic', 'nic-mlx5_3-1', 'port'])
})

/** Wrong values in place of the right ones. */
const WRONG: readonly unknown[] = [null, 'x', -1, 1e9, 0.5, [], [1], {}, true]

test('an invalid note gives no series, whatever its values are', () => {
  for (const place of Array.from({ length: 15 }, (_, at) => at)) {
    const { rows, frame } = stored([seriesOf()])
    const row = rows[0] as unknown as unknown[]
    row[place] = null
    assert.equal(unpackSeries(row as unknown as PackedSeries, frame), undefined, `null as field ${place}`)
  }
  const { rows, frame } = stored([seriesOf()])
  const [row] = rows as [PackedSeries]
  assert.equal(unpackSeries(row, { ...frame, texts: [] }), undefined)
  assert.equal(unpackSeries(row, { ...frame, partCount: 0 }), undefined, 'a part that is not there')
})

test('nothing that stands in a note throws, or makes a text of something else', () => {
  const random = new Random(SEED)
  for (let round = 0; round < 3000; round++) {
    const { rows, frame } = stored([seriesOf(), seriesOf({ part: 1 })])
    const row = random.pick(rows as unknown as unknown[][])
    for (let times = random.integer(1, 3); times > 0; times--) row[random.integer(0, row.length)] = random.pick(WRONG)
    const series = rows.flatMap((one) => unpackSeries(one, frame) ?? [])
    for (const { device, deviceName, kind, moves, labels } of series)
      for (const text of [device, deviceName, kind, moves, ...Object.values(labels)])
        assert.equal(typeof text, 'string', `round ${round} of seed ${SEED}: ${JSON.stringify(rows)}`)
  }
})
