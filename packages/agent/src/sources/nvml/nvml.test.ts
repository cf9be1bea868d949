import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { readRecords, viewsOf } from '@sonde/sdk'
import { absenceType } from '@sonde/sdk/internal'
import koffi from 'koffi'
import * as v from 'valibot'
import { needs } from '../../../../../test/debian.ts'
import { NvmlDouble } from '../../../../../test/doubles/nvml/nvml-double.ts'
import { until } from '../../../../sdk/test/helper.ts'
import { serveAgent } from '../../../test/served-agent.ts'
import { SourceOutlet } from '../../hosting/source-outlet.ts'
import {
  ATTRIBUTES,
  EVENT,
  FABRIC,
  FIELD,
  GPM_GET,
  GPM_METRIC,
  MEMORY,
  PCI_INFO,
  PROCESS,
  PROCESS_SAMPLE,
  VGPU_SAMPLE,
} from '../../native/nvml/layout.ts'
import { testSource } from '../conformance.ts'
import { podDeviceType, podInfoType, podShareType } from '../pods/type.ts'
import { gpuProcessType } from '../processes/type.ts'
import { TestedSource, TestNode } from '../test-node.ts'
import { findNvmlLibrary } from './find-library.ts'
import { nvml } from './nvml.ts'
import {
  nvmlFabricType,
  nvmlGpuType,
  nvmlMigInfoType,
  nvmlMigType,
  nvmlProfileType,
  nvmlVgpuType,
  nvmlXidType,
} from './type.ts'

const NEEDS = needs('cc')

const suite = NEEDS.skip === false ? new NvmlDouble({ after }) : undefined

testSource(nvml, {
  ...NEEDS,
  paths: { nvml_library: suite?.folder ?? '' },
  unreported: [
    nvmlXidType,
    nvmlProfileType,
    nvmlMigType,
    nvmlMigInfoType,
    nvmlVgpuType,
    nvmlFabricType,
    podInfoType,
    podDeviceType,
    podShareType,
    gpuProcessType,
  ],
})

/** Starts an agent that reads a double of the library. */
async function bringUp(t: TestContext, numbers: Readonly<Record<string, number>> = {}) {
  const double = new NvmlDouble(t)
  double.play(numbers)
  const paths = { ...new TestNode(t).paths, nvml_library: double.folder }
  const { agent, address } = await serveAgent(t, { sources: [nvml], paths })
  const of = async (metric: string) => {
    const text = await (await fetch(`${address}/metrics`)).text()
    const lines = text.split('\n').filter((line) => line.startsWith(`${metric}{`))
    return Object.fromEntries(
      lines.map((line) => [/gpu="(\d+)"/.exec(line)?.[1] ?? '', Number(line.slice(line.lastIndexOf(' ')))]),
    )
  }
  return { double, agent, address, of }
}

test('values have the units of the type, under the names of DCGM', NEEDS, async (t) => {
  const { of } = await bringUp(t, { 'gpu1.power_mw': 654_321 })
  await until('both are read', async () => Object.keys(await of('DCGM_FI_PROF_SM_ACTIVE')).length === 2)
  const expected: [string, Record<string, number>][] = [
    ['DCGM_FI_DEV_GPU_UTIL', { 0: 99, 1: 99 }],
    ['DCGM_FI_DEV_POWER_USAGE', { 0: 123.456, 1: 654.321 }],
    ['DCGM_FI_DEV_POWER_USAGE_INSTANT', { 0: 186, 1: 186 }],
    ['DCGM_FI_DEV_GPU_TEMP', { 0: 55, 1: 55 }],
    ['DCGM_FI_DEV_SM_CLOCK', { 0: 1380, 1: 1380 }],
    ['DCGM_FI_DEV_FB_USED', { 0: 1138, 1: 1138 }],
    ['DCGM_FI_DEV_FB_RESERVED', { 0: 480, 1: 480 }],
    ['DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION', { 0: 83_000, 1: 83_000 }],
    ['DCGM_FI_DEV_XID_ERRORS', { 0: 0, 1: 0 }],
    // 2 %, and 20 MiB/s.
    ['DCGM_FI_PROF_SM_ACTIVE', { 0: 0.02, 1: 0.02 }],
    ['DCGM_FI_PROF_PCIE_TX_BYTES', { 0: 20 * 2 ** 20, 1: 20 * 2 ** 20 }],
  ]
  for (const [metric, values] of expected) assert.deepEqual(await of(metric), values, metric)
})

