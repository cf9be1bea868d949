import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { TestNode } from '../../packages/agent/src/sources/test-node.ts'
import { ask, metricsOf, numberOn, type SourceStatus } from '../ask.ts'
import { needs } from '../debian.ts'
import { type SondeProcess, startSonde, until } from '../sonde-process.ts'

const FIXTURES = new URL('../../packages/agent/src/sources/', import.meta.url)
const TREES = [new URL('netdev/fixtures/veth-namespace', FIXTURES), new URL('host/fixtures/guest', FIXTURES)]
const LIMIT_MS = 20_000
const HEAD = 'Inter-|   Receive |  Transmit\n face |bytes |bytes\n'

async function startOn(t: TestContext, { root, paths }: TestNode): Promise<SondeProcess> {
  const config = join(root, 'sonde.yaml')
  const sources = ['netdev', 'host'].map((type) => ({ type, interval_ms: 50 }))
  writeFileSync(config, JSON.stringify({ data_sources: sources }))
  const roots = ['--path.procfs', paths.procfs, '--path.sysfs', paths.sysfs]
  const sonde = await startSonde(['agent', '--config', config, '--log-level', 'error', ...roots])
  t.after(() => sonde.stop())
  return sonde
}

async function settled({ address }: SondeProcess): Promise<void> {
  await until('every source settled', LIMIT_MS, async () => (await fetch(`${address}/readyz`)).ok)
}

test('names of interfaces with quotes, backslashes and bytes that are not UTF-8 leave a page that promtool reads', {
  ...needs('promtool'),
}, async (t) => {
  const node = new TestNode(t, ...TREES)
  const names = ['a"b', 'a\\', 'a\\nb', '{le="1"}', '#x', '\x01\x7f', '\u2028', '😀'].map((name) => Buffer.from(name))
  names.push(Buffer.from([0xff]), Buffer.from([0xfe]), Buffer.from([0xc3, 0x28]), Buffer.from([0xed, 0xa0, 0x80]))
  const lines = names.map((name, i) => Buffer.concat([name, Buffer.from(`:${` ${i + 1}`.repeat(16)}\n`)]))
  writeFileSync(join(node.root, 'proc/net/dev'), Buffer.concat([Buffer.from(HEAD), ...lines]))
  for (const name of names) {
    const folder = Buffer.concat([Buffer.from(join(node.root, 'sys/class/net/')), name])
    mkdirSync(folder)
    writeFileSync(Buffer.concat([folder, Buffer.from('/mtu')]), '1500\n')
  }
  const sonde = await startOn(t, node)
  await settled(sonde)
  const page = await until('the interfaces', LIMIT_MS, async () => {
    const text = await metricsOf(sonde)
    return text.includes('netdev_mtu_bytes{') && text
  })
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: page, encoding: 'utf8' })
  assert.deepEqual([status, stdout + stderr], [0, ''])
  const devices = [...page.matchAll(/^netdev_mtu_bytes\{device="((?:[^"\\\n]|\\["\\n])*)"\} 1500$/gm)].map(
    ([, name]) => name,
  )
  assert.equal(new Set(devices).size, names.length, devices.join(' '))
  assert.ok(devices.includes('\\\\xff') && devices.includes('a\\"b') && devices.includes('😀'))
  assert.equal(numberOn(page, 'netdev_rx_bytes_total{device="\\\\xfe"}'), 10)
  assert.equal(numberOn(page, 'sonde_source_errors_total{source="netdev"}') ?? 0, 0)
  const { series } = await ask<{ series: { labels: { device: string } }[] }>(
    sonde,
    '/api/v1/series?metric=netdev_mtu_bytes',
  )
  assert.equal(new Set(series.map(({ labels }) => labels.device)).size, names.length)
})

test('what is no file, no number or no end below the roots is counted, and everything else is read on', async (t) => {
  const node = new TestNode(t, ...TREES)
  const link = 'sys/class/net/eth0'
  node.makeFifo(`${link}/mtu`)
  node.makeFolder(`${link}/carrier`)
  node.makeHuge(`${link}/speed`, 100_000_000)
  node.link(`${link}/carrier_changes`, join(node.root, link, 'carrier_changes'))
  node.write(`${link}/operstate`, '\xff\0\n"}\n')
  node.link('sys/class/net/br0/mtu', '/dev/zero')
  node.link('sys/class/net/br0/speed', '/sys/bus/cpu/drivers_probe')
  node.remove('sys/class/net/p0')
  node.link('sys/class/net/p0', node.root)
  node.makeFifo('proc/meminfo')
  node.makeHuge('proc/loadavg', 100_000_000)
  node.write('proc/pressure/io', '')
  const sonde = await startOn(t, node)
  await settled(sonde)
  const page = await until('failed reads of both sources', LIMIT_MS, async () => {
    const text = await metricsOf(sonde)
    const counted = ['netdev', 'host'].every(
      (source) => (numberOn(text, `sonde_source_errors_total{source="${source}"}`) ?? 0) > 10,
    )
    return counted && text
  })
  for (const metric of ['up', 'mtu_bytes', 'carrier', 'speed_bytes_per_second', 'carrier_changes_total']) {
    assert.equal(numberOn(page, `netdev_${metric}{device="eth0"}`), undefined, metric)
  }
  assert.equal(numberOn(page, 'netdev_rx_bytes_total{device="eth0"}'), 266)
  assert.equal(numberOn(page, 'netdev_mtu_bytes{device="lo"}'), 65536)
  assert.equal(numberOn(page, 'host_memory_total_bytes'), undefined)
  assert.equal(numberOn(page, 'host_pressure_waiting_seconds_total{resource="cpu"}'), 47.446215)
  assert.equal(numberOn(page, 'host_pressure_waiting_seconds_total{resource="io"}'), undefined)

  const answers = await Promise.all(
    ['netdev', 'netdev_carrier'].map((type) =>
      ask<{
        series: { metric: string; labels: { device: string }; value: string | null; absent: string }[]
      }>(sonde, `/api/v1/series?type=${type}`),
    ),
  )
  const reasons = new Map(
    answers
      .flatMap(({ series }) => series)
      .filter(({ labels, value }) => labels.device === 'eth0' && value === null)
      .map(({ metric, absent }) => [metric, absent]),
  )
  assert.match(reasons.get('netdev_mtu_bytes') ?? '', /mtu: ESPIPE/)
  assert.match(reasons.get('netdev_carrier') ?? '', /carrier: EISDIR/)
  assert.match(reasons.get('netdev_speed_bytes_per_second') ?? '', /longer than \d+ bytes/)
  assert.match(reasons.get('netdev_carrier_changes_total') ?? '', /ELOOP/)
  assert.match(reasons.get('netdev_up') ?? '', /operstate holds something else than expected/)

  const { sources } = await ask<{ sources: SourceStatus[] }>(sonde, '/api/v1/sources')
  assert.deepEqual(
    sources.map(({ state }) => state),
    ['reading', 'reading'],
  )
})
