import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TracebackEvent } from '@sonde/sdk/api'
import { property } from '../../../../sdk/test/helper.ts'
import { Archive } from './archive.ts'
import { EventFile } from './event-file.ts'
import type { KeptIndex } from './kept-index.ts'
import { SeriesBook } from './series-book.ts'
import { memoryDisk } from './test-disk.ts'
import { levelBatch, levelType, TIME_NS } from './test-records.ts'

const DIR = '/events'
const SOURCE = { id: 'traceback', tag: '', labels: {}, schema: '', host: 'h', pid: 1, version: '' }
const INDEX = { parts: [], blocks: [], series: [], listed: [], leftOut: [] }

function archiveOn(disk: ReturnType<typeof memoryDisk>, limits: { bytesMax?: number; eventsMax?: number } = {}) {
  const told: string[] = []
  const log = { warn: (_facts: object, message: string) => void told.push(message) }
  const { bytesMax = 2 ** 40, eventsMax = 10_000 } = limits
  return { told, archive: new Archive({ dir: DIR, disk, bytesMax, eventsMax, log }) }
}

function eventOf(id: number, sizeBytes: number, client?: string): TracebackEvent {
  const texts = { rule: 'r', condition: '', device: 'd', source: 's', end: 'cleared' } as const
  const times = { startMs: id, endMs: id + 1, errorMs: 0 }
  const whose = client === undefined ? {} : { client }
  return { id, ...texts, ...whose, ...times, samples: 0, leftOut: 0, sizeBytes, isSimulated: false }
}

function filesOf(disk: ReturnType<typeof memoryDisk>, id: number): string[] {
  return [...disk.files.keys()].filter((path) => path.startsWith(`${DIR}/${id}.`))
}

/** Keeps an event with some records, or remembers it where that fails. */
async function keep(
  archive: Archive,
  disk: ReturnType<typeof memoryDisk>,
  id: number,
  client?: string,
  index: KeptIndex = INDEX,
): Promise<void> {
  const book = new SeriesBook(TIME_NS)
  const file = new EventFile({
    ...{ disk, source: SOURCE, book, createdMs: 0 },
    path: archive.partPath(id),
    ready: () => archive.ready(),
  })
  const part = book.partOf({
    source: 's',
    owner: {},
    isOwn: true,
    type: levelType,
    isRing: true,
    labels: {},
    periodMs: 0,
  })
  try {
    await file.append(part, levelBatch(20))
    await archive.keep(eventOf(id, file.finalBytes, client), index, file)
  } catch (error) {
    await archive.remember(eventOf(id, 0, client), file)
    assert.equal(file.isOpen, false)
    throw error
  }
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
  assert.deepEqual(again.archive.byStart, archive.byStart)
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
    [...archive.byStart].map(({ id }) => id),
    [2, 3],
  )
  assert.equal(archive.removed, 1)
  const small = archiveOn(disk, { bytesMax: 1 })
  await small.archive.open()
  assert.deepEqual(
    [...small.archive.byStart].map(({ id }) => id),
    [3],
    'the newest stays',
  )
  assert.deepEqual([...disk.files.keys()], [`${DIR}/3.bin`, `${DIR}/3.json`])
})

test('events of clients push out none of the agent, and the client with most loses first', async () => {
  const disk = memoryDisk()
  const { archive } = archiveOn(disk, { eventsMax: 10 })
  for (const id of [1, 2, 3, 4, 5]) await keep(archive, disk, id)
  for (let id = 10; id < 40; id++) await keep(archive, disk, id, '7')
  await keep(archive, disk, 50, '8')
  for (let id = 60; id < 70; id++) await keep(archive, disk, id, '7')
  const left = (from: typeof archive) => from.byStart.map(({ id, client }) => `${client ?? 'own'} ${id}`)
  const wanted = ['own 1', 'own 2', 'own 3', 'own 4', 'own 5', '8 50', '7 66', '7 67', '7 68', '7 69']
  assert.deepEqual(left(archive), wanted)
  assert.equal(archive.removed, 46 - 10)
  const again = archiveOn(disk, { eventsMax: 10 })
  await again.archive.open()
  await keep(again.archive, disk, 70, '7')
  assert.deepEqual(left(again.archive), [...wanted.filter((one) => one !== '7 66'), '7 70'], 'also after a restart')
})

test('on a full disk an event of a client makes room for itself by events of clients alone', async () => {
  const disk = memoryDisk()
  const { archive } = archiveOn(disk)
  await keep(archive, disk, 1)
  await keep(archive, disk, 2, '7')
  // Room for the file of another event, and not for its note.
  const used = [...disk.files.values()].reduce((sum, { byteLength }) => sum + byteLength, 0)
  disk.bytesMax = used + (disk.files.get(`${DIR}/2.bin`)?.byteLength ?? 0)
  await keep(archive, disk, 3, '8')
  assert.deepEqual(
    archive.byStart.map(({ id }) => id),
    [1, 3],
  )
  await keep(archive, disk, 4, '9')
  assert.deepEqual(
    archive.byStart.map(({ id }) => id),
    [1, 4],
  )
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
    [...archive.byStart].map(({ id }) => id),
    [2],
  )
  disk.bytesMax = one + 10
  await assert.rejects(keep(archive, disk, 3), { code: 'ENOSPC' })
  assert.deepEqual(filesOf(disk, 3), [])
})

test('an event whose note cannot be written leaves no file on disk, and is listed without samples', async () => {
  const disk = memoryDisk()
  const { archive } = archiveOn(disk)
  const index = { ...INDEX, listed: [1n] } as never
  await assert.rejects(keep(archive, disk, 1, undefined, index), TypeError)
  assert.deepEqual(filesOf(disk, 1), [])
  assert.deepEqual(
    archive.byStart.map(({ id, sizeBytes }) => [id, sizeBytes]),
    [[1, 0]],
  )
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
  for (const { id, startMs } of again.archive.byStart) {
    assert.ok(Number.isFinite(startMs) && (id === 1 || id === 2))
    await again.archive.indexOf(id).catch((error: { code: string }) => assert.equal(error.code, 'TRB_NOTE'))
  }
})

test('an event of another thread is listed if there is room for it, and removed if not', async () => {
  const disk = memoryDisk()
  const { archive } = archiveOn(disk, { eventsMax: 3 })
  await keep(archive, disk, 5)
  await keep(archive, disk, 6)
  // The thread has the folder, but not its lock.
  const { archive: other } = archiveOn(disk)
  for (const id of [1, 2]) await keep(other, disk, id)
  assert.deepEqual([await archive.adopt(1), await archive.adopt(2)], [true, false])
  assert.deepEqual(
    archive.byStart.map(({ id }) => id),
    [1, 5, 6],
  )
  assert.deepEqual([filesOf(disk, 1).length, filesOf(disk, 2).length], [2, 0])
})

test('unfinished files of earlier numbers are removed; those of events that are written stay', async () => {
  const disk = memoryDisk()
  const { archive } = archiveOn(disk)
  for (const id of [1, 9]) await keep(archive, disk, id)
  const unfinished = ['2.bin.part', '3.bin', '4.json.part'].map((name) => `${DIR}/${name}`)
  const written = ['10.bin.part', '8.bin.part', '7.bin'].map((name) => `${DIR}/${name}`)
  for (const path of [...unfinished, ...written]) disk.files.set(path, new Uint8Array(9))
  await archive.removeUnfinished(9, (id) => id === 8 || id === 7)
  for (const path of unfinished) assert.equal(disk.files.has(path), false, path)
  for (const path of written) assert.ok(disk.files.has(path), path)
  assert.equal(disk.files.size, 7)
})
