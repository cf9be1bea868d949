// Every query of every dashboard on a real Prometheus, over recorded data.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { DASHBOARDS } from '../../scripts/dashboards/dashboards.ts'
import { NO_DATA } from '../../scripts/dashboards/description.ts'
import { FOREIGN, NODE_ROWS } from '../../scripts/dashboards/foreign.ts'
import { grafanaJson } from '../../scripts/dashboards/grafana-json.ts'
import { withOurNames } from '../../scripts/dashboards/our-names.ts'
import { WITHOUT_DATA } from '../../scripts/dashboards/without-data.ts'
import { root } from '../../scripts/setup.mjs'
import { rulesOf } from '../alerts/rule-files.ts'
import { needs } from '../debian.ts'
import { startBackfilled } from '../interop/query-peers.ts'
import { npmPeer } from '../npm-peer.ts'
import { ofOthers, Promql, substituted } from './promql.ts'
import { EXPORTERS, NODE, NOW_MS, recordedSamples } from './recorded.ts'

const peer = await npmPeer('grafana')
const fetched = { skip: peer === undefined && 'npm cannot fetch the packages of Grafana and Prometheus' }
const needed = peer === undefined ? fetched : needs('prometheus', 'promtool', 'cc')

/** Nodes of a large cluster, points of a wide chart, and the samples that a query of Prometheus may load. */
const [NODES, POINTS, SAMPLES_MAX] = [1000, 1000, 50e6]

const RECORDED = new Map(
  rulesOf('cluster').map(({ expr, ...rule }) => [(rule as { record?: string }).record ?? '', expr]),
)

/** Each query of each panel, by the place where it stands. */
const QUERIES = DASHBOARDS.flatMap(({ uid, rows }) =>
  rows.flatMap(({ panels }) =>
    panels.flatMap(({ title, targets, kind = 'timeseries', noData }) =>
      targets.map(({ expr }, index) => {
        return { place: `${uid} · ${title}${index === 0 ? '' : ` ${index + 1}`}`, uid, kind, expr, noData }
      }),
    ),
  ),
)

interface Element {
  readonly metric: Readonly<Record<string, string>>
  readonly value: readonly [number, string]
}

/** Instead of a recorded series, what its rule computes. */
const unrecorded = (expr: string) =>
  expr.replace(/\b(?:instance|rail|app):\w+:\w+(?:\{[^}]*\})?/g, (text) => {
    const rule = RECORDED.get(text.replace(/\{.*/, ''))
    assert.ok(rule !== undefined, `no rule records ${text}`)
    return `(${rule})`
  })

