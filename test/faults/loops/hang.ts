import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { assertStops, startSonde } from '../../sonde-process.ts'
import { type FaultLoop, inTurn } from '../loop.ts'

const MAIN = fileURLToPath(new URL('../unruly-main.ts', import.meta.url))

/** Ends an agent while its child process hangs in a call, crashes or floods. */
export const hang: FaultLoop = {
  name: 'hang',
  what: 'SIGTERM while a child process hangs, crashes or floods: the agent ends within 5 s with code 0, and leaves no child behind',
  testRounds: 3,
  async open() {
    let longestMs = 0
    return {
      async round(random) {
        const misdeed = inTurn(random, ['hang', 'crash', 'flood'])
        const sonde = await startSonde([misdeed, String(random.integer(1, 5))], { main: MAIN })
        await new Promise((resolve) => setTimeout(resolve, random.integer(0, 400)))
        const health = await fetch(`${sonde.address}/healthz`)
        assert.equal(health.status, 200)
        longestMs = Math.max(longestMs, await assertStops(sonde))
      },
      async close() {
        return `longest stop ${longestMs.toFixed(0)} ms`
      },
    }
  },
}
