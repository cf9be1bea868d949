import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ORIGINS, rounded } from './origin.ts'

test('a value has the digits that its origin would show, and no more', () => {
  for (const thousandths of [336_780, 131_934, 700_001, 67_100])
    assert.equal(rounded(ORIGINS.power, thousandths / 1000 + 1e-5), thousandths / 1000)
  assert.equal(rounded(ORIGINS.stalls, 0.2949), 0.29)
  assert.equal(rounded(ORIGINS.utilisation, 96.6), 97)
})
