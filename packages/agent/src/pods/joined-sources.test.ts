import assert from 'node:assert/strict'
import { hostname } from 'node:os'
import { type TestContext, test } from 'node:test'
import { type Batch, readRecords, viewsOf } from '@sonde/sdk'
import { needs } from '../../../../test/debian.ts'
import { ApiServerDouble, apiPod } from '../../../../test/doubles/api-server/api-server-double.ts'
import { KubeletDouble, podWith } from '../../../../test/doubles/kubelet/kubelet-double.ts'
import { NvmlDouble } from '../../../../test/doubles/nvml/nvml-double.ts'
import { Devices } from '../devices/devices.ts'
import { gpuNames } from '../devices/gpu-names.ts'
import { podUids } from '../devices/pod-uids.ts'
import { kubernetes } from '../sources/kubernetes/kubernetes.ts'
import { nvml } from '../sources/nvml/nvml.ts'
import { nvmlMigInfoType } from '../sources/nvml/type.ts'
import { podDeviceType } from '../sources/pods/type.ts'
import { TestedSource, TestNode } from '../sources/test-node.ts'
import { PodGpus } from './pod-gpus.ts'
import { podGpuType } from './type.ts'

const SETTLE_MS = 150
const MIB = 2 ** 20

const NEEDS = needs('cc', 'grpcio', 'protoc')

/** Driver and kubelet of a node, joined as an agent does it; `look` gives the rows of pods. */
async function bringUp(t: TestContext, options: object = {}) {
  const node = new TestNode(t)
  node.link('proc/self/ns/pid', 'pid:[4026531836]')
  const double = new NvmlDouble(t)
  const kubelet = await new KubeletDouble(t).start()
  const here = hostname()
  const devices = new Devices({ host: here })
  let nowMs = 1000
  let rows: string[] = []
  const pods = new PodGpus({
    host: here,
    isTurnOver: () => false,
    failed: (error) => assert.fail(String(error)),
    emit: ({ type, bytes, count, symbols }) => {
      if (type !== podGpuType) return
      for (const row of readRecords(podGpuType, viewsOf(bytes), count, symbols)) {
        const { pod, instances, memory_used_bytes: used } = row
        rows.push(`${pod}: ${instances} ${used === undefined ? 'unknown' : Number(used) / MIB}`)
      }
    },
  })
  const accept = (batch: Batch) => {
    devices.accept(batch)
    pods.accept({ ...batch, arrivedMs: nowMs })
  }
  const paths = { ...node.paths, nvml_library: double.folder }
  const driver = new TestedSource(nvml, paths, { log_folder: `${node.root}/log` }, 1000, accept)
  const ofKubelet = { kubelet_socket: kubelet.socket, api_server: 'off', ...options }
  const cluster = new TestedSource(kubernetes, node.paths, ofKubelet, 1000, accept)
  for (const { source } of [driver, cluster]) t.after(() => source.close())
  const sources = [
    { definition: kubernetes, tested: cluster },
    { definition: nvml, tested: driver },
  ].map(({ definition, tested }) => {
    const { name } = definition
    return { name, definition, stats: { restarts: 0 }, command: (sent: unknown) => tested.command(sent) } as never
  })
  const of = { devices, sources, here }
  const tellers = [gpuNames(of), podUids(of)]
  const read = async (one: TestedSource) => {
    await one.source.sample()
    const taken = one.take()
    for (const teller of tellers) teller.tell()
    return taken
  }
  const look = () => {
    rows = []
    nowMs += SETTLE_MS
    pods.evaluate(nowMs)
    nowMs += 1000
    return rows
  }
  return { node, double, kubelet, readDriver: () => read(driver), readKubelet: () => read(cluster), look }
}

test('a MIG instance belongs to the pod that the kubelet names, and its id to no earlier pod', NEEDS, async (t) => {
  const { double, kubelet, readDriver, readKubelet, look } = await bringUp(t)
  const play = (uuid: number, slices: number, used: number) => {
    const instance = { gi: 1, uuid, slices, used_mib: used }
    const numbers = Object.entries(instance).map(([name, value]) => [`gpu0.mig0.${name}`, value])
    double.play({ gpus: 1, 'gpu0.mig': 1, ...Object.fromEntries(numbers) })
  }
  play(1, 1, 100)
  const infos = (await readDriver()).flatMap(({ type, record }) => (type === nvmlMigInfoType ? [record] : []))
  assert.deepEqual(
    infos.map(({ UUID, GPU_I_ID, GPU_I_PROFILE, MIG_UUID }) => [UUID, GPU_I_ID, GPU_I_PROFILE, MIG_UUID]),
    [['GPU-00000000-double', 1, '1g.10gb', 'MIG-00000001-double']],
  )
  kubelet.pods(podWith('first', ['MIG-00000001-double'], 'nvidia.com/mig-1g.10gb'))
  await readKubelet()
  assert.deepEqual(look(), ['first: 1 100'])
  // The id is used again before the kubelet is asked anew.
  play(2, 3, 500)
  await readDriver()
  assert.deepEqual(look(), ['first: 0 unknown'])
  kubelet.pods(podWith('second', ['MIG-00000002-double'], 'nvidia.com/mig-3g.30gb'))
  await readKubelet()
  await readDriver()
  assert.deepEqual(look(), ['second: 1 500'])
})

test('the API server names the pod of a process, if the node has no log files of pods', NEEDS, async (t) => {
  const api = await ApiServerDouble.start(t)
  const files = { api_token_file: '', api_ca_file: '' }
  const options = { api_server: api.address, ...files, node_name: 'node-a' }
  const { node, double, kubelet, readDriver, readKubelet } = await bringUp(t, options)
  const uid = '11111111-1111-1111-1111-111111111111'
  api.put(apiPod('trainer-0', { uid }))
  node.write('proc/9/stat', `9 (python3) S ${'0 '.repeat(18)}50 ${'0 '.repeat(30)}\n`)
  node.write('proc/9/cgroup', `0::/kubepods/pod${uid}/${'a'.repeat(64)}\n`)
  const process = { 'gpu0.processes': 1, 'gpu0.process0.pid': 9, 'gpu0.process0.memory': MIB }
  double.play({ gpus: 1, ...process })
  const owners = async () =>
    (await readDriver()).flatMap(({ type, record }) =>
      type === podDeviceType ? [`${record.namespace}/${record.pod} ${record.via}`] : [],
    )
  assert.deepEqual(await owners(), [`@pod/${uid} cgroup of the process`])
  kubelet.pods(podWith('trainer-0', ['GPU-00000000-double']))
  await readKubelet()
  assert.deepEqual(await owners(), ['ml/trainer-0 cgroup of the process'])
})
