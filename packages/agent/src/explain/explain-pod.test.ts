import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { ExplainLink, GpuAttribution } from '@sonde/sdk/api'
import type { LatestSeries } from '@sonde/sdk/internal'
import * as v from 'valibot'
import {
  type ApiPodOptions,
  ApiServerDouble,
  apiDaemonSet,
  apiNode,
  apiPod,
} from '../../../../test/doubles/api-server/api-server-double.ts'
import { firstBroken } from '../sources/chains/chain.ts'
import { dcgmExporter } from '../sources/dcgm-exporter/dcgm-exporter.ts'
import { kubernetes } from '../sources/kubernetes/kubernetes.ts'
import { nvml } from '../sources/nvml/nvml.ts'
import type { SourceDefinition } from '../sources/source.ts'
import { TestNode } from '../sources/test-node.ts'
import type { AgentFacts, DeviceFacts, SourceFacts } from './agent-facts.ts'
import { ask, deviceFacts, testConfig } from './test-chains.ts'

const OF_EXPORTER = { 'app.kubernetes.io/name': 'dcgm-exporter' }
const OF_PLUGIN = { app: 'nvidia-device-plugin-daemonset' }
const LONG_AGO = { startTime: '2026-01-01T00:00:00Z' }

/** What the agent of a test knows about the pod `ml/trainer-0`. */
interface Known {
  readonly sources?: readonly SourceFacts[]
  readonly devices?: readonly DeviceFacts[]
  /** UUIDs of the GPUs that the kubelet gave to the pod. */
  readonly holds?: readonly string[]
  readonly values?: { readonly util: string | null; readonly absent?: string }
  readonly app?: string
  readonly attribution?: Partial<GpuAttribution>
  readonly xid?: string
  readonly definitions?: readonly SourceDefinition[]
}

const reading = (name: string, found = ''): SourceFacts => ({
  name,
  state: 'reading',
  reason: '',
  lastSampleMs: 1,
  found,
})

/** A node with a driver, an API server, and pods of exporter and device plugin that run. */
async function bringUp(t: TestContext) {
  const node = new TestNode(t)
  node.write('proc/driver/nvidia/version', 'NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15\n')
  const api = await ApiServerDouble.start(t)
  api.nodes.set('node-a', apiNode('node-a'))
  const component = (name: string, labels: Readonly<Record<string, string>>, options: ApiPodOptions = {}) =>
    api.put(apiPod(name, { namespace: 'gpu', gpus: 0, labels, ...LONG_AGO, ...options }))
  const exporter = (options: ApiPodOptions = {}) => component('dcgm-exporter-x', OF_EXPORTER, options)
  const plugin = (options: ApiPodOptions = {}) => component('plugin-x', OF_PLUGIN, options)
  exporter()
  plugin()
  api.put(apiPod('trainer-0', LONG_AGO))
  const walked = async (of: string, known: Known | undefined = {}) => {
    const definitions = known.definitions ?? [nvml, dcgmExporter, kubernetes]
    const given = { api_server: api.address, api_token_file: '', api_ca_file: '', node_name: 'node-a' }
    const configured = definitions.map((definition) =>
      testConfig(definition, definition === kubernetes ? v.parse(kubernetes.options, given) : {}),
    )
    return ask(node, of, { definitions: [nvml, dcgmExporter, kubernetes], configured, facts: factsOf(known) })
  }
  const links = async (known?: Known, of = 'ml/trainer-0') => (await walked(of, known))[0]?.links ?? []
  return { node, api, exporter, plugin, walked, links }
}

function factsOf({ sources, devices = [], holds = [], values, app = '', attribution, xid }: Known): AgentFacts {
  const known = sources ?? [reading('dcgm_exporter'), reading('kubernetes')]
  const labels = { namespace: 'ml', pod: 'trainer-0' }
  const series: LatestSeries[] = holds.map((UUID) => {
    return { metric: 'pod_device_present', labels: { ...labels, UUID }, value: '1', timeMs: Date.now(), absent: '' }
  })
  if (values !== undefined) {
    const { util: value, absent = '' } = values
    const given = { ...labels, app }
    series.push({ metric: 'pod_gpu_util_ratio', labels: given, value, timeMs: Date.now(), absent })
  }
  if (xid !== undefined)
    series.push({ metric: 'DCGM_FI_DEV_XID_ERRORS', labels: { UUID: 'GPU-aa' }, value: xid, timeMs: 1, absent: '' })
  const typeOf = ({ metric }: LatestSeries) => (metric === 'pod_device_present' ? 'pod_device' : 'pod_gpu')
  const none: GpuAttribution = {
    ...{
      confidence: null,
      from: [],
      appLabel: '',
      serviceLabel: '',
      labelsFrom: '',
      phase: '',
      waiting: '',
      notes: [],
    },
  }
  return {
    source: async (name) => known.find((each) => each.name === name),
    series: async (wanted) =>
      series.filter((each) => ('metric' in wanted ? each.metric === wanted.metric : typeOf(each) === wanted.type)),
    types: async () => [],
    devices: async () => devices,
    attributions: async () => new Map(attribution === undefined ? [] : [['ml/trainer-0', { ...none, ...attribution }]]),
  }
}

