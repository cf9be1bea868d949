// Long outages and rate limits of each sink that sends over a network, on simulated time.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { FAR_ENDS } from '../../test/far-ends.ts'
import { cutRequest, FaultyWay, pass, silent, unread, type WayFault } from '../../test/faulty-way.ts'
import { temporaryFolder } from '../../test/files-rig.ts'
import { until } from '../../test/helper.ts'
import { SimulatedTimers, settle } from '../../test/simulated-timers.ts'
import { BatchSource } from '../../test/sink-records.ts'
import type { DeliverySink } from '../delivery/delivery.ts'
import { chars, counter, defineType, label, timestamp } from '../index.ts'
import { droppedTotal } from '../internal/index.ts'
import { wallNs } from '../source/clock.ts'

const OUTAGE_S = 600
const STEP_S = 4
/** What the far end does in each part of the outage. */
const TROUBLES: readonly WayFault[] = [silent, (client) => client.destroy(), cutRequest(10), unread]
const RECORDS_A_STEP = 200
const RECORDS = (OUTAGE_S / STEP_S) * RECORDS_A_STEP
/** After the first minute. */
const GROWTH_LIMIT_BYTES = 4 << 20
const RATE_BYTES_PER_S = 32_768
const BATCH = 100
const MS_NS = 1_000_000n
/** Bytes around the body of a request. */
const FRAME_BYTES = 1024

/** On disk 1 kB a record, and few bytes in a request. */
const blankType = defineType('outage_blank', 'A record of which most is empty', {
  time: timestamp(),
  device: label('Name of the port'),
  n_total: counter('u64', { help: 'Number of the record' }),
  blank: chars(1000),
})

function checkLedger({ stats, queuedRecords }: DeliverySink): void {
  assert.equal(stats.in, stats.out + droppedTotal(stats) + queuedRecords, 'in = out + dropped + queued')
}

/** Lets time pass until everything has arrived. `stepMs` is little beside the limit of an attempt. */
async function drain(sink: DeliverySink, timers: SimulatedTimers, stepMs: number, look: () => void): Promise<void> {
  await until('everything has arrived', async () => {
    await timers.advance(stepMs)
    checkLedger(sink)
    look()
    return sink.queuedRecords === 0
  })
}

async function close(sink: DeliverySink, timers: SimulatedTimers): Promise<void> {
  const closed = sink.close()
  await timers.advance(60_000)
  await closed
}

/** Memory that is in use; buffers of ended connections are freed some turns later. Unit: bytes. */
async function usedBytes(): Promise<number> {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc')
  for (let turn = 0; turn < 3; turn++) {
    collect()
    await settle()
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

describe('a far end that is away for ten minutes', () => {
  for (const [name, start] of Object.entries(FAR_ENDS)) {
    test(`${name}: every record arrives afterwards, in order; the ledger holds, and memory stays flat`, async (t) => {
      const farEnd = await start(t)
      const way = await FaultyWay.start(t, farEnd.port)
      const timers = new SimulatedTimers()
      const limits = { queueDir: temporaryFolder(t), timeoutMs: 60_000, queueLimitBytes: 64 << 20 }
      const sink = farEnd.open({ ...limits, port: way.port, timers })
      t.after(() => close(sink, timers))
      const source = new BatchSource()
      const given: string[] = []
      let firstMinuteBytes = 0
      for (let second = 0; second < OUTAGE_S; second += STEP_S) {
        way.fault = TROUBLES[Math.floor((second * TROUBLES.length) / OUTAGE_S)] ?? silent
        const device = `d${second}`
        // A series of remote write has one sample in a millisecond.
        const startNs = wallNs()
        const records = Array.from({ length: RECORDS_A_STEP }, (_, index) => ({
          ...{ time: startNs + BigInt(index) * MS_NS, device, n_total: second * RECORDS_A_STEP + index, blank: '' },
        }))
        sink.accept(source.batch(blankType, records))
        given.push(device)
        checkLedger(sink)
        await sink.flush()
        await timers.advance(STEP_S * 1000)
        checkLedger(sink)
        if (second === 60) firstMinuteBytes = await usedBytes()
      }
      const { stats } = sink
      assert.deepEqual([stats.out, stats.dropped.size, sink.queuedRecords], [0, 0, RECORDS])
      assert.notEqual(sink.failing, '')
      const grownBytes = (await usedBytes()) - firstMinuteBytes
      assert.ok(grownBytes < GROWTH_LIMIT_BYTES, `${grownBytes} bytes more, with ${sink.queuedBytes} on disk`)
      way.fault = pass
      way.break()
      await drain(sink, timers, 200, () => undefined)
      assert.deepEqual([stats.out, stats.dropped.size, sink.failing], [RECORDS, 0, ''])
      const arrived = farEnd.devices()
      assert.ok(arrived.length >= RECORDS)
      assert.deepEqual([...new Set(arrived)], given)
    })
  }
})

describe('a rate limit', { concurrency: true }, () => {
  for (const [name, start] of Object.entries(FAR_ENDS)) {
    test(`${name}: no more bytes a second are sent, and everything arrives`, async (t) => {
      const farEnd = await start(t)
      const way = await FaultyWay.start(t, farEnd.port)
      const timers = new SimulatedTimers()
      const rateBytesPerS = farEnd.isPacked === true ? RATE_BYTES_PER_S / 8 : RATE_BYTES_PER_S
      const rate = { rateLimitBytesPerSecond: rateBytesPerS, batchRecordsMax: BATCH, timeoutMs: 600_000 }
      const sink = farEnd.open({ ...rate, port: way.port, timers, lingerMs: 0 })
      t.after(() => close(sink, timers))
      const source = new BatchSource()
      const given = Array.from({ length: 20 * BATCH }, (_, index) => `d${index}`)
      for (let at = 0; at < given.length; at += BATCH)
        sink.accept(source.ports(Object.fromEntries(given.slice(at, at + BATCH).map((device) => [device, at]))))
      await drain(sink, timers, 50, () => {
        // A request is never split, so one is ahead of the limit; another may be on its way.
        const requests = sink.stats.out / BATCH + 2
        const aheadBytes = (2 * way.receivedBytes) / requests + requests * FRAME_BYTES
        const allowedBytes = (timers.nowMs() / 1000) * rateBytesPerS + aheadBytes
        assert.ok(way.receivedBytes <= allowedBytes, `${way.receivedBytes} bytes in ${timers.nowMs()} ms`)
      })
      assert.deepEqual([farEnd.devices(), sink.stats.errors], [given, 0])
      assert.ok(way.receivedBytes > 3 * rateBytesPerS, `${way.receivedBytes} bytes take seconds`)
    })
  }
})
