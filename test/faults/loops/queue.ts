import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Random } from '../../../packages/sdk/test/random.ts'
import { startSonde, temporaryDir, until } from '../../sonde-process.ts'
import { SONDE } from '../../sonde-program.ts'
import type { FaultLoop } from '../loop.ts'
import { Reporter } from '../numbered.ts'
import { ForwardReceiver } from '../receivers/forward-receiver.ts'
import {
  EsReceiver,
  InfluxReceiver,
  LineReceiver,
  OtlpReceiver,
  RemoteWriteReceiver,
} from '../receivers/http-receivers.ts'
import type { NumberReceiver, Way } from '../receivers/number-receiver.ts'

const APP = fileURLToPath(new URL('../queue-main.ts', import.meta.url))
/** Numbers of one life of the application at most. */
const LIFE = 1_000_000
/** Numbers beyond the acknowledged ones: the application was killed during a flush, or before it wrote the number. */
const UNWRITTEN = 50
/** Without any arrival for so long, a far end is forgotten. */
const STILL_LIMIT_MS = 60_000
/** The records of so many rounds are compared at once, because that needs another life of the application. */
const COMPARE_ROUNDS = 10
/** Every record goes to each destination: an agent sends remote write each 15 s only. */
const LIMITS = { interval_s: 0, linger_ms: 5, backoff_initial_ms: 10, backoff_max_ms: 100, batch_records_max: 500 }
const AWAY: readonly Way[] = ['fails', 'mute', 'gone']

type Range = { readonly first: number; readonly end: number }

/** Kills agent and application with full queues, while their receiver of JSON lines comes and goes. */
export const queue = queueLoop('queue', 'JSON lines', 0, () => [new LineReceiver()])

/** The same with a server of Fluent Forward that others wrote. */
export const forward = queueLoop('forward', 'Fluent Forward', 0, () => [new ForwardReceiver()])

/** The same with all destinations that have a queue on disk, at once: the short form of both above. */
export const outage = queueLoop('outage', 'all destinations over a network at once', 1, () => [
  new LineReceiver(),
  new ForwardReceiver(),
  new InfluxReceiver(),
  new EsReceiver(),
  new RemoteWriteReceiver(),
  new OtlpReceiver(),
])

/** An application that is killed again and again, and continues its numbers. */
class KilledApp {
  readonly #queuesDir: string
  readonly #receivers: readonly NumberReceiver[]
  readonly #lives: Range[] = []

  constructor(queuesDir: string, receivers: readonly NumberReceiver[]) {
    this.#queuesDir = queuesDir
    this.#receivers = receivers
  }

  /** Records that were acknowledged. */
  get acknowledged(): number {
    return this.#lives.reduce((sum, { first, end }) => sum + end - first, 0)
  }

  /** Runs it until so many records are acknowledged, and kills it while it reports. */
  async live(count: number): Promise<void> {
    const first = this.#lives.length * LIFE
    await this.#run(first, (end) => end >= first + count)
  }

