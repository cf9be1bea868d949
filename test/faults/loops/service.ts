import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readFiles } from '../../../packages/sdk/test/files-rig.ts'
import { type SondeProcess, startSonde, temporaryDir, until } from '../../sonde-process.ts'
import { type FaultLoop, inTurn } from '../loop.ts'
import { assertOnce, assertStored, numberedType, Reporter } from '../numbered.ts'

/** What was reported longer ago than this is acknowledged. */
const ACK_LIMIT_MS = 1000
/** The part of it that may be missing. */
const ACK_MISSING_MAX = 0.01
/** The longest that it took is in the result; whether that is short is a matter of the machine. */
const CONNECT_LIMIT_MS = 60_000

/** Reads everything back from the files. */
function assertInFiles(root: string, reported: number): void {
  const files = readFiles(root)
  for (const { path, end } of files) assert.notEqual(end.state, 'damaged', path)
  const batches = files.flatMap((file) => file.batches)
  assertOnce(
    batches.filter(({ type }) => type.name === numberedType.name),
    reported,
  )
}

/** Ends the service at a random moment while a client reports, and starts it again. */
export const service: FaultLoop = {
  name: 'service',
  what: 'kill -9 of the service at a random moment while a client reports: it connects again, and everything that was acknowledged is read back from store and files, whole, once',
  testRounds: 4,
  async open() {
    const dir = temporaryDir()
    const config = join(dir.path, 'sonde.yaml')
    writeFileSync(config, 'data_sources: []\n')
    // Where `--data-dir` keeps them.
    const files = join(dir.path, 'data')
    const env = {
      SONDE_SERVICE_ENABLED: 'true',
      SONDE_SERVICE_SOCKETS_DIR: join(dir.path, 'sockets'),
      SONDE_EXPORT_FILES_ENABLED: 'true',
      SONDE_EXPORT_FILES_MAX_SIZE_BYTES: '65536',
    }
    const start = (): Promise<SondeProcess> =>
      startSonde(['up', '--config', config, '--data-dir', dir.path, '--log-level', 'error'], { env })
    let sonde = await start()
    const reporter = new Reporter(env.SONDE_SERVICE_SOCKETS_DIR)
    let due = 0
    let missing = 0
    let longestMs = 0
    const missed = () => `${(100 * (missing / Math.max(1, due))).toFixed(2)} % of those older than 1 s not acknowledged`
    const connected = async () => {
      const readyMs = performance.now()
      await until('the client is connected', CONNECT_LIMIT_MS, () => reporter.sink.status().code === 0)
      longestMs = Math.max(longestMs, performance.now() - readyMs)
    }
    return {
      async round(random) {
        const { stats } = reporter.sink
        const early = inTurn(random, [true, false])
        if (!early) {
          await connected()
          // What came while there was no service takes as long as the machine needs for it.
          await until(
            'the client has caught up',
            CONNECT_LIMIT_MS,
            () => stats.out >= reporter.reportedBefore(ACK_LIMIT_MS),
          )
        }
        await new Promise((resolve) => setTimeout(resolve, random.integer(0, 400)))
        const before = reporter.reportedBefore(ACK_LIMIT_MS)
        if (!early) {
          due += before
          missing += Math.max(0, before - stats.out)
        }
        await sonde.stop('SIGKILL')
        sonde = await start()
        assert.deepEqual([...stats.dropped], [], 'the client dropped records')
      },
      gate() {
        assert.ok(missing <= ACK_MISSING_MAX * due, missed())
      },
      async close() {
        reporter.stop()
        try {
          await connected()
          await reporter.sink.flush()
          assert.equal(reporter.sink.status().ack, 'durable')
          assert.equal(reporter.sink.stats.out, reporter.reported)
          await reporter.sink.close()
          await sonde.stop('SIGKILL')
          await assertStored(join(dir.path, 'store.db'), reporter.reported)
          assertInFiles(files, reporter.reported)
          return `${reporter.reported} records, each once and whole; ${missed()}; connected again after ${longestMs.toFixed(0)} ms at most`
        } finally {
          await sonde.stop('SIGKILL')
          dir.remove()
        }
      },
    }
  },
}
