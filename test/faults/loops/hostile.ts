import assert from 'node:assert/strict'
import { chmodSync, chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { AS_ROOT, OTHER_USER } from '../../other-user.ts'
import { type SondeProcess, startSonde, temporaryDir, until } from '../../sonde-process.ts'
import type { Attack } from '../hostile/attacker.ts'
import { ATTACKS } from '../hostile/attacks.ts'
import { EXPORTER_ATTACKS, Exporters } from '../hostile/exporters.ts'
import { LOCK_ATTACKS } from '../hostile/locks.ts'
import { LyingPrometheus, PROMETHEUS_ATTACKS } from '../hostile/prometheus.ts'
import { QUERY_ATTACKS } from '../hostile/queries.ts'
import { type FaultLoop, inTurn } from '../loop.ts'
import { assertStored, Reporter } from '../numbered.ts'

/** What the honest client reported is acknowledged within this: a gate. Unit: milliseconds. */
const ACK_LIMIT_MS = 10_000
/** An acknowledgement that takes longer will never come. Unit: milliseconds. */
const HANG_LIMIT_MS = 120_000
/** No turn of the main loop may take more of the processor. Unit: seconds. */
const TURN_LIMIT_S = 1
const MAIN = fileURLToPath(new URL('../measuring-main.ts', import.meta.url))
/** Attacks that come beside others, and those that are alone in their round. */
const BESIDE: Readonly<Record<string, Attack>> = {
  ...EXPORTER_ATTACKS,
  ...QUERY_ATTACKS,
  ...PROMETHEUS_ATTACKS,
  ...ATTACKS,
}
const ALONE = AS_ROOT.skip === false ? LOCK_ATTACKS : {}
const NAMES = Object.keys(BESIDE)
const ALL: Readonly<Record<string, Attack>> = { ...PROMETHEUS_ATTACKS, ...ALONE, ...BESIDE }

/** What an onlooker sees. */
interface Seen {
  /** Series that are not of attackers, without their values. */
  readonly series: ReadonlySet<string>
  /** The newest number that is shown of the honest client. */
  readonly newest: number
}

/** A server may close an idle connection at the moment in which it is used again: browsers ask once more then. */
async function textAt(url: string): Promise<string> {
  const get = async () => (await fetch(url)).text()
  return await get().catch(get)
}

async function look({ address }: SondeProcess): Promise<Seen> {
  const text = await textAt(`${address}/metrics`)
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  const own = lines.filter(
    (line) => line.startsWith('node_') || line.startsWith('host_') || line.startsWith('numbered_'),
  )
  const numbers = [...text.matchAll(/^numbered_number_total\{[^}]*source="fault"[^}]*\} (\d+)/gm)].map(([, number]) =>
    Number(number),
  )
  return {
    series: new Set(
      own.filter((line) => !line.includes('hostile')).map((line) => line.slice(0, line.lastIndexOf(' '))),
    ),
    newest: Math.max(0, ...numbers),
  }
}

async function clientsOf({ address }: SondeProcess): Promise<bigint[]> {
  const { clients } = JSON.parse(await textAt(`${address}/api/v1/sources`)) as { clients: { client: string }[] }
  return clients.map(({ client }) => BigInt(`0x${client}`))
}

/** Where Sonde keeps things, as another user would have it: open folders, and locks that are open already. */
function openFolders(dir: string) {
  const folders = { dataDir: join(dir, 'data'), socketsDir: join(dir, 'sockets'), filesDir: join(dir, 'files') }
  for (const path of Object.values(folders)) mkdirSync(path)
  writeFileSync(join(folders.dataDir, 'store.db.lock'), '')
  chmodSync(join(folders.dataDir, 'store.db.lock'), 0o666)
  chmodSync(dir, 0o755)
  chmodSync(folders.filesDir, 0o1777)
  if (AS_ROOT.skip === false) chownSync(folders.socketsDir, 0, OTHER_USER)
  chmodSync(folders.socketsDir, 0o1770)
  return folders
}

/** No source lost its worker or its child, and nothing went wrong in Sonde itself. */
async function assertCalm({ address, output }: SondeProcess): Promise<void> {
  const { sources } = JSON.parse(await textAt(`${address}/api/v1/sources`)) as {
    sources: { name: string; restarts: number }[]
  }
  for (const { name, restarts } of sources) assert.equal(restarts, 0, `${name} was started again`)
  const lines = output()
    .split('\n')
    .filter((line) => /"level":(50|60)/.test(line))
  // The losses of hostile clients are logged too.
  assert.deepEqual(
    lines.filter((line) => !/"code":"[A-Z]+_LOST"/.test(line)),
    [],
  )
}

