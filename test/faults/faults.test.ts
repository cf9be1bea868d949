import { test } from 'node:test'
import { LOOPS } from './loops.ts'
import { runLoop } from './run-loop.ts'

const ROUNDS = 20
const SEED = Number(process.env.SONDE_FAULT_SEED ?? Date.now() % 1_000_000)

for (const loop of LOOPS) {
  test(`${loop.name}: ${loop.what} (${ROUNDS} rounds, seed ${SEED})`, async (context) => {
    const { seen } = await runLoop(loop, ROUNDS, SEED)
    context.diagnostic(seen)
  })
}