  async #run(first: number, isEnough: (end: number) => boolean, ...more: readonly string[]): Promise<void> {
    const args = [...SONDE.slice(1, -1), APP, this.#queuesDir, JSON.stringify(exportOf(this.#receivers, camelCase))]
    const acknowledged = join(this.#queuesDir, 'acknowledged')
    rmSync(acknowledged, { force: true })
    const child = spawn(SONDE[0], [...args, `${first}`, ...more], { stdio: ['pipe', 'inherit', 'inherit'] })
    const end = () => (existsSync(acknowledged) && Number(readFileSync(acknowledged, 'utf8'))) || first
    const isDone = () => isEnough(end()) || child.exitCode !== null
    try {
      await untilStill(
        () => `the application reports, and everything arrives; ${missing(this.#receivers, this.#lives)}`,
        () => arrivals(this.#receivers) + end(),
        isDone,
      )
      assert.equal(child.exitCode, null, 'the application ended')
    } finally {
      child.kill('SIGKILL')
      await once(child, 'close')
    }
    this.#lives.push({ first, end: end() })
  }

  /** Lets another life send everything; each receiver must have exactly what was reported. */
  async compare(): Promise<void> {
    const lives = [...this.#lives]
    const hasAll = () =>
      this.#receivers.every((each) => lives.every(({ first, end }) => each.firstMissing(first, end) === undefined))
    const first = lives.length * LIFE
    await this.#run(first, hasAll, `${first + 1}`)
    const reported = this.#lives.map(({ first, end }) => ({ first, end: end + UNWRITTEN }))
    for (const each of this.#receivers) each.settle(first, reported)
  }
}

function queueLoop(name: string, format: string, testRounds: number, receivers: () => NumberReceiver[]): FaultLoop {
  return {
    name,
    what: `kill -9 of an agent or \`sonde up\`, and of an application, each with queues on disk, at random moments while the far ends fail, break off, leave and return: everything that was acknowledged arrives, whole, in the order and as often as the README of the destination says (${format})`,
    testRounds,
    async open() {
      const dir = temporaryDir()
      const [ofApp, ofAgent] = [receivers(), receivers()]
      const all = [...ofApp, ...ofAgent]
      for (const each of all) await each.start()
      const config = join(dir.path, 'sonde.yaml')
      writeFileSync(config, JSON.stringify({ data_sources: [], export: exportOf(ofAgent) }))
      const env = { SONDE_SERVICE_ENABLED: 'true', SONDE_SERVICE_SOCKETS_DIR: join(dir.path, 'sockets') }
      const start = (command: 'up' | 'agent') =>
        startSonde([command, '--config', config, '--data-dir', dir.path, '--log-level', 'error'], { env })
      const reporter = new Reporter(env.SONDE_SERVICE_SOCKETS_DIR)
      const app = new KilledApp(join(dir.path, 'app'), ofApp)
      let sonde = await start('up')

      async function killAgent(random: Random, isEarly: boolean): Promise<void> {
        const { stats } = reporter.sink
        const before = stats.out
        if (!isEarly) await until('pages are acknowledged', STILL_LIMIT_MS, () => stats.out > before)
        await new Promise((resolve) => setTimeout(resolve, random.integer(0, 200)))
        await sonde.stop('SIGKILL')
        sonde = await start(random.chance(0.25) ? 'up' : 'agent')
        assert.deepEqual([...stats.dropped], [], 'the client dropped records')
      }

      async function compare(): Promise<void> {
        for (const each of all) await each.setWay('takes')
        await app.compare()
        const acknowledged = reporter.sink.stats.out
        const hasAll = () => ofAgent.every((each) => each.firstMissing(0, acknowledged) === undefined)
        await untilStill(
          () => `everything arrives; ${missing(ofAgent, [{ first: 0, end: acknowledged }])}`,
          () => arrivals(ofAgent),
          hasAll,
        )
        for (const each of ofAgent) each.settle(acknowledged, [{ first: 0, end: reporter.reported }])
      }

      return {
        async round(random, index) {
          for (const each of all) await each.setWay(random.chance(0.5) ? 'takes' : random.pick(AWAY))
          const count = random.integer(1, random.chance(0.2) ? 20_000 : 2000)
          const isEarly = random.chance(0.3)
          // Both end before a failure is thrown: what still runs has the queues.
          for (const each of await Promise.allSettled([app.live(count), killAgent(random, isEarly)]))
            if (each.status === 'rejected') throw each.reason
          for (const { kind, faults } of all) assert.deepEqual(faults, [], kind)
          if (index % COMPARE_ROUNDS === 0) await compare()
        },
        async close() {
          try {
            for (const each of ofAgent) await each.setWay('takes')
            reporter.stop()
            await reporter.sink.flush()
            assert.equal(reporter.sink.status().ack, 'durable')
            assert.equal(reporter.sink.stats.out, reporter.reported)
            await compare()
            const again = ofApp.map(({ kind, repeated }, i) => `${kind} ${repeated + (ofAgent[i]?.repeated ?? 0)}`)
            return `${app.acknowledged + reporter.reported} records arrived at each; again: ${again.join(', ')}`
          } finally {
            reporter.stop()
            await reporter.sink.close()
            await sonde.stop('SIGKILL')
            for (const each of all) await each.close()
            dir.remove()
          }
        },
      }
    },
  }
}

/** The block `export` with a destination for each receiver. */
function exportOf(receivers: readonly NumberReceiver[], spelled = (key: string) => key) {
  const limits = Object.entries(LIMITS).map(([key, value]) => [spelled(key), value])
  return Object.fromEntries(
    receivers.map(({ kind, options }) => [
      spelled(kind),
      { ...options, ...Object.fromEntries(limits), sources: ['!self'] },
    ]),
  )
}

function camelCase(key: string): string {
  return key.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
}

/** Waits as long as the progress goes on, because a loaded machine is slow; standing still is a fault. */
async function untilStill(what: () => string, progress: () => number, isDone: () => boolean): Promise<void> {
  for (;;) {
    const before = progress()
    try {
      await until(what, STILL_LIMIT_MS, isDone)
      return
    } catch (error) {
      if (progress() === before) throw error
    }
  }
}

function arrivals(receivers: readonly NumberReceiver[]): number {
  return receivers.reduce((sum, { count, repeated }) => sum + count + repeated, 0)
}

/** Says how far the receivers have come. */
function missing(receivers: readonly NumberReceiver[], ranges: readonly Range[]): string {
  return receivers
    .map((each) => {
      const gaps = ranges.flatMap(({ first, end }) => each.firstMissing(first, end) ?? [])
      return `${each.kind} lacks ${gaps.join(', ') || 'nothing'}, faults: ${each.faults.join('; ') || 'none'}`
    })
    .join('. ')
}
