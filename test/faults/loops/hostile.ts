import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type SondeProcess, startSonde, temporaryDir, until } from '../../sonde-process.ts'
import { ATTACKS } from '../hostile/attacks.ts'
import type { FaultLoop } from '../loop.ts'
import { assertStored, Reporter } from '../numbered.ts'

/** What the honest client reported is acknowledged within this. Unit: milliseconds. */
const ACK_LIMIT_MS = 10_000
/** No turn of the main loop may take longer, but for the time in which the machine gave it no processor. Unit: seconds. */
const TURN_LIMIT_S = 1
/** The longest turn that is shown is of the last two seconds: it is told once a second. Unit: milliseconds. */
const SHOWN_MS = 2500
const NAMES = Object.keys(ATTACKS)

/** What an onlooker sees. */
interface Seen {
  /** Series that are not of attackers, without their values. */
  readonly series: ReadonlySet<string>
  /** The newest number that is shown of the honest client. */
  readonly newest: number
  readonly longestTurnS: number
}

/** How long the main thread of a process was ready to run, and another had the processor: no fault of its own. */
class Waits {
  readonly #path: string
  #seen: { readonly atMs: number; readonly waitedS: number }[]

  constructor(pid: number) {
    this.#path = `/proc/${pid}/task/${pid}/schedstat`
    this.#seen = [{ atMs: Number.NEGATIVE_INFINITY, waitedS: 0 }]
  }

  /** In the time of which the longest turn may be. Unit: seconds. */
  lastS(): number {
    const now = { atMs: performance.now(), waitedS: Number(readFileSync(this.#path, 'latin1').split(' ')[1]) / 1e9 }
    const first = this.#seen.findLastIndex(({ atMs }) => atMs < now.atMs - SHOWN_MS)
    this.#seen = [...this.#seen.slice(first), now]
    return now.waitedS - (this.#seen[0]?.waitedS ?? 0)
  }
}

async function look({ address }: SondeProcess): Promise<Seen> {
  const text = await (await fetch(`${address}/metrics`)).text()
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
    longestTurnS: Number(/^sonde_process_loop_turn_max_seconds\S* (\S+)$/m.exec(text)?.[1] ?? 0),
  }
}

async function clientsOf({ address }: SondeProcess): Promise<bigint[]> {
  const { clients } = (await (await fetch(`${address}/api/v1/sources`)).json()) as { clients: { client: string }[] }
  return clients.map(({ client }) => BigInt(`0x${client}`))
}

/** A client that speaks the protocol and means harm, beside one that only reports. */
export const hostile: FaultLoop = {
  name: 'hostile',
  what: 'clients that keep to the protocol with values at every edge, beside an honest one: `sonde up` lives, no turn takes a second of its own, the series of others stay, and everything the honest client reports is acknowledged, none dropped, and read back whole, once',
  async open() {
    const dir = temporaryDir()
    const config = join(dir.path, 'sonde.yaml')
    writeFileSync(config, 'data_sources: [{ type: host }]\n')
    const socketsDir = join(dir.path, 'sockets')
    const env = { SONDE_SERVICE_ENABLED: 'true', SONDE_SERVICE_SOCKETS_DIR: socketsDir }
    const sonde = await startSonde(['up', '--config', config, '--data-dir', dir.path, '--log-level', 'error'], { env })
    const reporter = new Reporter(socketsDir)
    await reporter.sink.flush()
    const before = await until('series of the honest client and of the node', ACK_LIMIT_MS, async () => {
      const seen = await look(sonde)
      return seen.newest > 0 && [...seen.series].some((series) => !series.startsWith('numbered_')) ? seen : undefined
    })
    const waits = new Waits(sonde.child.pid ?? 0)
    let attacks = 0
    let longestTurnS = 0
    let longestAckMs = 0

    const acknowledged = async () => {
      const startMs = performance.now()
      const limit = setTimeout(() => assert.fail(`not acknowledged within ${ACK_LIMIT_MS} ms`), ACK_LIMIT_MS)
      await reporter.sink.flush().finally(() => clearTimeout(limit))
      longestAckMs = Math.max(longestAckMs, performance.now() - startMs)
    }
    return {
      async round(random) {
        const clients = await clientsOf(sonde)
        const scene = { socketsDir, random, clients }
        const chosen = Array.from({ length: random.integer(1, 3) }, () => random.pick(NAMES))
        attacks += chosen.length
        const due = reporter.reported - 1
        try {
          await Promise.all(chosen.map((name) => ATTACKS[name]?.(scene)))
          await acknowledged()
          assert.deepEqual([...reporter.sink.stats.dropped], [], 'the honest client lost records')
          const seen = await look(sonde)
          for (const series of before.series) assert.ok(seen.series.has(series), `${series} is gone`)
          assert.ok(seen.newest >= due, `number ${seen.newest} is shown, ${due} was acknowledged`)
          longestTurnS = Math.max(longestTurnS, seen.longestTurnS)
          const limitS = TURN_LIMIT_S + waits.lastS()
          assert.ok(seen.longestTurnS < limitS, `a turn took ${seen.longestTurnS} s; allowed: ${limitS} s`)
          assert.equal(sonde.child.exitCode, null)
        } catch (cause) {
          throw new Error(
            `${chosen.join(', ')}: ${cause instanceof Error ? cause.message : cause}\n${sonde.output()}`,
            { cause },
          )
        }
      },
      async close() {
        reporter.stop()
        try {
          await acknowledged()
          assert.equal(reporter.sink.stats.out, reporter.reported)
          await reporter.sink.close()
          await sonde.stop('SIGTERM')
          await assertStored(join(dir.path, 'store.db'), reporter.reported)
          const turn = `longest turn ${(longestTurnS * 1000).toFixed(0)} ms`
          return `${attacks} attacks; ${reporter.reported} records, each once and whole; ${turn}; acknowledged within ${longestAckMs.toFixed(0)} ms`
        } finally {
          await sonde.stop('SIGKILL')
          dir.remove()
        }
      },
    }
  },
}
