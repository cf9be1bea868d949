import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type SondeProcess, startSonde, temporaryDir, until } from '../../sonde-process.ts'
import { ATTACKS } from '../hostile/attacks.ts'
import { type FaultLoop, inTurn } from '../loop.ts'
import { assertStored, Reporter } from '../numbered.ts'

/** What the honest client reported is acknowledged within this: a gate. Unit: milliseconds. */
const ACK_LIMIT_MS = 10_000
/** An acknowledgement that takes longer will never come. Unit: milliseconds. */
const HANG_LIMIT_MS = 120_000
/** No turn of the main loop may take more of the processor. Unit: seconds. */
const TURN_LIMIT_S = 1
const MAIN = fileURLToPath(new URL('../measuring-main.ts', import.meta.url))
const NAMES = Object.keys(ATTACKS)

/** What an onlooker sees. */
interface Seen {
  /** Series that are not of attackers, without their values. */
  readonly series: ReadonlySet<string>
  /** The newest number that is shown of the honest client. */
  readonly newest: number
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
  }
}

async function clientsOf({ address }: SondeProcess): Promise<bigint[]> {
  const { clients } = (await (await fetch(`${address}/api/v1/sources`)).json()) as { clients: { client: string }[] }
  return clients.map(({ client }) => BigInt(`0x${client}`))
}

/** A client that speaks the protocol and means harm, beside one that only reports. */
export const hostile: FaultLoop = {
  name: 'hostile',
  what: 'clients that keep to the protocol with values at every edge, beside an honest one: `sonde up` lives, no turn takes a second of the processor, the series of others stay, and everything the honest client reports is acknowledged, none dropped, and read back whole, once',
  testRounds: 24,
  async open() {
    const dir = temporaryDir()
    const config = join(dir.path, 'sonde.yaml')
    writeFileSync(config, 'data_sources: [{ type: host }]\n')
    const socketsDir = join(dir.path, 'sockets')
    const turnFile = join(dir.path, 'longest-turn')
    writeFileSync(turnFile, '0')
    const env = { SONDE_SERVICE_ENABLED: 'true', SONDE_SERVICE_SOCKETS_DIR: socketsDir, SONDE_TEST_TURN: turnFile }
    const args = ['up', '--config', config, '--data-dir', dir.path, '--log-level', 'error']
    const sonde = await startSonde(args, { main: MAIN, env })
    const reporter = new Reporter(socketsDir)
    await reporter.sink.flush()
    const before = await until('series of the honest client and of the node', HANG_LIMIT_MS, async () => {
      const seen = await look(sonde)
      return seen.newest > 0 && [...seen.series].some((series) => !series.startsWith('numbered_')) ? seen : undefined
    })
    sonde.child.kill('SIGUSR2')
    const longestTurnS = () => Number(readFileSync(turnFile, 'utf8'))
    let attacks = 0
    let longestAckMs = 0

    const acknowledged = async () => {
      const startMs = performance.now()
      const limit = setTimeout(() => assert.fail(`not acknowledged within ${HANG_LIMIT_MS} ms`), HANG_LIMIT_MS)
      await reporter.sink.flush().finally(() => clearTimeout(limit))
      longestAckMs = Math.max(longestAckMs, performance.now() - startMs)
    }
    return {
      async round(random) {
        const clients = await clientsOf(sonde)
        const scene = { socketsDir, random, clients }
        const beside = Array.from({ length: random.integer(0, 2) }, () => random.pick(NAMES))
        const chosen = [inTurn(random, NAMES), ...beside]
        attacks += chosen.length
        const due = reporter.reported - 1
        try {
          await Promise.all(chosen.map((name) => ATTACKS[name]?.(scene)))
          await acknowledged()
          assert.deepEqual([...reporter.sink.stats.dropped], [], 'the honest client lost records')
          const seen = await look(sonde)
          for (const series of before.series) assert.ok(seen.series.has(series), `${series} is gone`)
          assert.ok(seen.newest >= due, `number ${seen.newest} is shown, ${due} was acknowledged`)
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
          await assertStored(join(dir.path, 'store.db'), reporter.reported)
          const turn = `longest turn ${(longestTurnS() * 1000).toFixed(0)} ms of the processor`
          return `${attacks} attacks; ${reporter.reported} records, each once and whole; ${turn}; acknowledged within ${longestAckMs.toFixed(0)} ms`
        } finally {
          await sonde.stop('SIGKILL')
          dir.remove()
        }
      },
    }
  },
}
