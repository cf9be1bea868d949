import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { startSonde, temporaryDir, until } from '../../sonde-process.ts'
import type { FaultLoop } from '../loop.ts'
import { Reporter } from '../numbered.ts'
import { ForwardReceiver, LineReceiver, type NumberReceiver } from '../receivers.ts'

const APP = fileURLToPath(new URL('../queue-main.ts', import.meta.url))
/** Numbers of one life of the application at most. */
const LIFE = 1_000_000
const ARRIVE_LIMIT_MS = 120_000

/** Runs an application until it has done enough, and kills it. Returns the number below which all is acknowledged. */
async function killApp(
  queueDir: string,
  { target }: NumberReceiver,
  first: number,
  isEnough: (acknowledged: number) => boolean,
): Promise<number> {
  const flags = ['--conditions=source', '--disable-warning=ExperimentalWarning']
  const child = spawn(process.execPath, [...flags, APP, queueDir, JSON.stringify(target), `${first}`], {
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

/** Kills agent and application with full queues, while their receiver of JSON lines comes and goes. */
export const queue = queueLoop('queue', 'JSON lines', 3, () => new LineReceiver())

/** The same with a server of Fluent Forward that others wrote. */
export const forward = queueLoop('forward', 'Fluent Forward', 2, () => new ForwardReceiver())

function queueLoop(name: string, format: string, testRounds: number, receiver: () => NumberReceiver): FaultLoop {
  return {
    name,
    what: `kill -9 of \`sonde up\` and of an application, each with a queue on disk, while their receiver comes and goes: everything that was acknowledged arrives, whole and in order (${format})`,
    testRounds,
    async open() {
      const dir = temporaryDir()
      const [ofApp, ofAgent] = [await receiver().start(), await receiver().start()]
      const config = join(dir.path, 'sonde.yaml')
      const limits = 'linger_ms: 5, backoff_initial_ms: 10, backoff_max_ms: 100'
      writeFileSync(config, `data_sources: []\nexport: { ${ofAgent.configuration(limits)} }\n`)
      const env = { SONDE_SERVICE_ENABLED: 'true', SONDE_SERVICE_SOCKETS_DIR: join(dir.path, 'sockets') }
      const start = () =>
        startSonde(['up', '--config', config, '--data-dir', dir.path, '--log-level', 'error'], { env })
      const reporter = new Reporter(env.SONDE_SERVICE_SOCKETS_DIR)
      let sonde = await start()
      const lives: { readonly first: number; readonly end: number }[] = []
      return {
        async round(random, index) {
          await ofApp.setAway(random.next() < 0.5)
          await ofAgent.setAway(random.next() < 0.5)
          const first = lives.length * LIFE
          const enough = first + random.integer(1, 20_000)
          const end = await killApp(join(dir.path, 'app'), ofApp, first, (acknowledged) => acknowledged >= enough)
          lives.push({ first, end })
          if (index % 2 === 0) await until('a page is acknowledged', ARRIVE_LIMIT_MS, () => reporter.sink.stats.out > 0)
          await sonde.stop('SIGKILL')
          sonde = await start()
          assert.deepEqual([...reporter.sink.stats.dropped], [], 'the client dropped records')
        },
        async close() {
          try {
            reporter.stop()
            await ofApp.setAway(false)
            await ofAgent.setAway(false)
            await reporter.sink.flush()
            assert.equal(reporter.sink.status().ack, 'durable')
            // Another application sends the rest of the queue.
            const next = lives.length * LIFE
            await killApp(join(dir.path, 'app'), ofApp, next, () => ofApp.arrived.has(next))
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
            for (const each of [ofApp, ofAgent]) await each.close()
            dir.remove()
          }
        },
      }
    },
  }
}
