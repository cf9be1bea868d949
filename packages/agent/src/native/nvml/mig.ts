import { NvmlFailure } from './failure.ts'
import { type GpuHandle, textIn } from './gpu.ts'
import { ATTRIBUTES, INVALID_ARGUMENT, MEMORY, NOT_FOUND, SUCCESS, TEXT_BYTES } from './layout.ts'
import type { NvmlSymbol } from './symbols.ts'

/** Instances of one GPU at most. */
const INSTANCES_MAX = 16
const BYTES_PER_MB = 2 ** 20
const GIB = 2 ** 30
/** Instances take whole eighths of the memory of a GPU; profiles are named by them. */
const EIGHTHS = 8

/** A MIG instance with one of its compute instances. */
export interface MigDevice {
  /** Handle of NVML; it holds until the instance is destroyed. */
  readonly handle: bigint
  readonly uuid: string
  /** Id of the GPU instance, unique in its GPU. It is used again for a later instance. */
  readonly instance: number
  /** Such as `1g.10gb`; empty if the driver says neither name nor attributes. */
  readonly profile: string
  /** Slices of the GPU; undefined if the driver does not say it. */
  readonly slices: number | undefined
}

/** Memory of a MIG instance. Unit: bytes. */
export interface MigMemory {
  readonly total: bigint
  readonly reserved: bigint
  readonly free: bigint
  readonly used: bigint
}

/**
 * Lists the MIG devices of a GPU on which MIG is on. An instance with several compute instances has several devices.
 *
 * @param memoryBytes Memory of the whole GPU, for the name of a profile. Unit: bytes; undefined: unknown.
 */
export function migDevicesOf(gpu: GpuHandle, memoryBytes: number | undefined): MigDevice[] | NvmlFailure {
  const count = gpu.number('nvmlDeviceGetMaxMigDeviceCount')
  if (count instanceof NvmlFailure) return count
  const devices: MigDevice[] = []
  for (let index = 0; index < Math.min(count, INSTANCES_MAX); index++) {
    const out = Buffer.alloc(8)
    const code = gpu.library.answer('nvmlDeviceGetMigDeviceHandleByIndex', gpu.handle, index, out)
    // Empty places lie between others.
    if (code === NOT_FOUND || code === INVALID_ARGUMENT) continue
    if (code !== SUCCESS) return new NvmlFailure(gpu.device, 'nvmlDeviceGetMigDeviceHandleByIndex', code)
    const device = describe(gpu, out.readBigUInt64LE(), memoryBytes)
    // The instance was destroyed after it was listed.
    if (device !== undefined) devices.push(device)
  }
  return devices
}

/** Reads the memory of a MIG device. */
export function migMemory(gpu: GpuHandle, { handle }: MigDevice): MigMemory | NvmlFailure {
  const memory = Buffer.alloc(MEMORY.bytes)
  memory.writeUInt32LE(MEMORY.version)
  const failure = gpu.library.call(gpu.device, 'nvmlDeviceGetMemoryInfo_v2', handle, memory)
  if (failure !== undefined) return failure
  const [total, reserved, free, used] = [MEMORY.total, MEMORY.reserved, MEMORY.free, MEMORY.used].map((at) =>
    memory.readBigUInt64LE(at),
  ) as [bigint, bigint, bigint, bigint]
  return { total, reserved, free, used }
}

function describe(gpu: GpuHandle, handle: bigint, memoryBytes: number | undefined): MigDevice | undefined {
  const uuid = textOf(gpu, 'nvmlDeviceGetUUID', handle)
  const id = Buffer.alloc(4)
  if (uuid === '' || gpu.library.answer('nvmlDeviceGetGpuInstanceId', handle, id) !== SUCCESS) return undefined
  const attributes = Buffer.alloc(ATTRIBUTES.bytes)
  const hasAttributes = gpu.library.answer('nvmlDeviceGetAttributes_v2', handle, attributes) === SUCCESS
  const slices = hasAttributes ? attributes.readUInt32LE(ATTRIBUTES.slices) : undefined
  const ownBytes = Number(attributes.readBigUInt64LE(ATTRIBUTES.memoryMb)) * BYTES_PER_MB
  // The name of the device ends in the profile, with the compute instance before it if it is a part.
  const named = / MIG (?:\d+c\.)?(\S+)$/.exec(textOf(gpu, 'nvmlDeviceGetName', handle))?.[1]
  const profile = named ?? (slices === undefined ? '' : profileOf(slices, ownBytes, memoryBytes))
  return { handle, uuid, instance: id.readUInt32LE(), profile, slices }
}

/** The name of a profile, as NVIDIA makes it from slices and memory. */
function profileOf(slices: number, ownBytes: number, memoryBytes: number | undefined): string {
  const wholeGib = memoryBytes === undefined ? undefined : Math.ceil(memoryBytes / GIB)
  const gib =
    wholeGib === undefined || memoryBytes === undefined
      ? Math.ceil(ownBytes / GIB)
      : Math.round((Math.round((ownBytes / memoryBytes) * EIGHTHS) / EIGHTHS) * wholeGib)
  return `${slices}g.${gib}gb`
}

function textOf(gpu: GpuHandle, symbol: NvmlSymbol, handle: bigint): string {
  const memory = Buffer.alloc(TEXT_BYTES)
  if (gpu.library.answer(symbol, handle, memory, TEXT_BYTES) !== SUCCESS) return ''
  return textIn(memory)
}
