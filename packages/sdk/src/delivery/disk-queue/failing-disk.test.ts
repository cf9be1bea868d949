// A disk below a queue that is full or hangs, while the far end is away.
import assert from 'node:assert/strict'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { range, retry } from '../../../test/delivery-rig.ts'
import { durableRig } from '../../../test/durable-rig.ts'
import { temporaryFolder } from '../../../test/files-rig.ts'
import { sondeError, until } from '../../../test/helper.ts'
import { fillDisk, smallDisk } from '../../../test/small-disk.ts'
import { checkQueue } from './check-queue.ts'

/** Files of 128 KiB; the disk is full before the queue is. */
const SMALL_FILES = { queueLimitBytes: 2 << 20 }
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

function segmentsIn(folder: string): number {
  return readdirSync(folder).filter((name) => name.endsWith('.bin')).length
}
