import assert from 'node:assert/strict'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { TestNode } from '../../packages/agent/src/sources/test-node.ts'
import { metricsOf, sourceOf, untilSource } from '../ask.ts'
import { needs } from '../debian.ts'
import { DocaDouble } from '../doubles/doca/doca-double.ts'
import { assertStops, type SondeProcess, startSonde, until } from '../sonde-process.ts'

const LIMIT_MS = 30_000
const SOURCES = ['adp_retx', 'dpa', 'diag'].map((name) => `doca_telemetry_${name}`)
const COUNTERS = {
  bins: 'doca_adp_retx_packets',
  accelerator: 'doca_dpa_thread_cycles_total',
  diagnostics: 'doca_diag_port_rx_bytes_total',
} as const
const BUCKETS = 'doca_adp_retx_timeout_seconds_bucket'
const CONFIG = `data_sources:
  - { type: doca_telemetry_adp_retx, interval_ms: 100 }
  - { type: doca_telemetry_dpa, interval_ms: 100 }
  - { type: doca_telemetry_diag, interval_ms: 100, counters: [port_rx_bytes], accept_taint: true }
`

/** A node with one device of a double, and starts of agents that read it. */
function node(t: TestContext) {
  const double = new DocaDouble(t)
  const device = { bins: [1000], processes: [{ id: 7, threads: [{ id: 1, cycles: 1000 }] }] }
  double.play({ mlx5_0: device })
  const made = new TestNode(t)
  made.write('sonde.yaml', CONFIG)
  made.write('proc/sys/kernel/tainted', '0\n')
  const { procfs, sysfs } = made.paths
  mkdirSync(sysfs)
  const flags = ['--config', `${made.root}/sonde.yaml`, '--path.procfs', procfs, '--path.sysfs', sysfs]
  const start = async () => {
    const env = { SONDE_NATIVE_DOCA_LIBRARY: double.folder }
    const sonde = await startSonde(['agent', ...flags], { env })
    t.after(() => sonde.stop('SIGKILL'))
    return sonde
  }
  /** Another program changes the bins of timeouts: three, of which the second has all events. */
  const changeBins = () => double.play({ mlx5_0: { ...device, bins: [0, 1000], changed: [1, 3, 2, 3, 0, 8] } })
  return { start, changeBins, isCounting: () => existsSync(join(double.folder, 'dpa-mlx5_0-7')) }
}

type Name = keyof typeof COUNTERS

/** The buckets of timeouts: the upper edge, and the count up to it. */
async function bucketsOf(sonde: SondeProcess): Promise<ReadonlyMap<string, number>> {
  const lines = (await metricsOf(sonde)).split('\n').filter((line) => line.startsWith(`${BUCKETS}{`))
  return new Map(lines.map((line) => [/le="([^"]*)"/.exec(line)?.[1] ?? '', Number(line.split(' ')[1])]))
}

async function countOf(sonde: SondeProcess, name: Name): Promise<number | undefined> {
  const line = (await metricsOf(sonde)).split('\n').find((one) => one.startsWith(`${COUNTERS[name]}{`))
  return line === undefined ? undefined : Number(line.split(' ')[1])
}

/** Waits until each counter is higher. */
async function rises(sonde: SondeProcess, ...names: Name[]): Promise<void> {
  for (const name of names) {
    const before = (await countOf(sonde, name)) ?? 0
    await until(`${name} is above ${before}`, LIMIT_MS, async () => ((await countOf(sonde, name)) ?? -1) > before)
  }
}

test('a second agent says what the first agent holds, and takes nothing from it', needs('cc'), async (t) => {
  const { start, changeBins, isCounting } = node(t)
  const first = await start()
  const all = Object.keys(COUNTERS) as Name[]
  await rises(first, ...all)
  const before = await Promise.all(all.map((name) => countOf(first, name)))

  const second = await start()
  await rises(second, 'bins', 'accelerator')
  const holder = new RegExp(`\`sonde agent\` \\(process ${first.child.pid}\\b`)
  const { reason } = await untilSource(second, 'doca_telemetry_diag', 'refused', ({ reason }) => holder.test(reason))
  assert.match(reason, /holds the counters of this card: stop it, or .*force_ownership/)
  assert.equal(await countOf(second, 'diagnostics'), undefined)

  await rises(first, ...all)
  for (const [at, name] of all.entries()) assert.ok(Number(await countOf(first, name)) > Number(before[at]), name)
  for (const source of SOURCES) {
    const { state, restarts, dropped } = await sourceOf(first, source)
    assert.deepEqual([state, restarts, dropped], ['reading', 0, {}], source)
  }
  changeBins()
  for (const sonde of [first, second]) {
    const buckets = await until('its buckets are those of the changed bins', LIMIT_MS, async () => {
      const now = await bucketsOf(sonde)
      return (now.get('+Inf') ?? 0) > 0 && now.size === 3 && now
    })
    assert.deepEqual([...buckets.keys()], ['0.002', '0.005', '+Inf'])
    assert.deepEqual([buckets.get('0.002'), buckets.get('0.005')], [0, buckets.get('+Inf')])
  }

  await assertStops(second)
  await rises(first, ...all)
  assert.ok(isCounting(), 'the counter of the first agent runs on')

  const third = await start()
  await rises(third, 'accelerator')
  await assertStops(first)
  await rises(third, ...all)
  await assertStops(third)
  assert.ok(!isCounting(), 'the last agent stopped the counter that it started')
})
