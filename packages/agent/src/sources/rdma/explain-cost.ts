import { countOf } from '@sonde/sdk/internal'
import type { Survey } from '../chains/attributes.ts'
import { type Finding, fine } from '../chains/chain.ts'
import { type ChainContext, ReadRefusal } from '../chains/chain-context.ts'
import { periodOfMs } from '../slow-reads.ts'

/** Most files in one answer, the most expensive first. */
const NAMED_LIMIT = 3

interface Cost {
  readonly path: string
  readonly ms: number
}

/** Reads the files of a survey again, one after another, and reports what each read costs. */
export async function checkCost(context: ChainContext, survey: Survey, folder: string): Promise<Finding> {
  const costs: Cost[] = []
  for (const { path, isFolder } of await survey()) {
    if (isFolder === true) continue
    const took = [await readMs(context, path), await readMs(context, path)]
    // A single slow read may only mean that this process waited for the processor.
    costs.push({ path, ms: Math.min(...took) })
  }
  if (costs.length === 0) return { state: 'unknown', tried: folder, answer: 'no file to read' }
  costs.sort((a, b) => b.ms - a.ms)
  const sumMs = costs.reduce((sum, { ms }) => sum + ms, 0)
  const named = costs.slice(0, NAMED_LIMIT).map((cost) => costWords(cost, folder))
  return fine(folder, `${countOf(costs.length, 'file')} in ${msText(sumMs)}; slowest: ${named.join(', ')}`)
}

async function readMs(context: ChainContext, path: string): Promise<number> {
  const startedMs = performance.now()
  const read = await context.read(path)
  return read instanceof ReadRefusal ? 0 : performance.now() - startedMs
}

function costWords({ path, ms }: Cost, folder: string): string {
  const name = path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path
  const periodMs = periodOfMs(ms)
  const slower = periodMs === 0 ? '' : `, so it is read every ${Math.round(periodMs / 1000)} s`
  return `${name} ${msText(ms)}${slower}`
}

function msText(ms: number): string {
  return `${ms.toFixed(ms < 10 ? 2 : 0)} ms`
}
