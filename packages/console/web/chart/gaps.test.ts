import assert from 'node:assert/strict'
import { test } from 'node:test'
import { placeCard } from './card-place.ts'
import { spreadLabels } from './end-labels.ts'
import { beginWords } from './gap-marks.ts'
import { commonGaps, newestPosition, ownGaps } from './gaps.ts'

const GAP = Number.NaN
const COLUMNS = [Float64Array.of(1, GAP, GAP, 4, GAP), Float64Array.of(1, 2, GAP, GAP, GAP)]

test('a gap of all is told from a gap of one', () => {
  assert.deepEqual(commonGaps(COLUMNS, 0, 4), [
    { from: 2, to: 2 },
    { from: 4, to: 4 },
  ])
  assert.deepEqual(ownGaps(COLUMNS[0]!, COLUMNS, 0, 4), [{ from: 1, to: 1 }])
  assert.deepEqual(ownGaps(COLUMNS[1]!, COLUMNS, 0, 4), [{ from: 3, to: 3 }])
  assert.deepEqual(commonGaps([], 0, 2), [{ from: 0, to: 2 }])
})

test('until when a window has no sample is the same in every window, to the length of its step', () => {
  const firstMs = Date.UTC(2026, 10, 21, 20, 16, 0, 600)
  const words = [100, 1_000, 2_000, 5_000, 60_000].map((stepMs) =>
    beginWords(Math.ceil(firstMs / stepMs) * stepMs, { stepMs, zone: 'utc' }),
  )
  const times = ['20:16:00', '20:16:00', '20:16:00 – 20:16:02', '20:16:00 – 20:16:05', '20:16 – 20:17']
  assert.deepEqual(
    words,
    times.map((time) => `no sample until ${time}`),
  )
})

test('the newest sample is that of any column', () => {
  assert.equal(newestPosition(COLUMNS, 0, 4), 3)
  assert.equal(newestPosition(COLUMNS, 4, 4), -1)
})

test('labels at the end of lines never touch, keep their order and stay inside', () => {
  for (const ys of [
    [50, 50, 50],
    [0, 1, 2, 99],
    [98, 99, 100],
    [10, 60],
  ]) {
    const placed = spreadLabels(
      ys.map((y) => ({ y })),
      13,
      0,
      100,
    )
    placed.forEach((y, i) => {
      assert.ok(y >= -1e-9 && y <= 100 + 1e-9, `${y} is outside`)
      if (i > 0) assert.ok(y - placed[i - 1]! >= 13 - 1e-9, `${placed.join()} touch`)
    })
  }
  assert.deepEqual(spreadLabels([{ y: 10 }, { y: 60 }], 13, 0, 100), [10, 60])
})

test('a card stays inside, beside the cursor, where the fewest marks are', () => {
  const card = { width: 100, height: 50 }
  const area = { width: 400, height: 140 }
  const marks = [{ x: 260, y: 20 }]
  assert.deepEqual(placeCard(card, area, 200, marks), { left: 212, top: 86 })
  assert.deepEqual(placeCard(card, area, 390, []), { left: 278, top: 4 })
  assert.equal(placeCard(card, { width: 90, height: 140 }, 45, []).left, 0)
})
