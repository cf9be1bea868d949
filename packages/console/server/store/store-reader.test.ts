import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { test } from 'node:test'
import { type Batch, createSource, defineType, label, readRecords, timestamp, value, viewsOf } from '@sonde/sdk'
import { property } from '../../../sdk/test/helper.ts'
import { openStore } from '../../test/open-store.ts'
import { openStoreReader } from './store-reader.ts'

const HOUR_MS = 3_600_000

const eventType = defineType('event', 'Numbered', { time: timestamp(), door: label(), number: value('u32') })

/** The numbers of the records by source, in the order of reading. */
function numbersOf(batches: readonly Batch[]): Record<string, number[]> {
  const numbers: Record<string, number[]> = {}
  for (const { type, bytes, count, source } of batches) {
    const records = readRecords(type, viewsOf(bytes), count, source.symbols) as Iterable<{ number: number }>
    numbers[source.id] = [...(numbers[source.id] ?? []), ...[...records].map(({ number }) => number)]
  }
  return numbers
}

property('whoever reads while the store compacts and writes gets each record once, in order', 6, async (random) => {
  const { store, path, close } = await openStore()
  try {
    const sources = ['a', 'b', 'c'].map((id) => createSource({ id, emit: (batch) => store.accept(batch) }))
    const expected: Record<string, number[]> = {}
    const startMs = Date.now() - 3 * HOUR_MS
    let number = 0
    const report = async () => {
      for (const source of sources) {
        for (let i = 0; i < 50; i++) {
          // Times go back and forth within the hour, so they differ from the order of arrival.
          const timeMs = startMs + random.integer(0, 1000)
          const door = `d${random.integer(0, 9)}`
          source.report(eventType, { time: BigInt(timeMs) * 1_000_000n, door, number: number++ })
          expected[source.info.id] = [...(expected[source.info.id] ?? []), number - 1]
        }
        source.flush()
      }
      await store.flush()
    }
    for (let turn = 0; turn < 4; turn++) {
      await report()
      if (random.chance(0.5)) await store.maintain()
    }
    const reader = openStoreReader(path)
    const batches: Batch[] = []
    for (const batch of reader.read(() => true)) {
      batches.push(batch)
      // New records are of the same hour: they may be read too, but must not replace other records.
      if (random.chance(0.3)) await report()
      if (random.chance(0.5)) await store.maintain()
    }
    reader.close()
    for (const [id, numbers] of Object.entries(numbersOf(batches))) {
      assert.deepEqual(numbers, expected[id]?.slice(0, numbers.length), id)
      assert.ok(numbers.length >= 200, `${numbers.length} of ${id}`)
    }
    assert.equal(reader.damagedCount, 0)
  } finally {
    await close()
  }
})

test('a reader keeps nothing from the writer: the log is cut while it waits', async () => {
  const { store, path, close } = await openStore()
  try {
    const source = createSource({ id: 'a', emit: (batch) => store.accept(batch) })
    const report = async () => {
      for (let i = 0; i < 1000; i++) {
        source.report(eventType, { time: BigInt(Date.now() - 3 * HOUR_MS) * 1_000_000n, door: 'd', number: i })
      }
      source.flush()
      await store.flush()
    }
    await report()
    const reader = openStoreReader(path)
    const batches = reader.read(() => true)
    assert.equal(batches.next().done, false)
    await report()
    await store.maintain()
    const { size } = statSync(`${path}-wal`)
    assert.equal(size, 0, 'every page of the log went into the file')
    reader.close()
  } finally {
    await close()
  }
})
