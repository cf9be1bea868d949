import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { COMPACT_BYTES } from '../../packages/console/server/store/worker/maintenance.ts'
import { startSonde, temporaryDir, until } from '../../test/sonde-process.ts'
import type { Counted } from './stub-main.ts'

/**
 * How long what was acknowledged may take to be in the counters of the service, which are renewed every second. Unit:
 * milliseconds.
 */
const COUNTED_LIMIT_MS = 5000

/** The other end of the socket: a process of its own, which stands still unless it has its turn. */
export interface FarEnd {
  readonly pid: number
  readonly socketsDir: string
  /**
   * Fails unless it has that many records more than at the last call. Gives how long records were under way, where it
   * looks. Unit: milliseconds.
   */
  check(records: number): Promise<readonly number[]>
  /** Longest turn of its event loop since a time of the wall clock, where it reports that. Unit: milliseconds. */
  loopMsMax?(fromMs: number): Promise<number>
  stop(): Promise<void>
}

/** A Sonde that runs. */
export interface Service extends FarEnd {
  /** Records that its store has yet to compact; 0 without a store. Unit: bytes. */
  backlogBytes(): number
  /** Those of them that it does not leave until their hour is over. Unit: bytes. */
  dueBytes(): number
}

/** Starts a process that counts the records and keeps none. */
export async function startStub(): Promise<FarEnd> {
  const { child, directory, stop } = await startChild('stub-main.ts', [])
  const counted = async (): Promise<Counted> => {
    const [found] = (await once(child, 'message')) as [Counted]
    return found
  }
  let next = counted()
  return {
    pid: child.pid ?? 0,
    socketsDir: directory,
    async check(records) {
      const found = await next
      next = counted()
      if (found.records !== records || found.sum !== (records * (records - 1)) / 2) {
        throw new Error(`${found.records} of ${records} records came, the sum of their numbers is ${found.sum}`)
      }
      return found.latenciesMs
    },
    stop,
  }
}

/** Which sinks there are beside `/metrics` and the live window: files, with `up` the store too. */
export type Command = 'agent' | 'up'

/** Starts the command as a user does, with files of records switched on. */
export async function startService(command: Command): Promise<Service> {
  const directory = temporaryDir()
  const socketsDir = join(directory.path, 'sockets')
  const env = { ...settingsOf(directory.path), SONDE_SERVICE_ENABLED: 'true', SONDE_SERVICE_SOCKETS_DIR: socketsDir }
  const sonde = await startSonde([command, '--log-level', 'error'], { restarts: true, env })
  const { address, child } = sonde
  let before = 0
  return {
    pid: child.pid ?? 0,
    socketsDir,
    async check(records) {
      before += records
      await until(`${before} records in the counter of the service`, COUNTED_LIMIT_MS, async () => {
        const text = await (await fetch(`${address}/metrics`)).text()
        return Number(/^sonde_service_records_total (\d+)/m.exec(text)?.[1]) === before
      })
      return []
    },
    backlogBytes: () => (command === 'up' ? headBytes(join(directory.path, 'store', 'store.db'), 0) : 0),
    dueBytes: () => (command === 'up' ? headBytes(join(directory.path, 'store', 'store.db'), COMPACT_BYTES) : 0),
    loopMsMax: (fromMs) => longestTurn(address, fromMs),
    async stop() {
      await sonde.stop('SIGKILL')
      directory.remove()
    },
  }
}

/** The longest turn of its main loop, as the agent reports it once a second. */
async function longestTurn(address: string, fromMs: number): Promise<number> {
  const toMs = Date.now()
  const queries = [{ metric: 'sonde_process_loop_turn_max_seconds', function: 'max' }]
  const body = JSON.stringify({ fromMs, toMs, stepMs: 1000, queries })
  const answer = await fetch(`${address}/api/v1/query`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json' },
  })
  const { results } = (await answer.json()) as { results: { series: { values: (number | null)[] }[] }[] }
  return Math.max(...(results[0]?.series[0]?.values ?? []).map((seconds) => Number(seconds) * 1000))
}

/** Records of a store that are not compacted yet: of each type, writer and hour that has at least so many bytes. */
function headBytes(path: string, leastBytes: number): number {
  const database = new DatabaseSync(path, { readOnly: true })
  try {
    const units = 'SELECT sum(bytes) AS bytes FROM head GROUP BY type, writer, clock, hour'
    const sum = `SELECT coalesce(sum(bytes), 0) AS bytes FROM (${units}) WHERE bytes >= ?`
    return Number(database.prepare(sum).get(leastBytes)?.bytes)
  } finally {
    database.close()
  }
}

/** Starts what takes JSON lines and hands them to the sinks that the command has. */
export async function startLines(command: Command): Promise<FarEnd> {
  const { child, directory, stop } = await startChild('lines-main.ts', [command])
  return { pid: child.pid ?? 0, socketsDir: directory, check: async () => [], stop }
}

/**
 * What files may take. An agent that has run for a while is at its limit. It removes the oldest file for each new one,
 * and the new file gets the page cache of the old one.
 */
const RETENTION_BYTES = 1 << 30

/** Where everything is that a Sonde of this benchmark keeps. */
function settingsOf(directory: string): Record<string, string> {
  return {
    SONDE_CONFIG: '',
    SONDE_STORE_DIR: join(directory, 'store'),
    SONDE_EXPORT_FILES_ENABLED: 'true',
    SONDE_EXPORT_FILES_DATA_ROOT: join(directory, 'files'),
    SONDE_EXPORT_FILES_RETENTION_BYTES: String(RETENTION_BYTES),
  }
}

async function startChild(main: string, args: readonly string[]) {
  const directory = temporaryDir()
  const child: ChildProcess = fork(fileURLToPath(new URL(main, import.meta.url)), [directory.path, ...args], {
    execArgv: process.execArgv,
    serialization: 'advanced',
    env: { ...process.env, ...settingsOf(directory.path) },
  })
  await once(child, 'message')
  return {
    child,
    directory: directory.path,
    async stop() {
      child.kill('SIGKILL')
      await once(child, 'exit')
      directory.remove()
    },
  }
}
