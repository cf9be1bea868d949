import assert from 'node:assert/strict'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DtbDecoder, openDtb } from '@sonde/sdk'
import type { IncidentsAnswer, TracebackEvent } from '@sonde/sdk/api'
import { eventsIn } from '../../../packages/agent/test/events-in.ts'
import { ask } from '../../ask.ts'
import { runSonde, type SondeProcess, startSonde, temporaryDir, until } from '../../sonde-process.ts'
import type { FaultLoop } from '../loop.ts'

const MAIN = fileURLToPath(new URL('../events-main.ts', import.meta.url))
/** Source of the records with which the file of an event begins. */
const OF_EVENT = 'traceback'
/** An event opens or ends so often. Unit: milliseconds. */
const AUTO_MS = 60
/** Rounds on one folder: a new folder keeps the disk of the test small, and no event leaves for want of room. */
const FOLDER_ROUNDS = 10
/** What `sonde read` is asked to read is one file in so many rounds: it is a process each time. */
const READ_EVERY = 2

/** Ends an agent at a random moment while events open and close. */
export const events: FaultLoop = {
  name: 'events',
  what: 'kill -9 at a random moment while events open and close: every event that was listed as closed is there after the restart, whole and readable by `sonde read`, and nothing unfinished is left',
  testRounds: 2,
  async open() {
    const dir = temporaryDir()
    let folder = join(dir.path, '0')
    const limits = { SONDE_TRACEBACK_BEFORE_MS: '100', SONDE_TRACEBACK_AFTER_MS: '20' }
    const env = { ...limits, SONDE_TRACEBACK_EVENTS_PER_MINUTE: '10000' }
    const start = () => startSonde([String(AUTO_MS)], { main: MAIN, env: { ...env, SONDE_TRACEBACK_DIR: folder } })
    let sonde = await start()
    let kept = 0
    let unfinished = 0
    return {
      async round(random, index) {
        await until('a closed event', 60_000, async () => (await closedIn(sonde)).length > 0)
        const endMs = performance.now() + random.integer(0, 3000)
        let listed: readonly TracebackEvent[] = []
        await until('the moment', 60_000, async () => {
          listed = await closedIn(sonde)
          return performance.now() >= endMs
        })
        await sonde.stop('SIGKILL')
        const parts = namesIn(folder).filter((name) => name.endsWith('.part'))
        unfinished += parts.length
        sonde = await start()
        const after = new Map((await closedIn(sonde)).map((event) => [event.id, event]))
        for (const event of listed) {
          assert.deepEqual(after.get(event.id), event)
          assert.equal(recordsIn(join(folder, `${event.id}.bin`)), event.samples)
          kept++
        }
        for (const name of parts) assert.ok(!namesIn(folder).includes(name), `${name} is left`)
        const one = listed[random.integer(0, Math.max(0, listed.length - 1))]
        if (index % READ_EVERY === 0 && one !== undefined) {
          const { code, output } = await runSonde(['read', '--stats', join(folder, `${one.id}.bin`)])
          assert.equal(code, 0, output)
        }
        if (index % FOLDER_ROUNDS !== FOLDER_ROUNDS - 1) return
        await sonde.stop('SIGKILL')
        rmSync(folder, { recursive: true, force: true })
        folder = join(dir.path, String(index))
        sonde = await start()
      },
      async close() {
        await sonde.stop('SIGKILL')
        dir.remove()
        return `${kept} events that were listed are whole; ${unfinished} files that were not finished are gone`
      },
    }
  },
}

async function closedIn(sonde: SondeProcess): Promise<readonly TracebackEvent[]> {
  const answer = eventsIn(await ask<IncidentsAnswer>(sonde, '/api/v1/incidents?kind=event&state=ended&limit=1000'))
  return answer.events
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    // The first event makes it.
    return []
  }
}

/** Records of a file that its writer closed, but for those that say what the event is. */
function recordsIn(path: string): number {
  const file = openDtb(path)
  try {
    const decoder = new DtbDecoder(file)
    let records = 0
    for (let step = decoder.next(); ; step = decoder.next()) {
      if (step.kind === 'records' && step.batch.source.id !== OF_EVENT) records += step.batch.count
      if (step.kind !== 'stop') continue
      assert.equal(step.end.state, 'ended', path)
      return records
    }
  } finally {
    file.close()
  }
}
