import type { RunBench } from '../bench.ts'
import { benchReader } from './reader.ts'
import { benchWriter } from './writer.ts'

/** How fast files of records are written and read; see the README beside. */
export const run: RunBench = async ({ rounds }) => {
  const writer = await benchWriter(rounds)
  const reader = await benchReader(rounds)
  return { figures: [...writer.figures, ...reader.figures], lines: [...writer.lines, ...reader.lines] }
}
