import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Batch, createSource } from '@sonde/sdk'
import { createOwnSource } from '@sonde/sdk/internal'
import { quietNode } from '../../packages/agent/src/hints/test-training-node.ts'
import { reportMark } from '../../packages/agent/src/hosting/edge-mark.ts'
import type { WebhookEvent } from '../../packages/console/server/webhooks/event.ts'
import { incidentSink } from '../../packages/console/server/webhooks/incident-sink.ts'

function taken() {
  const events: WebhookEvent[] = []
  const sink = incidentSink({ notify: (event) => void events.push(event), close: () => Promise.resolve() })
  const emit = (batch: Batch) => sink.accept(batch)
  return { events, sink, emit }
}

test('a hint is told when it is confirmed and when it ends, and no other edge is', () => {
  const { events, sink, emit } = taken()
  const node = quietNode()
  const source = createSource({ id: 'self', emit })
  const report = () => {
    node.hints.report(source)
    source.flush()
  }
  // A fault of one second is dismissed before it is confirmed.
  node.nic(4).rate({ rx_pause_seconds_total: 0.55 })
  node.run(1)
  node.nic(4).rate({ rx_pause_seconds_total: 0.002 })
  node.run(20)
  report()
  assert.equal(events.length, 0)
  node.nic(3).rate({ packet_seq_err_total: 2400 })
  node.run(20)
  node.nic(3).rate({ packet_seq_err_total: 0 })
  node.run(22)
  report()
  assert.deepEqual(
    events.map(({ type, status }) => `${type} ${status}`),
    ['hint.opened start', 'hint.ended success'],
  )
  const [opened, ended] = events
  assert.ok(opened && ended && opened.atMs < ended.atMs)
  assert.equal(opened.data.event, ended.data.event)
  assert.deepEqual(
    ['rule', 'device', 'severity', 'simulated', 'ended'].map((name) => opened.data[name]),
    ['retransmission_storm', 'nic-mlx5_3-1', 'critical', undefined, undefined],
  )
  assert.match(opened.data.message ?? '', /limit/)
  assert.doesNotMatch(opened.data.message ?? '', /[\u00a0\u202f]/)
  assert.ok(Date.parse(ended.data.ended ?? '') > Date.parse(ended.data.since ?? ''))
  assert.equal(sink.stats.in, sink.stats.out)
})

test('an event of traceback is told at both edges, and a forged one is not', () => {
  const { events, emit } = taken()
  const source = createOwnSource({ id: 'simulator_diag', labels: { simulated: 'true' }, emit })
  const edge = { rule: 'burst', device: 'mlx5_2', event: 7, monoNs: process.hrtime.bigint(), errorNs: 0n }
  for (const isStart of [true, false]) reportMark(source, { ...edge, isStart })
  source.flush()
  assert.deepEqual(
    events.map(({ type, data }) => [type, data.message, data.event, data.simulated]),
    [
      ['traceback.opened', 'Rule burst opened an event of mlx5_2', '7', 'true'],
      ['traceback.ended', 'Rule burst ended an event of mlx5_2', '7', 'true'],
    ],
  )
  assert.ok(Math.abs((events[0]?.atMs ?? 0) - Date.now()) < 60_000)
  const forged = createOwnSource({ id: 'app', emit: (batch) => emit({ ...batch, origin: 'client' }) })
  reportMark(forged, { ...edge, isStart: true })
  forged.flush()
  assert.equal(events.length, 2)
})

test('a closed sink takes nothing, and cut-off bytes are counted', async () => {
  const { events, sink, emit } = taken()
  const source = createOwnSource({ id: 'a', emit: (batch) => emit({ ...batch, bytes: batch.bytes.subarray(1) }) })
  const edge = { rule: 'r', device: '', event: 1, isStart: true, monoNs: process.hrtime.bigint(), errorNs: 0n }
  reportMark(source, edge)
  source.flush()
  await sink.close()
  const late = createOwnSource({ id: 'a', emit })
  reportMark(late, edge)
  late.flush()
  assert.deepEqual(
    [...sink.stats.dropped],
    [
      ['wrong_size', 1],
      ['closed', 1],
    ],
  )
  assert.equal(events.length, 0)
})
