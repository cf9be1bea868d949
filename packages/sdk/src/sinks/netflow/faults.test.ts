import assert from 'node:assert/strict'
import { Socket } from 'node:dgram'
import dns from 'node:dns/promises'
import { syncBuiltinESMExports } from 'node:module'
import { test } from 'node:test'
import { FlowCollector } from '../../../test/flow-collector.ts'
import { FlowDecoder, numberOf } from '../../../test/flow-decoder.ts'
import { until } from '../../../test/helper.ts'
import { HASTY } from '../../../test/push-sink-cases.ts'
import { SimulatedTimers } from '../../../test/simulated-timers.ts'
import { BatchSource } from '../../../test/sink-records.ts'
import { element } from '../../schema/element.ts'
import { timestamp } from '../../schema/field.ts'
import { defineType } from '../../schema/record-type.ts'
import { wallNs } from '../../source/clock.ts'
import { collectorSockets, createNetflow } from './netflow.ts'
import { tryCollectors } from './try-collectors.ts'

const flow = defineType('flow', 'A flow', { time: timestamp(), port: element('L4_SRC_PORT') })

function flows(...ports: readonly number[]) {
  return new BatchSource().batch(
    flow,
    ports.map((port) => ({ time: wallNs(), port })),
  )
}

const portsOf = ({ records }: FlowCollector) => records.map(({ fields }) => Number(numberOf(fields.get(7))))

test('a collector that starts again gets the template and the records of its absence, from the same port', async (t) => {
  const collector = await FlowCollector.start(t)
  const sink = createNetflow({ port: collector.port, ...HASTY })
  t.after(() => sink.close())
  sink.accept(flows(1))
  await sink.flush()
  await until('the first flow', () => portsOf(collector).length === 1)
  await collector.stop()
  sink.accept(flows(2, 3))
  await until(
    'it says why',
    () => sink.failing === `127.0.0.1:${collector.port} refused a packet: no collector listens there`,
  )
  assert.equal(sink.queuedRecords, 2)
  await collector.listen()
  await sink.flush()
  await until('the others', () => portsOf(collector).length === 3)
  assert.deepEqual(portsOf(collector), [1, 2, 3])
  assert.deepEqual([collector.senders.size, collector.decoder.unknownSets, sink.failing], [1, 0, ''])
})

test('the next collector gets template and records when the first refuses, in its own sequence', async (t) => {
  const [first, second] = [await FlowCollector.start(t), await FlowCollector.start(t)]
  const endpoints = [`127.0.0.1:${second.port}`]
  const sink = createNetflow({ port: first.port, endpoints, protocol: 'ipfix', ...HASTY })
  t.after(() => sink.close())
  sink.accept(flows(1, 2))
  await sink.flush()
  await until('the first has its flows', () => portsOf(first).length === 2)
  await first.stop()
  sink.accept(flows(3))
  sink.accept(flows(4))
  await sink.flush()
  await until('the second has the others', () => portsOf(second).length === 2)
  assert.deepEqual(
    [portsOf(first), portsOf(second)],
    [
      [1, 2],
      [3, 4],
    ],
  )
  assert.deepEqual([second.decoder.sequenceErrors, second.decoder.unknownSets], [0, 0])
  assert.equal(second.packets[0]?.readUInt32BE(8), 0)
})

test('a name without an address is tried again, and costs no record while the queue has room', async (t) => {
  const sink = createNetflow({ host: 'collector.invalid', ...HASTY })
  t.after(() => sink.close())
  sink.accept(flows(1))
  await until('it says why', () => /^collector\.invalid:2055 has no address: /.test(sink.failing))
  assert.deepEqual([sink.queuedRecords, sink.stats.out], [1, 0])
})

test('a check knows that nobody listens, and does not claim that somebody does', async (t) => {
  const collector = await FlowCollector.start(t)
  const { port } = collector
  const found = (): ReturnType<typeof tryCollectors> => tryCollectors(collectorSockets({ host: '127.0.0.1', port }))
  assert.deepEqual(await found(), {
    state: 'configured',
    found: `sends to 127.0.0.1:${port}: not refused, which is all that UDP can tell`,
  })
  await collector.stop()
  const refused = `127.0.0.1:${port} refused a packet: no collector listens there`
  assert.deepEqual(await found(), { state: 'denied', found: refused })
  assert.deepEqual(collector.packets, [])
})

