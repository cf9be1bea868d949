import { type ChildProcess, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { npmCommand } from '../../scripts/setup.mjs'
import { startMeasured } from '../idle/process.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const EXPORTER = '/usr/bin/prometheus-node-exporter'
const NETDATA = '/usr/sbin/netdata'
const PORTS = { sonde: 19_471, netdata: 19_472, exporter: 19_473 } as const

/** A program that watches this machine, with all processes that it starts. */
export interface Program {
  readonly name: string
  readonly child: ChildProcess
  /** Address of its metrics in the text format of Prometheus. */
  readonly metricsUrl: string
  /** Number of its series. */
  seriesCount(): Promise<number>
}

/**
 * Starts all programs with a folder for what they keep. Sonde is installed from its archives, as a user installs it,
 * and started by npx.
 */
export async function startPrograms(folder: string): Promise<readonly Program[]> {
  for (const path of [EXPORTER, NETDATA]) if (!existsSync(path)) throw new Error(missing(path))
  const programs = [await startSonde(folder), await startNetdata(folder)]
  return [...programs, await startExporter()]
}

function missing(path: string): string {
  return `${path} is missing; apt-get install --no-install-recommends netdata prometheus-node-exporter`
}

async function startSonde(folder: string): Promise<Program> {
  const [archives, user] = [join(folder, 'archives'), join(folder, 'user')]
  const [npm, first] = npmCommand()
  run('npm', ['run', 'build', '--', '--pack', archives], ROOT)
  mkdirSync(user)
  writeFileSync(join(user, 'package.json'), '{ "name": "user", "private": true }\n')
  const paths = readdirSync(archives).map((name) => join(archives, name))
  run(npm, [...first, 'install', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error', ...paths], user)
  const listen = ['--listen', `127.0.0.1:${PORTS.sonde}`, '--data-dir', join(folder, 'data')]
  const args = [...first, 'exec', '--offline', '--prefix', user, '--', 'sonde', 'up', ...listen]
  // The first Node of the path runs the command.
  const path = `${dirname(process.execPath)}:${process.env.PATH}`
  const env = { PATH: path, SONDE_SERVICE_SOCKETS_DIR: join(folder, 'sockets') }
  const child = await startMeasured(npm, args, { env, ready: /ready on/ })
  const address = `http://127.0.0.1:${PORTS.sonde}`
  return {
    ...{ name: 'npx sonde up', child, metricsUrl: `${address}/metrics` },
    seriesCount: async () => (await answerOf<{ seriesCount: number }>(`${address}/api/v1/node`)).seriesCount,
  }
}

/** Debian's configuration, but for the port and the folders. */
async function startNetdata(folder: string): Promise<Program> {
  const folders = ['cache', 'lib', 'log'].flatMap((name) => {
    const path = join(folder, `netdata-${name}`)
    mkdirSync(path)
    return ['-W', 'set', 'directories', name, path]
  })
  const args = ['-D', '-u', userName(), '-p', String(PORTS.netdata), ...folders]
  const child = await startMeasured(NETDATA, [...args, '-W', 'set', 'web', 'bind to', '127.0.0.1'])
  const address = `http://127.0.0.1:${PORTS.netdata}/api/v1`
  return {
    ...{ name: 'netdata', child, metricsUrl: `${address}/allmetrics?format=prometheus` },
    seriesCount: async () => (await answerOf<{ dimensions_count: number }>(`${address}/charts`)).dimensions_count,
  }
}

async function startExporter(): Promise<Program> {
  const args = [`--web.listen-address=127.0.0.1:${PORTS.exporter}`]
  const child = await startMeasured(EXPORTER, args, { ready: /Listening on|msg="TLS is disabled/ })
  const metricsUrl = `http://127.0.0.1:${PORTS.exporter}/metrics`
  return {
    ...{ name: 'node_exporter, scraped every second', child, metricsUrl },
    async seriesCount() {
      const text = await (await fetch(metricsUrl)).text()
      return text.split('\n').filter((line) => /^[a-z]/.test(line)).length
    },
  }
}

function run(command: string, args: readonly string[], cwd: string): void {
  const { status } = spawnSync(command, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed, its message is above`)
}

function userName(): string {
  return spawnSync('id', ['-un'], { encoding: 'utf8' }).stdout.trim()
}

async function answerOf<T>(url: string): Promise<T> {
  return (await (await fetch(url)).json()) as T
}
