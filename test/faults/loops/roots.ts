import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Random } from '../../../packages/sdk/test/random.ts'
import { metricLinesOf, metricsOf } from '../../ask.ts'
import { startSonde, temporaryDir, until } from '../../sonde-process.ts'
import type { FaultLoop } from '../loop.ts'

const DEVICES = ['eth0', 'eth1', 'mlx5_0']
const MEND_LIMIT_MS = 60_000

/** Writes a small, valid tree for `netdev` and `host`; most numbers depend on the round. */
function writeTree(root: string, round: number): void {
  const proc = join(root, 'proc')
  mkdirSync(join(proc, 'net'), { recursive: true })
  mkdirSync(join(proc, 'pressure'), { recursive: true })
  const rows = DEVICES.map(
    (device, i) => `${device}: ${[round * 1000 + i, 10, 0, 0, 0, 0, 0, 0, round * 500, 5, 0, 0, 0, 0, 0, 0].join(' ')}`,
  )
  const texts = {
    'net/dev': `Inter-|   Receive | Transmit\n face |bytes packets|bytes packets\n${rows.join('\n')}\n`,
    'net/softnet_stat': `${round.toString(16)} 0 0 0 0 0 0 0 0 0 0 0 0\n`,
    stat: `cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\nctxt ${round}\nbtime 1790000000\nprocesses 3\nprocs_running 1\nprocs_blocked 0\n`,
    meminfo: `MemTotal: ${round} kB\nMemFree: 500 kB\nMemAvailable: 600 kB\n`,
    loadavg: `${round}.25 0.2 0.3 1/100 5\n`,
    'pressure/cpu': `some avg10=0.00 avg60=0.00 avg300=0.00 total=${round}000000\n`,
  }
  for (const [file, text] of Object.entries(texts)) writeFileSync(join(proc, file), text)
  const attributes = { speed: round, operstate: 'up', carrier: 1, carrier_changes: round, mtu: 1000 + round }
  for (const device of DEVICES) {
    const dir = join(root, 'sys/class/net', device)
    mkdirSync(dir, { recursive: true })
    for (const [file, value] of Object.entries(attributes)) writeFileSync(join(dir, file), `${value}\n`)
  }
}

/** What the page shows of the tree of a round once everything is read again. */
function expectedLines(round: number): string[] {
  const devices = DEVICES.flatMap((device, i) => [
    `netdev_rx_bytes_total{device="${device}"} ${round * 1000 + i}`,
    `netdev_up{device="${device}"} 1`,
    `netdev_carrier{device="${device}"} 1`,
    `netdev_carrier_changes_total{device="${device}"} ${round}`,
    `netdev_mtu_bytes{device="${device}"} ${1000 + round}`,
    `netdev_speed_bytes_per_second{device="${device}"} ${round * 125_000}`,
  ])
  return [
    ...devices,
    `host_softnet_processed_total{cpu="0"} ${round}`,
    `host_kernel_context_switches_total ${round}`,
    `host_memory_total_bytes ${round * 1024}`,
    `host_load1 ${round}.25`,
    `host_pressure_waiting_seconds_total{resource="cpu"} ${round}`,
  ]
}

const ODD_NUMBERS = ['-1\n', '18446744073709551616\n', 'N/A\n', '1e9\n', '0x10\n', ' 7 \n', '99999999999999999999999\n']

/** Everything that may happen to a file. */
const DAMAGES: readonly ((path: string, random: Random) => void)[] = [
  (path, random) =>
    writeFileSync(path, Buffer.from(Array.from({ length: random.integer(1, 4000) }, () => random.integer(0, 255)))),
  (path) => truncateSync(path),
  (path, random) => writeFileSync(path, '9'.repeat(random.integer(1 << 16, 3 << 20))),
  // Claims 100 MB, and holds none of them.
  (path) => truncateSync(path, 100_000_000),
  (path, random) => writeFileSync(path, random.pick(ODD_NUMBERS)),
  (path) => rmSync(path),
  (path) => rmSync(join(path, '..'), { recursive: true }),
  replacedBy((path) => mkdirSync(path)),
  replacedBy((path) => symlinkSync(path, path)),
  replacedBy((path) => symlinkSync('/dev/zero', path)),
  replacedBy((path) => execFileSync('mkfifo', [path])),
]

function replacedBy(make: (path: string) => void): (path: string) => void {
  return (path) => {
    rmSync(path)
    make(path)
  }
}

function filesBelow(dir: string): string[] {
  if (!existsSync(dir)) return []
  return readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .map((name) => join(dir, name))
    .filter((path) => lstatSync(path).isFile())
}

/** Breaks a few files of the tree in a random way. */
function breakSome(root: string, random: Random): void {
  for (let i = random.integer(1, 6); i > 0; i--) {
    const files = filesBelow(root)
    if (files.length > 0) random.pick(DAMAGES)(random.pick(files), random)
  }
}

/** Breaks the kernel's files under a running agent. */
export const roots: FaultLoop = {
  name: 'roots',
  what: 'garbage, empty, huge and vanishing files, folders, FIFOs, links and devices below the roots: the agent goes on, and reads again when they are mended',
  testRounds: 11,
  async open() {
    const dir = temporaryDir()
    writeTree(dir.path, 0)
    const file = join(dir.path, 'sonde.yaml')
    writeFileSync(file, 'data_sources:\n  - { type: netdev, interval_ms: 20 }\n  - { type: host, interval_ms: 20 }\n')
    const sonde = await startSonde([
      'agent',
      '--config',
      file,
      '--path.procfs',
      join(dir.path, 'proc'),
      '--path.sysfs',
      join(dir.path, 'sys'),
      '--log-level',
      'error',
    ])
    return {
      async round(random, index) {
        breakSome(join(dir.path, random.pick(['proc', 'sys'])), random)
        await new Promise((resolve) => setTimeout(resolve, random.integer(60, 200)))
        await metricsOf(sonde)
        rmSync(join(dir.path, 'proc'), { recursive: true, force: true })
        rmSync(join(dir.path, 'sys'), { recursive: true, force: true })
        writeTree(dir.path, index)
        let missing: string[] = []
        await until('the mended values', MEND_LIMIT_MS, async () => {
          const lines = await metricLinesOf(sonde)
          missing = expectedLines(index).filter((line) => !lines.has(line))
          return missing.length === 0
        }).catch((cause: unknown) => {
          throw new Error(`never mended: ${missing.join(' · ')}`, { cause })
        })
      },
      async close() {
        const health = await metricsOf(sonde)
        const end = await sonde.stop()
        dir.remove()
        assert.equal(end, 0)
        const errors = [...health.matchAll(/^sonde_source_errors_total\{[^}]*\} (\d+)$/gm)].reduce(
          (sum, [, text]) => sum + Number(text),
          0,
        )
        return `${errors} failed reads counted, none ended the agent`
      },
    }
  },
}