test('records wait for the rate, and none is lost', async (t) => {
  const collector = await FlowCollector.start(t)
  const timers = new SimulatedTimers()
  const limits = { lingerMs: 0, batchBytesMax: 4096, rateLimitBytesPerSecond: 1024, timeoutMs: 600_000 }
  const sink = createNetflow({ port: collector.port, timers, ...limits })
  t.after(() => sink.close())
  const ports = Array.from({ length: 2000 }, (_, i) => i)
  sink.accept(flows(...ports))
  await until('all flows are sent', async () => {
    await timers.advance(10)
    return sink.queuedRecords === 0
  })
  const passedMs = timers.nowMs()
  await until('all flows', () => portsOf(collector).length === ports.length)
  assert.deepEqual(portsOf(collector), ports)
  assert.equal(collector.decoder.sequenceErrors, 0)
  // The last request is not paid for yet.
  const paidBytes = collector.packets.slice(0, -1).reduce((sum, { length }) => sum + length, 0)
  assert.ok(collector.packets.length > 5 && passedMs >= (paidBytes / 1024) * 1000, `${passedMs} ms, ${paidBytes} bytes`)
})

test('an exporter that starts again keeps its port, and sends its templates before data', async (t) => {
  const collector = await FlowCollector.start(t)
  const own = await FlowCollector.start(t)
  await own.stop()
  for (const port of [1, 2]) {
    const sink = createNetflow({ port: collector.port, localPort: own.port, ...HASTY, closeTimeoutMs: 30_000 })
    sink.accept(flows(port))
    await sink.close()
    await until('its flow', () => portsOf(collector).length === port)
    // The next exporter must not rely on what the collector has kept.
    collector.decoder = new FlowDecoder()
  }
  assert.deepEqual(portsOf(collector), [1, 2])
  assert.deepEqual([...collector.senders], [own.port])
})

test('a collector with an IPv6 address gets the flows', async (t) => {
  const collector = await FlowCollector.start(t, '::1')
  const sink = createNetflow({ host: '::1', port: collector.port, ...HASTY })
  t.after(() => sink.close())
  sink.accept(flows(1, 2))
  await sink.flush()
  await until('its flows', () => portsOf(collector).length === 2)
  assert.equal(sink.stats.out, 2)
})

test('a name that gets another address is followed after five minutes, templates first', async (t) => {
  const first = await FlowCollector.start(t)
  const second = await FlowCollector.start(t, '127.0.0.2', first.port)
  let address = '127.0.0.1'
  const lookup = t.mock.method(dns, 'lookup', async () => ({ address, family: 4 }))
  syncBuiltinESMExports()
  t.after(() => {
    lookup.mock.restore()
    syncBuiltinESMExports()
  })
  const timers = new SimulatedTimers()
  const sink = createNetflow({ host: 'collector.test', port: first.port, timers, ...HASTY, timeoutMs: 600_000 })
  t.after(() => sink.close())
  const send = async (port: number) => {
    sink.accept(flows(port))
    await until('it is sent', async () => {
      await timers.advance(10)
      return sink.queuedRecords === 0
    })
  }
  await send(1)
  address = '127.0.0.2'
  await send(2)
  await timers.advance(300_001)
  await send(3)
  await until('all have come', () => portsOf(first).length === 2 && portsOf(second).length === 1)
  assert.deepEqual([portsOf(first), portsOf(second), second.decoder.unknownSets], [[1, 2], [3], 0])
  assert.deepEqual([...first.senders], [...second.senders])
})

const KERNEL_FAULTS = [
  ['EMSGSIZE', /a packet is larger than the way allows; lower packetBytesMax$/],
  ['ENOBUFS', /ENOBUFS/],
] as const
for (const [code, words] of KERNEL_FAULTS) {
  test(`${code} of the kernel is told, and costs no record`, async (t) => {
    const collector = await FlowCollector.start(t)
    const sink = createNetflow({ port: collector.port, protocol: 'ipfix', ...HASTY })
    t.after(() => sink.close())
    sink.accept(flows(1))
    await sink.flush()
    // Linux has no simple way to make the kernel say so: it fragments large packets, and drops others silently.
    const refuse = (_packet: unknown, done: (error: Error) => void): void => {
      process.nextTick(done, Object.assign(new Error(`send ${code}`), { code }))
    }
    const send = t.mock.method(Socket.prototype, 'send', refuse as never)
    sink.accept(flows(2, 3))
    await until('it says why', () => words.test(sink.failing))
    assert.deepEqual([sink.queuedRecords, sink.stats.out], [2, 1])
    send.mock.restore()
    await sink.flush()
    await until('all flows', () => portsOf(collector).length === 3)
    assert.deepEqual([portsOf(collector), collector.decoder.sequenceErrors, sink.failing], [[1, 2, 3], 0, ''])
  })
}
