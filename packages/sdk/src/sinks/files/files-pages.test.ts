import assert from 'node:assert/strict'
import { appendFileSync, readFileSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { type Ending, pathsBelow, readFiles, temporaryFolder, withEnding } from '../../../test/files-rig.ts'
import { property } from '../../../test/helper.ts'
import { BatchSource } from '../../../test/sink-records.ts'
import type { Batch } from '../../schema/batch.ts'
import type { FilesOptions } from './config.ts'
import { createFiles, type FilesSink } from './files.ts'

const CLIENT = 0x8000_0000_0000_0001n

/** A page of one record, which bears its sequence as number. */
function pageOf(source: BatchSource, sequence: number, client = CLIENT): Batch {
  return { ...source.ports({ a: sequence }), page: { client, sequence: BigInt(sequence) } }
}

function send(sink: FilesSink, source: BatchSource, sequences: readonly number[], client = CLIENT): void {
  for (const sequence of sequences) sink.accept(pageOf(source, sequence, client))
}

function numbersIn(root: string): number[] {
  return readFiles(root)
    .flatMap(({ batches }) => batches.flatMap(({ records }) => records.map((r) => Number(r.rx_bytes_total))))
    .sort((a, b) => a - b)
}

function openFiles(t: Ending, dataRoot: string, options: FilesOptions = {}): FilesSink {
  const sink = createFiles({ durability: 'none', dataRoot, ...options })
  t.after(() => sink.close())
  return sink
}

test('a page that is sent again is left out and counted as a duplicate, and not as a loss', async (t) => {
  const root = temporaryFolder(t)
  const sink = openFiles(t, root)
  const source = new BatchSource()
  send(sink, source, [1, 2, 3, 2, 3, 4])
  await sink.flush()
  send(sink, source, [1, 4, 5])
  await sink.flush()
  assert.deepEqual(numbersIn(root), [1, 2, 3, 4, 5])
  assert.deepEqual([sink.stats.duplicates, sink.stats.out, sink.stats.dropped.size], [4, 9, 0])
})

test('who starts anew knows what the files of the one before have, and asks each client for itself', async (t) => {
  const root = temporaryFolder(t)
  const first = openFiles(t, root, { maxBytes: 4096 })
  const source = new BatchSource({ id: 'app', tag: 'x' })
  const upTo = (count: number, from = 1) => Array.from({ length: count - from + 1 }, (_, i) => from + i)
  send(first, source, upTo(60))
  send(first, new BatchSource({ id: 'app', tag: 'x' }), upTo(3), 7n)
  await first.close()
  assert.ok(pathsBelow(root).length > 2)
  const second = openFiles(t, root)
  send(second, new BatchSource({ id: 'app', tag: 'x' }), upTo(70, 40))
  send(second, new BatchSource({ id: 'app', tag: 'x' }), upTo(5), 7n)
  send(second, new BatchSource({ id: 'app', tag: 'x' }), upTo(2), 8n)
  send(second, new BatchSource({ id: 'app', tag: 'other' }), [100, 101])
  await second.close()
  assert.deepEqual(
    numbersIn(root),
    [...upTo(70), ...upTo(5), ...upTo(2), 100, 101].sort((a, b) => a - b),
  )
  assert.equal(second.stats.duplicates, 21 + 3)
})

test('knows what is there also where the clock went backwards before the one before ended', async (t) => {
  const root = temporaryFolder(t)
  const source = new BatchSource()
  let nowUs = Date.UTC(2026, 2, 4) * 1000
  for (const sequences of [[1, 2], [3, 4], [5]]) {
    const sink = openFiles(t, root, { nowUs: () => nowUs })
    send(sink, source, sequences)
    await sink.close()
    nowUs -= 86_400_000_000
  }
  const last = openFiles(t, root)
  send(last, source, [4, 5, 6])
  await last.close()
  assert.equal(last.stats.duplicates, 2)
  assert.deepEqual(numbersIn(root), [1, 2, 3, 4, 5, 6])
})

test('a file has pages of one client alone, and says whose', async (t) => {
  const root = temporaryFolder(t)
  const sink = openFiles(t, root)
  const source = new BatchSource()
  send(sink, source, [1, 2])
  sink.accept(source.ports({ own: 9 }))
  send(sink, source, [1], 5n)
  await sink.close()
  assert.deepEqual(
    readFiles(root).map(({ batches }) => batches.map(({ page }) => page?.client)),
    [[CLIENT, CLIENT, undefined], [5n]],
  )
})

property('a page that was cut short counts as none: it is written when it comes again', 20, (random) =>
  withEnding(async (t) => {
    const root = temporaryFolder(t)
    const first = openFiles(t, root)
    send(first, new BatchSource(), [1, 2, 3, 4])
    await first.close()
    const [path = ''] = pathsBelow(root)
    const { length } = readFileSync(path)
    // The end is a block of 64 bytes, a page one of 64 + 32.
    truncateSync(path, length - 64 - random.integer(1, 95))
    if (random.chance(0.5)) appendFileSync(path, Buffer.alloc(random.integer(1, 40), random.integer(0, 255)))
    const second = openFiles(t, root)
    send(second, new BatchSource(), [3, 4, 5])
    await second.close()
    assert.equal(second.stats.duplicates, 1)
    assert.deepEqual(numbersIn(root), [1, 2, 3, 4, 5])
  }),
)

test('tells how much of a client was lost, once, for whoever acknowledges', async (t) => {
  const sink = openFiles(t, temporaryFolder(t), { queueLimitBytes: 64 << 10 })
  const source = new BatchSource()
  send(sink, source, [1, 2, 3])
  await sink.flush()
  assert.deepEqual([...sink.takeLost(CLIENT, 3n)], [])
  const large = source.ports(Object.fromEntries(Array.from({ length: 1500 }, (_, i) => [`d${i}`, i])))
  for (const sequence of [4n, 5n, 6n]) sink.accept({ ...large, page: { client: CLIENT, sequence } })
  await assert.rejects(sink.flush(), { code: 'FIL_LOST' })
  assert.equal(sink.stats.dropped.get('queue_full'), 3000)
  const taken = [sink.takeLost(9n, 9n), sink.takeLost(CLIENT, 5n), sink.takeLost(CLIENT, 5n), sink.takeLost(CLIENT, 9n)]
  assert.deepEqual(
    taken.map((pages) => [...pages]),
    [[], [[5n, 1500]], [], [[6n, 1500]]],
    'those of a page that is not acknowledged are told with that page',
  )
})

test('sources of one id and tag are written in the order in which they came', async (t) => {
  const root = temporaryFolder(t)
  const first = openFiles(t, root)
  const sources = [new BatchSource(), new BatchSource(), new BatchSource()]
  for (let sequence = 1; sequence <= 30; sequence++) send(first, sources[sequence % 3] as BatchSource, [sequence])
  await first.close()
  const second = openFiles(t, root)
  for (let sequence = 1; sequence <= 33; sequence++) send(second, sources[sequence % 3] as BatchSource, [sequence])
  await second.close()
  assert.equal(second.stats.duplicates, 30)
  assert.equal(numbersIn(root).length, 33)
})

test('the last page of a client outlives the process, whatever a filter left out, and a torn entry is none', async (t) => {
  const root = join(temporaryFolder(t), 'not', 'there')
  const marks = join(root, '.pages-files')
  const source = new BatchSource()
  const left = (sequence: number, client = CLIENT) => ({ client, sequence: BigInt(sequence) })
  const first = openFiles(t, root)
  assert.equal(await first.lastPage(CLIENT), 0n)
  first.skip(left(1, 9n))
  await first.flush()
  send(first, source, [1, 2])
  first.skip(left(3))
  await first.flush()
  send(first, source, [4])
  await first.flush()
  first.skip(left(5))
  await first.close()
  const second = openFiles(t, root)
  assert.deepEqual([await second.lastPage(CLIENT), await second.lastPage(9n), await second.lastPage(7n)], [4n, 1n, 0n])
  send(second, source, [5])
  await second.flush()
  await second.close()
  truncateSync(marks, statSync(marks).size - 1)
  const third = openFiles(t, root)
  assert.deepEqual([await third.lastPage(CLIENT), await third.lastPage(9n)], [0n, 1n])
  send(third, source, [5, 6])
  await third.flush()
  await third.close()
  assert.deepEqual([third.stats.duplicates, numbersIn(root)], [1, [1, 2, 4, 5, 6]])
})

test('pages of which records were lost are not among those that need not be sent again', async (t) => {
  const root = temporaryFolder(t)
  const sink = openFiles(t, root)
  const source = new BatchSource()
  send(sink, source, [1])
  await sink.flush()
  const page = pageOf(source, 2)
  sink.accept({ ...page, bytes: page.bytes.subarray(1) })
  await assert.rejects(sink.flush(), { code: 'FIL_LOST' })
  await sink.close()
  assert.equal(await openFiles(t, root).lastPage(CLIENT), 1n)
})

test('the file of last pages is written anew before it grows without end', async (t) => {
  const root = temporaryFolder(t)
  const sink = openFiles(t, root)
  for (let round = 1; round <= 30; round++) {
    for (let client = 1n; client <= 2000n; client++) sink.skip({ client, sequence: BigInt(round) })
    await sink.flush()
  }
  await sink.close()
  assert.ok(statSync(join(root, '.pages-files')).size <= 1 << 20)
  const again = openFiles(t, root)
  assert.deepEqual([await again.lastPage(1n), await again.lastPage(2000n)], [30n, 30n])
})
