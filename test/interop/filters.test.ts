import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { TestNode } from '../../packages/agent/src/sources/test-node.ts'
import { needs } from '../debian.ts'
import { startSonde, temporaryDir, until } from '../sonde-process.ts'
import { type PrometheusPeer, startPrometheus } from './prometheus-peer.ts'

const LIMIT_MS = 30_000
const SOURCES = new URL('../../packages/agent/src/sources/', import.meta.url)
const TREES = [new URL('netdev/fixtures/veth-namespace', SOURCES), new URL('host/fixtures/guest', SOURCES)]
const MAIN = fileURLToPath(new URL('indexed-main.ts', import.meta.url))

/** Names of the metrics that a job scrapes now; Prometheus's own of the scrape are not among them. */
async function namesOf(peer: PrometheusPeer, job: string): Promise<string[]> {
  const series = await peer.range(`{job="${job}"}[2s]`)
  const names = new Set(series.map(({ metric }) => metric.__name__ ?? ''))
  return [...names].filter((name) => name !== 'up' && !name.startsWith('scrape_')).sort()
}

/** Labels of the series of a metric, without those that Prometheus adds. */
async function labelsOf(peer: PrometheusPeer, query: string): Promise<Record<string, string>[]> {
  return (await peer.range(`${query}[2s]`)).map(({ metric: { __name__, job, instance, ...labels } }) => labels)
}

async function assertNoComplaint(peer: PrometheusPeer): Promise<void> {
  const { activeTargets } = (await peer.api('targets')) as { activeTargets: { health: string; lastError: string }[] }
  for (const { health, lastError } of activeTargets) assert.deepEqual([health, lastError], ['up', ''])
}

async function promtoolOf(url: string): Promise<string> {
  const input = await (await fetch(url, { headers: { accept: 'text/plain;version=0.0.4' } })).text()
  assert.ok(input.length > 0, url)
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8' })
  return `${status} ${stdout}${stderr}`
}

/** A folder with sets and a label file, and a node whose eth0 has an address. */
function prepared(t: TestContext): { node: TestNode; dir: string; write: (file: string, text: string) => void } {
  const node = new TestNode(t, ...TREES)
  mkdirSync(join(node.root, 'sys/devices/pci0000:00/0000:03:00.0'), { recursive: true })
  node.link('sys/class/net/eth0/device', join(node.root, 'sys/devices/pci0000:00/0000:03:00.0'))
  const dir = join(node.root, 'sets')
  mkdirSync(dir)
  // As one replaces a file that others read: no half of it is ever there.
  const write = (file: string, text: string) => {
    writeFileSync(join(dir, `${file}.new`), text)
    renameSync(join(dir, `${file}.new`), join(dir, file))
  }
  return { node, dir, write }
}

