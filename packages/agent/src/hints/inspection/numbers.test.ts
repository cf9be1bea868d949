import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Random } from '../../../../sdk/test/random.ts'
import { median, mediansOfOthers } from './numbers.ts'

test('the median of all others is that of the list without the number', () => {
  const random = new Random(1)
  for (let round = 0; round < 500; round++) {
    const values = Array.from({ length: random.integer(0, 9) }, () =>
      random.chance(0.2) ? Number.NaN : random.integer(-3, 3),
    )
    const wanted = values.map((_, i) => median(values.filter((_, other) => other !== i)))
    assert.deepEqual(mediansOfOthers(values), wanted, String(values))
  }
})
