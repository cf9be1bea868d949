import assert from 'node:assert/strict'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import pino from 'pino'
import { needs } from '../../../../../test/debian.ts'
import { DocaDouble } from '../../../../../test/doubles/doca/doca-double.ts'
import { until } from '../../../../sdk/test/helper.ts'
import { type DoubleStart, devicesOf, readDouble, SOURCE } from '../../../test/doca-agent.ts'
import { Hosts } from '../../hosting/hosts.ts'
import { docaTelemetryAdpRetx } from '../doca-telemetry-adp-retx/doca-telemetry-adp-retx.ts'
import { TestNode } from '../test-node.ts'

const NEEDS = needs('cc')
const READ = 'doca_telemetry_adp_retx_read_hist_bins'

test('after a crash of the library another child continues the series', NEEDS, async (t) => {
  const { double, told, read, child } = await readDouble(t)
  await read('mlx5_0', 'mlx5_1', 'mlx5_2')
  const before = child()
  double.play(devicesOf(3, { faults: [`segv ${READ}`] }))
  await until('the child crashed', () => child() !== before && child() > 0)
  double.play(devicesOf(3))
  await read('mlx5_0', 'mlx5_1', 'mlx5_2')
  assert.ok((await told()).restarts >= 1)
})

test(
  'a library that crashes again and again costs its series, with the reason, and no other source',
  NEEDS,
  async (t) => {
    const { double, told, read, counts, scrape } = await readDouble(t)
    await read('mlx5_0', 'mlx5_1', 'mlx5_2')
    double.play(devicesOf(3, { faults: [`segv ${READ}`] }))
    await until('its series left', async () => (await counts()).size === 0)
    const { state, reason } = await told()
    assert.deepEqual([state, /SIGSEGV/.test(reason)], ['failed', true], reason)
    const steady = async () => (await scrape('steady_samples_total{device="dev0"}'))[0]
    const before = await steady()
    await until('the other source goes on', async () => (await steady()) !== before)
    double.play(devicesOf(3))
    await read('mlx5_0', 'mlx5_1', 'mlx5_2')
  },
)

test('a child that is killed is replaced', NEEDS, async (t) => {
  const { told, read, child } = await readDouble(t)
  await read('mlx5_0', 'mlx5_1', 'mlx5_2')
  process.kill(child(), 'SIGKILL')
  await until('it is replaced', async () => (await told()).restarts === 1)
  await read('mlx5_0', 'mlx5_1', 'mlx5_2')
})

/** Installations that cannot be used, what the source reports about each, and its state. */
const INSTALLATIONS: Readonly<Record<string, DoubleStart & { readonly state: string; readonly reason: RegExp }>> = {
  'a folder without the library': {
    library({ folder }) {
      mkdirSync(join(folder, 'empty'))
      return join(folder, 'empty')
    },
    state: 'absent',
    reason: /empty": no libdoca_telemetry\.so\.2 in it; .*doca-sdk-telemetry/,
  },
  'a place where nothing is': {
    library: ({ folder }) => `${folder}/nowhere.so`,
    state: 'absent',
    reason: /nowhere\.so": nothing is there; .*native\.doca_library/,
  },
  'a library without the common one': {
    library({ telemetry, folder }) {
      rmSync(join(folder, 'libdoca_common.so.2'))
      return telemetry
    },
    state: 'absent',
    reason: /no libdoca_common\.so\.2 beside .*libdoca_telemetry\.so\.2: install doca-sdk-common/,
  },
  'a file that is no library': {
    library({ telemetry }) {
      writeFileSync(telemetry, 'this is no library\n'.repeat(100))
      return telemetry
    },
    state: 'failed',
    reason: /libdoca_telemetry\.so\.2 cannot be loaded: .*ldd/,
  },
  'a library that cannot list devices': {
    without: ['doca_devinfo_create_list'],
    state: 'absent',
    reason: /doca_devinfo_create_list answers NO_SYMBOL, .* install DOCA 3\.2 or newer/,
  },
  'a library of before adaptive retransmission': {
    without: ['doca_telemetry_adp_retx_create'],
    state: 'failed',
    reason: /doca_telemetry_adp_retx_create answers NO_SYMBOL, .* install DOCA 3\.2 or newer/,
  },
  'a library that lists too many devices': {
    faults: ['claim doca_devinfo_create_list 5000'],
    state: 'failed',
    reason: /doca_devinfo_create_list answers TOO_BIG, .* not believed/,
  },
  'devices of too many bins': {
    faults: ['claim doca_telemetry_adp_retx_cap_get_hist_max_bins 100000'],
    state: 'failed',
    reason: /cap_get_hist_max_bins answers TOO_BIG, .* not believed/,
  },
  'a node without the module of its devices': {
    faults: ['error doca_telemetry_adp_retx_cap_is_supported DOCA_ERROR_NOT_FOUND'],
    state: 'failed',
    reason: /no fwctl node: run `sudo modprobe mlx5_fwctl`/,
  },
  'a user who may not': {
    faults: ['error doca_telemetry_adp_retx_cap_is_supported DOCA_ERROR_OPERATING_SYSTEM'],
    state: 'failed',
    reason: /no permission on the device: run as root/,
  },
}

