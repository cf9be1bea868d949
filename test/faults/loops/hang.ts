import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { startSonde } from '../../sonde-process.ts'
import type { FaultLoop } from '../loop.ts'

const STOP_LIMIT_MS = 5000
const MAIN = fileURLToPath(new URL('../unruly-main.ts', import.meta.url))

/** Ends an agent while its child process hangs in a call, crashes or floods. */
export const hang: FaultLoop = {
  name: 'hang',
  what: 'SIGTERM while a child process hangs, crashes or floods: the agent ends within 5 s with code 0, and leaves no child behind',
  async open() {
    let longestMs = 0
    return {
      async round(random) {
        const misdeed = random.pick(['hang', 'hang', 'crash', 'flood'])
        const sonde = await startSonde([misdeed, String(random.integer(1, 5))], { main: MAIN })
        await new Promise((resolve) => setTimeout(resolve, random.integer(0, 400)))
        const health = await fetch(`${sonde.address}/healthz`)
        assert.equal(health.status, 200)
        const startMs = performance.now()
        const end = await sonde.stop('SIGTERM')
        const tookMs = performance.now() - startMs
        assert.equal(end, 0, sonde.output())
        assert.ok(tookMs < STOP_LIMIT_MS, `${tookMs.toFixed(0)} ms`)
        longestMs = Math.max(longestMs, tookMs)
        const children = [...sonde.output().matchAll(/"child":(\d+)/g)].map(([, pid]) => Number(pid))
        for (const pid of children) assert.throws(() => process.kill(pid, 0), /ESRCH/, `child ${pid} is still there`)
      },
      async close() {
        return `longest stop ${longestMs.toFixed(0)} ms`
      },
    }
  },
}