/** The broken link of a chain, as one text. */
function brokenWords(links: readonly ExplainLink[]): string {
  const link = firstBroken(links)
  return link === undefined ? 'none' : `${link.name} | ${link.tried} | ${link.answer} | ${link.fix}`
}

const OF_KUBELET = { confidence: 'certain', from: ['kubelet'] } as const

test('a pod with numbers: the chain is whole, and says who decided its GPU and its app, and how sure it is', async (t) => {
  const { links } = await bringUp(t)
  const attribution = { ...OF_KUBELET, appLabel: 'app', labelsFrom: 'API server', notes: ['a note'] }
  const found = await links({ holds: ['GPU-aa'], values: { util: '0.5' }, app: 'pretrain', attribution })
  assert.deepEqual(
    found.map(({ name, state }) => `${name} ${state}`),
    ['configuration', 'pod', 'driver', 'device plugin', 'exporter', 'PodResources', 'labels', 'scrape'].map(
      (name) => `${name} ok`,
    ),
  )
  const words = found.map(({ tried, answer }) => `${tried}: ${answer}`).join('\n')
  assert.match(words, /Running on node-a, since \d+ s ago; asks for 1 GPU\n/)
  assert.match(words, /GPU-aa; certain, by kubelet; a note\n/)
  assert.match(words, /label app, from API server: app pretrain\n/)
  assert.match(words, /1 of 9 numbers, newest/)
})

