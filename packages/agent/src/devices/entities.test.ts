import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  absenceType,
  type Batch,
  createSource,
  defineType,
  gauge,
  label,
  labelNumber,
  text,
  timestamp,
  wallNs,
} from '@sonde/sdk'
import { Devices, type DevicesOptions } from './devices.ts'
import { NodeRecords } from './test-node-records.ts'

const MINUTE_MS = 60_000

/** A pod and a GPU of it: a pod may have several, and a GPU several pods. */
const podGpuType = defineType(
  'pod_gpu',
  'Use of one GPU by one pod',
  { time: timestamp(), namespace: label(), pod: label(), UUID: label(), bytes: gauge('f64') },
  { entity: { kind: 'pod', key: ['namespace', 'pod'], defines: true, joins: [{ by: 'uuid', field: 'UUID' }] } },
)
const processType = defineType(
  'process',
  'A process',
  { time: timestamp(), pid: labelNumber('u32'), bytes: gauge('f64') },
  { entity: { kind: 'process', key: ['pid'], defines: true, joins: [{ by: 'pid', field: 'pid' }] } },
)
const stepType = defineType(
  'training_step',
  'A step of a training',
  { time: timestamp(), job: label(), pid: gauge('u32'), ports: text() },
  {
    entity: {
      kind: 'job',
      key: ['job'],
      defines: true,
      joins: [
        { by: 'pid', field: 'pid' },
        { by: 'pci', field: 'ports', isList: true },
      ],
    },
  },
)

function bringUp(options: Partial<DevicesOptions> = {}) {
  const clock = { nowMs: 1_800_000_000_000 }
  const devices = new Devices({ now: () => clock.nowMs, ...options })
  const real = new NodeRecords(devices)
  const relations = (id: string) => devices.byId(id)?.relations.toSorted()
  return { clock, devices, real, relations }
}

/** Hands batches in as an application does. */
function clientOf(devices: Devices, client: bigint) {
  let sequence = 0n
  const accept = (batch: Batch) =>
    devices.accept({ ...batch, origin: 'client', page: { client, sequence: ++sequence } })
  return new NodeRecords({ accept })
}

test('pods and GPUs are many to many, each for as long as its series', () => {
  const { devices, real, relations } = bringUp()
  for (const gpu of ['0', '1']) real.gpu(gpu, `0000:1${gpu}:00.0`)
  const use = (pod: string, gpu: string) => real.report(podGpuType, { namespace: 'ml', pod, UUID: `GPU-${gpu}` })
  use('a', '0')
  use('a', '1')
  use('b', '1')
  assert.deepEqual(relations('pod-ml/a'), ['gpu-0', 'gpu-1'])
  assert.deepEqual(relations('gpu-1'), ['pod-ml/a', 'pod-ml/b'])
  real.gone(podGpuType, { namespace: 'ml', pod: 'a', UUID: 'GPU-1' })
  assert.deepEqual(relations('pod-ml/a'), ['gpu-0'])
  assert.deepEqual(relations('gpu-1'), ['pod-ml/b'])
  assert.equal(devices.byId('pod-ml/a')?.goneMs, undefined, 'it has another GPU')
  use('a', '1')
  assert.deepEqual(relations('gpu-1'), ['pod-ml/a', 'pod-ml/b'])
})

test('what names a process belongs to whoever has that number, and an address leads to what sits there', () => {
  const { real, relations } = bringUp()
  real.hgx()
  real.report(processType, { pid: 4711 })
  real.report(stepType, { job: 'llm', pid: 4711, ports: '0000:10:05.0 0000:20:04.0 0000:2A:00 0000:ff:00.0' })
  assert.deepEqual(relations('job-llm'), ['gpu-1', 'nic-mlx5_0-1', 'nic-mlx5_bond_0-1', 'process-4711'])
  assert.deepEqual(relations('process-4711'), ['job-llm'])
  assert.deepEqual(relations('gpu-2'), [])
})

test('keys of two labels never make one id, and what has no name is no entity', () => {
  const { devices, real } = bringUp()
  for (const [namespace, pod] of [
    ['a', 'b/c'],
    ['a/b', 'c'],
    ['', 'd'],
  ])
    real.report(podGpuType, { namespace, pod, UUID: '' })
  assert.deepEqual(
    devices.list().map(({ id, name }) => [id, name]),
    [
      ['pod-a/b%2Fc', 'a/b/c'],
      ['pod-a%2Fb/c', 'a/b/c'],
    ],
  )
})

