import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isSick, LONG_COUNT, SICKEST_FIRST, sicknessKey, splitIdle } from './sickness.ts'
import { sortRows } from './sort.ts'
import type { StateTone } from './state-mark.tsx'

test('the sickest come first, then the busiest, and equals keep their order', () => {
  const rows: readonly (readonly [string, StateTone, number])[] = [
    ['gone', 'absent', 0],
    ['calm', 'ok', 1],
    ['unread', 'ok', Number.NaN],
    ['busy', 'ok', 9],
    ['drops', 'warning', 0],
    ['also calm', 'ok', 1],
    ['down', 'critical', 0],
    ['noticed', 'info', 0],
  ]
  const names = sortRows(rows, SICKEST_FIRST.direction, ([, tone, load]) => sicknessKey(tone, load)).map(
    ([name]) => name,
  )
  assert.deepEqual(names, ['down', 'drops', 'noticed', 'busy', 'calm', 'also calm', 'unread', 'gone'])
})

test('a state that asks for attention is sick', () => {
  const tones: readonly StateTone[] = ['critical', 'warning', 'denied', 'stale', 'info', 'ok', 'absent']
  assert.deepEqual(tones.filter(isSick), ['critical', 'warning', 'denied', 'stale', 'info'])
})

test('only a long list folds its idle rows, and never all of them', () => {
  const numbers = (count: number) => Array.from({ length: count }, (_, at) => at)
  const isOdd = (at: number) => at % 2 === 1
  assert.deepEqual(splitIdle(numbers(LONG_COUNT), isOdd).idle, [])
  const { busy, idle } = splitIdle(numbers(LONG_COUNT + 2), isOdd)
  assert.deepEqual([busy.length, idle.length, busy[1], idle[1]], [13, 13, 2, 3])
  assert.deepEqual(
    splitIdle(numbers(200), () => true),
    { busy: numbers(200), idle: [] },
  )
})
