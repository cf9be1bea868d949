import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TracebackEvent } from '@sonde/sdk/internal'
import { property } from '../../../../sdk/test/helper.ts'
import { Archive } from './archive.ts'
import { EventFile } from './event-file.ts'
import { SeriesBook } from './series-book.ts'
import { memoryDisk } from './test-disk.ts'
import { levelBatch, levelType, TIME_NS } from './test-records.ts'

const DIR = '/events'
const SOURCE = { id: 'traceback', tag: '', labels: {}, schema: '', host: 'h', pid: 1, version: '' }
const INDEX = { parts: [], blocks: [], series: [], listed: [] }

function archiveOn(disk: ReturnType<typeof memoryDisk>, limits: { bytesMax?: number; eventsMax?: number } = {}) {
  const told: string[] = []
  const log = { warn: (_facts: object, message: string) => void told.push(message) }
  const { bytesMax = 2 ** 40, eventsMax = 10_000 } = limits
  return { told, archive: new Archive({ dir: DIR, disk, bytesMax, eventsMax, log }) }
}

function eventOf(id: number, sizeBytes: number): TracebackEvent {
  const texts = { rule: 'r', condition: '', device: 'd', source: 's', end: 'cleared' } as const
  return { id, ...texts, startMs: id, endMs: id + 1, errorMs: 0, samples: 0, leftOut: 0, sizeBytes, isSimulated: false }
}

/** Keeps an event with some records. */
async function keep(archive: Archive, disk: ReturnType<typeof memoryDisk>, id: number): Promise<void> {
  const book = new SeriesBook(TIME_NS)
  const file = new EventFile({
    ...{ disk, source: SOURCE, book, createdMs: 0 },
    path: archive.partPath(id),
    ready: () => archive.ready(),
  })
  const part = book.partOf({ source: 's', type: levelType, isRing: true, labels: {}, periodMs: 0 })
  await file.append(part, levelBatch(20))
  await archive.keep(eventOf(id, file.finalBytes), INDEX, file)
}

test('events are listed again after a restart; what was not finished is removed, and told', async () => {
  const disk = memoryDisk()
  const { archive } = archiveOn(disk)
  for (const id of [1, 2, 3]) await keep(archive, disk, id)
  disk.files.set(`${DIR}/4.bin.part`, new Uint8Array(9))
  disk.files.set(`${DIR}/5.bin`, new Uint8Array(9))
  disk.files.set(`${DIR}/6.json.part`, new Uint8Array(9))
  disk.files.set(`${DIR}/notes.txt`, new Uint8Array(9))
  const again = archiveOn(disk)
  await again.archive.open()
  assert.deepEqual([...again.archive.events()], [...archive.events()])
  assert.deepEqual([again.archive.count, again.archive.bytes], [3, archive.bytes])
  assert.deepEqual(
    [...disk.files.keys()].filter((path) => !/\/[123]\./.test(path)),
    [`${DIR}/notes.txt`],
  )
  assert.equal(again.told.length, 1)
})

test('the oldest events leave where there are too many, or they are too large', async () => {
  const disk = memoryDisk()
  const { archive } = archiveOn(disk, { eventsMax: 2 })
  for (const id of [1, 2, 3]) await keep(archive, disk, id)
  assert.deepEqual(
    [...archive.events()].map(({ id }) => id),
    [2, 3],
  )
  assert.equal(archive.removed, 1)
  const small = archiveOn(disk, { bytesMax: 1 })
  await small.archive.open()
  assert.deepEqual(
    [...small.archive.events()].map(({ id }) => id),
    [3],
    'the newest stays',
  )
  assert.deepEqual([...disk.files.keys()], [`${DIR}/3.bin`, `${DIR}/3.json`])
})

test('on a full disk the oldest event makes room; where that is not enough, nothing is left of the event', async () => {
  const disk = memoryDisk()
  const { archive } = archiveOn(disk)
  await keep(archive, disk, 1)
  const one = [...disk.files.values()].reduce((sum, { byteLength }) => sum + byteLength, 0)
  // Room for the file of the second event, and not for its note.
  const dataBytes = disk.files.get(`${DIR}/1.bin`)?.byteLength ?? 0
  disk.bytesMax = one + dataBytes
  await keep(archive, disk, 2)
  assert.deepEqual(
    [...archive.events()].map(({ id }) => id),
    [2],
  )
  disk.bytesMax = one + 10
  await assert.rejects(keep(archive, disk, 3), { code: 'ENOSPC' })
})

property('whatever lies in the folder, it opens, and lists nothing that does not hold', 200, async (random) => {
  const disk = memoryDisk()
  const { archive } = archiveOn(disk)
  for (const id of [1, 2]) await keep(archive, disk, id)
  const paths = [...disk.files.keys()]
  const path = random.pick(paths)
  const whole = disk.files.get(path) ?? new Uint8Array(0)
  const bytes = whole.slice(0, random.integer(0, whole.byteLength))
  for (let i = 0; i < 4 && bytes.byteLength > 0; i++)
    bytes[random.integer(0, bytes.byteLength - 1)] = random.integer(0, 255)
  disk.files.set(path, bytes)
  const again = archiveOn(disk)
  await again.archive.open()
  for (const { id, startMs } of again.archive.events()) {
    assert.ok(Number.isFinite(startMs) && (id === 1 || id === 2))
    await again.archive.indexOf(id).catch((error: { code: string }) => assert.equal(error.code, 'TRB_NOTE'))
  }
})
