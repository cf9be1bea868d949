import type { DtbBlockHeader } from './decode-header.ts'
import { BLOCK_TYPE } from './format.ts'

/** A block of a file with its payload as it was before compression. */
export interface DtbBlock {
  readonly header: DtbBlockHeader
  readonly payload: Uint8Array
}

/** Blocks that may come before the records that they followed: they announce types, the source and texts. */
const ANNOUNCING: readonly number[] = [BLOCK_TYPE.types, BLOCK_TYPE.source, BLOCK_TYPE.symbols]

/**
 * The same records in fewer blocks: those of one type and clock become one block, at the place of the first. The
 * order of the records of a type stays. A page of a client keeps its own block, which has its number, and the order of
 * pages stays. No record crosses a block of another kind, such as the start of a table of texts. Pure.
 */
export function mergeBlocks(blocks: readonly DtbBlock[]): DtbBlock[] {
  const merged: DtbBlock[] = []
  let announced: DtbBlock[] = []
  let runs: DtbBlock[][] = []
  /** The run that takes further records, by type and clock. */
  const open = new Map<string, DtbBlock[]>()
  const finish = () => {
    merged.push(...announced, ...runs.map(joined))
    announced = []
    runs = []
    open.clear()
  }
  for (const block of blocks) {
    const { blockType, client, clock, typeIndex } = block.header
    if (blockType === BLOCK_TYPE.records) {
      const key = `${typeIndex} ${clock}`
      const run = client === 0n ? open.get(key) : undefined
      if (run === undefined) runs.push([block])
      else run.push(block)
      if (client !== 0n) open.delete(key)
      else if (run === undefined) open.set(key, runs.at(-1) ?? [])
    } else if (ANNOUNCING.includes(blockType)) announced.push(block)
    else {
      finish()
      merged.push(block)
    }
  }
  finish()
  return merged
}

function joined(blocks: DtbBlock[]): DtbBlock {
  const [first] = blocks
  if (first === undefined || blocks.length === 1) return first as DtbBlock
  const headers = blocks.map(({ header }) => header)
  const payload = Buffer.concat(blocks.map((block) => block.payload))
  const header = {
    ...first.header,
    count: headers.reduce((count, each) => count + each.count, 0),
    firstNs: headers.reduce((first, { firstNs }) => (firstNs < first ? firstNs : first), first.header.firstNs),
    lastNs: headers.reduce((last, { lastNs }) => (lastNs > last ? lastNs : last), 0n),
    unpackedBytes: payload.byteLength,
  }
  return { header, payload }
}
