// What rules of traceback cost on samples at full rate, beside a C++ program with the same rules.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { atLeast, type BenchResult, type Figure, median } from '../bench.ts'
import { PIECE, type Prepared, passNs, prepare, RING, rivalNs } from './contest.ts'
import { cellOf, SAMPLES } from './load.ts'

const COUNTS = [1, 8, 32]
const IDS = [1, 8, 64]
/** Every cell in turn: Sonde, the C++ program, and that with its rules as code. */
export async function run({ rounds }: { readonly rounds: number }): Promise<BenchResult> {
  const folder = mkdtempSync(join(tmpdir(), 'sonde-engine-'))
  try {
    const cells = COUNTS.flatMap((rules) => IDS.map((ids) => prepare(cellOf(rules, ids), folder)))
    const times = cells.map(() => ({ own: [] as number[], rival: [] as number[], unrolled: [] as number[] }))
    for (let round = 0; round < rounds; round++) {
      for (const [at, cell] of cells.entries()) {
        times[at]?.own.push(passNs(cell))
        times[at]?.rival.push(rivalNs(cell, 'rival'))
        times[at]?.unrolled.push(rivalNs(cell, 'unrolled'))
      }
    }
    return resultOf(cells, times)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

type Times = Readonly<Record<'own' | 'rival' | 'unrolled', readonly number[]>>

function resultOf(cells: readonly Prepared[], times: readonly Times[]): BenchResult {
  const speeds = times.map(({ own, rival }) => median(rival.map((ns, at) => ns / (own[at] as number))))
  const mean = Math.exp(speeds.reduce((sum, speed) => sum + Math.log(speed), 0) / speeds.length)
  const worst = Math.min(...speeds)
  const perCell = cells.map(({ rules, ids }, at): Figure => {
    return { name: `${rules} rules, ${ids} IDs, against C++`, value: speeds[at] as number, unit: 'x' }
  })
  const lines = cells.map(({ rules, ids, edges }, at) => {
    const { own, rival, unrolled } = times[at] as Times
    const [a, b, c] = [own, rival, unrolled].map((ns) => (median(ns) / SAMPLES).toFixed(1))
    return `${rules} rules × ${ids} IDs: ${a} ns a sample, C++ ${b}, C++ with its rules as code ${c}; ${edges} edges, the same in all.`
  })
  return {
    figures: [
      { name: 'speed against C++, geometric mean', value: mean, unit: 'x', gate: atLeast(mean, 0.8) },
      { name: 'speed against C++, worst cell', value: worst, unit: 'x', gate: atLeast(worst, 0.5) },
      ...perCell,
    ],
    lines: [
      `Rings of ${RING} samples, ${PIECE} put at a time, with their copy. g++ -O2.`,
      '',
      ...lines.map((line) => `* ${line}`),
    ],
  }
}
