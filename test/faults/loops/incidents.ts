import assert from 'node:assert/strict'
import type { Incident, IncidentAnswer, IncidentsAnswer } from '@sonde/sdk/api'
import { ask } from '../../ask.ts'
import { type SondeProcess, startSonde, temporaryDir, until } from '../../sonde-process.ts'
import { type FaultLoop, inTurn } from '../loop.ts'

/** Its rule opens an incident with the first sample, and ends it ten seconds after the last. */
const FAULT = 'power-brake'
const LIMIT_MS = 60_000
/** A fault that lasts until the process ends. Unit: seconds. */
const LONG_S = 600
const NOTE = 'seen before the kill'

type Moment = 'beginning' | 'opened' | 'kept' | 'ended'

/** When the process is killed, and whether the fault holds in its next life too. */
const CASES: readonly { readonly moment: Moment; readonly goesOn: boolean }[] = [
  { moment: 'kept', goesOn: true },
  { moment: 'opened', goesOn: false },
  { moment: 'ended', goesOn: false },
  { moment: 'beginning', goesOn: false },
  { moment: 'opened', goesOn: true },
  { moment: 'kept', goesOn: false },
  { moment: 'beginning', goesOn: true },
]

/** Ends `sonde up` at each moment in the life of an incident, and starts it again on the same data. */
export const incidents: FaultLoop = {
  name: 'incidents',
  what: 'kill -9 of `sonde up` at each moment in the life of an incident, whose fault is over or goes on after the restart: there is one incident, with the id and the notes that were kept, and it ends',
  testRounds: 2,
  async open() {
    let kept = 0
    let lives = 0
    return {
      async round(random) {
        const { moment, goesOn } = inTurn(random, CASES)
        const dir = temporaryDir()
        const args = ['up', '--only-simulated', '--simulate-class', 'small', '--data-dir', dir.path]
        const start = () => startSonde([...args, '--log-level', 'error'])
        let sonde = await start()
        try {
          await begin(sonde, moment === 'ended' ? 1 : LONG_S)
          const known = await reach(sonde, moment)
          await sonde.stop('SIGKILL')
          sonde = await start()
          lives += 2
          if (goesOn) await begin(sonde, 1)
          const isThere = ({ incidents: all }: IncidentsAnswer) => all.length > 0
          if (goesOn) await until('the fault again', LIMIT_MS, async () => isThere(await listed(sonde)))
          const last = await until('that none is open', LIMIT_MS, async () => {
            const answer = await listed(sonde)
            // Both lives report the same incident, so it is listed once.
            assert.ok(answer.incidents.length <= 1, JSON.stringify(answer.incidents))
            return (answer.openCount === 0 && (!goesOn || isThere(answer)) && answer) || undefined
          })
          if (goesOn || known !== undefined) assert.equal(last.incidents.length, 1)
          if (known === undefined) return
          assert.deepEqual(last.incidents[0] && [last.incidents[0].id, last.incidents[0].state], [known.id, 'ended'])
          const { notes } = await ask<IncidentAnswer>(sonde, `/api/v1/incidents/${known.id}`)
          assert.deepEqual(
            notes.map(({ text }) => text),
            [NOTE],
          )
          kept++
        } finally {
          await sonde.stop('SIGKILL')
          dir.remove()
        }
      },
      async close() {
        return `${lives} lives; ${kept} incidents that were kept are there, once, and ended`
      },
    }
  },
}

async function begin(sonde: SondeProcess, durationS: number): Promise<void> {
  await ask(sonde, '/api/v1/simulator/scenarios', { name: FAULT, durationS })
}

function listed(sonde: SondeProcess): Promise<IncidentsAnswer> {
  return ask(sonde, '/api/v1/incidents?limit=1000')
}

/** Waits for a moment; gives the incident if the store has acknowledged that it opened, and its note. */
async function reach(sonde: SondeProcess, moment: Moment): Promise<Incident | undefined> {
  if (moment === 'beginning') return undefined
  const opened = await until('the incident', LIMIT_MS, async () => (await listed(sonde)).incidents[0])
  if (moment === 'opened') return undefined
  await ask(sonde, `/api/v1/incidents/${opened.id}/notes`, { text: NOTE })
  if (moment === 'ended') await until('its end', LIMIT_MS, async () => (await listed(sonde)).openCount === 0)
  const { nowMs } = await ask<{ nowMs: number }>(sonde, '/api/v1/node')
  await until('that the store has it', LIMIT_MS, async () => {
    const { store } = await ask<{ store: { ackedMs: number } }>(sonde, '/api/v1/node')
    return store.ackedMs > nowMs
  })
  return opened
}
