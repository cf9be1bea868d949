import assert from 'node:assert/strict'
import { test } from 'node:test'
import { property } from '../../test/helper.ts'
import { SimulatedTimers } from '../../test/simulated-timers.ts'
import type { Batch } from '../schema/batch.ts'
import { counter, gauge, label, text, timestamp, value } from '../schema/field.ts'
import { readRecords } from '../schema/reader.ts'
import { defineType, type RecordOf } from '../schema/record-type.ts'
import { viewsOf } from '../schema/views.ts'
import { type Sink, sinkStats } from '../sink/sink.ts'
import { Absences } from '../source/absence.ts'
import { createSource, type Source } from '../source/source.ts'
import { ThinnedSink } from './thinned-sink.ts'

const port = defineType('port', 'A port', {
  time: timestamp(),
  device: label(),
  rx_total: counter('u64'),
  state: text(),
})
const event = defineType('event', 'An event', { time: timestamp(), device: label(), code: value('u32') })

const TIME = 1_800_000_000_000_000_000n

interface Rig {
  readonly timers: SimulatedTimers
  readonly sink: ThinnedSink
  readonly inner: Sink & { failNext?: boolean }
  /** Type, and device and value of each record, of each batch that passed since the last call. */
  passed(): string[]
  source(id?: string): Source
}

function rigOf(intervalMs = 15_000): Rig {
  const lines: string[] = []
  const timers = new SimulatedTimers()
  const inner: Rig['inner'] = {
    name: 'inner',
    stats: sinkStats(),
    accept({ type, bytes, count, symbols, source, page }: Batch) {
      assert.equal(page, undefined, 'a thinned sink knows no pages')
      if (inner.failNext) {
        inner.failNext = false
        throw new Error('no')
      }
      inner.stats.in += count
      const words = [...readRecords(type, viewsOf(bytes), count, symbols)].map((record) => {
        const { device, rx_total, state, code, series } = record as Record<string, unknown>
        return [device ?? series, rx_total, state, code].filter((each) => each !== undefined).join(':')
      })
      lines.push(`${source.id} ${type.name} ${words.join(' ')}`)
    },
    flush: async () => undefined,
    close: async () => undefined,
  }
  const sink = new ThinnedSink(inner, intervalMs, timers)
  return {
    timers,
    sink,
    inner,
    passed: () => lines.splice(0),
    source: (id = 's') => createSource({ id, emit: (batch) => sink.accept(batch) }),
  }
}

function report(source: Source, ...records: [string, number, string?][]): void {
  for (const [device, rx_total, state = 'up'] of records) source.report(port, { time: TIME, device, rx_total, state })
  source.flush()
}

test('of each series the last record of an interval passes, and the others are counted as thinned', async () => {
  const { timers, sink, inner, passed, source } = rigOf()
  const one = source()
  for (let second = 0; second < 30; second++) {
    report(one, ['a', second], ['b', 100 + second], ...(second === 3 ? ([['c', 7]] as [string, number][]) : []))
    await timers.advance(1000)
  }
  assert.deepEqual(passed(), ['s port a:14:up b:114:up c:7:up', 's port a:29:up b:129:up'])
  assert.equal(sink.stats.thinned, 61 - 5)
  assert.deepEqual([inner.stats.in, inner.stats.dropped.size], [5, 0])
  await timers.advance(60_000)
  assert.deepEqual(passed(), [])
  assert.equal(timers.count, 0, 'nothing waits while nothing is held')
})

test('events pass at once, and so do the last records of a series that is gone or of a source that leaves', async () => {
  const { passed, sink, source } = rigOf()
  const [one, two] = [source('one'), source('two')]
  report(one, ['a', 1], ['b', 2])
  report(two, ['a', 9])
  one.report(event, { time: TIME, device: 'a', code: 1 })
  one.report(event, { time: TIME, device: 'a', code: 2 })
  one.flush()
  assert.deepEqual(passed(), ['one event a:1 a:2'])
  const absences = new Absences(one)
  absences.set(port, { device: 'a' }, 'rx_total', 'failed', 'why')
  one.flush()
  assert.equal(passed().filter((line) => line.startsWith('one port')).length, 0)
  absences.gone(port, { device: 'a' }, 'unplugged')
  one.flush()
  const [records, absence, ...more] = passed()
  assert.equal(records, 'one port a:1:up b:2:up')
  assert.match(absence ?? '', /^one sonde_absence /)
  assert.deepEqual(more, [])
  sink.retire(two.info)
  assert.deepEqual(passed(), ['two port a:9:up'])
})

test('flush and close pass on what is held; afterwards the sink decides on what comes', async () => {
  const { passed, sink, source, timers } = rigOf()
  const one = source()
  report(one, ['a', 1])
  await sink.flush()
  report(one, ['a', 2])
  await sink.close()
  report(one, ['a', 3])
  assert.deepEqual(passed(), ['s port a:1:up', 's port a:2:up', 's port a:3:up'])
  await timers.advance(60_000)
  assert.deepEqual(passed(), [])
})

test('a sink that throws at the end of an interval loses this batch, counted, and gets the next', async () => {
  const { timers, inner, passed, source } = rigOf()
  const one = source()
  report(one, ['a', 1])
  inner.failNext = true
  await timers.advance(15_000)
  assert.deepEqual([inner.stats.errors, inner.stats.dropped.get('failed')], [1, 1])
  report(one, ['a', 2])
  await timers.advance(15_000)
  assert.deepEqual(passed(), ['s port a:2:up'])
})

test('bytes that are no records go to the sink, which counts them', () => {
  const { sink, passed, source } = rigOf()
  let batch: Batch | undefined
  const other = createSource({ id: 's', emit: (each) => (batch = { ...each, bytes: each.bytes.slice() }) })
  report(other, ['a', 1])
  assert.ok(batch)
  sink.accept({ ...batch, count: 0 })
  assert.deepEqual(passed(), ['s port '])
  void source
})

property('records passed, thinned and held are all that came; each series ends with its last value', 100, (random) => {
  const { sink, inner, passed, source } = rigOf()
  const sources = ['x', 'y'].map(source)
  const last = new Map<string, number>()
  let came = 0
  for (let i = random.integer(1, 40); i > 0; i--) {
    const one = random.pick(sources)
    const records = Array.from({ length: random.integer(1, 40) }, (): [string, number, string] => {
      const device = `d${random.integer(0, random.chance(0.2) ? 300 : 5)}`
      last.set(`${one.info.id} ${device}`, ++came)
      return [device, came, `t${random.integer(0, 3)}`]
    })
    report(one, ...records)
    if (random.chance(0.1)) sink.retire(one.info)
  }
  void sink.flush()
  assert.equal(inner.stats.in + (sink.stats.thinned ?? 0), came)
  const seen = new Map<string, number>()
  for (const line of passed()) {
    const [id, , ...records] = line.split(' ')
    for (const [device, rx] of records.map((each) => each.split(':'))) seen.set(`${id} ${device}`, Number(rx))
  }
  assert.deepEqual(seen, last)
})

test('many records of one series hold one record', () => {
  const { sink, source } = rigOf()
  const level = defineType('level', 'A level', { time: timestamp(), device: label(), level: gauge('f64') })
  const one = source()
  const records: RecordOf<typeof level>[] = Array.from({ length: 1000 }, (_, i) => ({
    time: TIME,
    device: 'a',
    level: i,
  }))
  for (let i = 0; i < 100; i++) one.report(level, records)
  one.flush()
  assert.equal(sink.stats.thinned, 100 * 1000 - 1)
})
