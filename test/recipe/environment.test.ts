import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { LatestSeries } from '@sonde/sdk/internal'
import { needs } from '../debian.ts'
import { runSonde, startSonde, temporaryDir, until } from '../sonde-process.ts'
import { doubledNode, RECIPE_ENV } from './recipe.ts'

const SOURCES_YAML = new URL('sources.yaml', import.meta.url).pathname

type Env = Readonly<Record<string, string>>

function fileWith(t: TestContext, text: string): string {
  const { path, remove } = temporaryDir()
  t.after(remove)
  const file = join(path, 'sonde.yaml')
  writeFileSync(file, text)
  return file
}

/** Lines of `sonde config`, with one blank before the origin. */
async function configOf(args: readonly string[], env: Env): Promise<string[]> {
  const { code, output } = await runSonde(['config', ...args], { env })
  assert.equal(code, 0, output)
  return output.split('\n').map((line) => line.trim().replace(/ +# /, ' # '))
}

/** The complaints of a run that must end with exit code 2. */
async function refusals(args: readonly string[], env: Env): Promise<string[]> {
  const { code, output } = await runSonde(['config', ...args], { env })
  assert.equal(code, 2, output)
  return output.trimEnd().split('\n')
}

test('the environment of the recipe adds its sources, and gives period, devices, label and port', async () => {
  const lines = await configOf([], { ...RECIPE_ENV, TELEMETRY_INTERVAL_MS: '500', PROMETHEUS_PORT: '9394' })
  for (const line of [
    '- type: doca_telemetry_diag # ENABLE_DIAG',
    'accept_taint: true # ENABLE_DIAG',
    '- type: doca_telemetry_dpa # ENABLE_DPA',
    '- type: doca_telemetry_pcc # ENABLE_PCC',
    'enabled: true # ENABLE_PCI',
    'enabled: true # ENABLE_ADP_RETX',
    'interval_ms: 500 # TELEMETRY_INTERVAL_MS',
    'node: gpu-17 # NODE_NAME',
    'scrape_port: 9394 # PROMETHEUS_PORT',
    'host: 127.0.0.1 # default',
  ])
    assert.ok(lines.includes(line), `${line} in\n${lines.join('\n')}`)
  assert.equal(lines.filter((line) => line === 'devices: [mlx5_0, mlx5_1] # DOCA_DEVICES').length, 6)
})

test('the environment counts more than the file, but a period of its own stays', async (t) => {
  const file = fileWith(
    t,
    `data_sources:
  - { type: doca_telemetry_adp_retx, name: retx, devices: [mlx5_7] }
  - { type: host, interval_ms: 2000 }
  - { type: netdev }
`,
  )
  const env = { ENABLE_ADP_RETX: '0', ENABLE_PHY: '1', TELEMETRY_INTERVAL_MS: '250', DOCA_DEVICES: ' mlx5_0, ,' }
  const netdev = `- type: netdev # ${file}:4`
  const linesTo = (lines: string[]) => lines.slice(0, lines.indexOf(netdev) + 1)
  assert.deepEqual(linesTo(await configOf(['--config', file], env)), [
    'data_sources:',
    `- type: doca_telemetry_adp_retx # ${file}:2`,
    `name: retx # ${file}:2`,
    'enabled: false # ENABLE_ADP_RETX',
    'interval_ms: 250 # TELEMETRY_INTERVAL_MS',
    'devices: [mlx5_0] # DOCA_DEVICES',
    'stuck_ms: 2000 # default',
    `- type: host # ${file}:3`,
    'name: host # default',
    'enabled: true # default',
    `interval_ms: 2000 # ${file}:3`,
    ...linesTo(await configOf(['--config', file], {})).slice(11),
  ])
})

test('empty variables are not there, and neither is what Kubernetes says of a Service named prometheus', async () => {
  const empty = { ENABLE_PCC: '', TELEMETRY_INTERVAL_MS: '', DOCA_DEVICES: ',', NODE_NAME: '' }
  const lines = await configOf([], { ...empty, PROMETHEUS_PORT: 'tcp://10.96.0.1:9090' })
  assert.deepEqual(
    lines.filter((line) => /_pcc|scrape_port|^node:|DOCA_DEVICES|TELEMETRY/.test(line)),
    [],
  )
})

test('a value that is not allowed is exit code 2, and one line each', async (t) => {
  const env = { ENABLE_PCC: 'maybe', ENABLE_PHY: 'True', TELEMETRY_INTERVAL_MS: '0', DOCA_DEVICES: 'mlx5_0,a b' }
  assert.deepEqual(await refusals([], env), [
    'sonde: ENABLE_PCC is "maybe"; allowed: true, 1, false or 0',
    'sonde: ENABLE_PHY is "True"; allowed: true, 1, false or 0',
    'sonde: TELEMETRY_INTERVAL_MS is 0; allowed: a whole number from 10 to 3600000 (milliseconds)',
    'sonde: DOCA_DEVICES[1] is "a b"; allowed: a device name or pattern such as eth0, mlx5_* or !veth*',
  ])
  assert.match((await refusals([], { TELEMETRY_INTERVAL_MS: '1s' }))[0] ?? '', /^sonde: TELEMETRY_INTERVAL_MS is "1s"/)
  assert.deepEqual(await refusals([], { PROMETHEUS_PORT: '70000', NODE_NAME: 'a\nb' }), [
    'sonde: NODE_NAME: export.prometheus.node is "a\\nb"; allowed: a name of 1 to 1024 characters',
    'sonde: PROMETHEUS_PORT: export.prometheus.scrape_port is 70000; allowed: a whole number from 0 to 65535 (0 is any free port)',
  ])
  const twins = fileWith(
    t,
    `data_sources:
  - { type: doca_telemetry_pcc, name: pcc }
  - { type: doca_telemetry_pci, name: pcc, fast: true }
  - { type: doca_telemetry_dpa, name: pcc }
`,
  )
  const twin = await refusals(['--config', twins], {})
  assert.match(twin.join('\n'), /:3: data_sources\[1\]\.fast is an unknown key, with true; allowed: type, name, /)
  assert.match(twin.join('\n'), /:4: data_sources\[2\]\.name is "pcc", as data_sources\[0\] has it; allowed: a name/)
})

test('a device that is not there is told with those that are, and the others are read', needs('cc'), async (t) => {
  const { flags, env } = doubledNode(t)
  const sonde = await startSonde(['agent', ...flags], {
    env: { ...env, ...RECIPE_ENV, DOCA_DEVICES: ' 3A:00.0,,mlx5_9', ENABLE_PCC: 'false' },
  })
  t.after(() => sonde.stop())
  const there = 'there are: mlx5_0 = 0000:3a:00.0 = ens1f0np0, mlx5_1 = 0000:3a:00.1 = ens1f1np1'
  assert.ok(sonde.output().includes(`(mlx5_0; no device is called mlx5_9; ${there})`), sonde.output())
  const metric = 'doca_adp_retx_timeout_seconds'
  const ask = async (path: string) => (await fetch(`${sonde.address}${path}`)).text()
  const page = await until('records of the device that is there', 60_000, async () => {
    const text = await ask('/metrics')
    return text.includes('doca_adp_retx_packets{') && text
  })
  const { series } = JSON.parse(await ask(`/api/v1/series?metric=${metric}`)) as { series: LatestSeries[] }
  const missing = series.find(({ labels }) => labels.rdma_device === 'mlx5_9')
  assert.equal(missing?.value, null)
  assert.ok(missing.absent.startsWith('no device is called mlx5_9;'), missing.absent)
  const explained = await ask(`/api/v1/explain?of=${encodeURIComponent(`${metric}{rdma_device="mlx5_9"}`)}`)
  assert.match(explained, /none is called mlx5_9/)
  assert.match(page, /^doca_adp_retx_packets\{device="mlx5_0",.*node="gpu-17"/m)
  assert.doesNotMatch(page, /^[^#].*mlx5_[19]/m)
})

test('the file of the recipe runs as it is written', needs('cc'), async (t) => {
  const { flags, env } = doubledNode(t)
  const sonde = await startSonde(['agent', '--config', SOURCES_YAML, ...flags], { env })
  t.after(() => sonde.stop())
  const ready =
    sonde
      .output()
      .split('\n')
      .find((line) => line.startsWith('Sonde is ready on')) ?? ''
  assert.match(ready, / · diagnostics denied: sampling diagnostic counters taints the kernel/)
  for (const name of ['adp_retx', 'pci_metrics'])
    assert.match(ready, new RegExp(` · ${name} \\(mlx5_0, mlx5_1\\)( · |$)`))
  assert.ok(ready.includes(' · pcc (mlx5_0) · '), ready)
  const warnings = sonde
    .output()
    .split('\n')
    .filter((line) => line.includes('"level":40'))
  // Only the cluster of the recipe has a Fluent Bit of that name, and nobody has accepted the taint of the kernel.
  assert.ok(
    warnings.every((line) => line.includes('fluent_bit') || line.includes('"source":"diagnostics"')),
    sonde.output(),
  )
  const checked = await runSonde(['check', '--config', SOURCES_YAML, '--listen', ':0', ...flags], { env })
  assert.match(checked.output, /fluent_bit +configured +sends to fluent-bit\.logging\.svc:24224;/)
})
