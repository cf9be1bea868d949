import { NvmlFailure } from './failure.ts'
import type { GpuHandle } from './gpu.ts'
import { INSUFFICIENT_SIZE, NOT_FOUND, SUCCESS } from './layout.ts'
import type { NvmlArgument } from './library.ts'
import type { NvmlSymbol } from './symbols.ts'

/** Entries of a list for which there is memory at first. */
const ENTRIES_START = 64
/** Entries of a list at most; a longer list is a failure. */
const ENTRIES_MAX = 16_384
/** New entries may come between two calls. */
const SLACK = 16
/** The list may grow between two calls. */
const TRIES = 4

/** Reads a list of a GPU whose length the library says only if the memory is too short. */
export async function readList(
  { library, device }: GpuHandle,
  symbol: NvmlSymbol,
  entryBytes: number,
  argumentsOf: (count: Buffer, memory: Buffer) => NvmlArgument[],
): Promise<Buffer | NvmlFailure> {
  let room = ENTRIES_START
  for (let tried = 0; tried < TRIES && room <= ENTRIES_MAX; tried++) {
    const count = Buffer.from(new ArrayBuffer(4))
    count.writeUInt32LE(room)
    const memory = Buffer.from(new ArrayBuffer(room * entryBytes))
    const code = await library.answerAsync(symbol, ...argumentsOf(count, memory))
    if (code === SUCCESS) return memory.subarray(0, Math.min(count.readUInt32LE(), room) * entryBytes)
    if (code === NOT_FOUND) return memory.subarray(0, 0)
    if (code !== INSUFFICIENT_SIZE) return new NvmlFailure(device, symbol, code)
    room = Math.max(room + SLACK, count.readUInt32LE() + SLACK)
  }
  return new NvmlFailure(device, symbol, INSUFFICIENT_SIZE)
}
