import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import type { ReadRecord } from '@sonde/sdk'
import { needs } from '../../../../../test/debian.ts'
import { ApiServerDouble, apiPod } from '../../../../../test/doubles/api-server/api-server-double.ts'
import { KubeletDouble, type KubeletPlay, podWith } from '../../../../../test/doubles/kubelet/kubelet-double.ts'
import { testSource } from '../conformance.ts'
import { podDeviceType } from '../pods/type.ts'
import { type ReportedRecord, TestedSource, TestNode } from '../test-node.ts'
import { kubernetes } from './kubernetes.ts'

const NEEDS = needs('grpcio', 'protoc')

const kubelet = NEEDS.skip === false ? await new KubeletDouble({ after }).start() : undefined

kubelet?.pods(podWith('trainer-0', ['GPU-aa']), podWith('trainer-1', ['7'], 'rdma/hca_shared'))
testSource(kubernetes, { ...NEEDS, options: { kubelet_socket: kubelet?.socket ?? '/none' } })

/** The source over a kubelet that this file shares. */
function bringUp(t: TestContext, options: object = {}): TestedSource {
  const tested = new TestedSource(kubernetes, new TestNode(t).paths, { kubelet_socket: kubelet?.socket, ...options })
  t.after(() => tested.source.close())
  return tested
}

const devicesOf = (taken: readonly ReportedRecord[]): ReadRecord[] =>
  taken.filter(({ type }) => type === podDeviceType).map(({ record }) => record)

const heldIn = (taken: readonly ReportedRecord[]) =>
  devicesOf(taken).map(({ pod, UUID, GPU_I_ID }) => `${pod} ${UUID} ${GPU_I_ID}`.trimEnd())

/** Two GPUs, of which the second is split into instances. */
const NAMES = {
  gpus: [
    { UUID: 'GPU-aa', device: 'nvidia0', Hostname: '', instances: {} },
    { UUID: 'GPU-bb', device: 'nvidia1', Hostname: '', instances: { 'MIG-11': '7', 'MIG-22': '9' } },
  ],
}

test('every form of a device id means its GPU or instance', NEEDS, async (t) => {
  const tested = bringUp(t)
  await tested.command(NAMES)
  const cases: [ids: string[], resource: string, held: string[]][] = [
    [['GPU-aa'], 'nvidia.com/gpu', ['GPU-aa']],
    [['GPU-aa::3'], 'nvidia.com/gpu', ['GPU-aa']],
    [['GPU-aa::0', 'GPU-aa::1'], 'nvidia.com/gpu.shared', ['GPU-aa']],
    [['MIG-11'], 'nvidia.com/mig-1g.10gb', ['GPU-bb 7']],
    [['MIG-22::4'], 'nvidia.com/mig-1g.10gb.shared', ['GPU-bb 9']],
    [['MIG-GPU-bb/7/0'], 'nvidia.com/mig-3g.20gb', ['GPU-bb 7']],
    [['nvidia1'], 'nvidia.com/gpu', ['GPU-bb']],
    [['nvidia1/gi9'], 'nvidia.com/gpu', ['GPU-bb 9']],
    [['nvidia1/gi9/vgpu2'], 'nvidia.com/gpu', ['GPU-bb 9']],
    [['nvidia0/vgpu0'], 'nvidia.com/gpu', ['GPU-aa']],
    [['GPU-aa', 'GPU-bb'], 'nvidia.com/gpu', ['GPU-aa', 'GPU-bb']],
    [['7'], 'nvidia.com/cpu', []],
  ]
  for (const [ids, resource, held] of cases) {
    kubelet?.pods(podWith('p', ids, resource))
    await tested.source.sample()
    assert.deepEqual(
      heldIn(tested.take()),
      held.map((device) => `p ${device}`),
      ids.join(),
    )
  }
})

test('a device of a claim means the GPU or instance that its driver publishes', NEEDS, async (t) => {
  const api = await ApiServerDouble.start(t)
  const device = (name: string, uuid: string) => ({ name, basic: { attributes: { uuid: { string: uuid } } } })
  const spec = { driver: 'gpu.nvidia.com', nodeName: 'node-a', pool: { name: 'node-a' } }
  api.slices = [{ spec: { ...spec, devices: [device('gpu-0', 'GPU-aa'), device('gpu-1-mig-1g', 'MIG-11')] } }]
  const files = { api_token_file: '', api_ca_file: '' }
  const tested = bringUp(t, { api_server: api.address, ...files, node_name: 'node-a' })
  await tested.command(NAMES)
  const claimed = (deviceName: string) => ({ driverName: 'gpu.nvidia.com', poolName: 'node-a', deviceName })
  const claims = ['gpu-0', 'gpu-1-mig-1g', 'gpu-7'].map(claimed)
  const dynamicResources = [{ claimName: 'a-claim', claimResources: claims }]
  kubelet?.pods({ name: 'p', namespace: 'ml', containers: [{ name: 'main', dynamicResources }] })
  await tested.source.sample()
  const taken = tested.take()
  assert.deepEqual(heldIn(taken), ['p GPU-aa', 'p GPU-bb 7', 'p node-a/gpu-7'])
  assert.deepEqual(
    devicesOf(taken).map(({ via, doubt }) => [via, doubt]),
    [
      ['kubelet, resource claim', ''],
      ['kubelet, resource claim', ''],
      ['kubelet, resource claim', 'no source has reported a GPU that node-a/gpu-7 names'],
    ],
  )
})