/** The causes that keep the numbers of a pod away, each with its link and its advice. */
const CAUSES: readonly {
  readonly cause: string
  readonly known?: Known
  readonly play?: (parts: Awaited<ReturnType<typeof bringUp>>) => void
  readonly broken: RegExp
}[] = [
  {
    cause: 'nothing reads GPUs',
    known: { definitions: [kubernetes], sources: [reading('kubernetes')] },
    broken: /^configuration \| data_sources \| no source reads GPUs \| add "- type: nvml"/,
  },
  {
    cause: 'the exporter crashes',
    play: ({ exporter }) =>
      exporter({
        ...{ waiting: 'CrashLoopBackOff', restarts: 12 },
        lastState: { terminated: { reason: 'OOMKilled', exitCode: 137 } },
      }),
    broken:
      /^exporter \| gpu\/dcgm-exporter-x \| Running: CrashLoopBackOff, restarted 12 times, last: OOMKilled, exit code 137 \| kubectl logs -n gpu dcgm-exporter-x --previous; .*driver of node-a/,
  },
  {
    cause: 'the exporter waits for a node',
    play: ({ api, exporter }) => {
      api.remove('dcgm-exporter-x', 'gpu')
      const terms = [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['node-a'] }] }]
      const required = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } }
      const spec = { affinity: { nodeAffinity: required } }
      exporter({ node: '', phase: 'Pending', startTime: '', spec, unschedulable: '0/9 nodes: Insufficient memory.' })
    },
    broken:
      /^exporter \| gpu\/dcgm-exporter-x \| Pending: Unschedulable, 0\/9 nodes: Insufficient memory\. \| kubectl describe pod -n gpu dcgm-exporter-x/,
  },
  {
    cause: 'the node lacks the label of the exporter',
    play: ({ exporter }) => exporter({ node: 'node-b', spec: { nodeSelector: { 'convox.io/gpu-vendor': 'nvidia' } } }),
    broken:
      /^exporter \| .* on node-a \| none: node-a has no label convox\.io\/gpu-vendor=nvidia, by which gpu\/dcgm-exporter-x on node-b was placed \| kubectl label node node-a convox\.io\/gpu-vendor=nvidia/,
  },
  {
    cause: 'the cluster has no exporter',
    play: ({ api }) => api.remove('dcgm-exporter-x', 'gpu'),
    broken: /^exporter \| .* \| the cluster has none \| add "- type: nvml" to data_sources/,
  },
  {
    cause: 'the exporter crashes on some nodes',
    play: ({ api, exporter }) => {
      exporter({ waiting: 'CrashLoopBackOff', restarts: 12, daemonSet: 'exporter-b' })
      api.daemonSets = ['exporter-a', 'exporter-b'].map((name, at) =>
        apiDaemonSet(name, { namespace: 'gpu', labels: OF_EXPORTER, desired: 4 + at, ready: 4 - at }),
      )
    },
    broken:
      /^exporter \| gpu\/dcgm-exporter-x \| Running: Crash.*times; DaemonSet gpu\/exporter-b: 3 of 5 pods ready \|/,
  },
  {
    cause: 'the DaemonSet of the exporter selects no node',
    play: ({ api }) => {
      api.remove('dcgm-exporter-x', 'gpu')
      const [nodeSelector, counts] = [{ 'nvidia.com/gpu.deploy.dcgm-exporter': 'true' }, { desired: 0, ready: 0 }]
      api.daemonSets = [
        apiDaemonSet('other', { namespace: 'gpu', labels: { app: 'other' }, desired: 9, ready: 9 }),
        apiDaemonSet('dcgm', { namespace: 'gpu', labels: OF_EXPORTER, nodeSelector, ...counts }),
      ]
    },
    broken:
      /^exporter \| .* \| none: node-a has no label \S+=true, by which its DaemonSet selects nodes; DaemonSet gpu\/dcgm selects no node \| kubectl label node node-a nvidia\.com\/gpu\.deploy\.dcgm-exporter=true$/,
  },
  {
    cause: 'the driver is not loaded',
    play: ({ node }) => node.remove('proc/driver'),
    broken: /^driver \| .*proc\/driver\/nvidia\/version \| ENOENT.* \| sudo modprobe nvidia/,
  },
  {
    cause: 'driver and library do not fit',
    known: {
      sources: [
        { name: 'nvml', state: 'failed', reason: 'nvmlInit answers LIB_RM_VERSION_MISMATCH', lastSampleMs: null },
        reading('kubernetes'),
      ],
    },
    broken: /^driver \| nvml \| failed: nvmlInit answers LIB_RM_VERSION_MISMATCH \| .*explain nvml/,
  },
  {
    cause: 'the node has no device plugin',
    play: ({ api }) => api.remove('plugin-x', 'gpu'),
    broken: /^device plugin \| .* on node-a \| the cluster has none \| install the NVIDIA device plugin/,
  },
  {
    cause: 'the device plugin crashes',
    play: ({ plugin }) => plugin({ waiting: 'CrashLoopBackOff', restarts: 3 }),
    broken: /^device plugin \| gpu\/plugin-x \| Running: CrashLoopBackOff, restarted 3 times \| kubectl logs -n gpu/,
  },
  {
    cause: 'the device plugin reports a GPU as unhealthy',
    play: ({ api }) => api.nodes.set('node-a', apiNode('node-a', { healthy: 7 })),
    broken:
      /^device plugin \| gpu\/plugin-x \| node-a offers 7 of 8 GPUs: .*unhealthy \| kubectl logs -n gpu plugin-x; dmesg/,
  },
  {
    cause: 'the kubelet has no socket',
    known: {
      sources: [
        reading('dcgm_exporter'),
        { name: 'kubernetes', state: 'absent', reason: 'no kubelet: /x does not exist', lastSampleMs: null },
      ],
    },
    broken: /^PodResources \| kubelet \| absent: no kubelet: \/x does not exist \| mount the folder/,
  },
  {
    cause: 'the kubelet lists no GPU for the pod',
    broken: /^PodResources \| kubelet \| it lists no GPU for the pod \| .*gpu_resources/,
  },
  {
    cause: 'the exporter does not answer',
    known: {
      holds: ['GPU-aa'],
      sources: [
        {
          ...reading('dcgm_exporter'),
          targets: [
            { target: 'http://node-a:9400', state: 'failed', reason: 'ECONNREFUSED', disputes: [], disputeCount: 0 },
          ],
        },
      ],
    },
    broken:
      /^scrape \| dcgm_exporter at the agent \| reading; 0 of 1 are read; failed: ECONNREFUSED \| check the target/,
  },
  {
    cause: 'the GPU reports nothing after an XID error',
    known: { holds: ['GPU-aa'], values: { util: null, absent: 'the GPU has fallen off the bus' }, xid: '79' },
    broken:
      /^scrape \| pod_gpu of ml\/trainer-0 \| the GPU has fallen off the bus; last XID of GPU-aa: 79 \| drain the node and reset the GPU, or reboot; .*explain GPU-aa/,
  },
  {
    cause: 'the pod asks for no GPU',
    play: ({ api }) => api.put(apiPod('trainer-0', { gpus: 0 })),
    broken: /^pod \| http\S+ \| its containers ask for no GPU \| .*nvidia\.com\/gpu: 1/,
  },
  {
    cause: 'no node has room for the pod',
    play: ({ api }) =>
      api.put(
        apiPod('trainer-0', {
          ...{ node: '', phase: 'Pending', startTime: '' },
          unschedulable: '0/3 nodes are available: 3 Insufficient nvidia.com/gpu.',
        }),
      ),
    broken:
      /^pod \| .* \| it has no node; asks for 1 GPU; Pending: Unschedulable, 0\/3 nodes .* \| kubectl describe pod -n ml trainer-0/,
  },
  {
    cause: 'the pod waits for its image',
    play: ({ api }) => api.put(apiPod('trainer-0', { phase: 'Pending', waiting: 'ImagePullBackOff' })),
    broken: /^pod \| .* \| Pending: ImagePullBackOff; asks for 1 GPU \| kubectl describe pod/,
  },
  {
    cause: 'the pod runs on another node',
    play: ({ api }) => api.put(apiPod('trainer-0', { node: 'node-b' })),
    broken: /^pod \| .* \| it runs on node-b, and this agent reads node-a \| ask the agent of node-b/,
  },
  {
    cause: 'the pod has ended',
    play: ({ api }) => api.put(apiPod('trainer-0', { phase: 'Succeeded' })),
    broken: /^pod \| .* \| it has ended, as Succeeded; .* \| not possible/,
  },
  {
    cause: 'the pod is gone',
    known: {
      devices: [
        deviceFacts({
          ...{ id: 'pod-ml/trainer-0', kind: 'pod', name: 'ml/trainer-0' },
          ...{
            labels: { namespace: 'ml', pod: 'trainer-0' },
            goneMs: Date.now() - 5000,
            goneReason: 'not listed any more',
          },
        }),
      ],
    },
    play: ({ api }) => api.remove('trainer-0'),
    broken: /^pod \| .* \| it left \S+ s ago: not listed any more \| not possible/,
  },
]

