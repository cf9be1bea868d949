import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { ask, goesOn, metricsOf, numberOn, sourceOf, untilSource } from '../ask.ts'
import { Cgroup } from '../cgroup.ts'
import { needs } from '../debian.ts'
import { type DoubleDevice, EthtoolDouble } from '../doubles/ethtool-double.ts'
import {
  assertStops,
  childrenOf,
  isRunning,
  type SondeProcess,
  startSonde,
  temporaryDir,
  threadsOf,
  until,
} from '../sonde-process.ts'

const MAIN = fileURLToPath(new URL('../doubles/ethtool-main.ts', import.meta.url))
const NEEDS = needs('cc')
const LIMIT_MS = 30_000
const DRIVER = ['mlx5_core', '6.18.44', '28.41.1000', '0000:9a:00.0'] as const

const port = (bytes: number, ...faults: string[]): DoubleDevice => ({
  stats: [['rx_bytes_phy', bytes]],
  driver: DRIVER,
  link: 1,
  faults,
})

/** An agent whose `eth10` and `eth11` are played. */
async function start(t: TestContext): Promise<{ sonde: SondeProcess; double: EthtoolDouble }> {
  const sysfs = temporaryDir()
  for (const name of ['eth10', 'eth11']) mkdirSync(join(sysfs.path, 'class/net', name, 'device'), { recursive: true })
  const double = new EthtoolDouble(t)
  double.play({ eth10: port(10), eth11: port(11) })
  const sonde = await startSonde([double.library, sysfs.path], { main: MAIN })
  t.after(async () => {
    await sonde.stop('SIGKILL')
    sysfs.remove()
  })
  await untilValue(sonde, 'ethtool_port_rx_phy_bytes_total{device="eth10"}', 10)
  return { sonde, double }
}

/** The value of a series on the page; undefined if it is not there. */
const pageValue = async (sonde: SondeProcess, series: string) => numberOn(await metricsOf(sonde), series)

const untilValue = (sonde: SondeProcess, series: string, value: number | undefined) =>
  until(`${series} ${value}`, LIMIT_MS, async () => (await pageValue(sonde, series)) === value)

test(
  'a driver that hangs is shown as such; the other goes on in the same child, and SIGTERM ends all in time',
  NEEDS,
  async (t) => {
    const { sonde, double } = await start(t)
    double.play({ eth10: port(10, 'hang gstats'), eth11: port(12) })
    await untilValue(sonde, 'ethtool_link_responsive{device="eth10"}', 0)
    await untilValue(sonde, 'ethtool_port_rx_phy_bytes_total{device="eth10"}', undefined)
    double.play({ eth10: port(10, 'hang gstats'), eth11: port(13) })
    await untilValue(sonde, 'ethtool_port_rx_phy_bytes_total{device="eth11"}', 13)
    const { state, restarts } = await sourceOf(sonde, 'ethtool')
    assert.deepEqual([state, restarts], ['reading', 0])
    await assertStops(sonde)
  },
)

test(
  'where every driver hangs the source is stuck, its child is replaced, and reads again when they answer',
  NEEDS,
  async (t) => {
    const { sonde, double } = await start(t)
    double.play({ eth10: port(10, 'hang gstats'), eth11: port(11, 'hang glink') })
    const stuck = await untilSource(sonde, 'ethtool', 'stuck', ({ state }) => state === 'stuck')
    assert.match(stuck.reason, /calls of eth10, eth11 have not come back/)
    await untilSource(sonde, 'ethtool', 'a second child that is stuck', ({ restarts }) => restarts >= 2)
    await goesOn(sonde, 'host')
    double.play({ eth10: port(20), eth11: port(21) })
    await untilSource(sonde, 'ethtool', 'reading', ({ state }) => state === 'reading')
    await untilValue(sonde, 'ethtool_port_rx_phy_bytes_total{device="eth10"}', 20)
    await assertStops(sonde)
  },
)

