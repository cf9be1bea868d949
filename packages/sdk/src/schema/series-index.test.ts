import assert from 'node:assert/strict'
import { test } from 'node:test'
import { property, recordingSource } from '../../test/helper.ts'
import type { Random } from '../../test/random.ts'
import { chars, type Field, label, labelNumber, value } from './field.ts'
import { defineType, type RecordType } from './record-type.ts'
import { labelsOf, seriesKey } from './series.ts'
import { SeriesIndex } from './series-index.ts'
import { type Views, viewsOf } from './views.ts'

const labelSets: Readonly<Record<string, Record<string, Field>>> = {
  'no label': {},
  'one symbol': { a: label() },
  'one u32': { a: labelNumber('u32') },
  'two words': { a: label(), b: labelNumber('u32') },
  'one u8': { a: labelNumber('u8') },
  'text of odd size': { a: chars(5), b: labelNumber('u8') },
  several: { a: label(), b: labelNumber('u16'), c: chars(4) },
}

/** Records with random labels, and the text of each record's series. */
function randomRecords(type: RecordType, count: number, random: Random): { views: Views; keys: string[] } {
  const { source, emitted } = recordingSource()
  for (let i = 0; i < count; i++) {
    const given: Record<string, unknown> = { n: random.integer(0, 255), m: random.bits64() }
    for (const { name, field } of type.labels) {
      const isText = field.kind === 'symbol' || field.kind === 'char'
      given[name] = isText ? random.pick(['', 'a', 'b', 'ab', 'abc']) : random.integer(0, 30)
    }
    source.report(type, given)
  }
  source.flush()
  const [batch] = emitted
  assert.ok(batch)
  const views = viewsOf(batch.bytes)
  const keys = Array.from({ length: count }, (_, i) =>
    seriesKey(labelsOf(type, batch.source, views, i * type.layout.recordBytes)),
  )
  return { views, keys }
}

for (const [what, labels] of Object.entries(labelSets)) {
  property(`finds many as it finds each, also forgotten ones: ${what}`, 20, (random) => {
    const type = defineType('t', '', { n: value('u8'), ...labels, m: value('u64') }) as RecordType
    const { recordBytes } = type.layout
    const { views, keys } = randomRecords(type, SeriesIndex.foundMax, random)
    const offsets = keys.map((_, i) => i * recordBytes)
    const index = new SeriesIndex(type)
    for (const offset of offsets) if (random.chance(0.3)) index.of(views, offset)
    for (const offset of offsets) if (random.chance(0.1)) index.forget(index.find(views, offset))
    const expected = offsets.map((offset) => index.find(views, offset))
    const from = random.integer(0, SeriesIndex.foundMax - 1)
    const found = index.findEach(views, from * recordBytes, recordBytes, SeriesIndex.foundMax - from)
    assert.deepEqual([...found.subarray(0, SeriesIndex.foundMax - from)], expected.slice(from))
  })

  for (const layout of ['aligned', 'packed'] as const) {
    property(`numbers series by their labels and nothing else: ${what}, ${layout}`, 20, (random) => {
      const type = defineType('t', '', { n: value('u8'), ...labels, m: value('u64') }, { layout }) as RecordType
      const { views, keys } = randomRecords(type, 400, random)
      const index = new SeriesIndex(type)
      const live = new Map<string, number>()
      keys.forEach((key, i) => {
        const offset = i * type.layout.recordBytes
        assert.equal(index.find(views, offset), live.get(key) ?? -1)
        if (live.has(key) && random.chance(0.2)) {
          index.forget(live.get(key) ?? -1)
          live.delete(key)
        } else {
          const id = index.of(views, offset)
          if (live.has(key)) assert.equal(id, live.get(key))
          else assert.ok(id >= 0 && ![...live.values()].includes(id), `number ${id} is another series' already`)
          live.set(key, id)
        }
        assert.equal(index.count, live.size)
      })
    })
  }
}

test('numbers run from 0, and those of forgotten series are given again', () => {
  const type = defineType('t', '', { a: label() }) as RecordType
  const { source, emitted } = recordingSource()
  source.report(type, [{ a: 'x' }, { a: 'y' }, { a: 'z' }])
  source.flush()
  const views = viewsOf(emitted[0]?.bytes ?? new Uint8Array())
  const index = new SeriesIndex(type)
  assert.deepEqual([index.of(views, 0), index.of(views, 8)], [0, 1])
  index.forget(0)
  index.forget(0)
  assert.deepEqual([index.find(views, 0), index.of(views, 16), index.of(views, 0), index.count], [-1, 0, 2, 3])
})

test('what a foreign layout holds behind the closing NUL of a text does not make another series', () => {
  const type = defineType('t', '', { a: chars(6) }, { layout: 'packed' })
  const index = new SeriesIndex(type as RecordType)
  const views = viewsOf(new TextEncoder().encode('eth0\0\0eth0\0xeth1\0x'))
  assert.deepEqual([index.of(views, 0), index.of(views, 6), index.of(views, 12)], [0, 0, 1])
})
