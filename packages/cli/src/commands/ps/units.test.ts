import assert from 'node:assert/strict'
import { test } from 'node:test'
import { durationText, memoryText, percentText, wattsText } from './units.ts'

test('numbers of GPUs have their unit, and no more digits than are read', () => {
  assert.deepEqual([percentText(98.444), percentText(0), percentText(100)], ['98.4%', '0.0%', '100.0%'])
  assert.deepEqual([memoryText(0), memoryText(12 * 2 ** 20), memoryText(1.5 * 2 ** 30)], ['0MiB', '12MiB', '1.5GiB'])
  assert.deepEqual([wattsText(327.6), wattsText(0)], ['328W', '0W'])
})

test('a duration has the largest unit of which it holds two, and is never below zero', () => {
  const texts = [0, 999, 119_000, 120_000, 7_199_000, 7_200_000, 172_800_000, -5].map(durationText)
  assert.deepEqual(texts, ['0s', '0s', '119s', '2m', '119m', '2h', '2d', '0s'])
})
