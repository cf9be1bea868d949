import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FlowCollector } from '../../../test/flow-collector.ts'
import { numberOf } from '../../../test/flow-decoder.ts'
import { until } from '../../../test/helper.ts'
import { HASTY } from '../../../test/push-sink-cases.ts'
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
  const sink = createNetflow({ port: collector.port, rateLimitBytesPerSecond: 1 << 20, lingerMs: 0 })
  t.after(() => sink.close())
  const ports = Array.from({ length: 30_000 }, (_, i) => i)
  const startMs = performance.now()
  for (let i = 0; i < ports.length; i += 1000) sink.accept(flows(...ports.slice(i, i + 1000)))
  await sink.flush()
  const sentBytes = collector.packets.reduce((sum, { length }) => sum + length, 0)
  assert.ok(performance.now() - startMs > ((sentBytes - (64 << 10)) / (1 << 20)) * 1000 * 0.5)
  await until('all flows', () => portsOf(collector).length === ports.length)
  assert.deepEqual(portsOf(collector), ports)
  assert.equal(collector.decoder.sequenceErrors, 0)
})
