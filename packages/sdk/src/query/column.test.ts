import assert from 'node:assert/strict'
import { test } from 'node:test'
import { matcherOf } from './column.ts'
import type { Matcher } from './form.ts'

const EVERY_OBJECT_HAS = ['toString', 'constructor', 'hasOwnProperty', '__proto__']

for (const label of EVERY_OBJECT_HAS) {
  test(`a series without the label ${label} has the empty text for it`, () => {
    const matches = (op: Matcher['op'], value: string) => matcherOf([{ label, op, value }])({ device: 'eth0' })
    assert.deepEqual(
      [matches('=', ''), matches('!=', ''), matches('=~', '.+'), matches('!~', '.+')],
      [true, false, false, true],
    )
  })

  test(`a series with the label ${label} is found by it`, () => {
    const labels = Object.fromEntries([[label, 'mine']])
    assert.equal(matcherOf([{ label, op: '=', value: 'mine' }])(labels), true)
    assert.equal(matcherOf([{ label, op: '=~', value: 'm.*' }])(labels), true)
  })
}
