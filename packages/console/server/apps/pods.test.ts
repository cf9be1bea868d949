import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { QueryResult } from '@sonde/sdk/internal'
import { distanceOf } from './pods.ts'

const spaced = (...distances: number[]) => ({
  results: distances.map((resolutionMs) => ({ resolutionMs }) as QueryResult),
})

test('the distance of samples is that of the rarest answer, in whole milliseconds: a step of a query is whole', () => {
  assert.equal(distanceOf(spaced(1997.9296875, 0, 1000)), 1998)
  assert.equal(distanceOf(spaced(0.2)), 0)
  assert.equal(distanceOf(spaced()), 0)
})
