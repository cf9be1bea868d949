import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { RecordType } from '@sonde/sdk'
import { absenceType } from '@sonde/sdk/internal'
import { needs } from '../../../../../test/debian.ts'
import { NvmlDouble } from '../../../../../test/doubles/nvml/nvml-double.ts'
import { podDeviceType, podInfoType, podShareType } from '../pods/type.ts'
import { gpuProcessType } from '../processes/type.ts'
import { TestedSource, TestNode } from '../test-node.ts'
import { nvml } from './nvml.ts'

const NEEDS = needs('cc')
const GIB = 2 ** 30
const [TRAINER, NOTEBOOK] = ['a', 'b'].map((digit) => digit.repeat(64)) as [string, string]

/** Control groups of a pod of Kubernetes with containerd. */
function inPod(uid: string, container: string): string {
  const slice = `kubepods-burstable-pod${uid.replaceAll('-', '_')}.slice`
  return `0::/kubepods.slice/kubepods-burstable.slice/${slice}/cri-containerd-${container}.scope\n`
}

/** A node with one GPU, and processes that a test makes. */
class GpuNode {
  readonly node: TestNode
  readonly double: NvmlDouble
  readonly tested: TestedSource
  readonly #processes = new Map<number, { memory: number; sm: number }>()
  #numbers: Readonly<Record<string, number>> = {}

  constructor(t: TestContext, options: object = {}) {
    this.node = new TestNode(t)
    this.double = new NvmlDouble(t)
    const paths = { ...this.node.paths, nvml_library: this.double.folder }
    this.tested = new TestedSource(nvml, paths, { log_folder: `${this.node.root}/log`, ...options })
    t.after(() => this.tested.source.close())
    this.node.link('proc/self/ns/pid', 'pid:[4026531836]')
    this.setUptime(1000)
  }

  setUptime(seconds: number): void {
    this.node.write('proc/uptime', `${seconds.toFixed(2)} 1.00\n`)
  }

  /** A process that uses the GPU. */
  run(
    pid: number,
    {
      cgroup,
      memory = GIB,
      sm = 0,
      startTicks = 5000,
      name = 'python3',
      environ = '',
    }: {
      readonly cgroup: string
      readonly memory?: number
      readonly sm?: number
      readonly startTicks?: number
      readonly name?: string
      readonly environ?: string
    },
  ): void {
    const fields = [...Array<number>(18).fill(0), startTicks, ...Array<number>(30).fill(0)]
    this.node.write(`proc/${pid}/stat`, `${pid} (${name}) S ${fields.join(' ')}\n`)
    this.node.write(`proc/${pid}/cgroup`, cgroup)
    this.node.write(`proc/${pid}/environ`, environ)
    this.#processes.set(pid, { memory, sm })
    this.#play()
  }

  end(pid: number): void {
    this.node.remove(`proc/${pid}`)
    this.#processes.delete(pid)
    this.#play()
  }

  set(numbers: Readonly<Record<string, number>>): void {
    this.#numbers = numbers
    this.#play()
  }

