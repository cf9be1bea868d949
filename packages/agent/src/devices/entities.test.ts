import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  Absences,
  type Batch,
  createSource,
  defineType,
  gauge,
  label,
  labelNumber,
  type Source,
  type SourceInfo,
  text,
  timestamp,
  wallNs,
} from '@sonde/sdk'
import { absenceType } from '@sonde/sdk/internal'
import { nvmlGpuInfoType } from '../sources/nvml/type.ts'
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
  const devices = new Devices({ now: () => clock.nowMs, host: 'here', ...options })
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

test('a record that names a process relates to the owner of that number, and an address leads to the device there', () => {
  const { real, relations } = bringUp()
  real.hgx()
  real.report(processType, { pid: 4711 })
  real.report(stepType, { job: 'llm', pid: 4711, ports: '0000:10:05.0 0000:20:04.0 0000:2A:00 0000:ff:00.0' })
  assert.deepEqual(relations('job-llm'), ['gpu-1', 'nic-mlx5_0-1', 'nic-mlx5_bond_0-1', 'process-4711'])
  assert.deepEqual(relations('process-4711'), ['job-llm'])
  assert.deepEqual(relations('gpu-2'), [])
})

test('a process that ends loses its relations, and the next process with its number gets only new relations', () => {
  const { clock, devices, real, relations } = bringUp()
  const client = clientOf(devices, 1n)
  const second = () => {
    clock.nowMs += 1000
  }
  real.report(processType, { pid: 4711 })
  client.report(stepType, { job: 'llm', pid: 4711, ports: '' })
  real.report(stepType, { job: 'own', pid: 4711, ports: '' })
  assert.deepEqual(relations('process-4711'), ['job-llm', 'job-own'])
  second()
  real.gone(processType, { pid: '4711' })
  assert.deepEqual([relations('job-llm'), relations('process-4711')], [[], []])
  second()
  real.report(processType, { pid: 4711 })
  assert.deepEqual(relations('process-4711'), [], 'another process: nobody has said anything of it')
  second()
  client.report(stepType, { job: 'llm', pid: 4711, ports: '' })
  assert.deepEqual(relations('process-4711'), ['job-llm'])
  clock.nowMs += 6 * MINUTE_MS
  real.report(processType, { pid: 4711 })
  assert.deepEqual(relations('process-4711'), [], 'the job is silent for longer than a series may be')
})

/** Hands records in as they are read from a file of another host. */
function readFrom(devices: Devices, host: string) {
  const sources = new Map<SourceInfo, SourceInfo>()
  const accept = (batch: Batch) => {
    const source = sources.get(batch.source) ?? { ...batch.source, host }
    sources.set(batch.source, source)
    devices.accept({ ...batch, source, origin: 'replay' })
  }
  return new NodeRecords({ accept })
}

test('two nodes have a GPU 0 each, with relations of its own', () => {
  const { devices, real, relations } = bringUp()
  const elsewhere = readFrom(devices, 'node7')
  for (const node of [real, elsewhere]) {
    node.gpu('0', '0000:10:00.0')
    node.report(podGpuType, { namespace: 'ml', pod: 'a', UUID: 'GPU-0' })
  }
  real.report(podGpuType, { namespace: 'ml', pod: 'b@c', UUID: 'GPU-0' })
  assert.deepEqual(
    devices.list().map(({ id, name, host }) => [id, name, host]),
    [
      ['gpu-0', 'GPU 0', 'here'],
      ['pod-ml/a', 'ml/a', 'here'],
      ['pod-ml/b%40c', 'ml/b@c', 'here'],
      ['gpu-0@node7', 'GPU 0@node7', 'node7'],
      ['pod-ml/a@node7', 'ml/a@node7', 'node7'],
    ],
  )
  assert.deepEqual(relations('gpu-0'), ['pod-ml/a', 'pod-ml/b%40c'])
  assert.deepEqual(relations('gpu-0@node7'), ['pod-ml/a@node7'])
  elsewhere.gone(podGpuType, { namespace: 'ml', pod: 'a', UUID: 'GPU-0' })
  assert.deepEqual([relations('gpu-0')?.length, relations('gpu-0@node7')], [2, []], 'only there')
})

