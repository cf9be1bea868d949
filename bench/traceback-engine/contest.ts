// One pass of Sonde and of the C++ program over the same samples, with the same rules.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type TapEdge, TapWatch } from '../../packages/agent/src/rules/tap-watch.ts'
import { Tap } from '../../packages/agent/src/sampling/tap.ts'
import { type Cell, numbersOf, unrolledOf } from './load.ts'

const RIVAL = fileURLToPath(new URL('rival.cpp', import.meta.url))
/** Size of the ring, and samples of one drain, which happens every 50 ms. */
export const RING = 16_384
export const PIECE = 500
const TURN_MS = 150

/** A cell with its programs. */
export interface Prepared extends Cell {
  readonly folder: string
  readonly edges: number
}

/** Builds the programs of a cell, and holds their edges against those of Sonde. */
export function prepare(cell: Cell, parent: string): Prepared {
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

/** How long a pass of Sonde takes. Unit: nanoseconds. */
export function passNs(cell: Prepared): number {
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

/** How long a pass of a C++ program takes. Unit: nanoseconds. */
export function rivalNs({ folder, type }: Prepared, program: string, turnMs = TURN_MS): number {
  const stride = type.layout.recordBytes / 8
  const args = ['samples', 'rules'].map((name) => join(folder, name))
  const numbers = [stride, RING, PIECE, turnMs].map(String)
  return Number(execFileSync(join(folder, program), [...args, ...numbers, join(folder, 'edges')], { encoding: 'utf8' }))
}
