import { NvmlFailure } from './failure.ts'
import type { GpuHandle } from './gpu.ts'
import { PROCESS, PROCESS_SAMPLE } from './layout.ts'
import { readList } from './list.ts'
import type { NvmlSymbol } from './symbols.ts'

/** Lists of the processes of a GPU. A process may be in several of them. */
const LISTS = [
  'nvmlDeviceGetComputeRunningProcesses_v3',
  'nvmlDeviceGetGraphicsRunningProcesses_v3',
  'nvmlDeviceGetMPSComputeRunningProcesses_v3',
] as const satisfies readonly NvmlSymbol[]

const UNKNOWN_MEMORY = 0xffff_ffff_ffff_ffffn

/** A process that uses a GPU. */
export interface GpuProcess {
  readonly pid: number
  /** Unit: bytes; undefined if the driver does not know it. */
  readonly memoryBytes: number | undefined
}

/**
 * Lists the processes of a GPU or MIG instance, each once. Lists that the driver does not have are skipped.
 *
 * @param handle The instance. Default: the GPU.
 */
export async function processesOf(gpu: GpuHandle, handle = gpu.handle): Promise<GpuProcess[] | NvmlFailure> {
  const found = new Map<number, GpuProcess>()
  let failure: NvmlFailure | undefined
  let isListed = false
  for (const symbol of LISTS) {
    const list = await readList(gpu, symbol, PROCESS.bytes, (count, memory) => [handle, count, memory])
    if (list instanceof NvmlFailure) {
      failure ??= list
      continue
    }
    isListed = true
    for (let at = 0; at < list.length; at += PROCESS.bytes) {
      const pid = list.readUInt32LE(at + PROCESS.pid)
      const memory = list.readBigUInt64LE(at + PROCESS.memory)
      const memoryBytes = memory === UNKNOWN_MEMORY ? undefined : Number(memory)
      // Each list has all the memory of the process.
      const known = found.get(pid)?.memoryBytes
      found.set(pid, { pid, memoryBytes: memoryBytes === undefined ? known : Math.max(memoryBytes, known ?? 0) })
    }
  }
  return isListed ? [...found.values()] : (failure as NvmlFailure)
}

/** Use of a GPU by its processes. */
export interface ProcessUse {
  /** Mean share of the time since the last reading in which kernels of a process ran, by pid. Unit: percent. */
  readonly smPercent: ReadonlyMap<number, number>
  /** Time of the newest sample, for the next reading. Unit: microseconds since the Unix epoch. */
  readonly newestUs: bigint
}

/**
 * Reads the use of a GPU by each process since a time. A process that is missing did not run. MIG has no such values.
 *
 * @param sinceUs Time of the newest sample of the last reading. Unit: microseconds since the Unix epoch.
 */
export async function processUse(gpu: GpuHandle, sinceUs: bigint): Promise<ProcessUse | NvmlFailure> {
  const symbol = 'nvmlDeviceGetProcessUtilization'
  const { bytes, pid, time, sm } = PROCESS_SAMPLE
  const list = await readList(gpu, symbol, bytes, (count, memory) => [gpu.handle, memory, count, sinceUs])
  if (list instanceof NvmlFailure) return list
  const sums = new Map<number, { sum: number; count: number }>()
  let newestUs = sinceUs
  for (let at = 0; at < list.length; at += bytes) {
    const sampleUs = list.readBigUInt64LE(at + time)
    // Unused entries of the list are zero.
    if (sampleUs <= sinceUs) continue
    if (sampleUs > newestUs) newestUs = sampleUs
    const of = list.readUInt32LE(at + pid)
    const known = sums.get(of) ?? { sum: 0, count: 0 }
    sums.set(of, { sum: known.sum + list.readUInt32LE(at + sm), count: known.count + 1 })
  }
  return { smPercent: new Map([...sums].map(([of, { sum, count }]) => [of, sum / count])), newestUs }
}