test('every query runs on Prometheus and has data, or stands in the list of reasons', needed, async (t) => {
  const url = await startBackfilled(t, await recordedSamples(t))
  const promql = await Promql.load(peer ?? '')
  const ask = async (expr: string): Promise<readonly Element[]> => {
    const query = new URLSearchParams({ query: expr, time: String(NOW_MS / 1000) })
    const answer = await fetch(`${url}/api/v1/query`, { method: 'POST', body: query })
    const { status, error, data } = (await answer.json()) as {
      status: string
      error?: string
      data: { result: Element[] }
    }
    assert.equal(status, 'success', `${expr}: ${error}`)
    return data.result
  }

  const empty: string[] = []
  const noNumbers: string[] = []
  for (const { place, expr } of QUERIES) {
    const text = substituted(expr)
    assert.deepEqual(promql.faults(text), [], `${place}: ${text}`)
    const elements = await ask(unrecorded(text))
    if (elements.length === 0) empty.push(place)
    for (const { metric, value } of elements)
      if (!Number.isFinite(Number(value[1]))) noNumbers.push(`${place}: ${JSON.stringify(metric)}`)
  }
  assert.deepEqual(noNumbers, [])
  // A list of what is wrong is empty on a healthy node; its panel says "None".
  const isList = ({ noData }: { noData: string }) => noData === NO_DATA.none
  const always = new Set(QUERIES.filter((query) => !isList(query)).map(({ place }) => place))
  const unexplained = empty.filter((place) => always.has(place))
  assert.deepEqual(unexplained.sort(), Object.keys(WITHOUT_DATA).sort(), 'without-data.ts has the reasons')

  // Each spelling of dcgm-exporter has its GPU.
  const utilisation = QUERIES.find(({ place }) => place === 'sonde-gpu · Utilisation')?.expr ?? ''
  const instances = new Set((await ask(substituted(utilisation))).map(({ metric }) => metric.instance))
  for (const exporter of EXPORTERS)
    assert.ok(instances.has(exporter === 'renamed' ? '10.0.0.7:9400' : `exporter-${exporter}`), exporter)
  const ofPods = QUERIES.find(({ place }) => place === 'sonde-gpu-app · Utilisation')?.expr ?? ''
  const pods = new Set((await ask(substituted(ofPods))).map(({ metric }) => `${metric.namespace}/${metric.pod}`))
  for (const pod of ['inference/llama-7d9c-x2x4p', 'research/bert-0']) assert.ok(pods.has(pod), pod)
  assert.ok(![...pods].some((pod) => pod.includes('dcgm-exporter')), [...pods].join())

  // Dashboards of others: as they are, or with our names.
  assert.deepEqual(await ask('{__name__=~"node_.*|process_.*"}'), [], 'names of node_exporter')
  const wrong: string[] = []
  for (const { title, expressions } of [...FOREIGN, ...NODE_ROWS]) {
    const asked = expressions.map(async ({ expr, ours = expr, reason, condition }) => {
      const text = ofOthers(ours)
      assert.deepEqual([...promql.faults(ofOthers(expr)), ...promql.faults(text)], [], text)
      const hasData = (await ask(text)).length > 0
      if (condition === undefined && hasData !== (reason === undefined)) wrong.push(`${title}: ${ours}`)
    })
    await Promise.all(asked)
  }
  assert.deepEqual(wrong, [], 'expressions of dashboards of others')

  // An instant query loads a sample of each series, a chart one for each point.
  const large: string[] = []
  const counts = new Map<string, number>()
  for (const { place, kind, expr, uid } of QUERIES) {
    // A dashboard of one device or one node is not asked for a whole cluster.
    if (!['sonde-fabric', 'sonde-gpu-cluster'].includes(uid)) continue
    let series = 0
    for (const selector of promql.selectors(substituted(expr))) {
      const plain = unrecorded(selector)
      const count =
        counts.get(plain) ??
        Number((await ask(`count(${plain.replace(/instance=~"[^"]*"/, `instance="${NODE}"`)})`))[0]?.value[1] ?? 0)
      counts.set(plain, count)
      // A recorded series exists once for each node at most.
      series += plain === selector ? count : 10
    }
    const samples = series * NODES * (kind === 'timeseries' ? POINTS : 1)
    if (samples > SAMPLES_MAX) large.push(`${place}: ${samples / 1e6} M samples`)
  }
  assert.deepEqual(large, [], `over ${NODES} nodes`)
})

test('an expression over node_exporter becomes one over Sonde, with labels, joins and scales', () => {
  const translations = {
    'rate(node_disk_reads_completed_total{device=~"sd.*"}[1m])': 'rate(host_disk_reads_total{disk=~"sd.*"}[1m])',
    'node_pressure_cpu_waiting_seconds_total{job="a"}': 'host_pressure_waiting_seconds_total{resource="cpu",job="a"}',
    'node_systemd_units{job="a", state="failed"}': 'host_systemd_failed_units{job="a"}',
    'node_memory_SUnreclaim_bytes{job="a"}':
      '(host_memory_slab_bytes{job="a"} - host_memory_slab_reclaimable_bytes{job="a"})',
    'node_time_seconds{job="a"} - node_boot_time_seconds': 'time() - host_kernel_boot_time_seconds',
    'rate(node_disk_discarded_sectors_total[1m])': 'rate(host_disk_discarded_bytes_total[1m]) / 512',
    'node_hwmon_temp_celsius * on(chip) group_left(chip_name) node_hwmon_chip_names{job="a"}':
      'host_temperature_celsius',
  }
  for (const [theirs, ours] of Object.entries(translations)) assert.deepEqual(withOurNames(theirs), { ours })
  assert.deepEqual(withOurNames('node_load1 / node_arp_entries'), {
    reason: 'a full table shows as failed connections',
  })
  assert.equal(withOurNames('DCGM_FI_DEV_GPU_UTIL'), undefined)
  assert.throws(() => withOurNames('node_unheard_of'), /no list has node_unheard_of/)
})

