// What rules of traceback cost on samples at full rate, beside a C++ program with the same rules.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type TapEdge, TapWatch } from '../../packages/agent/src/rules/tap-watch.ts'
import { Tap } from '../../packages/agent/src/sampling/tap.ts'
import { atLeast, type BenchResult, type Figure, median } from '../bench.ts'
import { type Cell, cellOf, numbersOf, SAMPLES, unrolledOf } from './load.ts'

const RIVAL = fileURLToPath(new URL('rival.cpp', import.meta.url))
const COUNTS = [1, 8, 32]
const IDS = [1, 8, 64]
/** Samples that the ring holds, and that are put into it at a time: those of a drain each 50 ms. */
const RING = 16_384
const PIECE = 500
const TURN_MS = 150

interface Prepared extends Cell {
  readonly folder: string
  readonly edges: number
}

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

function prepare(cell: Cell, parent: string): Prepared {
  const folder = mkdtempSync(join(parent, 'cell-'))
  writeFileSync(join(folder, 'samples'), cell.records)
  writeFileSync(join(folder, 'rules'), numbersOf(cell))
  writeFileSync(join(folder, 'unrolled.h'), unrolledOf(cell))
  const flags = ['-O2', '-std=c++17', '-Wall', '-Wextra', '-Werror']
  execFileSync('g++', [...flags, '-o', join(folder, 'rival'), RIVAL])
  execFileSync('g++', [...flags, '-DUNROLLED', `-I${folder}`, '-o', join(folder, 'unrolled'), RIVAL])
  const own: TapEdge[] = []
  pass(cell, (edge) => own.push(edge))
  const prepared = { ...cell, folder, edges: own.length }
  for (const program of ['rival', 'unrolled'] as const) {
    rivalNs(prepared, program, 0)
    compare(own, cell, readFileSync(join(folder, 'edges')), program)
  }
  return prepared
}

/** Three words of 64 bits of an edge: its sample, then rule and start as halves. */
function compare(own: readonly TapEdge[], { watch, rules, ids }: Cell, bytes: Buffer, program: string): void {
  const theirs = Array.from({ length: bytes.length / 16 }, (_, at) => {
    const rule = watch.rules[bytes.readUInt32LE(at * 16 + 8)]?.name
    return `${bytes.readBigUInt64LE(at * 16)} ${rule} ${bytes.readUInt32LE(at * 16 + 12) === 1}`
  })
  const ours = own.map(({ sample, rule, isStart }) => `${sample} ${rule} ${isStart}`)
  const differs = Array.from({ length: Math.max(ours.length, theirs.length) }).findIndex(
    (_, at) => ours[at] !== theirs[at],
  )
  if (differs >= 0)
    throw new Error(
      `${rules} rules, ${ids} IDs: edge ${differs} is ${ours[differs]} here and ${theirs[differs]} in ${program}`,
    )
}

function pass({ type, records, watch }: Cell, onEdge: (edge: TapEdge) => void, tap = new Tap(type, RING)): void {
  const pieceBytes = PIECE * type.layout.recordBytes
  tap.total = 0
  tap.watch(TapWatch.of(tap, 'mlx5_0', watch, onEdge))
  for (let at = 0; at < records.length; at += pieceBytes) tap.put(records.subarray(at, at + pieceBytes))
}

function passNs(cell: Prepared): number {
  const tap = new Tap(cell.type, RING)
  let edges = 0
  const count = () => {
    edges++
  }
  pass(cell, count, tap)
  const startedMs = performance.now()
  let passes = 0
  while (performance.now() - startedMs < TURN_MS) {
    pass(cell, count, tap)
    passes++
  }
  const tookMs = performance.now() - startedMs
  if (edges !== (passes + 1) * cell.edges) throw new Error(`${edges} edges in ${passes + 1} passes of ${cell.edges}`)
  return (tookMs * 1e6) / passes
}

function rivalNs({ folder, type }: Prepared, program: string, turnMs = TURN_MS): number {
  const stride = type.layout.recordBytes / 8
  const args = ['samples', 'rules'].map((name) => join(folder, name))
  const numbers = [stride, RING, PIECE, turnMs].map(String)
  return Number(execFileSync(join(folder, program), [...args, ...numbers, join(folder, 'edges')], { encoding: 'utf8' }))
}
