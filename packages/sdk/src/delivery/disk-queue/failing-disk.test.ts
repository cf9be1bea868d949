// A disk below a queue that is full or hangs, while the far end is away.
import assert from 'node:assert/strict'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { batchOf, range, retry } from '../../../test/delivery-rig.ts'
import { durableRig } from '../../../test/durable-rig.ts'
import { FaultyDisk, noSpace } from '../../../test/faulty-disk.ts'
import { temporaryFolder } from '../../../test/files-rig.ts'
import { sondeError, until } from '../../../test/helper.ts'
import { settle } from '../../../test/simulated-timers.ts'
import { fillDisk, smallDisk } from '../../../test/small-disk.ts'
import type { OnLoss } from '../ledger.ts'
import { checkQueue } from './check-queue.ts'

/** Files of 128 KiB; the disk is full before the queue is. */
const SMALL_FILES = { queueLimitBytes: 2 << 20 }
const CLOSE_LIMIT_MS = 5000
const NO_MOUNT = 'this user may not mount a small disk'

test('a disk that others fill during an outage: losses are counted and told, others go on, and the rest arrives', async (t) => {
  const disk = smallDisk(t, 1024)
  if (disk === undefined) return t.skip(NO_MOUNT)
  const queueDir = join(disk, 'queue')
  let nowMs = 0
  const told: string[] = []
  const onLoss = (loss: { readonly reason: string }) => void told.push(loss.reason)
  const rig = durableRig(t, { queueDir, nowMs: () => nowMs, onLoss })
  const neighbour = durableRig(t, { queueDir: temporaryFolder(t) })
  rig.answer = () => retry('away')
  for (let n = 0; n < 10; n++) rig.accept(100)
  await rig.sink.flush()

  fillDisk(join(disk, 'ballast'))
  rig.accept(5000)
  neighbour.accept(5000)
  await assert.rejects(rig.sink.flush(), sondeError('DLV_LOST', /5000 queue_failed: .*(ENOSPC|wrote less)/))
  await neighbour.drained()
  assert.match(rig.sink.failing, /ENOSPC|wrote less|away/)
  assert.deepEqual([rig.dropped, rig.sink.queuedRecords], [{ queue_failed: 5000 }, 1000])
  await until('the loss is told', () => told.length > 0)

  // The far end is back before the disk has room: what was sent leaves the disk.
  rig.answer = () => ({ outcome: 'ok' })
  await until('the queue is sent', () => rig.sink.queuedRecords === 0)
  rmSync(join(disk, 'ballast'))
  nowMs += 1000
  rig.accept(100)
  await rig.drained()
  assert.deepEqual(rig.taken, [...range(0, 1000), ...range(6000, 6100)])
  await rig.sink.close()
  assert.deepEqual((await checkQueue(queueDir)).faults, [])
  assert.deepEqual([new Set(told), neighbour.taken.length], [new Set(['queue_failed']), 5000])
})

test('a queue that fills its own disk empties it again once the far end is back', async (t) => {
  const disk = smallDisk(t, 1024)
  if (disk === undefined) return t.skip(NO_MOUNT)
  const queueDir = join(disk, 'queue')
  let nowMs = 0
  const rig = durableRig(t, { ...SMALL_FILES, queueDir, nowMs: () => nowMs })
  rig.answer = () => retry('away')
  for (let n = 0; n < 30; n++) {
    rig.accept(10_000)
    await rig.sink.flush().catch(() => undefined)
    nowMs += 1000
  }
  const { queue_failed = 0 } = rig.dropped
  assert.ok(queue_failed > 0 && rig.sink.queuedRecords > 0)
  await rig.sink.close()
  fillDisk(join(disk, 'ballast'))

  // Neither is there room for the process after it.
  const next = durableRig(t, { ...SMALL_FILES, queueDir, nowMs: () => nowMs })
  await until('the queue is sent', () => next.sink.stats.in > 0 && next.sink.queuedRecords === 0)
  assert.equal(next.taken.length + queue_failed, 300_000)
  await until('only the newest file is left', () => segmentsIn(queueDir) <= 1)
  nowMs += 1000
  next.accept(10)
  await next.drained()
  assert.deepEqual([next.dropped, next.taken.length + queue_failed], [{}, 300_010])
  await next.sink.close()
  assert.deepEqual((await checkQueue(queueDir)).faults, [])
})

test('a disk that hangs: others go on, close ends in time, and the loss is counted and told', async (t) => {
  const queueDir = temporaryFolder(t)
  const disk = FaultyDisk.of(t, queueDir)
  const told: string[] = []
  const onLoss: OnLoss = ({ reason, records_total }) => void told.push(`${reason} ${records_total}`)
  const rig = durableRig(t, { queueDir, onLoss, closeTimeoutMs: 200 })
  const neighbour = durableRig(t, { queueDir: temporaryFolder(t) })
  rig.answer = () => retry('away')
  rig.accept(100)
  await rig.sink.flush()

  disk.write = 'hangs'
  for (let n = 0; n < 20; n++) {
    rig.sink.accept(batchOf(range(0, 100_000)))
    await settle()
    rig.checkBalance()
  }
  await until('records that find no memory are dropped', () => (rig.dropped.queue_failed ?? 0) > 0)
  assert.ok(rig.queue.unwrittenBytes > 0 && rig.queue.unwrittenBytes <= rig.queue.unwrittenLimitBytes)
  assert.match(rig.sink.causeOf?.('queue_failed') ?? '', /is slower than the records/)
  assert.notEqual(rig.sink.ready?.(), undefined, 'those that can wait do')
  for (let n = 0; n < 20; n++) neighbour.accept(100)
  await neighbour.drained()
  assert.equal(neighbour.taken.length, 2000)

  const startMs = performance.now()
  await rig.sink.close()
  assert.ok(performance.now() - startMs < CLOSE_LIMIT_MS)
  rig.checkBalance()
  assert.deepEqual([rig.dropped, rig.sink.queuedRecords], [{ queue_failed: 2_000_000 }, 100])
  assert.equal(told.at(-1), 'queue_failed 2000000')
  disk.answer()
  // Nothing is given to the next queue: it finds the folder free by itself.
  let nowMs = 0
  const next = durableRig(t, { queueDir, nowMs: () => nowMs })
  await until('the next queue has the folder', () => {
    nowMs += 5000
    next.queue.tick()
    return next.taken.length >= 100
  })
  rig.checkBalance()
})

test('a disk that takes writes but no sync says so, and loses nothing', async (t) => {
  const queueDir = temporaryFolder(t)
  const disk = FaultyDisk.of(t, queueDir)
  const rig = durableRig(t, { queueDir })
  rig.answer = () => retry('away')
  disk.sync = noSpace('fdatasync')
  rig.accept(100)
  await rig.sink.flush()
  const failures: string[] = []
  await until('the error is told', () => {
    rig.queue.tick()
    failures.push(rig.sink.failing)
    return failures.some((failing) => /ENOSPC.*fdatasync/.test(failing))
  })
  rig.answer = () => ({ outcome: 'ok' })
  rig.accept(100)
  await rig.drained()
  assert.deepEqual([rig.taken, rig.dropped], [range(0, 200), {}])
})

function segmentsIn(folder: string): number {
  return readdirSync(folder).filter((name) => name.endsWith('.bin')).length
}
