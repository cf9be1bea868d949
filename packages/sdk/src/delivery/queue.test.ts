import assert from 'node:assert/strict'
import { test } from 'node:test'
import { batchOf, hang, OK, Rig, range } from '../../test/delivery-rig.ts'
import { sondeError } from '../../test/helper.ts'
import { settle } from '../../test/simulated-timers.ts'
import { MemoryQueue } from './memory-queue.ts'
import type { AppendResult, DurableQueue as Durable, TakenEntries } from './queue.ts'

/** Acknowledges at once, as a queue on disk does when it has written. */
class DurableQueue extends MemoryQueue {
  readonly durable: Durable = {
    unwrittenBytes: 0,
    unwrittenLimitBytes: 1,
    hanging: '',
    attach: () => undefined,
    lastPage: () => Promise.resolve(0n),
    skip: () => undefined,
    finishNow: () => undefined,
    giveUp: () => undefined,
  }
  override append(batch: Parameters<MemoryQueue['append']>[0]): Promise<AppendResult> {
    void super.append(batch)
    return Promise.resolve('kept')
  }
}

test('a queue that cannot keep a batch has it counted as dropped', async () => {
  class FailingQueue extends MemoryQueue {
    override append(): Promise<AppendResult> {
      return Promise.reject(new Error('disk full'))
    }
  }
  const rig = new Rig({ queue: new FailingQueue() })
  rig.sink.accept(rig.batch(3))
  await settle()
  rig.checkBalance()
  await assert.rejects(rig.sink.flush(), sondeError('DLV_LOST', /disk full/))
  assert.deepEqual([rig.dropped, rig.sink.stats.errors], [{ queue_failed: 3 }, 1])
})

test('a queue that outlives the process keeps what is left at close, and flush does not wait for the far end', async () => {
  const rig = new Rig({ queue: new DurableQueue() })
  rig.answer = hang
  rig.accept(3)
  await rig.advance(1)
  await rig.sink.flush()
  const closed = rig.sink.close()
  await rig.advance(3000)
  await closed
  assert.deepEqual([rig.sink.queuedRecords, rig.dropped], [3, {}])
})

test('what an earlier process left in a queue is sent without further ado, before what is new', async () => {
  const queue = new DurableQueue()
  void queue.append(batchOf(range(100, 103)))
  const rig = new Rig({ queue })
  rig.checkBalance()
  rig.accept(1)
  await rig.advance(1)
  assert.deepEqual([rig.taken, rig.sink.stats.in, rig.sink.queuedRecords], [[100, 101, 102, 0], 4, 0])
})

test('records that a queue cannot read back are counted as dropped, and those behind them go on', async () => {
  class TornQueue extends MemoryQueue {
    override async take(recordsMax: number, bytesMax: number): Promise<TakenEntries> {
      const { entries } = await super.take(recordsMax, bytesMax)
      const [torn, ...sound] = entries
      if (torn?.id !== 0) return { entries, unreadableRecords: 0 }
      this.leave(torn, torn.batch.count)
      return { entries: sound, unreadableRecords: torn.batch.count }
    }
  }
  const rig = new Rig({ queue: new TornQueue(), lingerMs: 10 })
  for (const count of [5, 2]) rig.accept(count)
  await rig.advance(10)
  assert.deepEqual([rig.taken, rig.dropped], [[5, 6], { queue_unreadable: 5 }])
})

test('a queue that cannot be read for a while is asked again after a pause', async () => {
  let asked = 0
  class BusyQueue extends MemoryQueue {
    override take(recordsMax: number, bytesMax: number): Promise<TakenEntries> {
      return ++asked < 4 ? Promise.reject(new Error('input/output error')) : super.take(recordsMax, bytesMax)
    }
  }
  const rig = new Rig({ queue: new BusyQueue(), backoffInitialMs: 100 })
  rig.accept(2)
  await rig.advance(299)
  assert.deepEqual([asked, rig.sink.failing, rig.sink.queuedRecords], [3, 'input/output error', 2])
  await rig.advance(1)
  assert.deepEqual(rig.taken, [0, 1])
})

test('a queue that hangs does not keep close from ending within closeTimeoutMs', async () => {
  class HangingQueue extends MemoryQueue {
    override take(): Promise<TakenEntries> {
      return new Promise(() => undefined)
    }
    override close(): Promise<void> {
      return new Promise(() => undefined)
    }
  }
  const rig = new Rig({ queue: new HangingQueue(), closeTimeoutMs: 500 })
  rig.answer = () => OK
  rig.accept(2)
  await rig.advance(1)
  const closed = rig.sink.close()
  await rig.advance(500)
  await closed
  assert.deepEqual(rig.dropped, { closed: 2 })
})

test('batches go back to their places, whatever the order in which they do', async () => {
  const queue = new MemoryQueue()
  for (let n = 0; n < 6; n++) void queue.append(batchOf([n]))
  const { entries } = await queue.take(6, 1e6)
  const [a, b, c, d, e, f] = entries
  assert.ok(a && b && c && d && e && f)
  queue.nack([e, b])
  queue.leave(c, c.batch.count)
  queue.nack([f, a, d])
  assert.deepEqual([queue.waitingRecords, queue.records], [5, 5])
  const again = await queue.take(6, 1e6)
  assert.deepEqual(
    again.entries.map(({ id }) => id),
    [0, 1, 3, 4, 5],
  )
})

test('gives up as many of the oldest batches as room is needed, never one that is taken', async () => {
  const queue = new MemoryQueue()
  for (let n = 0; n < 5; n++) void queue.append(batchOf(range(0, n + 1)))
  await queue.take(1, 1e6)
  assert.equal(queue.evict(272 + 1), 2 + 3)
  assert.equal(queue.evict(0), 0)
  assert.equal(queue.evict(Number.POSITIVE_INFINITY), 4 + 5)
  assert.deepEqual([queue.records, queue.waitingRecords, queue.waitingBytes, queue.bytes], [1, 0, 0, 264])
})
