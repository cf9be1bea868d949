import assert from 'node:assert/strict'
import { test } from 'node:test'
import { axisTicks } from './lane-axis.ts'
import { START_MS } from './test-lanes.ts'

const plain = (text: string): string => text.replace(/[\u00a0\u202f]/g, ' ')
const texts = (fromMs: number, toMs: number): readonly string[] =>
  axisTicks({ fromMs: START_MS + fromMs, toMs: START_MS + toMs }, START_MS, 560).map(({ text }) => plain(text))

test('labels are round times from the start of the event on, in one unit', () => {
  assert.deepEqual(texts(-2_000, 4_000), ['−2 s', '−1 s', 'start', '+1 s', '+2 s', '+3 s', '+4 s'])
  assert.deepEqual(texts(-1.2, 1.2), ['−1.0 ms', '−0.5 ms', 'start', '+0.5 ms', '+1.0 ms'])
  assert.deepEqual(texts(-0.02, 0.03), ['−20 µs', '−10 µs', 'start', '+10 µs', '+20 µs', '+30 µs'])
})

test('a stretch far from the start has labels that differ', () => {
  const far = texts(1_100, 1_100.5)
  assert.ok(far.length >= 4)
  assert.equal(new Set(far).size, far.length)
})

test('minutes are written as minutes', () => {
  assert.deepEqual(texts(0, 200_000), ['start', '+50 s', '+1:40', '+2:30', '+3:20'])
})
