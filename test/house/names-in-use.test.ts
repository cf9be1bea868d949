import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { SIGNALS } from '../../packages/agent/src/hints/watch/signals.ts'
import { DCGM_FIELDS } from '../../packages/agent/src/sources/dcgm-exporter/fields.ts'
import { SOURCES } from '../../packages/agent/src/sources/registry.ts'
import { appMetric, podMetric, sharedMetric } from '../../packages/console/server/apps/fields.ts'
import { GPU_FIELDS } from '../../packages/sdk/src/api/index.ts'
import { findWrongLabels, findWrongNames, goldenMetrics, typesByName } from '../../scripts/check/metric-names.ts'
import { filesOf, root } from '../../scripts/check/sources.ts'
import { OTHER_WORDS } from './other-words.ts'

/** Files that name metrics: page, hints, explain, rules, examples and docs. ADRs may name metrics of the past. */
const FILES = [
  'packages/console/{web,server}/**/*.{ts,tsx}',
  'packages/agent/src/{hints,explain,rules,traceback,devices,pods,http,service}/**/*.ts',
  'packages/agent/src/sources/**/README.md',
  'packages/cli/src/**/*.ts',
  'examples/**/*.{ts,json,yaml}',
  'docs/*.md',
  'README.md',
]
const IS_LEFT_OUT = /\.test\.|\/test-|docs\/metrics\.md/

const metrics = goldenMetrics()
const types = typesByName()
const others = new Set([
  ...[...metrics.values()].flat(),
  ...[...types.values()].flatMap(({ layout }) => layout.slots.map(({ name }) => name)),
  ...SOURCES.map(({ name }) => name),
  ...DCGM_FIELDS.flatMap(({ names }) => names.map((name) => `DCGM_FI_${name}`)),
  ...OTHER_WORDS,
])
const known = { metrics, types, others }

test('texts of page, hints, explain, rules, examples and docs name metrics, types and fields that exist', () => {
  const paths = FILES.flatMap(filesOf).filter((path) => !IS_LEFT_OUT.test(path))
  assert.ok(paths.length > 300, `${paths.length} files`)
  const wrong = paths.flatMap((path) =>
    findWrongNames(readFileSync(join(root, path), 'utf8'), known).map((name) => `${path}: ${name}`),
  )
  assert.deepEqual([...new Set(wrong)], [], 'a name of another meaning belongs into test/house/other-words.ts')
})

/** A module of the page. The types of the page are those of a browser, which this program does not have. */
const pageModule = (path: string) => import(`../../packages/console/web/${path}`)

/** Names that code puts together, as code that runs has them. */
async function madeNames(): Promise<Record<string, unknown>> {
  const { testGpu, testNic } = await pageModule('devices/test-devices.ts')
  const { gpuPanels } = await pageModule('pages/gpu/gpu-panels.ts')
  const { nicSections } = await pageModule('pages/nic/nic-sections.ts')
  const { pciPanels } = await pageModule('pages/pci/pci-panels.ts')
  const { PORT_QUERIES, PORT_LINK_QUERIES } = await pageModule('pages/fabric/port-signals.ts')
  const { FIELD_WORDS } = await pageModule('pages/app/gpu-fields.ts')
  const { DEVICE_QUERIES } = await pageModule('devices/signals.ts')
  const [gpu, nic] = [testGpu(0), testNic(0)]
  const ends = [{ address: gpu.address, device: gpu, role: 'upstream' }]
  return {
    'hints/watch/signals.ts': SIGNALS.map(({ metric }) => metric),
    'devices/signals.ts': DEVICE_QUERIES,
    'fabric/port-signals.ts': [PORT_QUERIES, PORT_LINK_QUERIES],
    'gpu/gpu-panels.ts': gpuPanels(gpu),
    'nic/nic-sections.ts': nicSections(nic),
    'pci/pci-panels.ts': pciPanels(gpu, gpu, ends),
    'app/gpu-fields.ts': FIELD_WORDS,
    'apps/fields.ts': GPU_FIELDS.flatMap((field) => [
      ...[podMetric(field), sharedMetric(field)],
      ...(['avg', 'min', 'max', 'count'] as const).map((statistic) => appMetric(field, statistic)),
    ]),
  }
}

test('names of metrics that code puts together exist, and have the labels that queries use', async () => {
  for (const [place, value] of Object.entries(await madeNames())) {
    const text = JSON.stringify(value)
    assert.ok(
      [...metrics.keys()].some((metric) => text.includes(metric)),
      `${place} names a metric`,
    )
    assert.deepEqual([...new Set(findWrongNames(text, known))], [], place)
    assert.deepEqual(findWrongLabels(value, metrics), [], place)
  }
})

test('a wrong metric, field, beginning or label is found', () => {
  const text =
    'netdev_rx_bytes_total netdev_rx_byte_total rail:sonde_power:min host_memory.free_bytes host_memory.free_byte pci_devise_…'
  assert.deepEqual(findWrongNames(text, known), ['netdev_rx_byte_total', 'host_memory.free_byte', 'pci_devise_'])
  const queries = [{ metric: 'pci_aer_errors_total', by: ['pci_address', 'device'] }]
  assert.deepEqual(findWrongLabels(queries, metrics), ['pci_aer_errors_total{device}'])
})
