import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { temporaryFolder } from '../../../test/files-rig.ts'
import { until } from '../../../test/helper.ts'
import { RemoteWritePeer } from '../../../test/remote-write-peer.ts'
import { SimulatedTimers } from '../../../test/simulated-timers.ts'
import { BatchSource, portType } from '../../../test/sink-records.ts'
import type { DeliverySink } from '../../delivery/delivery.ts'
import { droppedTotal } from '../../sink/sink.ts'
import type { RemoteWriteOptions } from './config.ts'
import { createRemoteWrite } from './remote-write.ts'

const STEP_MS = 20
const OLD = Array.from({ length: 20 }, (_, i) => `old${i}`)
const [METRIC] = portType.metrics.values()

async function open(t: TestContext, options: Partial<RemoteWriteOptions> = {}) {
  const [peer, timers, source] = [await RemoteWritePeer.start(t), new SimulatedTimers(), new BatchSource()]
  const make = () =>
    createRemoteWrite({
      ...{ url: peer.http.url, backlog: 'live_first', backlogBytesPerSecond: 1024, batchRecordsMax: 1 },
      ...{ lingerMs: 0, backoffInitialMs: 100, backoffMaxMs: 400, timers, ...options },
    })
  /** Devices in the order of their arrival. */
  const arrived = () => {
    const samples = peer.samples.filter(({ labels, value }) => labels.__name__ === METRIC && !Number.isNaN(value))
    return samples.map(({ labels }) => labels.device ?? '')
  }
  const pass = (what: string, sink: DeliverySink, isDone: () => boolean) =>
    until(what, async () => {
      await timers.advance(STEP_MS)
      checkLedger(sink)
      return isDone()
    })
  const report = (sink: DeliverySink, device: string) => sink.accept(source.ports({ [device]: 1 }))
  return { peer, timers, make, arrived, pass, report }
}

function checkLedger({ stats, queuedRecords }: DeliverySink): void {
  assert.equal(stats.in, stats.out + droppedTotal(stats) + queuedRecords, 'in = out + dropped + queued')
}

/** Closes a sink in small steps: if the clock outran the disk, the limit of closing would end before its queue. */
async function close(sink: DeliverySink, timers: SimulatedTimers): Promise<void> {
  let isClosed = false
  const closed = sink.close().then(() => {
    isClosed = true
  })
  await until('the sink is closed', async () => {
    await timers.advance(STEP_MS)
    return isClosed
  })
  await closed
}

test('after an outage a current record arrives before old ones, which come at a limited rate', async (t) => {
  const { peer, timers, make, arrived, pass, report } = await open(t)
  const sink = make()
  report(sink, 'before')
  await pass('the first record arrives', sink, () => arrived().includes('before'))
  await peer.http.behave('fails')
  report(sink, 'first')
  await pass('the far end fails', sink, () => sink.failing !== '')
  for (const device of OLD) report(sink, device)
  await timers.advance(200_000)
  checkLedger(sink)
  assert.deepEqual([sink.queuedRecords, arrived()], [1 + OLD.length, ['before']])
  await peer.http.behave('takes')
  await pass('both lanes are back', sink, () => arrived().includes('first') && sink.failing === '')
  report(sink, 'current')
  const startMs = timers.nowMs()
  await pass('everything arrives', sink, () => sink.queuedRecords === 0)
  const devices = arrived()
  assert.deepEqual([...devices].sort(), ['before', 'first', 'current', ...OLD].sort())
  const later = devices.slice(devices.indexOf('current') + 1)
  assert.ok(later.length > OLD.length / 2, `${later.length} old records came after the current one`)
  assert.ok(timers.nowMs() - startMs > 1000, 'the old records came at once')
  assert.deepEqual([sink.stats.in, sink.stats.out, sink.failing], [3 + OLD.length, 3 + OLD.length, ''])
  await close(sink, timers)
})

test('both lanes keep their records on disk through the end of a process', async (t) => {
  const queueDir = temporaryFolder(t)
  const { peer, timers, make, arrived, pass, report } = await open(t, { queueDir })
  await peer.http.behave('fails')
  const first = make()
  report(first, 'first')
  await pass('the far end fails', first, () => first.failing !== '')
  for (const device of OLD) report(first, device)
  // The clock of the test is faster than the disk.
  await first.flush()
  await close(first, timers)
  await peer.http.behave('takes')
  const second = make()
  report(second, 'current')
  await pass('everything arrives', second, () => new Set(arrived()).size === 2 + OLD.length)
  await pass('the queues are empty', second, () => second.queuedRecords === 0)
  assert.equal(droppedTotal(second.stats), 0)
  await close(second, timers)
})