test('a type may name the host of its entities by a label', () => {
  const { devices, real, relations } = bringUp()
  const fields = { time: timestamp(), node: label(), disk: label(), bytes: gauge('f64') }
  const disk = defineType('disk', 'A disk', fields, {
    entity: { kind: 'disk', key: ['disk'], host: 'node', defines: true },
  })
  const share = defineType(
    'share',
    'A share',
    { ...fields, share: label() },
    {
      entity: {
        kind: 'share',
        key: ['share'],
        host: 'node',
        defines: true,
        relations: [{ kind: 'disk', key: ['disk'] }],
      },
    },
  )
  for (const node of ['', 'here', 'node7']) real.report(disk, { node, disk: 'sda' })
  real.report(share, { node: 'node7', disk: 'sda', share: 'home' })
  assert.deepEqual(
    devices.list().map(({ id, host }) => [id, host]),
    [
      ['disk-sda', 'here'],
      ['disk-sda@node7', 'node7'],
      ['share-home@node7', 'node7'],
    ],
  )
  assert.deepEqual(relations('share-home@node7'), ['disk-sda@node7'])
  assert.equal(devices.deviceOf(disk, { node: 'node7', disk: 'sda' })?.id, 'disk-sda@node7')
  assert.equal(devices.deviceOf(disk, { node: 'here', disk: 'sda' })?.id, 'disk-sda')
})

test('records read from a file change no device that rules use, even if this host wrote them', () => {
  const { devices, real } = bringUp()
  real.gpu('0', '0000:10:00.0')
  const { version } = devices
  const [own, elsewhere] = [readFrom(devices, 'here'), readFrom(devices, 'node7')]
  for (const node of [own, elsewhere]) for (const gpu of ['0', '1']) node.gpu(gpu, `0000:1${gpu}:00.0`)
  own.gone(nvmlGpuInfoType, { gpu: '0', UUID: 'GPU-0' })
  assert.equal(devices.version, version)
  assert.deepEqual(
    devices.own().map(({ id }) => id),
    ['gpu-0'],
  )
  assert.equal(devices.byId('gpu-0')?.goneMs, undefined)
  assert.ok(devices.byId('gpu-1@node7'))
})

test('keys of two labels never give one id, and a record without a name makes no entity', () => {
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
    // No source reports that the other pods left.
    if (ended !== undefined && minute % 2 === 0) pods.gone(podGpuType, { namespace: 'ml', pod: ended, UUID: 'GPU-0' })
    if (minute % 60 === 0) assert.ok((relations('gpu-0')?.length ?? 99) <= 5, `${relations('gpu-0')}`)
    most = Math.max(most, devices.seriesCount)
  }
  // The list is requested once an hour, and devices that left stay for an hour.
  assert.ok(most <= 40, `${most} series at once`)
  clock.nowMs += 30 * MINUTE_MS
  for (const pod of living) assert.notEqual(devices.byId(`pod-ml/${pod}`)?.goneMs, undefined)
  clock.nowMs += 70 * MINUTE_MS
  assert.deepEqual([devices.list(), devices.seriesCount], [[], 0])
})

test('entities of an application change no device that rules use', () => {
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

test('an entity of two sources is of the first, which the other cannot take away', () => {
  const { devices } = bringUp()
  const accept = (batch: Batch) => devices.accept(batch)
  const [first, second] = ['a', 'b'].map((id) => createSource({ id, emit: accept })) as [Source, Source]
  for (let i = 0; i < 10; i++) {
    const source = i % 2 === 0 ? first : second
    source.report(processType, { time: wallNs(), pid: 7, bytes: 1 })
    source.flush()
    if (i === 1) assert.equal(devices.byId('process-7')?.source, 'a')
  }
  const { version } = devices
  first.report(processType, { time: wallNs(), pid: 7, bytes: 1 })
  first.flush()
  assert.equal(devices.version, version, 'what both say again changes nothing')
  const leave = (source: Source) => {
    new Absences(source).gone(processType, { pid: '7' }, 'it left')
    source.flush()
  }
  leave(second)
  assert.deepEqual([devices.byId('process-7')?.source, devices.byId('process-7')?.goneMs], ['a', undefined])
  leave(first)
  assert.notEqual(devices.byId('process-7')?.goneMs, undefined)
})
