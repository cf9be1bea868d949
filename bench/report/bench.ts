import assert from 'node:assert/strict'
import { atLeast, type BenchResult, type Figure, median } from '../bench.ts'
import { rivalContenders } from './rivals.ts'
import { CountingSink } from './sink.ts'
import { type Contender, sondeContenders } from './sonde.ts'

const WARM_UP_ROUNDS = 2
const OBJECTS_GATE = 2
const BULK_GATE = 8

/** Time of one record from its report until all its bytes are in the sink. Unit: nanoseconds. */
async function nsOf(contender: Contender, sums: Map<string, number>): Promise<number> {
  const sink = new CountingSink()
  const start = process.hrtime.bigint()
  await contender.run(sink, contender.times)
  const ns = Number(process.hrtime.bigint() - start) / contender.times
  assert.equal(sink.records, contender.times, `${contender.name}: records that came`)
  contender.check(sink)
  sums.set(contender.name, sink.sum)
  return ns
}

/** How fast an application reports records; see the README beside. */
export async function run({ rounds }: { readonly rounds: number }): Promise<BenchResult> {
  const ours = sondeContenders()
  const rivals = rivalContenders()
  const samples = new Map<Contender, number[]>([...ours, ...rivals].map((contender) => [contender, []]))
  const sums = new Map<string, number>()
  for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
    for (const [contender, ns] of samples) {
      const taken = await nsOf(contender, sums)
      if (round >= 0) ns.push(taken)
    }
  }
  const [wanted] = ours.map(({ name }) => sums.get(name))
  for (const { name } of ours) assert.equal(sums.get(name), wanted, `${name}: its bytes are those of the other ways`)
  // The fastest rival of each round: what must be beaten is not known before.
  const best = Array.from({ length: rounds }, (_, i) =>
    Math.min(...rivals.map((rival) => samples.get(rival)?.[i] ?? Number.POSITIVE_INFINITY)),
  )
  const figures: Figure[] = ours.map((contender, i) => {
    const ratio = median((samples.get(contender) ?? []).map((ns, round) => (best[round] ?? Number.NaN) / ns))
    const gate = i === 0 ? OBJECTS_GATE : i === ours.length - 1 ? BULK_GATE : undefined
    const name = `${contender.name} against the fastest of ${rivals.map((rival) => rival.name).join(', ')}`
    return { name, value: ratio, unit: 'x', ...(gate === undefined ? {} : { gate: atLeast(ratio, gate) }) }
  })
  for (const [{ name }, ns] of samples) figures.push({ name, value: 1000 / median(ns), unit: 'M records/s' })
  return {
    figures,
    lines: [
      'Records of 72 bytes with a text that repeats; every byte goes into a checksum where it arrives, on the same core.',
    ],
  }
}