test('a month of pods that come and go leaves nothing behind', () => {
  const { clock, devices, real, relations } = bringUp()
  real.gpu('0', '0000:10:00.0')
  let pods = new NodeRecords(devices)
  let most = 0
  const living: string[] = []
  for (let minute = 0; minute < 30 * 24 * 60; minute += 5) {
    clock.nowMs += 5 * MINUTE_MS
    // The agent starts the source anew now and then.
    if (minute % (24 * 60) === 0) pods = new NodeRecords(devices)
    real.gpu('0', '0000:10:00.0')
    living.push(`pod${minute}`)
    for (const pod of living) pods.report(podGpuType, { namespace: 'ml', pod, UUID: 'GPU-0' })
    const ended = living.length > 3 ? living.shift() : undefined
    // Of every other nobody says that it left.
    if (ended !== undefined && minute % 2 === 0) pods.gone(podGpuType, { namespace: 'ml', pod: ended, UUID: 'GPU-0' })
    if (minute % 60 === 0) assert.ok((relations('gpu-0')?.length ?? 99) <= 5, `${relations('gpu-0')}`)
    most = Math.max(most, devices.seriesCount)
  }
  // The list is asked once an hour, and what left is kept for an hour.
  assert.ok(most <= 40, `${most} series at once`)
  clock.nowMs += 30 * MINUTE_MS
  for (const pod of living) assert.notEqual(devices.byId(`pod-ml/${pod}`)?.goneMs, undefined)
  clock.nowMs += 70 * MINUTE_MS
  assert.deepEqual([devices.list(), devices.seriesCount], [[], 0])
})

test('what an application says of entities changes nothing that rules rest on', () => {
  const { devices, real } = bringUp()
  real.hgx()
  const { version } = devices
  const client = clientOf(devices, 1n)
  client.report(stepType, { job: 'llm', pid: 1, ports: '0000:10:05.0' })
  assert.deepEqual(devices.byId('nic-mlx5_0-1')?.relations, ['job-llm'])
  assert.equal(devices.version, version)
  assert.equal(devices.deviceOf(stepType, { job: 'llm' }), undefined)
})

test('an application takes nothing away from another: neither its series nor its room', () => {
  const { devices, clock } = bringUp({ clientLimit: 80 })
  const clients = [1n, 2n, 3n].map((client) => clientOf(devices, client))
  const [greedy, honest, late] = clients as [NodeRecords, NodeRecords, NodeRecords]
  honest.report(stepType, { job: 'honest', pid: 1, ports: '' })
  for (let i = 0; i < 500; i++) greedy.report(stepType, { job: `greedy${i}`, pid: i, ports: 'a b c' })
  greedy.report(stepType, { job: 'honest', pid: 2, ports: '' })
  greedy.gone(stepType, { job: 'honest' })
  greedy.report(absenceType, { type: 'training_step', series: 'job="honest"', code: 'gone' })
  assert.equal(devices.byId('job-honest')?.goneMs, undefined)
  late.report(stepType, { job: 'late', pid: 3, ports: '' })
  assert.ok(devices.byId('job-late'), 'there is room for one that comes late')
  assert.ok((devices.stats.dropped.get('device_limit') ?? 0) > 400)
  assert.ok(devices.seriesCount < 20, `${devices.seriesCount}: names take room too`)
  devices.retire(greedy.source.info)
  assert.notEqual(devices.byId('job-greedy0')?.goneMs, undefined)
  clock.nowMs += 61 * MINUTE_MS
  devices.list()
  assert.equal(devices.seriesCount, 2, 'what fell silent has left, what left before is forgotten')
})

test('a series of two sources in turn is one, of whichever said it last', () => {
  const { devices } = bringUp()
  const accept = (batch: Batch) => devices.accept(batch)
  const sources = ['a', 'b'].map((id) => createSource({ id, emit: accept }))
  for (let i = 0; i < 10; i++) {
    const source = sources[i % 2]
    source?.report(processType, { time: wallNs(), pid: 7, bytes: 1 })
    source?.flush()
  }
  assert.deepEqual([devices.seriesCount, devices.byId('process-7')?.source], [1, 'b'])
})