test(
  "Debian's Prometheus scrapes parts of an agent's metrics, with labels of a file, and follows when the files change",
  needs('prometheus', 'promtool'),
  async (t) => {
    const { node, dir, write } = prepared(t)
    write('traffic.cset', '^netdev+bytes_total\n^netdev+packets-tx-compressed-multicast\n')
    write('node.fset', '[host_load]\n^load1\n')
    write('node.cset', '^sonde_process_uptime\n')
    write('labels.ini', '[global_labels]\nrack=R17\n[device_labels]\n0000:03:00.0=rail|3\n')
    const env = {
      PROMETHEUS_FSET_DIR: dir,
      CLX_METADATA_FILE: join(dir, 'labels.ini'),
      CLX_PROMETHEUS_CONSTANT_LABELS: 'zone=z',
    }
    const roots = ['--path.procfs', node.paths.procfs, '--path.sysfs', node.paths.sysfs]
    const sonde = await startSonde(['agent', '--log-level', 'error', ...roots], { env })
    t.after(() => sonde.stop())
    const paths = { all: '/metrics', cset: '/cset/traffic', fset: '/fset/node', both: '/node' }
    const peer = await startPrometheus(t, new URL(sonde.address).host, 1, paths)
    const traffic = ['netdev_rx_bytes_total', 'netdev_rx_packets_total', 'netdev_tx_bytes_total']
    await until('all jobs to be scraped', LIMIT_MS, async () => {
      const jobs = await Promise.all(Object.keys(paths).map((job) => namesOf(peer, job)))
      return jobs.every((names) => names.length > 0)
    })
    assert.deepEqual(await namesOf(peer, 'cset'), traffic)
    // A .fset goes by fields: those are load1 and load15 of the type host_load.
    const load = ['host_load1', 'host_load15']
    assert.deepEqual(await namesOf(peer, 'fset'), load)
    assert.deepEqual(await namesOf(peer, 'both'), [...load, 'sonde_process_uptime_seconds'])
    for (const path of Object.values(paths)) assert.equal(await promtoolOf(`${sonde.address}${path}`), '0 ', path)
    const eth0 = await labelsOf(peer, 'netdev_rx_bytes_total{job="cset",device="eth0"}')
    assert.deepEqual(eth0, [{ device: 'eth0', rack: 'R17', rail: '3', zone: 'z' }])
    const [lo] = await labelsOf(peer, 'netdev_rx_bytes_total{job="cset",device="lo"}')
    assert.deepEqual(lo, { device: 'lo', rack: 'R17', zone: 'z' })

    write('traffic.cset', '^netdev_tx_bytes_total$')
    await until(
      'the new filter',
      LIMIT_MS,
      async () => (await namesOf(peer, 'cset')).join() === 'netdev_tx_bytes_total',
    )
    write('traffic.cset', 'netdev+')
    await until('the fault to be told', LIMIT_MS, async () => {
      const [broken] = await peer.range('sonde_field_sets_broken{job="all"}[2s]')
      return broken?.values.at(-1)?.[1] === '1'
    })
    assert.deepEqual(await namesOf(peer, 'cset'), ['netdev_tx_bytes_total'])
    const told = sonde.output().match(/traffic\.cset:1:8 is where a token is missing/g)
    assert.equal(told?.length, 1, sonde.output())
    await assertNoComplaint(peer)
  },
)

test(
  "Debian's Prometheus scrapes an application without an agent: a series a value of an index, and labels of source, tag and file",
  needs('prometheus', 'promtool'),
  async (t) => {
    const { path: dir, remove } = temporaryDir()
    t.after(remove)
    writeFileSync(join(dir, 'depth.fset'), '[queue]\n^depth$\n')
    writeFileSync(join(dir, 'labels.txt'), `place=\${site}-\${number}\n`)
    const child = spawn(process.execPath, ['--conditions=source', '--disable-warning=ExperimentalWarning', MAIN], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        ...process.env,
        PROMETHEUS_ENDPOINT: 'http://127.0.0.1:0',
        PROMETHEUS_INDEXES: 'number',
        PROMETHEUS_CSET_DIR: dir,
        CLX_METADATA_FILE: join(dir, 'labels.txt'),
      },
    })
    t.after(async () => {
      child.kill('SIGKILL')
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    })
    const [address] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
    const peer = await startPrometheus(t, new URL(address).host, 1, {
      all: '/metrics',
      depth: '/fset/depth',
      bare: '/depth',
    })
    await until('all jobs to be scraped', LIMIT_MS, async () => {
      const jobs = await Promise.all(['all', 'depth', 'bare'].map((job) => namesOf(peer, job)))
      return jobs.every((names) => names.length > 0)
    })
    for (const job of ['depth', 'bare']) assert.deepEqual(await namesOf(peer, job), ['queue_depth'])
    const own = ['field_sets', 'label_file'].flatMap((file) => [`sonde_${file}_broken`, `sonde_${file}_faults_total`])
    assert.deepEqual(await namesOf(peer, 'all'), ['queue_depth', 'queue_sent_total', ...own])
    const labels = await labelsOf(peer, 'queue_depth{job="depth"}')
    const wanted = ['1', '2', '3', '4'].map((number) => {
      return { number, place: `north-${number}`, site: 'north', source: 'host-1', tag: 'letters' }
    })
    assert.deepEqual(
      labels.sort((a, b) => Number(a.number) - Number(b.number)),
      wanted,
    )
    for (const path of ['/metrics', '/fset/depth', '/depth'])
      assert.equal(await promtoolOf(`${address}${path}`), '0 ', path)
    await assertNoComplaint(peer)
  },
)
