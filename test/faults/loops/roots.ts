import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Random } from '../../../packages/sdk/test/random.ts'
import { type SondeProcess, startSonde, temporaryDir, until } from '../../sonde-process.ts'
import type { FaultLoop } from '../loop.ts'

const DEVICES = ['eth0', 'eth1', 'mlx5_0']
const FILES = ['speed', 'operstate', 'carrier', 'carrier_changes', 'mtu']

/** A small, sound tree of what `netdev` and `host` read. */
function writeTree(root: string, round: number): void {
  const proc = join(root, 'proc')
  mkdirSync(join(proc, 'net'), { recursive: true })
  mkdirSync(join(proc, 'pressure'), { recursive: true })
  const rows = DEVICES.map(
    (device, i) => `${device}: ${[round * 1000 + i, 10, 0, 0, 0, 0, 0, 0, round * 500, 5, 0, 0, 0, 0, 0, 0].join(' ')}`,
  )
  writeFileSync(
    join(proc, 'net/dev'),
    `Inter-|   Receive | Transmit\n face |bytes packets|bytes packets\n${rows.join('\n')}\n`,
  )
  writeFileSync(
    join(proc, 'stat'),
    `cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\nctxt 5\nbtime 1790000000\nprocesses 3\nprocs_running 1\nprocs_blocked 0\n`,
  )
  writeFileSync(join(proc, 'meminfo'), 'MemTotal: 1000 kB\nMemFree: 500 kB\nMemAvailable: 600 kB\n')
  writeFileSync(join(proc, 'loadavg'), '0.1 0.2 0.3 1/100 5\n')
  writeFileSync(join(proc, 'pressure/cpu'), 'some avg10=0.00 avg60=0.00 avg300=0.00 total=5\n')
  for (const device of DEVICES) {
    const dir = join(root, 'sys/class/net', device)
    mkdirSync(dir, { recursive: true })
    for (const file of FILES) writeFileSync(join(dir, file), file === 'operstate' ? 'up\n' : '1000\n')
  }
}

function filesBelow(dir: string): string[] {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .map((name) => join(dir, name))
    .filter((path) => statSync(path).isFile())
}

/** Breaks a few files of the tree in a random way. */
function breakSome(root: string, random: Random): void {
  for (let i = random.integer(1, 6); i > 0; i--) {
    const files = filesBelow(root)
    if (files.length === 0) return
    const path = random.pick(files)
    const how = random.pick(['garbage', 'empty', 'huge', 'vanish', 'number', 'directory', 'vanish_dir'])
    if (how === 'garbage')
      writeFileSync(path, Buffer.from(Array.from({ length: random.integer(1, 4000) }, () => random.integer(0, 255))))
    if (how === 'empty') truncateSync(path)
    if (how === 'huge') writeFileSync(path, '9'.repeat(random.integer(1 << 16, 3 << 20)))
    if (how === 'number')
      writeFileSync(
        path,
        random.pick([
          '-1\n',
          '18446744073709551616\n',
          'N/A\n',
          '1e9\n',
          '0x10\n',
          ' 7 \n',
          '99999999999999999999999\n',
        ]),
      )
    if (how === 'vanish' || how === 'directory') rmSync(path)
    if (how === 'directory') mkdirSync(path)
    if (how === 'vanish_dir') rmSync(join(path, '..'), { recursive: true })
  }
}

async function scrape({ address }: SondeProcess): Promise<string> {
  const response = await fetch(`${address}/metrics`, { headers: { accept: 'text/plain' } })
  assert.equal(response.status, 200)
  return response.text()
}

/** Breaks the kernel's files under a running agent. */
export const roots: FaultLoop = {
  name: 'roots',
  what: 'garbage, empty, huge and vanishing files below the roots: the agent goes on, and reads again when they are mended',
  async open() {
    const dir = temporaryDir()
    writeTree(dir.path, 0)
    const file = join(dir.path, 'sonde.yaml')
    writeFileSync(file, 'data_sources:\n  - { type: netdev, interval_ms: 50 }\n  - { type: host, interval_ms: 50 }\n')
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
        breakSome(dir.path, random)
        await new Promise((resolve) => setTimeout(resolve, random.integer(60, 200)))
        await scrape(sonde)
        rmSync(join(dir.path, 'proc'), { recursive: true, force: true })
        rmSync(join(dir.path, 'sys'), { recursive: true, force: true })
        writeTree(dir.path, index)
        await until('the mended counters', 15_000, async () => {
          const text = await scrape(sonde)
          return DEVICES.every((device, i) =>
            new RegExp(`^netdev_rx_bytes_total\\{device="${device}"\\} 0*${index * 1000 + i}$`, 'm').test(text),
          )
        })
      },
      async close() {
        const health = await scrape(sonde)
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
