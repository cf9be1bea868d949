import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineType, gauge, labelNumber, timestamp } from '@sonde/sdk'
import { definitionOf, msFactorOf, SymbolTable } from '@sonde/sdk/internal'
import { Random, SEED } from '../../../../sdk/test/random.ts'
import type { PageEntry } from '../protocol.ts'
import { ingest } from './ingest.ts'
import { REFUSED, type SeriesLookup, SeriesResolver } from './series-resolver.ts'
import { HOUR_MS, hourOf } from './slots-of-time.ts'
import type { StoredSeries } from './store-catalogue.ts'

const type = defineType('ingest_port', 'What a port reports', {
  time: timestamp('us'),
  port: labelNumber('u32', 'Port'),
  serial: gauge('u32', { help: 'Number of the record' }),
})
const { recordBytes } = type.layout
const offsetOf = (name: string): number => type.layout.slots.find((slot) => slot.name === name)?.offset ?? -1
const ARRIVAL_MS = 500_000.4 * HOUR_MS
const believed = { fromMs: ARRIVAL_MS - HOUR_MS, toMs: ARRIVAL_MS + HOUR_MS }
/** Ports whose series are refused. */
const REFUSED_FROM = 6

/** A record; its time is in microseconds, as in its field. */
interface Given {
  readonly timeUs: number
  readonly port: number
  readonly serial: number
}

/** The expected result of an entry, computed one record at a time. */
function expected(records: readonly Given[], clock: PageEntry['clock']) {
  const hours = new Map<number, { firstMs: number; lastMs: number; serials: number[] }>()
  for (const { timeUs, port, serial } of records) {
    const timeMs = timeUs * msFactorOf(type)
    if (port >= REFUSED_FROM) continue
    const isBelieved = clock === 'wall' && timeMs > believed.fromMs && timeMs <= believed.toMs
    const hour = hourOf(isBelieved ? timeMs : ARRIVAL_MS)
    const found = hours.get(hour) ?? { firstMs: timeMs, lastMs: timeMs, serials: [] }
    hours.set(hour, found)
    found.firstMs = Math.min(found.firstMs, timeMs)
    found.lastMs = Math.max(found.lastMs, timeMs)
    found.serials.push(serial)
  }
  return hours
}

/** Records that mostly follow each other within an hour. */
function someRecords(random: Random): Given[] {
  const oddness = random.pick([0, 0.002, 0.05, 0.5])
  let timeMs = ARRIVAL_MS - random.integer(0, 2 * HOUR_MS)
  return Array.from({ length: random.integer(1, 1500) }, (_, serial): Given => {
    timeMs += random.integer(0, 20_000)
    const odd = random.chance(oddness)
    const strange = random.pick([0, believed.fromMs, believed.fromMs + 1, believed.toMs, believed.toMs + 1, 2 ** 42])
    return {
      serial,
      timeUs: 1000 * (odd && random.chance(0.5) ? strange : timeMs),
      port: odd && random.chance(0.5) ? REFUSED_FROM : serial % REFUSED_FROM,
    }
  })
}

function pageOf(records: readonly Given[], clock: PageEntry['clock']): [SharedArrayBuffer, PageEntry] {
  const memory = new SharedArrayBuffer((records.length * recordBytes + 7) & ~7)
  const data = new DataView(memory)
  for (const [i, { timeUs, port, serial }] of records.entries()) {
    data.setBigUint64(i * recordBytes + offsetOf('time'), BigInt(timeUs), true)
    data.setUint32(i * recordBytes + offsetOf('port'), port, true)
    data.setUint32(i * recordBytes + offsetOf('serial'), serial, true)
  }
  return [memory, { type: 1, writer: 1, clock, count: records.length, offset: 0, arrivalMs: ARRIVAL_MS }]
}

test('a page becomes the same rows as its records would one by one', () => {
  const random = new Random(SEED)
  const stored = { id: 1, type, definition: definitionOf(type) }
  for (let round = 0; round < 300; round++) {
    const series = new Map<string, StoredSeries>()
    const lookup: SeriesLookup = (_type, labels) => {
      if (Number(labels.port) >= REFUSED_FROM) return REFUSED
      const found = series.get(String(labels.port)) ?? { id: series.size, labels, seenHour: 0 }
      series.set(String(labels.port), found)
      return found
    }
    const resolver = new SeriesResolver(stored, { id: 'test', tag: '', labels: {}, symbols: new SymbolTable() })
    const records = someRecords(random)
    const clock = random.chance(0.9) ? 'wall' : 'device'
    const [memory, entry] = pageOf(records, clock)
    const { rows, dropped } = ingest(memory, [entry], { stored, writer: 7, resolver, lookup, believed })
    const wanted = expected(records, clock)
    assert.deepEqual(
      rows.map(({ hour }) => hour),
      [...wanted.keys()],
    )
    for (const row of rows) {
      const serials = row.pieces.flatMap(serialsIn)
      const { hour, firstMs, lastMs, count } = row
      assert.deepEqual({ firstMs, lastMs, serials }, wanted.get(hour), `round ${round}, hour ${hour}`)
      assert.equal(count, serials.length)
    }
    const left = records.length - rows.reduce((sum, { count }) => sum + count, 0)
    assert.deepEqual(dropped, left === 0 ? [] : [[entry, left]])
    for (const { seenHour } of series.values()) assert.equal(seenHour, hourOf(ARRIVAL_MS))
  }
})

function serialsIn(piece: Uint8Array): number[] {
  const data = new DataView(piece.buffer, piece.byteOffset, piece.length)
  return Array.from({ length: piece.length / recordBytes }, (_, i) =>
    data.getUint32(i * recordBytes + offsetOf('serial'), true),
  )
}
