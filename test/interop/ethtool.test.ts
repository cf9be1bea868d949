import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { ethtool } from '../../packages/agent/src/sources/ethtool/ethtool.ts'
import { ethtoolDriverType, ethtoolLinkType } from '../../packages/agent/src/sources/ethtool/type.ts'
import { TestedSource } from '../../packages/agent/src/sources/test-node.ts'
import { needs, programPath } from '../debian.ts'

// The source beside the program `ethtool` of Debian, on what this machine has and on a veth pair, whose driver changes
// its statistics with its queues.

const ETHTOOL = programPath('ethtool') ?? ''
const PATHS = { procfs: '/proc', sysfs: '/sys' }
const DEVICE = `sonde${process.pid % 100_000}c`
const PEER = `sonde${process.pid % 100_000}d`
const QUEUES = ['numtxqueues', '4', 'numrxqueues', '4']
const PAIR = ['link', 'add', DEVICE, ...QUEUES, 'type', 'veth', 'peer', 'name', PEER, ...QUEUES]

const ip = (...args: string[]) => spawnSync('ip', args, { encoding: 'utf8' })

function needsPair(): { skip: string | false } {
  const made = ip(...PAIR)
  if (made.status === 0) ip('link', 'del', DEVICE)
  const why = `cannot make a veth pair: ${made.error?.message ?? made.stderr}; run it as root, with iproute2 installed`
  return made.status === 0 ? needs('ethtool') : { skip: why }
}

const physical = readdirSync('/sys/class/net').filter((name) => existsSync(`/sys/class/net/${name}/device`))

/** What the program prints: values by name. */
function printed(...args: string[]): Map<string, string> {
  const text = execFileSync(ETHTOOL, args, { encoding: 'utf8' })
  return new Map([...text.matchAll(/^ *([^:\n]+): ?(.*)$/gm)].map(([, name = '', value = '']) => [name, value.trim()]))
}

function statisticsOf(device: string): Map<string, string> {
  const statistics = printed('-S', device)
  statistics.delete('NIC statistics')
  return statistics
}

function source(t: TestContext, devices: readonly string[]): TestedSource {
  const tested = new TestedSource(ethtool, PATHS, { devices, virtual: true, queues: true, driver_counters: 65_536 })
  t.after(() => tested.source.close())
  return tested
}

async function sampleStatistics(tested: TestedSource, device: string): Promise<Map<string, string>> {
  const records = await tested.sampleOf(ethtoolDriverType)
  return new Map(
    records.filter((one) => one.device === device).map(({ counter, statistic }) => [counter, String(statistic)]),
  )
}

/** One sample between two runs of the program: each value is at least the first's and at most the second's. */
async function compare(tested: TestedSource, device: string): Promise<Map<string, string>> {
  const before = statisticsOf(device)
  const ours = await sampleStatistics(tested, device)
  const after = statisticsOf(device)
  assert.deepEqual([...ours.keys()], [...before.keys()])
  for (const [name, value] of ours) {
    const [least, most] = [before.get(name) ?? '', after.get(name) ?? ''].map(BigInt)
    assert.ok(least !== undefined && most !== undefined)
    assert.ok(BigInt(value) >= least && BigInt(value) <= most, `${name}: ${least} <= ${value} <= ${most}`)
  }
  return ours
}

async function compareDriver(tested: TestedSource, device: string): Promise<void> {
  const [record] = (await tested.sampleOf(ethtoolLinkType)).filter((one) => one.device === device)
  const info = printed('-i', device)
  const link = printed(device)
  assert.ok(record)
  assert.equal(record.driver, info.get('driver'))
  assert.equal(record.driver_version, info.get('version'))
  assert.equal(record.firmware ?? '', info.get('firmware-version'))
  assert.equal(record.address ?? '', info.get('bus-info'))
  assert.equal(record.detected, Number(link.get('\tLink detected') === 'yes'))
  const speed = /^(\d+)Mb\/s$/.exec(link.get('\tSpeed') ?? '')?.[1]
  assert.equal(record.speed_bytes_per_second, speed === undefined ? undefined : BigInt(speed) * 125_000n)
  assert.equal(record.full_duplex, { Full: 1, Half: 0 }[link.get('\tDuplex') ?? ''])
  assert.equal(record.autonegotiation, Number(link.get('\tAuto-negotiation') === 'on'))
}

test('each statistic of the adapters of this machine is what the program says, and so are driver and link', {
  skip: physical.length === 0 ? 'no interface has a device of its own' : needs('ethtool').skip,
}, async (t) => {
  const tested = source(t, physical)
  for (const device of physical) {
    await compare(tested, device)
    await compareDriver(tested, device)
  }
  assert.deepEqual(tested.failures, [])
})

test('a veth pair: queues that come and go, a new name, and its end', needsPair(), async (t) => {
  t.after(() => void ip('link', 'del', PEER))
  assert.equal(ip(...PAIR).status, 0)
  assert.equal(ip('link', 'set', PEER, 'up').status, 0)
  assert.equal(ip('link', 'set', DEVICE, 'up').status, 0)
  const tested = source(t, [DEVICE, PEER, 'sonde-renamed'])
  const ours = await compare(tested, PEER)
  assert.notEqual(ours.get('peer_ifindex'), '0')
  await compareDriver(tested, PEER)

  execFileSync(ETHTOOL, ['-L', PEER, 'rx', '1'])
  const fewer = await compare(tested, PEER)
  assert.ok(fewer.size < ours.size)
  execFileSync(ETHTOOL, ['-L', PEER, 'rx', '4'])
  assert.equal((await compare(tested, PEER)).size, ours.size)

  for (const args of [
    ['link', 'set', DEVICE, 'down'],
    ['link', 'set', DEVICE, 'name', 'sonde-renamed'],
  ]) {
    assert.equal(ip(...args).status, 0, args.join(' '))
  }
  tested.take()
  await tested.source.sample()
  const taken = tested.take()
  assert.ok(TestedSource.absences(taken, { device: DEVICE }).includes(': gone'))
  const renamed = taken.find(({ type, record }) => type === ethtoolLinkType && record.device === 'sonde-renamed')
  assert.equal(renamed?.record.detected, 0)

  assert.equal(ip('link', 'del', PEER).status, 0)
  await assert.rejects(async () => tested.source.sample(), { code: 'SRC_READ' })
  assert.deepEqual(tested.failures, [])
})
