import { NvmlFailure } from './failure.ts'
import type { GpuHandle } from './gpu.ts'
import { FABRIC, FABRIC_CONDITIONS } from './layout.ts'

/** Registration of a GPU with its NVLink domain, which may span hosts. */
export interface FabricInfo {
  /** UUID of the domain, with dashes; empty if the GPU belongs to none. */
  readonly cluster: string
  /** Id of the clique in the domain: GPUs of one clique reach each other over NVLink. */
  readonly clique: number
  /** 0 not supported, 1 not started, 2 in progress, 3 completed. */
  readonly state: number
  /** `nvmlReturn_t` of the registration; undefined unless it is completed. */
  readonly status: number | undefined
  /** Whether each condition holds; a condition that the driver does not know is missing. */
  readonly conditions: ReadonlyMap<(typeof FABRIC_CONDITIONS)[number], boolean>
  /** 1 healthy, 2 unhealthy, 3 limited capacity; undefined if the driver does not say it. */
  readonly summary: number | undefined
}

const COMPLETED = 3

/** Reads the registration. A driver before 580 has version 2 of the structure, without the summary. */
export function fabricOf(gpu: GpuHandle): FabricInfo | NvmlFailure {
  const newest = gpu.structure('nvmlDeviceGetGpuFabricInfoV', FABRIC.version3)
  const isOld = newest instanceof NvmlFailure
  const found = isOld ? gpu.structure('nvmlDeviceGetGpuFabricInfoV', FABRIC.version2) : newest
  if (found instanceof NvmlFailure) return found
  const state = found.readUInt8(FABRIC.state)
  const mask = found.readUInt32LE(FABRIC.mask)
  const conditions = new Map<(typeof FABRIC_CONDITIONS)[number], boolean>()
  for (const [place, condition] of FABRIC_CONDITIONS.entries()) {
    const bits = (mask >>> (2 * place)) & 3
    if (bits === 1 || bits === 2) conditions.set(condition, bits === 1)
  }
  const summary = isOld ? 0 : found.readUInt8(FABRIC.summary)
  return {
    cluster: uuidText(found.subarray(FABRIC.cluster, FABRIC.cluster + FABRIC.clusterBytes)),
    clique: found.readUInt32LE(FABRIC.clique),
    state,
    status: state === COMPLETED ? found.readUInt32LE(FABRIC.status) : undefined,
    conditions,
    summary: summary === 0 ? undefined : summary,
  }
}

function uuidText(bytes: Buffer): string {
  const hex = bytes.toString('hex')
  if (/^0*$/.test(hex)) return ''
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