for (const [what, { state, reason, ...start }] of Object.entries(INSTALLATIONS)) {
  test(`${what}: source and explain report the fix`, NEEDS, async (t) => {
    const { told, address } = await readDouble(t, start)
    const { state: was, reason: said } = await until('it settled', async () => {
      const now = await told()
      return now.state === state && now
    })
    assert.equal(was, state)
    assert.match(said, reason)
    const { links } = (await (await fetch(`${address}/api/v1/explain?of=${SOURCE}`)).json()) as {
      links: readonly { readonly state: string; readonly answer: string; readonly fix?: string }[]
    }
    const first = links.find((link) => link.state === 'broken')
    assert.ok(first?.fix !== undefined, JSON.stringify(links))
  })
}

/** Answers of a library that are wrong but harm no device. */
const LIES: Readonly<Record<string, DoubleStart>> = {
  'more devices than there are': { faults: ['claim doca_devinfo_create_list 60'] },
  'more bins than there are': { faults: [`claim ${READ} 4000`] },
  'fewer bins than it writes': {
    devices: devicesOf(3, { facts: { max_bins: 4500 } }),
    faults: ['claim doca_telemetry_adp_retx_cap_get_hist_max_bins 4'],
  },
  'counts of 64 bits that overflow their sum': { devices: devicesOf(3, { bins: Array(16).fill(2 ** 62) }) },
}

for (const [what, start] of Object.entries(LIES)) {
  test(`${what}: devices are still read`, NEEDS, async (t) => {
    const { read, told } = await readDouble(t, start)
    for (let round = 0; round < 3; round++) await read('mlx5_0', 'mlx5_1', 'mlx5_2')
    assert.deepEqual([(await told()).state, (await told()).restarts], ['reading', 0])
  })
}

test('bins that no histogram can have are reported, and other devices are read', NEEDS, async (t) => {
  const { double, read, agent } = await readDouble(t)
  const failed = () => agent.sources.find(({ name }) => name === SOURCE)?.stats.failed.count ?? 0
  const shapes = [
    [0, 1, 1, 1, 2],
    [1, 1, 1, 1, 2],
    [17, 1, 1, 1, 2],
    [4, 0, 1, 1, 2],
    [4, 1, 0, 1, 2],
    [4, 1, 1, 1, 3],
  ]
  await read('mlx5_0', 'mlx5_1', 'mlx5_2')
  for (const [at, shape] of shapes.entries()) {
    const before = failed()
    const changed = [at + 1, ...shape] as unknown as readonly [number, number, number, number, number, number]
    double.play(devicesOf(3, { changed }))
    await until(`bins ${shape} are told`, () => failed() > before)
    double.play(devicesOf(3))
    await read('mlx5_0', 'mlx5_1', 'mlx5_2')
  }
})

test('two sources of the child never call the library for a device at once', NEEDS, async (t) => {
  const double = new DocaDouble(t)
  double.play(devicesOf(3), ['cost doca_* 2000 sleep'])
  const paths = { ...new TestNode(t).paths, doca_library: double.folder }
  const batches = new Map<string, number>()
  const options = { devices: [], stuck_ms: 60_000 }
  const hosts = new Hosts(
    ['first', 'second'].map((name) => ({ name, definition: docaTelemetryAdpRetx, intervalMs: 20, options })),
    {
      config: { paths, limits: { source_call_ms: 60_000, source_flood_bytes: 1 << 20 } },
      accept: ({ source, count }) => batches.set(source.id, (batches.get(source.id) ?? 0) + count),
      log: pino({ level: 'silent' }),
    },
  )
  t.after(() => hosts.stop(5000))
  hosts.start(0)
  await until('both read', () => ['first', 'second'].every((name) => (batches.get(name) ?? 0) > 100))
  assert.deepEqual(
    hosts.sources.map(({ stats }) => stats.restarts),
    [0, 0],
  )
})
