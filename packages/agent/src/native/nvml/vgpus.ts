import { NvmlFailure } from './failure.ts'
import { type GpuHandle, textIn } from './gpu.ts'
import { NOT_FOUND, SUCCESS, TEXT_BYTES, VGPU, VGPU_SAMPLE } from './layout.ts'
import { readList } from './list.ts'
import type { NvmlSymbol } from './symbols.ts'

/** A virtual GPU that a virtual machine of this host has. */
export interface Vgpu {
  /** Number of the library for it; used again for a later one. */
  readonly id: number
  readonly uuid: string
  /** UUID of the virtual machine, or its domain on Xen. */
  readonly machine: string
  /** Number of its type. */
  readonly type: number
}

/** Properties of a type of virtual GPU. */
export interface VgpuKind {
  /** Such as `NVIDIA A16-2Q`; empty if the driver does not say it. */
  readonly name: string
  /** Unit: bytes. */
  readonly memoryBytes: bigint | NvmlFailure
}

/** Use of a physical GPU by one virtual GPU. Unit: percent. */
export interface VgpuUse {
  readonly sm: number
  readonly memory: number
  readonly encoder: number
  readonly decoder: number
}

/** Whether the driver is a vGPU manager: it gives virtual GPUs to virtual machines. */
export function isVgpuHost(gpu: GpuHandle): boolean | NvmlFailure {
  const mode = gpu.number('nvmlDeviceGetHostVgpuMode')
  if (!(mode instanceof NvmlFailure)) return true
  return mode.kind === 'unsupported' ? false : mode
}

/** Lists the virtual GPUs of a GPU that are in use. Those that end during the reading are left out. */
export async function vgpusOf(gpu: GpuHandle): Promise<Vgpu[] | NvmlFailure> {
  const symbol = 'nvmlDeviceGetActiveVgpus'
  const list = await readList(gpu, symbol, VGPU.bytes, (count, memory) => [gpu.handle, count, memory])
  if (list instanceof NvmlFailure) return list
  const found: Vgpu[] = []
  for (let at = 0; at < list.length; at += VGPU.bytes) {
    const vgpu = describe(gpu, list.readUInt32LE(at))
    if (vgpu instanceof NvmlFailure) return vgpu
    if (vgpu !== undefined) found.push(vgpu)
  }
  return found
}

/** Reads the name and the memory of a type. */
export function vgpuKind({ library, device }: GpuHandle, type: number): VgpuKind {
  const name = Buffer.alloc(TEXT_BYTES)
  const size = Buffer.alloc(4)
  size.writeUInt32LE(TEXT_BYTES)
  const isNamed = library.answer('nvmlVgpuTypeGetName', type, name, size) === SUCCESS
  const out = Buffer.alloc(8)
  const failure = library.call(device, 'nvmlVgpuTypeGetFramebufferSize', type, out)
  return { name: isNamed ? textIn(name) : '', memoryBytes: failure ?? out.readBigUInt64LE() }
}

/** Memory of the GPU that the virtual machine uses. Unit: bytes. */
export function vgpuMemoryUsed({ library, device }: GpuHandle, { id }: Vgpu): bigint | NvmlFailure {
  const out = Buffer.alloc(8)
  return library.call(device, 'nvmlVgpuInstanceGetFbUsage', id, out) ?? out.readBigUInt64LE()
}

/**
 * Reads the use of a GPU by its virtual GPUs since a time, by their numbers. The driver has no sample of those that are
 * missing.
 *
 * @param sinceUs Time of the newest sample of the last reading. Unit: microseconds since the Unix epoch.
 */
export async function vgpuUse(
  gpu: GpuHandle,
  sinceUs: bigint,
): Promise<{ readonly uses: ReadonlyMap<number, VgpuUse>; readonly newestUs: bigint } | NvmlFailure> {
  const { bytes, vgpu, time, sm, memory, encoder, decoder } = VGPU_SAMPLE
  const valueType = Buffer.from(new ArrayBuffer(4))
  const list = await readList(gpu, 'nvmlDeviceGetVgpuUtilization', bytes, (count, samples) => [
    ...[gpu.handle, sinceUs, valueType, count, samples],
  ])
  if (list instanceof NvmlFailure) return list
  const uses = new Map<number, VgpuUse>()
  let newestUs = sinceUs
  for (let at = 0; at < list.length; at += bytes) {
    const sampleUs = list.readBigUInt64LE(at + time)
    if (sampleUs <= sinceUs) continue
    if (sampleUs > newestUs) newestUs = sampleUs
    const percent = (offset: number) => list.readUInt32LE(at + offset)
    const use = { sm: percent(sm), memory: percent(memory), encoder: percent(encoder), decoder: percent(decoder) }
    uses.set(list.readUInt32LE(at + vgpu), use)
  }
  return { uses, newestUs }
}

/** Undefined if the virtual GPU ended after it was listed. */
function describe({ library, device }: GpuHandle, id: number): Vgpu | NvmlFailure | undefined {
  const uuid = Buffer.alloc(TEXT_BYTES)
  const machine = Buffer.alloc(TEXT_BYTES)
  const machineType = Buffer.alloc(4)
  const type = Buffer.alloc(4)
  const calls = [
    ['nvmlVgpuInstanceGetUUID', uuid, TEXT_BYTES],
    ['nvmlVgpuInstanceGetVmID', machine, TEXT_BYTES, machineType],
    ['nvmlVgpuInstanceGetType', type],
  ] as const satisfies readonly (readonly [NvmlSymbol, ...(Buffer | number)[]])[]
  for (const [symbol, ...args] of calls) {
    const code = library.answer(symbol, id, ...args)
    if (code === NOT_FOUND) return undefined
    if (code !== SUCCESS) return new NvmlFailure(device, symbol, code)
  }
  return { id, uuid: textIn(uuid), machine: textIn(machine), type: type.readUInt32LE() }
}