test('samples of activity are apart by when they were taken, not by when they were asked for', NEEDS, async (t) => {
  const double = new NvmlDouble(t)
  const tested = new TestedSource(nvml, { ...new TestNode(t).paths, nvml_library: double.folder })
  t.after(() => tested.source.close())
  const profiles = () => tested.take().filter(({ type }) => type === nvmlProfileType).length
  double.play({ gpus: 1, 'gpu0.gpm_us': 150_000 })
  await tested.source.sample()
  double.play({ gpus: 1 })
  // The library would refuse a sample so soon, and the double would end the process.
  await tested.source.sample()
  assert.equal(profiles(), 0)
  await until('they are far enough apart', async () => {
    await tested.source.sample()
    return profiles() > 0
  })
})

test('values that a GPU does not support are absent, with the reason of its library', NEEDS, async (t) => {
  const double = new NvmlDouble(t)
  // A memory temperature of 70 000 degrees is impossible.
  double.play({ gpus: 1, 'gpu0.util': -1, 'gpu0.gpm': 0, 'gpu0.events': 0, 'gpu0.field82': 70_000 })
  const tested = new TestedSource(nvml, { ...new TestNode(t).paths, nvml_library: double.folder })
  t.after(() => tested.source.close())
  await tested.source.sample()
  const taken = tested.take()
  const reasons = Object.fromEntries(
    taken
      .filter(({ type }) => type === absenceType)
      .map(({ record }) => [`${record.type} ${record.field}`, `${record.code}: ${record.reason}`]),
  )
  assert.match(String(reasons['nvml_gpu gpu_util']), /^unsupported: .*GetUtilizationRates answers NOT_SUPPORTED/)
  assert.match(String(reasons['nvml_gpu xid_errors']), /^unsupported: .*RegisterEvents answers NOT_SUPPORTED/)
  assert.equal(
    reasons['nvml_gpu memory_temp'],
    'failed: 70000 °C was reported, which is impossible: the temperature of memory with a sensor is at most 150 °C',
  )
  assert.match(String(reasons['nvml_profile ']), /^unsupported: the GPU is older than Hopper/)
  const { record } = taken.find(({ type }) => type === nvmlGpuType) ?? {}
  assert.deepEqual([record?.gpu_util, record?.memory_temp, record?.gpu_temp], [undefined, undefined, 55])
})

test('links give a rate of MiB a second', NEEDS, async (t) => {
  const { double, of } = await bringUp(t, { gpus: 1, 'gpu0.field138': 0, 'gpu0.field139': 0, 'gpu0.links': 18 })
  await until('they stand still', async () => (await of('DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL'))[0] === 0)
  let kib = 0
  await until('they moved', async () => {
    // The rate is that between two samples: it is 0 again at the next, so the counters move before each look.
    kib += 2 ** 20
    double.play({ gpus: 1, 'gpu0.field138': kib, 'gpu0.field139': kib, 'gpu0.links': 18 })
    return ((await of('DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL'))[0] ?? 0) > 0
  })
  assert.deepEqual(await of('nvml_gpu_nvlink_links'), { 0: 18 })
})

test('XID errors are counted by number, two equal ones as two', NEEDS, async (t) => {
  const { double, of } = await bringUp(t, { gpus: 1 })
  await until('it is read', async () => (await of('DCGM_FI_DEV_XID_ERRORS'))[0] === 0)
  double.play({ gpus: 1, 'gpu0.xids': 2, 'gpu0.xid': 63 })
  await until('it is told', async () => (await of('DCGM_FI_DEV_XID_ERRORS'))[0] === 63)
  assert.deepEqual(await of('nvml_xid_events_total'), { 0: 2 })
})

test('a GPU that hangs delays no other, and comes back', NEEDS, async (t) => {
  const { double, of } = await bringUp(t)
  await until('both are read', async () => Object.keys(await of('DCGM_FI_DEV_GPU_TEMP')).length === 2)
  double.play({ 'gpu0.hang': 1, 'gpu1.power_mw': 1000 })
  await until('it left', async () => !('0' in (await of('DCGM_FI_DEV_GPU_TEMP'))))
  await until('the other is read', async () => (await of('DCGM_FI_DEV_POWER_USAGE'))[1] === 1)
  double.play({})
  await until('it is back', async () => Object.keys(await of('DCGM_FI_DEV_GPU_TEMP')).length === 2)
})

