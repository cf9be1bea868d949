import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineType, gauge, label, timestamp } from '@sonde/sdk'
import { seriesName } from './series-name.ts'

const oven = defineType('oven', 'An oven', { time: timestamp(), name: label(), floor: label(), celsius: gauge('f64') })

test('a series is called by its application, its type and the values of its own labels', () => {
  const labels = { name: 'left', floor: '2', source: 'node7', tag: 'ovens' }
  assert.equal(seriesName('bakery', oven, labels), 'bakery oven left/2')
  assert.equal(seriesName('', oven, { name: 'left', floor: '' }), 'oven left')
  assert.equal(seriesName('bakery', oven, {}), 'bakery oven')
})
