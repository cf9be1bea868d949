import assert from 'node:assert/strict'
import { test } from 'node:test'
import { property, recordingSource } from '../../test/helper.ts'
import { chars, label, labelNumber, value } from './field.ts'
import { defineType } from './record-type.ts'
import { escapeLabelValue, labelsOf, mergeLabels, parseSeriesKey, seriesKey } from './series.ts'
import { viewsOf } from './views.ts'

test('writes labels as Prometheus does, escaping backslash, quote and newline', () => {
  assert.equal(seriesKey({}), '')
  assert.equal(seriesKey({ device: 'eth0', port: '1' }), 'device="eth0",port="1"')
  assert.equal(seriesKey({ a: 'x"y\\z\nw', b: '' }), String.raw`a="x\"y\\z\nw",b=""`)
  assert.equal(escapeLabelValue('a\ud800b'), 'a\ufffdb')
  assert.equal(escapeLabelValue('🚀\t'), '🚀\t')
})

property('a series key is read back as the labels that it was made of', 200, (random) => {
  const value = () => Array.from({ length: random.integer(0, 6) }, () => random.pick([...'ab"\\\n,= {}é'])).join('')
  const labels = { device: value(), 'a.b': value(), port: value() }
  assert.deepEqual(parseSeriesKey(seriesKey(labels)), labels)
})

test('a constant label may be called what every object has', () => {
  assert.deepEqual(mergeLabels({ device: 'eth0' }, { toString: 'a', device: 'b' } as never), {
    device: 'eth0',
    toString: 'a',
  })
})

property('no two label values share a key', 200, (random) => {
  const part = () =>
    Array.from({ length: random.integer(0, 4) }, () => random.pick(['"', '\\', '\n', ',', '=', 'n', 'a']))
  const labels = () => ({ a: part().join(''), b: part().join('') })
  const [left, right] = [labels(), labels()]
  assert.equal(seriesKey(left) === seriesKey(right), left.a === right.a && left.b === right.b)
})

test('a label of the record wins over a constant one of its source, and comes first', () => {
  assert.deepEqual(Object.entries(mergeLabels({ device: 'eth0' }, { node: 'n1', device: 'x' })), [
    ['device', 'eth0'],
    ['node', 'n1'],
  ])
  const type = defineType('t', '', { n: value('u8'), port: labelNumber('u16'), device: label(), slot: chars(8) })
  const { source, emitted } = recordingSource({ labels: { node: 'n1', port: 'x' } })
  source.report(type, { n: 1, port: 7, device: 'eth0', slot: 's' })
  source.flush()
  const [batch] = emitted
  assert.ok(batch)
  const labels = labelsOf(type, batch.source, viewsOf(batch.bytes), 0)
  assert.equal(seriesKey(labels), 'port="7",device="eth0",slot="s",node="n1"')
})