test('a GPU that hangs before it was ever read delays no other, and is read when it comes back', NEEDS, async (t) => {
  const { double, agent, of } = await bringUp(t, { 'gpu0.hang': 1 })
  await until('the other is read', async () => Object.keys(await of('DCGM_FI_DEV_GPU_TEMP')).join() === '1')
  const [failed] = agent.hosts.sources.flatMap(({ stats }) => stats.failed.latest())
  assert.deepEqual([failed?.place, failed?.message], ['GPU 0', 'GPU 0: the driver does not come back with its name'])
  double.play({})
  await until('it is read', async () => Object.keys(await of('DCGM_FI_DEV_GPU_TEMP')).length === 2)
})

test('of a GPU that leaves while it is read nothing is called or reported any more', NEEDS, async (t) => {
  const double = new NvmlDouble(t)
  double.play({})
  const paths = { ...new TestNode(t).paths, nvml_library: double.folder }
  const reported: unknown[] = []
  const outlet = new SourceOutlet({
    ...{ name: 'nvml', intervalMs: 1000, paths, stats: { failed: { add: () => undefined }, dropped: new Map() } },
    emit({ type, count, bytes, symbols }) {
      for (const record of readRecords(type, viewsOf(bytes), count, symbols))
        if ('gpu' in record) reported.push(record.gpu)
    },
  })
  const { library: definition, create } = await nvml.load()
  const library = await definition?.open({}, paths)
  const node = create(v.parse(nvml.options, {}) as object, { ...outlet.context, library })
  t.after(() => node.close())
  const list = node.duties().find(({ name }) => name === 'list')
  await list?.run()
  const read = node.duties().find(({ device }) => device === 'nvidia1')
  double.play({ 'gpu1.hang': 1 })
  const reading = read?.run()
  double.play({ gpus: 1, 'gpu1.hang': 1 })
  await list?.run()
  double.play({ gpus: 1 })
  await reading
  outlet.flush()
  assert.deepEqual(reported, [])
})

test('a GPU that is lost leaves, and comes back', NEEDS, async (t) => {
  const { double, of } = await bringUp(t)
  await until('both are read', async () => Object.keys(await of('DCGM_FI_DEV_GPU_TEMP')).length === 2)
  double.play({ 'gpu1.lost': 1 })
  await until('it left', async () => Object.keys(await of('DCGM_FI_DEV_GPU_TEMP')).join() === '0')
  double.play({})
  await until('it is back', async () => Object.keys(await of('DCGM_FI_DEV_GPU_TEMP')).length === 2)
})

test('without a driver the source says so', NEEDS, async (t) => {
  const { agent } = await bringUp(t, { driver: 0 })
  const reasonOf = () => agent.hosts.sources.find(({ name }) => name === 'nvml')?.reason
  await until('it is told', async () => /modprobe nvidia/.test(reasonOf() ?? ''))
})

test('structures lie as a C compiler lays them out', NEEDS, async () => {
  const layout = koffi.load(suite?.library ?? '').func('sonde_nvml_layout', 'str', [])
  assert.deepEqual(JSON.parse(String(layout())), {
    pci: [PCI_INFO.bytes, PCI_INFO.busId],
    memory: [MEMORY.bytes, MEMORY.total, MEMORY.reserved, MEMORY.free, MEMORY.used],
    field: [FIELD.bytes, FIELD.scope, FIELD.type, FIELD.result, FIELD.value],
    event: [EVENT.bytes, EVENT.type, EVENT.data],
    metric: [GPM_METRIC.bytes, GPM_METRIC.result, GPM_METRIC.value],
    get: [GPM_GET.before, GPM_GET.after, GPM_GET.metrics],
    process: [PROCESS.bytes, PROCESS.memory, PROCESS.gpuInstance],
    use: [PROCESS_SAMPLE.bytes, PROCESS_SAMPLE.time, PROCESS_SAMPLE.sm],
    vgpu_use: [
      ...[VGPU_SAMPLE.bytes, VGPU_SAMPLE.time, VGPU_SAMPLE.sm],
      ...[VGPU_SAMPLE.memory, VGPU_SAMPLE.encoder, VGPU_SAMPLE.decoder],
    ],
    attributes: [ATTRIBUTES.bytes, ATTRIBUTES.slices, ATTRIBUTES.memoryMb],
    fabric: [
      ...[FABRIC.bytes, FABRIC.cluster, FABRIC.status, FABRIC.clique, FABRIC.state, FABRIC.mask, FABRIC.summary],
    ],
  })
})

test('a configured path that holds nothing is named', () => {
  assert.match(String(findNvmlLibrary('/nowhere')), /native\.nvml_library "\/nowhere"/)
})