/** Attackers beside honest clients, exporters and readers. */
export const hostile: FaultLoop = {
  name: 'hostile',
  what: 'clients, exporters, readers, a Prometheus and a user of the machine that mean harm, beside honest ones: `sonde up` and `sonde console` live, no turn takes a second of the processor, no worker is started again, the series of others stay, devices and pods of the honest exporter are true and recent, the honest reader is answered, and everything the honest client reports is acknowledged, none dropped, and read back whole, once',
  testRounds: 24,
  async open() {
    const dir = temporaryDir()
    const { dataDir, socketsDir, filesDir } = openFolders(dir.path)
    const exporters = await Exporters.open()
    const config = join(dir.path, 'sonde.yaml')
    const files = { data_root: filesDir, retention_bytes: 64 << 20 }
    writeFileSync(config, JSON.stringify({ data_sources: [{ type: 'host' }, exporters.source], export: { files } }))
    const turnFile = join(dir.path, 'longest-turn')
    writeFileSync(turnFile, '0')
    const env = { SONDE_SERVICE_ENABLED: 'true', SONDE_SERVICE_SOCKETS_DIR: socketsDir, SONDE_TEST_TURN: turnFile }
    const args = ['up', '--config', config, '--data-dir', dataDir, '--log-level', 'error']
    const start = () => startSonde(args, { main: MAIN, env })
    const prometheus = await LyingPrometheus.open()
    let sonde = await start()
    const reporter = new Reporter(socketsDir)
    await reporter.sink.flush()
    const shown = () =>
      until('series of the honest client and of the node', HANG_LIMIT_MS, async () => {
        const seen = await look(sonde)
        return seen.newest > 0 && [...seen.series].some((series) => !series.startsWith('numbered_')) ? seen : undefined
      })
    const before = await shown()
    await exporters.begin(sonde.address, HANG_LIMIT_MS)
    sonde.child.kill('SIGUSR2')
    const longestTurnS = () => Number(readFileSync(turnFile, 'utf8'))
    let attacks = 0
    let restarts = 0
    let longestAckMs = 0
    const acknowledged = async () => {
      const startMs = performance.now()
      const limit = setTimeout(() => assert.fail(`not acknowledged within ${HANG_LIMIT_MS} ms`), HANG_LIMIT_MS)
      await reporter.sink.flush().finally(() => clearTimeout(limit))
      longestAckMs = Math.max(longestAckMs, performance.now() - startMs)
    }
    const restart = async () => {
      await sonde.stop('SIGTERM')
      restarts++
      sonde = await start()
      await until('the honest client is connected', HANG_LIMIT_MS, () => reporter.sink.status().code === 0)
      // A source reports some types a moment after its first.
      await until('all series again', HANG_LIMIT_MS, async () => {
        const { series } = await look(sonde)
        return [...before.series].every((each) => series.has(each))
      })
      sonde.child.kill('SIGUSR2')
      return sonde.address
    }
    return {
      async round(random) {
        const clients = await clientsOf(sonde)
        const { address } = sonde
        const places = { socketsDir, filesDir, dir: dataDir, address }
        const scene = { ...places, random, clients, exporters, prometheus, restart }
        const first = inTurn(random, Object.keys(ALL))
        const beside = first in ALONE ? [] : random.chance(0.5) ? [random.pick(NAMES)] : []
        const chosen = [first, ...beside]
        attacks += chosen.length
        const due = reporter.reported - 1
        try {
          await Promise.all(chosen.map((name) => ALL[name]?.(scene)))
          await acknowledged()
          assert.deepEqual([...reporter.sink.stats.dropped], [], 'the honest client lost records')
          const seen = await look(sonde)
          for (const series of before.series) assert.ok(seen.series.has(series), `${series} is gone`)
          assert.ok(seen.newest >= due, `number ${seen.newest} is shown, ${due} was acknowledged`)
          await exporters.check(sonde.address, HANG_LIMIT_MS)
          await assertCalm(sonde)
          prometheus.check()
          const turnS = longestTurnS()
          assert.ok(turnS < TURN_LIMIT_S, `a turn took ${turnS} s of the processor; allowed: ${TURN_LIMIT_S} s`)
          assert.equal(sonde.child.exitCode, null)
        } catch (cause) {
          throw new Error(
            `${chosen.join(', ')}: ${cause instanceof Error ? cause.message : cause}\n${sonde.output()}`,
            { cause },
          )
        }
      },
      gate() {
        assert.ok(
          longestAckMs <= ACK_LIMIT_MS,
          `an acknowledgement took ${longestAckMs} ms; allowed: ${ACK_LIMIT_MS} ms`,
        )
      },
      async close() {
        reporter.stop()
        try {
          await acknowledged()
          assert.equal(reporter.sink.stats.out, reporter.reported)
          await reporter.sink.close()
          await sonde.stop('SIGTERM')
          await assertStored(join(dataDir, 'store.db'), reporter.reported)
          const turn = `longest turn ${(longestTurnS() * 1000).toFixed(0)} ms of the processor`
          return `${attacks} attacks, ${restarts} starts among locks of another user; ${reporter.reported} records, each once and whole; ${turn}; acknowledged within ${longestAckMs.toFixed(0)} ms`
        } finally {
          await sonde.stop('SIGKILL')
          await prometheus.close()
          exporters.close()
          dir.remove()
        }
      },
    }
  },
}