test('an empty Prometheus gives no error, and each panel says why it is empty', needed, async (t) => {
  const url = await startBackfilled(t, [{ metric: 'up', labels: { job: 'a' }, timeMs: NOW_MS, value: 1 }])
  for (const { place, expr, noData } of QUERIES) {
    const query = new URLSearchParams({ query: substituted(expr), time: String(NOW_MS / 1000) })
    const { status, data } = (await (await fetch(`${url}/api/v1/query`, { method: 'POST', body: query })).json()) as {
      status: string
      data: { result: unknown[] }
    }
    assert.deepEqual([status, data.result], ['success', []], place)
    assert.ok(noData === NO_DATA.none || noData.startsWith('No data: '), place)
  }
})

test('each dashboard has the form that Grafana defines', fetched, () => {
  const folder = join(peer ?? '', `check-${process.pid}`)
  mkdirSync(folder)
  const dashboards = DASHBOARDS.map((each) => grafanaJson(each))
  assert.equal(compile(folder, dashboards), '')
  const [first] = JSON.parse(JSON.stringify(dashboards))
  first.panels[1].fieldConfig.defaults.thresholds.steps[0].colour = 'red'
  first.templating.list[0].refresh = 7
  const faults = compile(folder, [first])
  assert.match(faults, /"colour"' does not exist/)
  assert.match(faults, /Type '7' is not assignable to type 'VariableRefresh/)
  rmSync(folder, { recursive: true })

  const uids = DASHBOARDS.map(({ uid }) => uid)
  // Links of the console and of users.
  assert.deepEqual(uids.sort(), [
    ...['sonde-doca', 'sonde-fabric', 'sonde-gpu', 'sonde-gpu-app', 'sonde-gpu-cluster'],
    ...['sonde-netdev', 'sonde-nic', 'sonde-node', 'sonde-self'],
  ])
})

/** Errors of the compiler for dashboards with the types of Grafana. */
function compile(folder: string, dashboards: readonly object[]): string {
  const head = `import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard'
import type { Options as Chart, FieldConfig } from '@grafana/grafana-foundation-sdk/timeseries'
import type { Options as Stat } from '@grafana/grafana-foundation-sdk/stat'
import type { Options as Table } from '@grafana/grafana-foundation-sdk/table'
import type { Dataquery } from '@grafana/grafana-foundation-sdk/prometheus'
// JSON has the values of enumerations, not their names.
type Plain<T> = T extends string ? \`\${T}\` : T extends readonly (infer U)[] ? Plain<U>[]
  : T extends object ? { [K in keyof T as K extends '_implementsDataqueryVariant' ? never : K]: Plain<T[K]> } : T
`
  const lines = dashboards.flatMap((dashboard, at) => {
    const { panels } = dashboard as { panels: { type: string; options: object; targets?: object[] }[] }
    const parts = panels.flatMap(({ type, options, targets = [] }, index) => {
      const name = { timeseries: 'Chart', stat: 'Stat', table: 'Table' }[type]
      if (name === undefined) return []
      const queries = `const q${at}_${index}: Plain<Dataquery>[] = ${JSON.stringify(targets)}\nvoid q${at}_${index}`
      return [queries, `const o${at}_${index}: Plain<${name}> = ${JSON.stringify(options)}\nvoid o${at}_${index}`]
    })
    return [`const d${at}: Plain<Dashboard> = ${JSON.stringify(withoutTargets(dashboard))}\nvoid d${at}`, ...parts]
  })
  writeFileSync(join(folder, 'check.ts'), [head, 'void (0 as unknown as FieldConfig)', ...lines].join('\n'))
  const options = {
    target: 'es2024',
    module: 'esnext',
    moduleResolution: 'bundler',
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, include: ['check.ts'] }))
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  return spawnSync(process.execPath, [tsc, '-p', folder, '--pretty', 'false'], { encoding: 'utf8' }).stdout
}

/** Queries are of a data source, whose type is another. */
function withoutTargets(dashboard: object): object {
  return JSON.parse(
    JSON.stringify(dashboard, (key, value) => (key === 'targets' || key === 'target' ? undefined : value)),
  )
}
