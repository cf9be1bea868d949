// A hostile client of the HTTP API must not slow the queries of other clients or the records of applications.
import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createIpc, createSource, defineType, gauge, labelNumber, timestamp, wallNs } from '@sonde/sdk'
import { heatType } from '../../packages/agent/test/heat.ts'
import { type SondeProcess, startSonde, temporaryDir, until } from '../sonde-process.ts'

const LIMIT_MS = 60_000
const SERIES_COUNT = 30_000
/** Connections of the attacker, with as many requests at a time as one may have. */
const ATTACKER_COUNT = 2
const AT_ONCE = 4

const crowdType = defineType('crowd', 'Many series', {
  time: timestamp(),
  number: labelNumber('u32'),
  level: gauge('u32'),
})

interface Rig {
  readonly sonde: SondeProcess
  /** An application of one series; it reports, and is acknowledged. */
  report(): Promise<void>
}

/** `sonde up` with its store, applications of very many series, and an honest one. */
async function start(t: TestContext): Promise<Rig> {
  const dir = temporaryDir()
  t.after(() => dir.remove())
  const socketsDir = join(dir.path, 'sockets')
  const env = { SONDE_SERVICE_ENABLED: 'true', SONDE_SERVICE_SOCKETS_DIR: socketsDir }
  const sonde = await startSonde(['up', '--only-simulated', '--data-dir', dir.path, '--log-level', 'error'], { env })
  t.after(() => sonde.stop('SIGKILL'))
  const application = (program: string) => {
    const sink = createIpc({ socketsDir, program })
    t.after(() => sink.close())
    return { sink, source: createSource({ id: program, emit: (batch) => sink.accept(batch) }) }
  }
  for (const [at, program] of ['crowd', 'another crowd'].entries()) {
    const { source, sink } = application(program)
    for (let number = 0; number < SERIES_COUNT / 2; number++)
      source.report(crowdType, { time: wallNs(), number: 2 * number + at, level: 1 })
    source.flush()
    // The page of metrics has no room for all of them; history has.
    await sink.flush().catch(() => undefined)
  }
  const honest = application('honest')
  return {
    sonde,
    async report() {
      honest.source.report(heatType, { time: wallNs(), place: 'oven', celsius: 180 })
      honest.source.flush()
      await honest.sink.flush()
      assert.deepEqual([...honest.sink.stats.dropped], [])
    },
  }
}

/** Sixty-four questions, each of which looks through all series for what none has, with so many matchers. */
function crowded(matcherCount: number): string {
  const queries = Array.from({ length: 64 }, (_, i) => {
    const matchers = Array.from({ length: matcherCount }, (_, at) => ({
      label: 'number',
      op: '!=',
      value: `${i}-${at}`,
    }))
    return { metric: 'crowd_level', matchers: [{ label: 'number', op: '=', value: 'none' }, ...matchers.slice(1)] }
  })
  return JSON.stringify({ fromMs: Date.now() - 60_000, stepMs: 60_000, queries })
}

/** Asks the same on a connection for as long as it is open, so many at a time; calls back for each answer. */
function attack(t: TestContext, { address }: SondeProcess, body: string, onAnswer: (status: string) => void): Socket {
  const { port, host } = new URL(address)
  const head = `POST /api/v1/query HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`
  const socket = connect(Number(port), '127.0.0.1')
  socket
    .on('error', () => undefined)
    .on('data', (data) => {
      for (const [, status = ''] of String(data).matchAll(/HTTP\/1\.1 (\d+)/g)) {
        onAnswer(status)
        socket.write(head + body)
      }
    })
  socket.write((head + body).repeat(AT_ONCE))
  t.after(() => socket.destroy())
  return socket
}

test('who asks for much again and again waits behind who asks for little, and keeps no record from the disk', async (t) => {
  const { sonde, report } = await start(t)
  await report()
  const post = (body: string) =>
    fetch(`${sonde.address}/api/v1/query`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })

  const refused = await post(crowded(16))
  assert.equal(refused.status, 422)
  assert.match(
    await refused.text(),
    /"QRY_COST_LIMIT","message":"the request looks through \d{8} series and records, 5\d{5} of them for crowd_level; at most 20000000 a request: take a shorter window, or fewer questions and matchers at a time"/,
  )

  const answers: string[] = []
  for (let at = 0; at < ATTACKER_COUNT; at++) attack(t, sonde, crowded(4), (status) => answers.push(status))
  await until('the attack', LIMIT_MS, () => answers.length > 0)
  /** Answers that the attacker got while something was under way. */
  const during = async (work: () => Promise<void>) => {
    const before = answers.length
    await work()
    return answers.length - before
  }
  for (let round = 0; round < 5; round++) {
    // The request that is answered already, and one of each connection.
    const whileAsking = await during(async () => {
      const answer = await post(JSON.stringify({ queries: [{ metric: 'heat_celsius' }] }))
      assert.equal(answer.status, 200)
      const { results } = (await answer.json()) as { results: { series: unknown[] }[] }
      assert.equal(results[0]?.series.length, 1)
    })
    assert.ok(whileAsking <= ATTACKER_COUNT + 2, `${whileAsking} requests of the attacker went before one of another`)
    const whileReporting = await during(report)
    assert.ok(whileReporting < ATTACKER_COUNT * AT_ONCE, `${whileReporting} requests went before a record`)
  }
  assert.deepEqual([...new Set(answers)], ['200'])
})
