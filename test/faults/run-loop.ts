import { Random } from '../../packages/sdk/test/random.ts'
import type { FaultLoop, FaultOutcome } from './loop.ts'

/** How to run a loop. */
export interface RunOptions {
  readonly rounds: number
  readonly seed: number
  /** Whether figures that depend on the speed of the machine must be met too. */
  readonly isGated: boolean
  /** Called after each round. */
  readonly onRound?: (round: number) => void
}

/** Runs rounds of a loop; a failure names round and seed, with which it can be run again. */
export async function runLoop(loop: FaultLoop, { rounds, seed, isGated, onRound }: RunOptions): Promise<FaultOutcome> {
  // A loop may set every other clock ahead.
  const startS = process.uptime()
  const run = await loop.open()
  let seen = ''
  let failure: unknown
  try {
    for (let round = 1; round <= rounds; round++) {
      try {
        // Each round has its own seed, so that one can be looked at alone.
        await run.round(new Random(seed + round), round)
      } catch (cause) {
        const why = cause instanceof Error ? cause.message : String(cause)
        const again = `--rounds 1 --seed ${seed + round - 1}`
        throw new Error(`${loop.name}: round ${round} failed; repeat it with ${again}: ${why}`, { cause })
      }
      onRound?.(round)
    }
    if (isGated) run.gate?.()
  } catch (error) {
    failure = error
  }
  try {
    seen = await run.close()
  } catch (error) {
    // What fails after a failed round is a consequence of it.
    failure ??= error
  }
  if (failure !== undefined) throw failure
  const seconds = process.uptime() - startS
  const table = run.table?.()
  return { name: loop.name, what: loop.what, rounds, seed, seconds, seen, ...(table === undefined ? {} : { table }) }
}
