import assert from 'node:assert/strict'
import { appendFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { range, retry } from '../../../test/delivery-rig.ts'
import { durableRig } from '../../../test/durable-rig.ts'
import { temporaryFolder } from '../../../test/files-rig.ts'
import { sondeError, until } from '../../../test/helper.ts'
import { checkQueue, repairQueue } from './check-queue.ts'

test('the ledger of a folder holds across processes, and says what was dropped', async (t) => {
  const queueDir = temporaryFolder(t)
  const first = durableRig(t, { queueDir, batchRecordsMax: 10 })
  first.answer = ([serial = 0]) => (serial === 10 ? { outcome: 'reject', reason: 'no' } : { outcome: 'ok' })
  for (let n = 0; n < 5; n++) first.accept(10)
  await until('the queue is empty', () => first.sink.queuedRecords === 0)
  await first.sink.close()
  const second = durableRig(t, { queueDir })
  second.answer = () => retry()
  second.accept(7)
  await second.sink.flush()
  const { faults, ...ledger } = await checkQueue(queueDir)
  assert.deepEqual(faults, [])
  assert.deepEqual(ledger, { segments: 1, in: 57, out: 40, dropped: 10, queued: 7, unreadable: 0, repaired: [] })
  await assert.rejects(repairQueue(queueDir), sondeError('QUE_LOCKED'))
})

test('a torn end, a foreign file and a missing file are found; a repair leaves only what is lost', async (t) => {
  const queueDir = temporaryFolder(t)
  for (let n = 0; n < 3; n++) {
    const rig = durableRig(t, { queueDir })
    rig.answer = () => retry()
    rig.accept(10)
    await rig.sink.flush()
    await rig.sink.close()
  }
  const [, second = '', third = ''] = readdirSync(queueDir).filter((name) => name.endsWith('.bin'))
  rmSync(join(queueDir, second))
  appendFileSync(join(queueDir, third), 'DTBK')
  writeFileSync(join(queueDir, '0000000000000099.bin'), 'no segment')
  const found = await checkQueue(queueDir)
  assert.deepEqual([found.in >= 30, found.faults.length >= 3], [true, true], found.faults.join('\n'))
  const { faults, repaired, ...ledger } = await repairQueue(queueDir)
  assert.deepEqual(ledger, { segments: 2, in: 30, out: 0, dropped: 0, queued: 30, unreadable: 10 })
  assert.match(faults.join(), /^10 records before .* are missing$/)
  assert.match(repaired.join(), /\.unreadable.*the last 4 bytes were no whole block/)
  const rig = durableRig(t, { queueDir })
  await until('everything is sent', () => rig.sink.stats.in > 0 && rig.sink.queuedRecords === 0)
  assert.deepEqual([rig.taken.length, rig.dropped], [20, { queue_unreadable: 10 }])
})

test('the ledger of a folder counts what arrived of a batch that was refused in part', async (t) => {
  const queueDir = temporaryFolder(t)
  const rig = durableRig(t, { queueDir })
  rig.answer = () => ({ outcome: 'partial', refused: [{ batch: 0, records: [2, 3, 7], reason: 'no' }] })
  rig.accept(10)
  await until('the queue is empty', () => rig.sink.queuedRecords === 0)
  await rig.sink.close()
  assert.deepEqual([rig.sink.stats.out, rig.dropped], [7, { rejected: 3 }])
  const { in: records, out, dropped } = await checkQueue(queueDir)
  assert.deepEqual([records, out, dropped], [10, 7, 3])
})

test('a renamed file that overlaps its neighbour is reported, and the hidden records are not sent', async (t) => {
  const queueDir = temporaryFolder(t)
  for (let n = 0; n < 3; n++) {
    const rig = durableRig(t, { queueDir, serial: n * 10 })
    rig.answer = () => retry()
    rig.accept(10)
    await rig.sink.flush()
    await rig.sink.close()
  }
  renameSync(join(queueDir, '0000000000000010.bin'), join(queueDir, '0000000000000005.bin'))
  const { faults } = await checkQueue(queueDir)
  assert.match(faults.join(), /^5 records before .*0000000000000005\.bin overlap it, and are not sent,5 records before/)
  const rig = durableRig(t, { queueDir })
  const failures: string[] = []
  rig.answer = () => {
    failures.push(rig.sink.failing)
    return { outcome: 'ok' }
  }
  await until('everything is sent', () => rig.sink.stats.in > 0 && rig.sink.queuedRecords === 0)
  assert.deepEqual(rig.taken, [...range(0, 5), ...range(10, 30)])
  assert.deepEqual(rig.dropped, { queue_unreadable: 5 })
  assert.match(failures.join(), /the last 5 records of .*0000000000000000\.bin overlap the next file/)
})
