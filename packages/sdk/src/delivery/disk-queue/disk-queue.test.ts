import assert from 'node:assert/strict'
import { appendFileSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { range, retry } from '../../../test/delivery-rig.ts'
import { durableRig } from '../../../test/durable-rig.ts'
import { type Ending, readFile, temporaryFolder } from '../../../test/files-rig.ts'
import { sondeError, until } from '../../../test/helper.ts'
import { settled } from '../../../test/tested-sink.ts'

test('records of an earlier process are sent first, in order, each once', async (t) => {
  const queueDir = temporaryFolder(t)
  const first = durableRig(t, { queueDir, closeTimeoutMs: 20 })
  first.answer = () => retry('away')
  for (let n = 0; n < 20; n++) first.accept(100)
  await first.sink.flush()
  await first.sink.close()
  assert.deepEqual([first.sink.queuedRecords, first.dropped], [2000, {}])
  const second = durableRig(t, { queueDir, serial: 2000 })
  second.accept(50)
  await second.drained()
  assert.deepEqual(second.taken, range(0, 2050))
  assert.deepEqual([second.sink.stats.in, second.sink.stats.out], [2050, 2050])
})

test('a queue whose records have all arrived leaves no segment', async (t) => {
  const queueDir = temporaryFolder(t)
  const rig = durableRig(t, { queueDir })
  for (let n = 0; n < 5; n++) rig.accept(10)
  await rig.drained()
  await rig.sink.close()
  assert.deepEqual(rig.taken, range(0, 50))
  assert.deepEqual(readdirSync(queueDir).sort(), ['.cursor', '.lock'])
})

test('a second queue is refused the folder of the first, and gets it when the first is closed', async (t) => {
  const queueDir = temporaryFolder(t)
  const first = durableRig(t, { queueDir })
  first.accept(1)
  await first.drained()
  let nowMs = 0
  const second = durableRig(t, { queueDir, nowMs: () => nowMs })
  second.accept(3)
  await assert.rejects(
    second.sink.flush(),
    sondeError('DLV_LOST', /3 queue_failed: the queue in .* is in use by another/),
  )
  assert.match(second.sink.failing, /is in use by another process/)
  await first.sink.close()
  nowMs += 10_000
  second.accept(2)
  await second.drained()
  assert.deepEqual([second.taken, second.dropped], [[3, 4], { queue_failed: 3 }])
})

test('a torn end is cut, and everything before it is sent', async (t) => {
  const queueDir = temporaryFolder(t)
  await leave(t, queueDir, 10)
  const [name = ''] = segmentsOf(queueDir)
  appendFileSync(join(queueDir, name), readFileSync(join(queueDir, name)).subarray(64, 64 + 100))
  const { size } = statSync(join(queueDir, name))
  const rig = durableRig(t, { queueDir, serial: 10 })
  rig.accept(1)
  await rig.drained()
  assert.deepEqual([rig.taken, rig.dropped], [range(0, 11), {}])
  assert.ok(size > 0 && rig.sink.stats.errors > 0)
})

test('a file that is no segment is set aside, and a damaged block costs its own records', async (t) => {
  const queueDir = temporaryFolder(t)
  await leave(t, queueDir, 10, 10, 10)
  const [name = ''] = segmentsOf(queueDir)
  const bytes = readFileSync(join(queueDir, name))
  // Eight bytes from the end lie in the records of the last block.
  const second = bytes.lastIndexOf('DTBK', bytes.lastIndexOf('DTBK', bytes.lastIndexOf('DTBK') - 1) - 1)
  bytes.writeUInt8(bytes.readUInt8(second + 64) ^ 1, second + 64)
  writeFileSync(join(queueDir, name), bytes)
  writeFileSync(join(queueDir, '0000000000000777.bin'), 'not a segment')
  symlinkSync('/etc/hostname', join(queueDir, '0000000000000888.bin'))
  const rig = durableRig(t, { queueDir, serial: 30 })
  rig.accept(5)
  await settled(rig.sink.flush())
  await until('the queue is empty', () => rig.sink.queuedRecords === 0)
  rig.checkBalance()
  assert.deepEqual(rig.taken, [...range(0, 10), ...range(20, 35)])
  assert.ok(readdirSync(queueDir).includes('0000000000000777.bin.unreadable'))
})

test('records that are too old are dropped, also while they are sent', async (t) => {
  let nowMs = 0
  const rig = durableRig(t, { queueDir: temporaryFolder(t), queueAgeMaxS: 60, nowMs: () => nowMs, closeTimeoutMs: 1 })
  rig.answer = () => retry('away')
  for (let n = 0; n < 4; n++) {
    rig.accept(10)
    await rig.sink.flush()
    nowMs += 10_000
    rig.queue.tick()
  }
  nowMs += 60_000
  await until('old records are dropped', () => {
    rig.queue.tick()
    rig.checkBalance()
    return (rig.dropped.queue_expired ?? 0) >= 30
  })
})

test('a full queue drops its oldest files, and never what is being sent', async (t) => {
  const rig = durableRig(t, { queueDir: temporaryFolder(t), queueLimitBytes: 1 << 20, batchBytesMax: 65_536 })
  rig.answer = () => retry('away')
  for (let n = 0; n < 300; n++) {
    rig.accept(1000)
    if (n % 10 === 0) await rig.sink.flush().catch(() => undefined)
  }
  await rig.sink.flush().catch(() => undefined)
  const { queue_full = 0 } = rig.dropped
  assert.ok(queue_full > 0 && rig.queue.bytes <= (1 << 20) + 65_536)
  rig.answer = () => ({ outcome: 'ok' })
  await until('the queue is empty', () => rig.sink.queuedRecords === 0)
  assert.equal(rig.taken.length + queue_full, 300_000)
  assert.deepEqual(rig.taken.slice(-1000), range(299_000, 300_000))
  assert.deepEqual(
    rig.taken,
    rig.taken.toSorted((a, b) => a - b),
  )
})

test('a page that comes again is recognised, by the same process and by the next', async (t) => {
  const queueDir = temporaryFolder(t)
  const first = durableRig(t, { queueDir })
  for (const sequence of [1n, 2n]) first.accept(10, { page: { client: 7n, sequence } })
  await first.drained()
  assert.equal(await first.sink.lastPage?.(7n), 2n)
  first.accept(10, { page: { client: 7n, sequence: 2n } })
  first.sink.skip?.({ client: 7n, sequence: 3n })
  await first.drained()
  assert.equal(first.sink.stats.duplicates, 10)
  await first.sink.close()
  const second = durableRig(t, { queueDir, serial: 30 })
  assert.equal(await second.sink.lastPage?.(7n), 3n)
  second.accept(10, { page: { client: 7n, sequence: 3n } })
  second.accept(10, { page: { client: 7n, sequence: 4n } })
  await second.drained()
  assert.deepEqual([second.taken, second.sink.stats.duplicates], [range(40, 50), 10])
})

test('refused records are kept with the reason, and can be sent again', async (t) => {
  const [queueDir, deadLetters] = [temporaryFolder(t), temporaryFolder(t)]
  const rig = durableRig(t, { queueDir, deadLetters, batchRecordsMax: 10 })
  rig.answer = (serials) => ({
    outcome: 'partial',
    refused: serials.flatMap((serial, record) =>
      serial % 5 === 0 ? [{ batch: 0, records: [record, record, 99], reason: `no ${serial % 10}` }] : [],
    ),
  })
  rig.accept(20)
  await until('the queue is empty', () => rig.sink.queuedRecords === 0)
  assert.deepEqual([rig.sink.stats.out, rig.dropped], [16, { rejected: 4 }])
  await rig.sink.close()
  const batches = segmentsOf(deadLetters).flatMap((name) => readFile(join(deadLetters, name)).batches)
  const reasons = batches.flatMap(({ records }) =>
    records.flatMap(({ reason }) => (reason === undefined ? [] : [reason])),
  )
  assert.deepEqual(reasons, ['no 0', 'no 5', 'no 0', 'no 5'])
  const again = durableRig(t, { queueDir: deadLetters })
  await again.drained()
  await until('everything is sent', () => again.sink.stats.in > 0 && again.sink.queuedRecords === 0)
  assert.deepEqual([again.taken, again.dropped], [[0, 5, 10, 15], { not_encoded: 4 }])
})

/** Leaves batches of so many records in a queue. */
async function leave(t: Ending, queueDir: string, ...counts: readonly number[]): Promise<void> {
  const rig = durableRig(t, { queueDir })
  rig.answer = () => retry('away')
  for (const count of counts) rig.accept(count)
  await rig.sink.flush()
  await rig.sink.close()
}

function segmentsOf(folder: string): string[] {
  return readdirSync(folder).filter((name) => name.endsWith('.bin'))
}
