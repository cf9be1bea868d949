import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FULL_BATCHES, hang, OK, Rig, SMALL } from '../../test/delivery-rig.ts'
import { type Batch, createSource, lossType, readRecords, viewsOf } from '../index.ts'
import type { LossRecord } from './ledger.ts'

test('tells losses as totals, at most once a second and reason, the rest when it closes', async () => {
  const losses: LossRecord[] = []
  const rig = new Rig({ ...SMALL, queuePolicy: 'drop_newest', onLoss: (loss) => void losses.push(loss) })
  rig.answer = hang
  const told = () => losses.splice(0).map(({ component, reason, records_total }) => [component, reason, records_total])
  for (let n = 0; n < FULL_BATCHES + 5; n++) rig.accept(100)
  rig.accept(9000)
  assert.deepEqual(told(), [])
  await rig.advance(1000)
  assert.deepEqual(told(), [
    ['test', 'queue_full', 500],
    ['test', 'too_large', 9000],
  ])
  await rig.advance(2000)
  assert.deepEqual(told(), [])
  rig.accept(100)
  const closed = rig.sink.close()
  await rig.advance(3000)
  await closed
  const last = told()
  assert.deepEqual(last.slice(0, 1), [['test', 'queue_full', 600]])
  assert.deepEqual(last.at(-1), ['test', 'closed', rig.dropped.closed])
})

test('a hook for losses that throws harms nothing', async () => {
  const rig = new Rig({
    encode: () => undefined,
    onLoss: () => {
      throw new Error('no')
    },
  })
  rig.accept(1)
  await rig.advance(1000)
  assert.deepEqual([rig.dropped, rig.sink.stats.errors], [{ not_encoded: 1 }, 1])
})

test('losses can be sent with the records, so that who reads those sees the gap', async () => {
  const told: unknown[] = []
  const encode = (batches: readonly Batch[]) => {
    for (const { type, bytes, count, symbols } of batches) {
      if (type !== lossType) continue
      const records = readRecords(lossType, viewsOf(bytes), count, symbols)
      for (const { component, reason, records_total } of records) told.push([component, reason, records_total])
    }
    return batches.map(({ count }) => count)
  }
  const onLoss = (loss: LossRecord) => {
    self.report(lossType, loss)
    self.flush()
  }
  const rig = new Rig({ ...SMALL, queuePolicy: 'drop_newest', encode, onLoss })
  const self = createSource({ id: 'self', emit: (batch) => rig.sink.accept(batch) })
  rig.answer = hang
  for (let n = 0; n < FULL_BATCHES + 5; n++) rig.accept(100)
  rig.answer = () => OK
  await rig.advance(60_000)
  assert.deepEqual(told, [['test', 'queue_full', 500n]])
  assert.equal(rig.sink.queuedRecords, 0)
})

test('a loss of losses does not go on for ever: nothing is told, and no timer set, after close', async () => {
  let tellings = 0
  const rig = new Rig({
    onLoss: () => {
      tellings++
      rig.accept(1)
    },
  })
  const closed = rig.sink.close()
  await rig.advance(1)
  await closed
  rig.accept(1)
  await rig.advance(60_000)
  assert.deepEqual([tellings, rig.dropped, rig.timers.count], [0, { closed: 1 }, 0])
})