  #play(): void {
    const numbers = [...this.#processes].flatMap(([pid, { memory, sm }], at) =>
      Object.entries({ pid, memory, sm }).map(([name, value]) => [`gpu0.process${at}.${name}`, value]),
    )
    const processes = this.#processes.size
    this.double.play({ gpus: 1, 'gpu0.processes': processes, ...Object.fromEntries(numbers), ...this.#numbers })
  }

  /** Samples once, and gives the records of processes and pods. */
  async sample() {
    await this.tested.source.sample()
    const taken = this.tested.take()
    const of = (type: RecordType) => taken.filter((one) => one.type === type).map(({ record }) => record)
    const gone = of(absenceType).filter(({ code }) => code === 'gone')
    return {
      devices: of(podDeviceType),
      shares: of(podShareType),
      infos: of(podInfoType),
      processes: of(gpuProcessType),
      gone: gone.map(({ type, series }) => `${type} ${/pod="([^"]*)"/.exec(String(series))?.[1]}`),
      reasons: of(absenceType).map(({ type, field, code, reason }) => `${type} ${field} ${code}: ${reason}`),
    }
  }
}

test('pods that share a GPU have the memory and time of their own processes', NEEDS, async (t) => {
  const node = new GpuNode(t)
  const [one, two] = ['11111111-1111-1111-1111-111111111111', '22222222-2222-2222-2222-222222222222'] as const
  node.node.write(`log/pods/ml_trainer-0_${one}/main/0.log`, '')
  node.node.write(`log/containers/notebook-1_lab_jupyter-${NOTEBOOK}.log`, '')
  node.run(100, { cgroup: inPod(one, TRAINER), memory: 20 * GIB, sm: 60 })
  node.run(101, { cgroup: inPod(one, TRAINER), memory: 4 * GIB, sm: 0, name: 'data (loader) 1' })
  node.run(200, { cgroup: inPod(two, NOTEBOOK), memory: 2 * GIB, sm: 30 })
  const first = await node.sample()
  assert.ok(first.reasons.includes('pod_share util_ratio not_sampled: it takes a second reading'))
  const { devices, shares, processes, infos } = await node.sample()
  assert.deepEqual(
    devices.map(({ namespace, pod, container, UUID, via }) => [namespace, pod, container, UUID, via]),
    [
      ['ml', 'trainer-0', '', 'GPU-00000000-double', 'cgroup of the process'],
      ['lab', 'notebook-1', 'jupyter', 'GPU-00000000-double', 'cgroup of the process'],
    ],
  )
  assert.deepEqual(
    shares.map(({ pod, util_ratio, memory_used_bytes }) => [pod, util_ratio, memory_used_bytes]),
    [
      ['trainer-0', 0.6, 24 * GIB],
      ['notebook-1', 0.3, 2 * GIB],
    ],
  )
  assert.deepEqual(
    processes.map(({ pid, process, util_ratio, memory_used_bytes }) => [pid, process, util_ratio, memory_used_bytes]),
    [
      [100, 'python3', 0.6, 20 * GIB],
      [101, 'data (loader) 1', 0, 4 * GIB],
      [200, 'python3', 0.3, 2 * GIB],
    ],
  )
  // The labels of pods decide their app: the API server or an exporter has them.
  assert.deepEqual(
    infos.map(({ app }) => app),
    ['', ''],
  )
  node.end(200)
  const { gone } = await node.sample()
  const expected = ['gpu_process', 'pod_device', 'pod_info', 'pod_share'].map((type) => `${type} notebook-1`)
  assert.deepEqual(gone.sort(), expected)
})

test('Slurm jobs, containers, services and users own GPUs too', NEEDS, async (t) => {
  const node = new GpuNode(t)
  node.run(1, { cgroup: '0::/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0\n' })
  node.run(2, { cgroup: `0::/system.slice/docker-${TRAINER}.scope\n`, environ: 'SLURM_JOB_ID=4711\0' })
  node.run(3, { cgroup: '0::/system.slice/ollama.service\n' })
  node.run(4, { cgroup: '0::/user.slice/user-1000.slice/session-3.scope\n' })
  node.run(5, {
    cgroup: '0::/system.slice/slurmstepd.scope/s5K1KKYAYG5D00/step_0\n',
    environ: 'A=B\0SLURM_JOB_ID=42\0',
  })
  node.run(6, { cgroup: '8:memory:/system.slice/slurmd.service\n', environ: 'SLURM_JOB_ID=43\0' })
  node.run(7, { cgroup: '0::/\n' })
  node.run(8, { cgroup: inPod('11111111-1111-1111-1111-111111111111', TRAINER), environ: 'SLURM_JOB_ID=1\0' })
  const { devices, infos, processes } = await node.sample()
  assert.deepEqual(
    devices.map(({ namespace, pod, via }) => `${namespace}/${pod} ${via}`),
    [
      '@job/4711 cgroup of the process',
      '@docker/aaaaaaaaaaaa cgroup of the process',
      '@systemd/ollama.service cgroup of the process',
      '@user/1000 cgroup of the process',
      '@job/42 environment of the process',
      '@job/43 environment of the process',
      '@pod/11111111-1111-1111-1111-111111111111 cgroup of the process',
    ],
  )
  assert.deepEqual(
    infos.map(({ app }) => app),
    ['job', 'docker', 'systemd', 'user', 'job', 'job', ''],
  )
  assert.deepEqual(
    processes.filter(({ pod }) => pod === '').map(({ pid }) => pid),
    [7],
  )
})

test('a pid that another process has got is not believed', NEEDS, async (t) => {
  const node = new GpuNode(t)
  node.run(10, { cgroup: '0::/system.slice/slurmstepd.scope/job_1/step_0\n', startTicks: 5000 })
  assert.deepEqual(
    (await node.sample()).devices.map(({ pod }) => pod),
    ['1'],
  )
  node.run(10, { cgroup: '0::/system.slice/slurmstepd.scope/job_2/step_0\n', startTicks: 6000 })
  const { devices, gone } = await node.sample()
  assert.deepEqual(
    devices.map(({ pod }) => pod),
    ['2'],
  )
  assert.ok(gone.includes('pod_device 1'))
  // The driver listed it before this process started: it meant another.
  node.run(10, { cgroup: '0::/system.slice/slurmstepd.scope/job_3/step_0\n', startTicks: 100_001 })
  assert.deepEqual((await node.sample()).devices, [])
})

test(
  'without the PID namespace of the machine no process is believed, and the reason is reported',
  NEEDS,
  async (t) => {
    const node = new GpuNode(t)
    node.run(1, { cgroup: '0::/system.slice/slurmstepd.scope/job_1/step_0\n' })
    node.node.link('proc/self/ns/pid', 'pid:[4026532999]')
    const { devices, processes, reasons } = await node.sample()
    assert.deepEqual([devices, processes], [[], []])
    assert.match(reasons.find((reason) => reason.startsWith('gpu_process')) ?? '', /denied: .* set hostPID: true/)
    const kind = new GpuNode(t, { process_owners: 'always' })
    kind.run(1, { cgroup: '0::/system.slice/slurmstepd.scope/job_1/step_0\n' })
    kind.node.link('proc/self/ns/pid', 'pid:[4026532999]')
    assert.equal((await kind.sample()).devices.length, 1)
  },
)

test('values that the driver does not have are absent, also in sums', NEEDS, async (t) => {
  const node = new GpuNode(t)
  const cgroup = '0::/system.slice/slurmstepd.scope/job_1/step_0\n'
  node.run(1, { cgroup, memory: GIB })
  node.run(2, { cgroup, memory: -1 })
  node.set({ 'gpu0.process_use': 0, 'gpu0.draws': 1 })
  await node.sample()
  const { shares, processes } = await node.sample()
  assert.deepEqual(
    processes.map(({ pid, memory_used_bytes, util_ratio }) => [pid, memory_used_bytes, util_ratio]),
    [
      [1, GIB, undefined],
      [2, undefined, undefined],
    ],
  )
  assert.deepEqual([shares[0]?.memory_used_bytes, shares[0]?.util_ratio], [undefined, undefined])
})

test('job mapping files of dcgm-exporter name the jobs of a GPU', NEEDS, async (t) => {
  const folder = new TestNode(t)
  const node = new GpuNode(t, { job_folder: `${folder.root}/jobs`, process_owners: 'off' })
  node.set({})
  assert.deepEqual((await node.sample()).devices, [])
  folder.write('jobs/0', '4711\n\n4712\n a job \n')
  folder.write('jobs/00', '4711')
  folder.write('jobs/0.3', '9')
  folder.write('jobs/1', '5')
  folder.write('jobs/notes', '6')
  folder.makeFifo('jobs/0000')
  const { devices, processes } = await node.sample()
  assert.deepEqual(
    devices.map(({ namespace, pod, GPU_I_ID, via }) => [namespace, pod, GPU_I_ID, via]),
    [
      ['@job', '4711', '', 'job mapping files'],
      ['@job', '4712', '', 'job mapping files'],
      ['@job', '9', '3', 'job mapping files'],
    ],
  )
  assert.deepEqual(processes, [])
  folder.remove('jobs/0')
  assert.ok((await node.sample()).gone.includes('pod_device 4712'))
})

test('series that a stuck call reports at its end leave when the GPU is lost', NEEDS, async (t) => {
  const gpu = new GpuNode(t)
  gpu.node.write('log/pods/ml_trainer-0_11111111-1111-1111-1111-111111111111/main/0.log', '')
  gpu.run(11, { cgroup: inPod('11111111-1111-1111-1111-111111111111', TRAINER) })
  assert.deepEqual((await gpu.sample()).gone, [])
  const node = await gpu.tested.node()
  const call = node
    .duties()
    .find(({ name }) => name === 'processes')
    ?.run()
  node.stuck?.('nvidia0', 'the driver has not answered')
  await call
  gpu.set({ 'gpu0.lost': 1 })
  const { processes, gone } = await gpu.sample()
  assert.equal(processes.length, 1, 'the call reported after the GPU was gone')
  for (const type of ['gpu_process', 'pod_device', 'pod_share', 'pod_info'])
    assert.equal(gone.filter((series) => series === `${type} trainer-0`).length, 2, `${type} left twice: ${gone}`)
})
