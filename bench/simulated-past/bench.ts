// How soon the past of a simulated node is in the history, and how quick answers are meanwhile.
import { type SondeProcess, startSonde, temporaryDir } from '../../test/sonde-process.ts'
import { atMost, type BenchResult, median } from '../bench.ts'

const TOOK_MAX_S = 30
/** Time between two questions while the past is filled. Unit: milliseconds. */
const ASK_EVERY_MS = 250
/** How long the past may take. Unit: milliseconds. */
const LIMIT_MS = 600_000

/** Rounds of `sonde up --only-simulated`, each with a history of its own. */
export async function run({ rounds }: { readonly rounds: number }): Promise<BenchResult> {
  const all: Filled[] = []
  for (let round = 0; round < rounds; round++) all.push(await fillOnce())
  const tookS = median(all.map((one) => one.tookS))
  const worstMs = Math.max(...all.map(({ slowestMs }) => slowestMs))
  return {
    figures: [
      { name: 'past of 1 h is in the history', value: tookS, unit: 's', gate: atMost(tookS, TOOK_MAX_S) },
      { name: 'incidents listed meanwhile, slowest answer', value: worstMs, unit: 'ms' },
    ],
    lines: [`${all[0]?.records ?? 0} records, a sample a second.`],
  }
}

interface Filled {
  readonly tookS: number
  readonly slowestMs: number
  readonly records: number
}

async function fillOnce(): Promise<Filled> {
  const data = temporaryDir()
  const sonde = await startSonde(['up', '--only-simulated', '--simulate-past', '1h', '--data-dir', data.path])
  try {
    let slowestMs = 0
    for (const endMs = performance.now() + LIMIT_MS; performance.now() < endMs; ) {
      slowestMs = Math.max(slowestMs, await answerMs(sonde))
      const told = /"records":(\d+),"tookMs":([\d.]+)/.exec(sonde.output())
      if (told !== null) return { tookS: Number(told[2]) / 1000, slowestMs, records: Number(told[1]) }
      await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS))
    }
    throw new Error('the simulated past takes too long')
  } finally {
    await sonde.stop()
    data.remove()
  }
}

async function answerMs({ address }: SondeProcess): Promise<number> {
  const beganMs = performance.now()
  await (await fetch(`${address}/api/v1/incidents`)).text()
  return performance.now() - beganMs
}
