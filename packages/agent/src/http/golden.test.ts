import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { type TestContext, test } from 'node:test'
import { createPrometheus } from '@sonde/sdk'
import { needs } from '../../../../test/debian.ts'
import { until } from '../../../sdk/test/helper.ts'
import { serveAgent } from '../../test/served-agent.ts'
import { host } from '../sources/host/host.ts'
import { netdev } from '../sources/netdev/netdev.ts'
import { pci } from '../sources/pci/pci.ts'
import { rdma } from '../sources/rdma/rdma.ts'
import { NODE_CLASSES } from '../sources/simulator/classes/classes.ts'
import { simulator } from '../sources/simulator/simulator.ts'
import { TestReport } from '../sources/simulator/test-report.ts'
import type { SourceDefinition } from '../sources/source.ts'
import { TestNode } from '../sources/test-node.ts'

// The whole of `/metrics` for a fixed node, real and simulated. Where a change is meant, this renews the files:
// SONDE_GOLDEN=renew npm test -- --quick http/golden

const TREES = ['host/fixtures/guest', 'netdev/fixtures/virtio-guest', 'pci/fixtures/switch-pair', 'rdma/fixtures/small']
const FORMATS = { text: 'text/plain', openmetrics: 'application/openmetrics-text' }

/** A source with other options than its defaults. */
function withOptions(definition: SourceDefinition, changed: object): SourceDefinition {
  return {
    ...definition,
    async load() {
      const { create } = await definition.load()
      return { create: (options, context) => create({ ...options, ...changed }, context) }
    },
  }
}

/** What depends on the time has no value here. */
const CHANGING = /^(rdma_port_turn_age_seconds\{|[^#].*[{,]simulated="true")/

/**
 * The families of a page, sorted by name, because the order of the sources varies. The agent's own metrics depend on
 * the run and are left out.
 */
function familiesOf(page: string): string[] {
  const [first = ''] = page.match(/^# \w+ /) ?? []
  const families = page.replace('# EOF\n', '').split(new RegExp(`^(?=${first})`, 'm'))
  return families
    .filter((family) => !/^# \w+ (sonde|steady)_/.test(family))
    .sort()
    .flatMap((family) => family.trimEnd().split('\n'))
    .map((line) => (CHANGING.test(line) ? line.replace(/ \S+$/, ' *') : line))
}

/**
 * Metrics of DCGM and of the DOCA recipe keep their names, and so does DCGM's label `modelName`. The steady source is
 * of the test.
 */
const GIVEN =
  /^(DCGM_FI_\w+|doca_(adp_retx_packets|pci_[rt]x_bytes|diag_link_errors)|steady_\w+) |^nvml_\w+ label names/

const NAMES = new URL('../../../../test/house/metric-names.txt', import.meta.url)
/** Names of the golden list, and those of the steady source. */
const DECLARED = new Set(
  [...readFileSync(NAMES, 'utf8').matchAll(/^\S+/gm), ['steady_samples_total'], ['steady_sampled_ms']].map(
    ([name]) => name,
  ),
)

const LINTER = needs('promtool')

/** What the linter of Prometheus says about a page, but for names that other systems gave. */
function complaints(page: string): string[] {
  const { stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: page, encoding: 'utf8' })
  return (stdout + stderr).split('\n').filter((line) => line !== '' && !GIVEN.test(line))
}

async function compare(t: TestContext, name: string, sources: readonly SourceDefinition[]): Promise<void> {
  const node = new TestNode(t, ...TREES.map((tree) => new URL(`../sources/${tree}`, import.meta.url)))
  const { agent, address } = await serveAgent(t, { sources, paths: node.paths })
  await until('every source was sampled twice', () => agent.sources.every(({ stats }) => stats.samples > 1))
  const { pods, infos } = agent
  await until('a row of every pod', () => pods.counts.pods === 0 || pods.counts.rows > pods.counts.pods)
  await until('info metrics', () => infos.counts.rows > 0 && infos.counts.pending === 0)
  for (const [format, accept] of Object.entries(FORMATS)) {
    const answer = await fetch(`${address}/metrics`, { headers: { accept, connection: 'close' } })
    const found = familiesOf(
      (await answer.text()).replaceAll(node.root, '').replaceAll(`ame="${hostname()}"`, 'ame="HOST"'),
    )
    const file = new URL(`../../test/golden/${name}.${format}.txt`, import.meta.url)
    if (process.env.SONDE_GOLDEN === 'renew') writeFileSync(file, `${found.join('\n')}\n`)
    const wanted = readFileSync(file, 'utf8').trimEnd().split('\n')
    const [known, shown] = [new Set(wanted), new Set(found)]
    const missing = wanted.filter((line) => !shown.has(line))
    const extra = found.filter((line) => !known.has(line))
    assert.deepEqual({ missing, extra }, { missing: [], extra: [] })
    assert.deepEqual(found, wanted)
  }
  const page = await (await fetch(`${address}/metrics`, { headers: { connection: 'close' } })).text()
  const undeclared = [...page.matchAll(/^# TYPE (\S+) /gm)].filter(([, family = '']) => !DECLARED.has(family))
  assert.deepEqual(
    undeclared.map(([line]) => line),
    [],
    'scripts/docs/metric-list.ts does not know the type',
  )
  await t.test('the linter of Prometheus finds nothing', LINTER, () => assert.deepEqual(complaints(page), []))
}

test('names, types, help, labels and values of a node are those of the golden files', (t) =>
  compare(t, 'node', [host, netdev, pci, withOptions(rdma, { sweep_limit_ms: 1000 })]))

test('names, types, help and labels of a simulated node are those of the golden files', (t) =>
  compare(t, 'simulated', [withOptions(simulator, { node_class: 'small', seed: 1 })]))

for (const { name } of NODE_CLASSES) {
  test(`the linter of Prometheus finds nothing in the metrics of a simulated ${name}`, LINTER, async () => {
    const view = createPrometheus()
    for (const batch of new TestReport({ node: name }).batchesAt(60)) view.accept(batch)
    const { chunks } = await view.render()
    assert.deepEqual(complaints(Buffer.concat(chunks).toString()), [])
  })
}
