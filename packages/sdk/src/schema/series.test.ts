import assert from 'node:assert/strict'
import { test } from 'node:test'
import { property, recordingSource } from '../../test/helper.ts'
import { chars, type Field, label, labelNumber, value } from './field.ts'
import { defineType, type RecordType } from './record-type.ts'
import { escapeLabelValue, labelsOf, mergeLabels, SeriesIndex, seriesKey } from './series.ts'
import { viewsOf } from './views.ts'

test('writes labels as Prometheus does, escaping backslash, quote and newline', () => {
  assert.equal(seriesKey({}), '')
  assert.equal(seriesKey({ device: 'eth0', port: '1' }), 'device="eth0",port="1"')
  assert.equal(seriesKey({ a: 'x"y\\z\nw', b: '' }), String.raw`a="x\"y\\z\nw",b=""`)
  assert.equal(escapeLabelValue('a\ud800b'), 'a\ufffdb')
  assert.equal(escapeLabelValue('🚀\t'), '🚀\t')
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

const labelSets: Readonly<Record<string, Record<string, Field>>> = {
  'no label': {},
  'one symbol': { a: label() },
  'one u32': { a: labelNumber('u32') },
  'one u8': { a: labelNumber('u8') },
  'text of odd size': { a: chars(5), b: labelNumber('u8') },
  several: { a: label(), b: labelNumber('u16'), c: chars(4) },
}

for (const [what, labels] of Object.entries(labelSets)) {
  for (const layout of ['aligned', 'packed'] as const) {
    property(`numbers series by their labels and nothing else: ${what}, ${layout}`, 20, (random) => {
      const type = defineType('t', '', { n: value('u8'), ...labels, m: value('u64') }, { layout }) as RecordType
      const { source, emitted } = recordingSource()
      for (let i = 0; i < 50; i++) {
        const given: Record<string, unknown> = { n: random.integer(0, 255), m: random.bits64() }
        for (const [name, { kind }] of Object.entries(labels)) {
          given[name] = kind === 'symbol' || kind === 'char' ? random.pick(['', 'a', 'b', 'ab']) : random.integer(0, 3)
        }
        source.report(type, given)
      }
      source.flush()
      const [batch] = emitted
      assert.ok(batch)
      const views = viewsOf(batch.bytes)
      const index = new SeriesIndex(type)
      const expected = new Map<string, number>()
      for (let i = 0; i < batch.count; i++) {
        const offset = i * type.layout.recordBytes
        const key = seriesKey(labelsOf(type, batch.source, views, offset))
        if (!expected.has(key)) expected.set(key, expected.size)
        assert.equal(index.of(views, offset), expected.get(key))
      }
      assert.equal(index.count, expected.size)
    })
  }
}

test('a forgotten series comes back under a new number', () => {
  const type = defineType('t', '', { a: label() })
  const { source, emitted } = recordingSource()
  source.reportMany(type, [{ a: 'x' }, { a: 'y' }])
  source.flush()
  const views = viewsOf(emitted[0]?.bytes ?? new Uint8Array())
  const index = new SeriesIndex(type)
  assert.deepEqual([index.of(views, 0), index.of(views, 8)], [0, 1])
  index.forget(views, 0)
  assert.deepEqual([index.of(views, 0), index.of(views, 8), index.count], [2, 1, 3])
})