test(
  'a child that gets no processor is starved: it is kept, no driver is blamed, and it goes on by itself',
  NEEDS,
  async (t) => {
    const { sonde } = await start(t)
    const [child = 0] = childrenOf(sonde)
    const untilStarved = () => untilSource(sonde, 'ethtool', 'starved', ({ state }) => state === 'starved')
    const untilReading = () => untilSource(sonde, 'ethtool', 'reading', ({ state }) => state === 'reading')
    process.kill(child, 'SIGSTOP')
    const { reason } = await untilStarved()
    assert.equal(reason, `process ${child} is stopped, by a signal or a debugger; kill -CONT ${child} lets it go on`)
    const explained = JSON.stringify(await ask(sonde, '/api/v1/explain?of=ethtool'))
    assert.match(explained, /starved: process \d+ is stopped.*no device is at fault/)
    assert.doesNotMatch(explained, /dmesg/)
    process.kill(child, 'SIGCONT')
    await untilReading()
    // As little as a control group can be given, and another process that takes it all.
    const group = Cgroup.make({ cores: 0.01, memoryBytes: 1 << 30 })
    const hog = spawn('sh', ['-c', 'while :; do :; done'])
    if (group === undefined) t.diagnostic('no control group may be made here')
    else {
      for (const pid of [child, Number(hog.pid)]) group.take(pid)
      const starved = await untilStarved()
      assert.match(starved.reason, /^waits for a processor: .*held back by its limit \(cpu\.max\) for \d+\.\d s/)
      assert.match(starved.reason, /process \d+ ran \d\.\d s and waited \d+\.\d s of the last \d+\.\d s/)
    }
    hog.kill('SIGKILL')
    await untilReading()
    const { restarts } = await sourceOf(sonde, 'ethtool')
    assert.deepEqual([restarts, childrenOf(sonde)], [0, [child]])
    assert.equal(await pageValue(sonde, 'ethtool_link_responsive{device="eth10"}'), 1)
    assert.doesNotMatch(await metricsOf(sonde), /^sonde_stuck\{/m)
    assert.doesNotMatch(sonde.output(), /a call is stuck/)
    await sonde.stop('SIGKILL')
    await until('both to end', LIMIT_MS, () => group?.isUsed !== true)
    group?.remove()
  },
)

test(
  'a driver that takes the child along: it is replaced and counted, and its series leave meanwhile',
  NEEDS,
  async (t) => {
    const { sonde, double } = await start(t)
    double.play({ eth10: port(10), eth11: port(11, 'crash gstrings') })
    const failed = await untilSource(sonde, 'ethtool', 'failed', ({ state }) => state === 'failed')
    assert.match(failed.reason, /was ended by SIGSEGV; it is replaced/)
    await untilValue(sonde, 'ethtool_link_responsive{device="eth10"}', undefined)
    double.play({ eth10: port(30), eth11: port(31) })
    await untilValue(sonde, 'ethtool_port_rx_phy_bytes_total{device="eth11"}', 31)
    assert.ok(Number(await pageValue(sonde, 'sonde_source_restarts_total{source="ethtool"}')) >= 1)
    assert.equal((await sourceOf(sonde, 'host')).restarts, 0)
    await assertStops(sonde)
  },
)

test('an agent that is killed while a driver hangs leaves no child behind', NEEDS, async (t) => {
  const { sonde, double } = await start(t)
  double.play({ eth10: port(10, 'hang gstats'), eth11: port(12) })
  await untilValue(sonde, 'ethtool_link_responsive{device="eth10"}', 0)
  await sonde.stop('SIGKILL')
  await until('the child to end', LIMIT_MS, () => childrenOf(sonde).every((pid) => !isRunning(pid)))
})

test(
  'the child holds the foreign code and opens no port for debuggers; its memory and time are told',
  NEEDS,
  async (t) => {
    const { sonde, double } = await start(t)
    const [first] = childrenOf(sonde)
    const librariesOf = (pid: number | undefined) => readFileSync(`/proc/${pid}/maps`, 'utf8')
    assert.match(librariesOf(first), /koffi\.node/)
    assert.ok(librariesOf(first).includes(double.library))
    assert.doesNotMatch(librariesOf(sonde.child.pid), /koffi/)
    assert.ok(!threadsOf(first).some((name) => name.startsWith('SignalInspect')), 'a thread waits for SIGUSR1')
    process.kill(Number(first), 'SIGUSR1')
    await goesOn(sonde, 'ethtool')
    assert.deepEqual(childrenOf(sonde), [first])
    const memory = 'sonde_child_resident_memory_bytes{host="ethtool"}'
    // The first that is told may be that of a child which has not loaded its code yet.
    await until('its memory', LIMIT_MS, async () => {
      const bytes = (await pageValue(sonde, memory)) ?? 0
      assert.ok(bytes < 500e6, String(bytes))
      return bytes > 20e6
    })
    assert.ok(Number(await pageValue(sonde, 'sonde_child_cpu_seconds_total{host="ethtool"}')) > 0)
    process.kill(Number(first), 'SIGKILL')
    await until('another child', LIMIT_MS, () => childrenOf(sonde).length > 1)
    await untilSource(sonde, 'ethtool', 'reading', ({ state }) => state === 'reading')
    await assertStops(sonde)
  },
)

test(
  'where no adapter is to be read there is no child, and nothing is said; one that comes is read',
  NEEDS,
  async (t) => {
    const sysfs = temporaryDir()
    t.after(() => sysfs.remove())
    mkdirSync(join(sysfs.path, 'class/net/lo'), { recursive: true })
    const double = new EthtoolDouble(t)
    const sonde = await startSonde([double.library, sysfs.path], { main: MAIN })
    t.after(() => sonde.stop('SIGKILL'))
    const { reason } = await untilSource(sonde, 'ethtool', 'absent', ({ state }) => state === 'absent')
    assert.match(reason, /has no network adapter; virtual interfaces are left out/)
    assert.deepEqual(childrenOf(sonde), [])
    assert.doesNotMatch(sonde.output(), /"level":[345]0.*ethtool/)
    double.play({ eth10: port(10) })
    mkdirSync(join(sysfs.path, 'class/net/eth10/device'), { recursive: true })
    await untilValue(sonde, 'ethtool_port_rx_phy_bytes_total{device="eth10"}', 10)
    await assertStops(sonde)
  },
)
