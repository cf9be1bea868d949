import assert from 'node:assert/strict'
import { type SondeProcess, startSonde, temporaryDir, until } from '../../sonde-process.ts'
import type { FaultLoop } from '../loop.ts'

const METRIC = 'sonde_source_samples_total'

interface Acked {
  readonly ackedMs: number
  readonly values: readonly (number | null)[]
}

/** The samples up to the time before which everything is acknowledged. */
async function acked({ address }: SondeProcess, fromMs: number, upToMs?: number): Promise<Acked> {
  const { store } = (await (await fetch(`${address}/api/v1/node`)).json()) as {
    store: { ackedMs: number; state: string; reason: string }
  }
  assert.equal(store.state, 'writing', store.reason)
  const toMs = upToMs ?? store.ackedMs
  if (toMs <= fromMs) return { ackedMs: store.ackedMs, values: [] }
  const body = JSON.stringify({
    fromMs,
    toMs,
    stepMs: 200,
    queries: [{ metric: METRIC, function: 'max', matchers: [{ label: 'source', value: 'netdev' }] }],
  })
  const response = await fetch(`${address}/api/v1/query`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json' },
  })
  const answer = (await response.json()) as { results: { series: { values: (number | null)[] }[] }[] }
  return { ackedMs: store.ackedMs, values: answer.results[0]?.series[0]?.values ?? [] }
}

/** Ends `sonde up` at a random moment and starts it again on the same data. */
export const kill: FaultLoop = {
  name: 'kill',
  what: 'kill -9 of `sonde up` at a random moment: it starts again, the store opens, and everything acknowledged is read back',
  async open() {
    const dir = temporaryDir()
    const args = ['up', '--data-dir', dir.path, '--log-level', 'error']
    let sonde = await startSonde(args)
    let kept = 0
    return {
      async round(random) {
        const fromMs = Math.floor((Date.now() - 1000) / 1000) * 1000
        // Half of the rounds end it before anything is acknowledged: while it starts, or in its first write.
        const early = random.next() < 0.5
        let before: Acked = { ackedMs: 0, values: [] }
        if (early) await new Promise((resolve) => setTimeout(resolve, random.integer(0, 500)))
        else {
          before = await until('an acknowledged sample', 15_000, async () => {
            const now = await acked(sonde, fromMs)
            return now.values.some((value) => value !== null) && now
          })
          await new Promise((resolve) => setTimeout(resolve, random.integer(0, 300)))
        }
        await sonde.stop('SIGKILL')
        sonde = await startSonde(args)
        if (early) return
        const after = await acked(sonde, fromMs, before.ackedMs)
        assert.deepEqual(after.values, before.values)
        kept += before.values.filter((value) => value !== null).length
      },
      async close() {
        await sonde.stop('SIGKILL')
        dir.remove()
        return `${kept} acknowledged samples compared, all there`
      },
    }
  },
}
