import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { startSonde, temporaryDir, until } from '../../sonde-process.ts'
import type { FaultLoop } from '../loop.ts'
import { CHECK, Reporter } from '../numbered.ts'

const APP = fileURLToPath(new URL('../queue-main.ts', import.meta.url))
/** Numbers of one life of the application at most. */
const LIFE = 1_000_000
const ARRIVE_LIMIT_MS = 120_000

/** A receiver of JSON lines over HTTP. It is away at times, and knows which numbers arrived how often. */
class Receiver {
  isAway = false
  /** How often each number arrived. */
  readonly arrived = new Map<number, number>()
  /** Numbers that arrived for the first time after a higher one. */
  late = 0
  #highest = -1
  readonly #server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      if (this.isAway) return void response.writeHead(503).end('away\n')
      for (const line of Buffer.concat(pieces).toString().split('\n')) if (line !== '') this.#take(line)
      response.writeHead(204).end()
    })
  })

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`
  }

  async start(): Promise<this> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return this
  }

  /** How many of the numbers in a range have arrived. */
  countOf(from: number, to: number): number {
    let count = 0
    for (let number = from; number < to; number++) if (this.arrived.has(number)) count++
    return count
  }

  get repeated(): number {
    return [...this.arrived.values()].reduce((sum, times) => sum + times - 1, 0)
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  #take(line: string): void {
    const { type, record } = JSON.parse(line) as { type: string; record: Record<string, string> }
    if (type !== 'numbered') return
    const number = Number(record.number_total)
    assert.equal(record.check, String(BigInt.asUintN(64, (BigInt(number) + 1n) * CHECK)), 'a record is torn')
    const times = this.arrived.get(number) ?? 0
    this.arrived.set(number, times + 1)
    if (times === 0 && number < this.#highest) this.late++
    this.#highest = Math.max(this.#highest, number)
  }
}

/** Runs an application until it has done enough, and kills it. Returns the number below which all is acknowledged. */
async function killApp(
  queueDir: string,
  url: string,
  first: number,
  isEnough: (acknowledged: number) => boolean,
): Promise<number> {
  const flags = ['--conditions=source', '--disable-warning=ExperimentalWarning']
  const child = spawn(process.execPath, [...flags, APP, queueDir, url, `${first}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let acknowledged = first
  createInterface({ input: child.stdout }).on('line', (line) => {
    acknowledged = Number(line)
  })
  try {
    await until('the application reports', ARRIVE_LIMIT_MS, () => isEnough(acknowledged) || child.exitCode !== null)
    assert.equal(child.exitCode, null, 'the application ended')
  } finally {
    child.kill('SIGKILL')
    await once(child, 'close')
  }
  return acknowledged
}

/** Kills agent and application with full queues, while their receiver comes and goes. */
export const queue: FaultLoop = {
  name: 'queue',
  what: 'kill -9 of `sonde up` and of an application, each with a queue on disk, while their receiver comes and goes: everything that was acknowledged arrives, whole and in order',
  testRounds: 3,
  async open() {
    const dir = temporaryDir()
    const [ofApp, ofAgent] = [await new Receiver().start(), await new Receiver().start()]
    const config = join(dir.path, 'sonde.yaml')
    const limits = 'linger_ms: 5, backoff_initial_ms: 10, backoff_max_ms: 100'
    writeFileSync(config, `data_sources: []\nexport: { jsonl: { url: '${ofAgent.url}', ${limits} } }\n`)
    const env = { SONDE_SERVICE_ENABLED: 'true', SONDE_SERVICE_SOCKETS_DIR: join(dir.path, 'sockets') }
    const start = () => startSonde(['up', '--config', config, '--data-dir', dir.path, '--log-level', 'error'], { env })
    const reporter = new Reporter(env.SONDE_SERVICE_SOCKETS_DIR)
    let sonde = await start()
    const lives: { readonly first: number; readonly end: number }[] = []
    return {
      async round(random, index) {
        ofApp.isAway = random.next() < 0.5
        ofAgent.isAway = random.next() < 0.5
        const first = lives.length * LIFE
        const enough = first + random.integer(1, 20_000)
        const end = await killApp(join(dir.path, 'app'), ofApp.url, first, (acknowledged) => acknowledged >= enough)
        lives.push({ first, end })
        if (index % 2 === 0) await until('a page is acknowledged', ARRIVE_LIMIT_MS, () => reporter.sink.stats.out > 0)
        await sonde.stop('SIGKILL')
        sonde = await start()
        assert.deepEqual([...reporter.sink.stats.dropped], [], 'the client dropped records')
      },
      async close() {
        try {
          reporter.stop()
          ofApp.isAway = false
          ofAgent.isAway = false
          await reporter.sink.flush()
          assert.equal(reporter.sink.status().ack, 'durable')
          // One more life sends what the others left.
          const next = lives.length * LIFE
          await killApp(join(dir.path, 'app'), ofApp.url, next, () => ofApp.arrived.has(next))
          let acknowledged = 0
          for (const { first, end } of lives) {
            acknowledged += end - first
            assert.equal(ofApp.countOf(first, end), end - first, `all of the numbers from ${first} to ${end} arrive`)
          }
          await until('everything arrives', ARRIVE_LIMIT_MS, () => ofAgent.arrived.size >= reporter.reported)
          assert.equal(ofAgent.countOf(0, reporter.reported), reporter.reported)
          assert.equal(ofApp.late + ofAgent.late, 0, 'records arrived out of order')
          return `${acknowledged + reporter.reported} records arrived; ${ofApp.repeated + ofAgent.repeated} of them again`
        } finally {
          await reporter.sink.close()
          await sonde.stop('SIGKILL')
          for (const receiver of [ofApp, ofAgent]) receiver.close()
          dir.remove()
        }
      },
    }
  },
}