test('labels of the allow-list are reported in its order, up to the limit of a pod', NEEDS, async (t) => {
  const api = await ApiServerDouble.start(t)
  api.put(
    apiPod('p', { labels: { tier: 'gold', team: 'vision', secret: 'x', app: 'chat', 'a.b/c': 'd' } }),
    apiPod('q'),
  )
  const read = { pod_labels: ['team', 'a.b/c', 'tier', 'app'], pod_labels_max: 2 }
  const tested = bringUp(t, {
    api_server: api.address,
    api_token_file: '',
    api_ca_file: '',
    node_name: 'node-a',
    ...read,
  })
  kubelet?.pods()
  await tested.source.sample()
  const infos = tested.take().filter(({ type }) => type.name === 'pod_info')
  assert.deepEqual(
    infos.map(({ record }) => [record.pod, record.labels, record.app]),
    [
      ['p', '{"team":"vision","a.b/c":"d"}', 'chat'],
      ['q', '', ''],
    ],
  )
  assert.equal(tested.dropped.get('pod_label_limit'), 2)
})

test('a pod that has ended holds nothing, and a pod that waits is reported without a device', NEEDS, async (t) => {
  const api = await ApiServerDouble.start(t)
  api.put(apiPod('ended', { phase: 'Succeeded' }), apiPod('waits', { phase: 'Pending', startTime: '' }))
  const files = { api_token_file: '', api_ca_file: '' }
  const tested = bringUp(t, { api_server: api.address, ...files, node_name: 'node-a' })
  kubelet?.pods(podWith('ended', ['GPU-aa']))
  await tested.source.sample()
  const taken = tested.take()
  assert.deepEqual(heldIn(taken), [])
  const infos = taken.filter(({ type }) => type.name === 'pod_info').map(({ record }) => [record.pod, record.phase])
  assert.deepEqual(infos, [['waits', 'Pending']])
  assert.equal(tested.dropped.get('pod_ended'), 1)
})

test('two pods that hold one id are both reported, with the doubt', NEEDS, async (t) => {
  const tested = bringUp(t)
  kubelet?.pods(
    podWith('a', ['GPU-aa']),
    podWith('b', ['GPU-aa']),
    podWith('c', ['GPU-bb::0']),
    podWith('d', ['GPU-bb::1']),
  )
  await tested.source.sample()
  const doubts = devicesOf(tested.take()).map(({ pod, doubt }) => [pod, doubt])
  assert.deepEqual(doubts, [
    ['a', 'the kubelet lists GPU-aa for ml/b too'],
    ['b', 'the kubelet lists GPU-aa for ml/a too'],
    ['c', ''],
    ['d', ''],
  ])
})

test('an answer that cannot be read costs the sample, says why, and the next answer is read', NEEDS, async (t) => {
  const tested = bringUp(t, { kubelet_timeout_ms: 2000 })
  const noise = Buffer.from(Array.from({ length: 4096 }, (_, i) => (i * 7919 + 13) % 256)).toString('base64')
  const faults: [KubeletPlay, RegExp][] = [
    [{ garbage: noise }, /no PodResources/],
    [{ garbage: Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f]).toString('base64') }, /no PodResources/],
    [{ hang: true }, /gave no whole answer within 2000 ms/],
    [{ refuse: 'UNIMPLEMENTED' }, /does not know PodResources v1/],
    [{ refuse: 'UNAVAILABLE', details: 'x'.repeat(5000) }, /does not answer: "x{200}"$/],
  ]
  kubelet?.pods(podWith('p', ['GPU-aa']))
  await tested.source.sample()
  for (const [play, reason] of faults) {
    kubelet?.play(play)
    await assert.rejects(tested.source.sample(), { code: 'SRC_KUBELET', message: reason })
    kubelet?.pods(podWith('p', ['GPU-aa']))
    tested.take()
    await tested.source.sample()
    assert.deepEqual(heldIn(tested.take()), ['p GPU-aa'], String(reason))
  }
})

test('an answer of 100 MB is refused before it is read', NEEDS, async (t) => {
  const tested = bringUp(t, { kubelet_timeout_ms: 60_000 })
  kubelet?.play({ bytes: 100 << 20 })
  const beforeBytes = process.memoryUsage().rss
  await assert.rejects(tested.source.sample(), { code: 'SRC_KUBELET', message: /more than 16777216 bytes/ })
  const grownBytes = process.memoryUsage().rss - beforeBytes
  assert.ok(grownBytes < 50 << 20, `${grownBytes} bytes`)
})

test('a kubelet that restarts is found at the next question', NEEDS, async (t) => {
  const own = await new KubeletDouble(t).start()
  const tested = bringUp(t, { kubelet_socket: own.socket })
  own.pods(podWith('p', ['GPU-aa']))
  await tested.source.sample()
  await own.stop()
  await assert.rejects(tested.source.sample(), { code: 'SRC_KUBELET' })
  await own.start()
  tested.take()
  await tested.source.sample()
  assert.deepEqual(heldIn(tested.take()), ['p GPU-aa'])
})

test(
  '10 000 pods with names of 253 characters: the limit holds, and impossible names are counted',
  NEEDS,
  async (t) => {
    const tested = bringUp(t, { max_devices: 100 })
    const name = (i: number) => `${i}`.padStart(253, 'p')
    const pods = Array.from({ length: 10_000 }, (_, i) => podWith(name(i), [`GPU-${i}`]))
    kubelet?.pods(podWith('a\nb', ['GPU-x']), podWith('p'.repeat(254), ['GPU-x']), ...pods)
    await tested.source.sample()
    assert.equal(devicesOf(tested.take()).length, 100)
    assert.equal(tested.dropped.get('device_limit'), 9900)
    assert.equal(tested.dropped.get('name'), 2)
  },
)
