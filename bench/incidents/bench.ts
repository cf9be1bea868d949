import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createStore } from '@sonde/console'
import { atMost, type RunBench } from '../bench.ts'
import type { Listed } from './list-main.ts'
import { reportMany, reportPast, type Take } from './load.ts'

const MANY = 1_000_000
const HOURS = 24
const COMPACTED_EVERY = 50
const MAIN = fileURLToPath(new URL('list-main.ts', import.meta.url))
const GATES = { dayMs: 50, pageMs: 100, memoryMb: 256 }

/** How fast incidents are listed, from a million and from a day of a node; see the README beside. */
export const run: RunBench = async ({ rounds }) => {
  const folder = mkdtempSync(join(tmpdir(), 'sonde-bench-'))
  const nowMs = Math.floor(Date.now() / 1000) * 1000
  const list = (name: string) => listedIn(join(folder, name), nowMs, rounds)
  try {
    await fill(join(folder, 'many.db'), (take) => reportMany(MANY, nowMs, take))
    await fill(join(folder, 'day.db'), (take) => reportPast(HOURS, nowMs, take))
    const many = await list('many.db')
    const day = await list('day.db')
    const grownMb = many.mostMb - many.idleMb
    const page = (value: number) => ({ value, unit: 'ms', gate: atMost(value, GATES.pageMs) })
    return {
      figures: [
        {
          name: `incidents of ${HOURS} h of a simulated node listed`,
          ...{ value: day.windowMs, unit: 'ms', gate: atMost(day.windowMs, GATES.dayMs) },
        },
        { name: 'first 100 of a million incidents', ...page(many.firstMs) },
        { name: 'the next 100 of them', ...page(many.nextMs) },
        { name: 'one of them by its id', ...page(many.oneMs) },
        { name: 'an answer to words of no incident, from a million', value: many.wordsMs, unit: 'ms' },
        {
          name: 'memory for all answers from a million',
          ...{ value: grownMb, unit: 'MB', gate: atMost(grownMb, GATES.memoryMb) },
        },
      ],
      lines: [
        `The simulated node has ${day.windowCount} incidents in ${HOURS} h.`,
        `An answer to words of no incident looks at ${many.wordsPart.toFixed(2)} days of incidents 31.5 s apart, then goes on by cursor.`,
      ],
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function fill(path: string, report: (take: Take) => Promise<void>): Promise<void> {
  const store = await createStore({ path, maxBytes: 2 ** 40, queueLimitBytes: 256 << 20 })
  let taken = 0
  await report(async (batches) => {
    for (const batch of batches) store.accept(batch)
    await store.flush()
    if (++taken % COMPACTED_EVERY === 0) await store.maintain()
  })
  await store.maintain()
  await store.close()
}

async function listedIn(path: string, nowMs: number, rounds: number): Promise<Listed> {
  const args = ['--conditions=source', MAIN, path, String(nowMs), String(HOURS), String(rounds)]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Listed
}