for (const { cause, known, play, broken } of CAUSES) {
  test(`${cause}: the chain ends there, with advice`, async (t) => {
    const parts = await bringUp(t)
    play?.(parts)
    assert.match(brokenWords(await parts.links(known)), broken)
  })
}

test('a pod that has just started is not at fault, and neither is an API server that allows pods alone', async (t) => {
  const { api, links } = await bringUp(t)
  api.put(apiPod('trainer-0', { startTime: new Date().toISOString() }))
  api.fault = ({ pathname }, _, response) => {
    if (!pathname.startsWith('/api/v1/nodes/')) return false
    response.writeHead(403).end()
    return true
  }
  const found = await links({ holds: ['GPU-aa'], attribution: OF_KUBELET })
  assert.equal(brokenWords(found), 'none')
  assert.match(found.at(-1)?.answer ?? '', /^it started .* ago; numbers come within 90 s$/)
})

test('an API server that does not allow DaemonSets is said to refuse them, and nothing else changes', async (t) => {
  const { api, links } = await bringUp(t)
  api.fault = ({ pathname }, _, response) => {
    if (!pathname.endsWith('/daemonsets')) return false
    response.writeHead(403).end()
    return true
  }
  const refused = '; its DaemonSet is not known: .*forbids it \\(403\\); .*a role with list of daemonsets$'
  const [plugin, exporter] = (await links()).slice(3, 5)
  assert.deepEqual([plugin?.state, exporter?.state], ['ok', 'ok'])
  assert.match(plugin?.answer ?? '', new RegExp(`^node-a offers 8 of 8 GPUs${refused}`))
  assert.match(exporter?.answer ?? '', new RegExp(`^Running on node-a${refused}`))
})

test('an API server that refuses is the reason of missing labels', async (t) => {
  const { api, links } = await bringUp(t)
  api.fault = (_, __, response) => {
    response.writeHead(403).end()
    return true
  }
  const found = await links({ holds: ['GPU-aa'], values: { util: '0.5' }, attribution: OF_KUBELET })
  assert.match(brokenWords(found), /^labels \| API server \| .*forbids it \(403\).*get, list and watch of pods \|/)
})

test('a name without a pod is refused with the nearest names of its namespace', async (t) => {
  const { walked } = await bringUp(t)
  await assert.rejects(walked('ml/trainer-9'), { code: 'EXP_UNKNOWN', message: /nearest: ml\/trainer-0/ })
})

test('without an agent, one sample of each source shows the devices; the numbers stay unknown', async (t) => {
  const { node, api } = await bringUp(t)
  const given = { api_server: api.address, api_token_file: '', api_ca_file: '', node_name: 'node-a' }
  const configured = [testConfig(nvml, {}), testConfig(kubernetes, v.parse(kubernetes.options, given))]
  const trial = async () => factsOf({ sources: [reading('nvml', 'gpu0'), reading('kubernetes')], holds: ['GPU-aa'] })
  const [walk] = await ask(node, 'ml/trainer-0', { definitions: [nvml, kubernetes], configured, trial })
  const states = walk?.links.map(({ name, state, answer }) => `${name} ${state}: ${answer}`)
  assert.match(states?.[5] ?? '', /^PodResources ok: GPU-aa/)
  assert.match(states?.at(-1) ?? '', /^scrape unknown: no agent answers/)
})
